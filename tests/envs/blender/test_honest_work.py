"""Other ways to do a starter task well than the one in its solution: each scores exactly 1."""

from __future__ import annotations

from typing import Any

import pytest

from tradeschool.envs.blender.env import BlenderEnv

pytestmark = [pytest.mark.blender, pytest.mark.sandbox]
Call = dict[str, Any]


def call(tool: str, /, **arguments: Any) -> Call:
    return {"name": tool, "arguments": arguments}


def box(name: str, size: list[float], at: list[float]) -> Call:
    return call("add_primitive", kind="cube", dimensions=size, location=at, name=name)


def bracket(thick: float, long: float = 0.08, tall: float = 0.06, wide: float = 0.04) -> list[Call]:
    return [
        call("delete", object=1),
        box("Bracket", [long, wide, thick], [long / 2, 0.02, thick / 2]),
        box("Wall", [thick, wide, tall], [thick / 2, 0.02, tall / 2]),
        call("boolean", object=2, operand=3, operation="union"),
    ]


def table(off: float) -> list[Call]:
    """Every dimension off by as much."""
    side, tall = 0.05 + off, 0.72 + off
    legs = [box(f"Leg {x} {y}", [side, side, tall], [x * 0.535, y * 0.285, tall / 2]) for x in (-1, 1) for y in (-1, 1)]
    return [box("Tabletop", [1.2 + off, 0.7 + off, 0.03 + off], [0, 0, tall + (0.03 + off) / 2]), *legs]


def flange(sides: int, diameter: float) -> list[Call]:
    places = [(0.0, 0.0), (0.06, 0.0), (0.03, 0.051962), (-0.03, 0.051962)]
    places += [(-x, -y) for x, y in places[1:]]
    calls = []
    for number, (x, y) in enumerate(places):
        size = 0.06 if number == 0 else diameter
        shape = {"kind": "cylinder", "dimensions": [size, size, 0.05], "segments": sides}
        calls.append(call("add_primitive", **shape, location=[x, y, 0.01], name="Drill"))
        calls.append(call("boolean", object=1, operand=2 + number, operation="difference"))
    return calls


def shot(light: Call) -> list[Call]:
    green, brass, white = [0.02, 0.2, 0.08], [0.8, 0.55, 0.2], [0.8, 0.78, 0.74]
    return [
        call("set_material", object=2, base_color=green, roughness=0.15),
        call("set_material", object=3, base_color=brass, roughness=0.3, metallic=1),
        call("set_material", object=1, base_color=white, roughness=0.6),
        call("add_light", kind="area", energy=50, location=[-0.8, -0.8, 1.0], look_at=[0, 0, 0.21]),
        light,
        call("set_camera", location=[0, -0.9, 0.43], look_at=[0, 0, 0.235], focal_length=85),
    ]


AREA = call("add_light", kind="area", energy=10, location=[0.7, -0.5, 0.6], look_at=[0, 0, 0.21])
WORK = {
    "bracket of two boxes": ("blender-watertight-bracket", bracket(0.006)),
    "bracket 0.05 mm thin": ("blender-watertight-bracket", bracket(0.00595)),
    "bracket 0.1 mm short": ("blender-watertight-bracket", bracket(0.006, 0.0799, 0.0599, 0.0399)),
    "table 0.5 mm small": ("blender-table-to-drawing", table(-0.0005)),
    "table to size": ("blender-table-to-drawing", table(0.0)),
    "flange of 48 sides": ("blender-flange-bolt-holes", flange(48, 0.014)),
    "flange of wide holes": ("blender-flange-bolt-holes", flange(128, 0.0143)),
    "shot with an area fill": ("blender-product-shot", shot(AREA)),
}


def play(task: str, calls: list[Call]) -> tuple[float, list[str]]:
    env = BlenderEnv(task=task, sandbox="namespace")
    try:
        env.reset(seed=1)
        for action in calls:
            assert env.step(action)[4]["status"] == "ok"
        _, reward, _, _, info = env.step(call("submit"))
        return reward, [f"{part.name} {part.value:.3f} {part.reason}" for part in info["reward"].parts]
    finally:
        env.close()


@pytest.mark.parametrize("what", WORK)
def test_it_scores_one(what: str) -> None:
    reward, told = play(*WORK[what])
    assert reward == 1.0, told


def test_a_fill_light_that_looks_away_costs() -> None:
    away = call("add_light", kind="area", energy=10, location=[0.7, -0.5, 0.6], look_at=[2, -2, 0.6])
    reward, told = play("blender-product-shot", shot(away))
    assert 0.8 < reward < 1.0, told


def test_three_legs_are_a_part_of_the_work() -> None:
    reward, told = play("blender-table-to-drawing", table(0.0)[:-1])
    assert 0.5 < reward < 0.9, told

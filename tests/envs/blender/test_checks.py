"""Judges, in both directions: what is right scores 1, and near misses and cheats do not."""

from __future__ import annotations

from typing import Any

import manifold3d
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tradeschool.envs.blender.checkfile import KINDS, Check
from tradeschool.envs.blender.checks import evaluate, judge
from tradeschool.envs.blender.snapshot import Camera, Item, Light, Material, Mesh, Snapshot

BOX_TARGET = [{"shape": "box", "size": [1.0, 1.0, 1.0]}]
GREEN = Material("Green", (0.02, 0.2, 0.08), 0.0, 0.15, True, 1.0)


def check(kind: str, **fields: Any) -> Check:
    import json

    return KINDS[kind].model_validate_json(json.dumps({"name": "it", "kind": kind, **fields}))


def value(the_check: Check, the_scene: Snapshot) -> float:
    return judge(the_check, the_scene)[0]


def lamp(
    kind: str = "area", energy: float = 50.0, at: tuple[float, float, float] = (0, 0, 3), down: bool = True
) -> Item:
    matrix = np.eye(4)
    if not down:
        matrix[:3, :3] = np.diag([1, -1, -1])
    matrix[:3, 3] = at
    return Item(7, "Key", "light", matrix, False, (), light=Light(kind, energy, (1, 1, 1)))


def eye(at: tuple[float, float, float] = (0, 0, 5), focal: float = 50.0, kind: str = "persp") -> Item:
    matrix = np.eye(4)
    matrix[:3, 3] = at
    lens = Camera(kind, focal, 36.0, "auto", (0.0, 0.0), (0.1, 100.0))
    return Item(9, "Camera", "camera", matrix, False, (), camera=lens)


def test_count_and_only(box: Any, scene: Any) -> None:
    two = scene(box("Leg"), box("Leg.001", center=(3, 0, 0)))
    assert value(check("count", objects="Leg*", min=2, max=2), two) == 1
    assert value(check("count", objects="Leg", min=2), two) == 0
    assert value(check("count", objects="Leg*", max=1), two) == 0
    assert value(check("count", objects="Leg*"), scene(box("Leg", hidden=True))) == 0
    assert value(check("only", objects=["Leg*"]), two) == 1
    assert value(check("only", objects=["Leg"]), two) == 0
    assert value(check("only", objects=["Leg"]), scene(box("Leg"), box("Cutter", hidden=True))) == 0


def test_dimensions(box: Any, scene: Any) -> None:
    asked = check("dimensions", objects="Top", size=[1.2, 0.7, 0.03], tolerance_m=0.001)
    assert value(asked, scene(box("Top", (1.2, 0.7, 0.03)))) == 1
    assert value(asked, scene(box("Top", (1.2, 0.7, 0.031)))) == 1
    assert value(asked, scene(box("Top", (1.2, 0.7, 0.032)))) == 0
    assert value(asked, scene(box("Top", (0.7, 1.2, 0.03)))) == 0
    assert value(asked, scene(box("Top.001", (1.2, 0.7, 0.03)))) == 0
    half = scene(box("Top", (1.2, 0.7, 0.03)), box("Top", (1, 1, 1), (5, 0, 0)))
    assert value(asked, half) == 0.5


def test_places_are_filled_one_to_one(box: Any, scene: Any) -> None:
    asked = check("places", objects="Leg*", positions=[[0, 0, 0], [2, 0, 0]], tolerance_m=0.01)
    right = scene(box("Leg", center=(2, 0, 0)), box("Leg.001", center=(0, 0, 0)))
    assert value(asked, right) == 1
    assert value(asked, scene(box("Leg"), box("Leg.001"))) == 0.5
    assert value(asked, scene(box("Leg"))) == 0.5
    crowd = scene(*(box(f"Leg.{n}", center=(2 * (n % 2), 0, 0)) for n in range(20)))
    assert value(asked, crowd) == 0.1
    foot = check("places", objects="Leg", positions=[[0, 0, -0.5]], anchor="bottom", axes="z", tolerance_m=0.01)
    assert value(foot, scene(box("Leg", center=(9, 9, 0)))) == 1


def test_distance(box: Any, scene: Any) -> None:
    asked = check("distance", objects="A", other="B", range_m=[0.0, 0.1])
    assert value(asked, scene(box("A"), box("B", center=(1.05, 0, 0)))) == 1
    assert value(asked, scene(box("A"), box("B", center=(1.0, 0, 0)))) == 1
    assert value(asked, scene(box("A"), box("B", center=(1.5, 0, 0)))) == 0
    assert value(asked, scene(box("A"), box("B", center=(0.5, 0, 0)))) == 0
    assert value(asked, scene(box("A"))) == 0


def test_on_top(box: Any, scene: Any) -> None:
    asked = check("on_top", objects="Cup", other="Table", tolerance_m=0.001)
    table = box("Table", (2, 2, 1))
    assert value(asked, scene(table, box("Cup", (0.1, 0.1, 0.1), (0, 0, 0.55)))) == 1
    assert value(asked, scene(table, box("Cup", (0.1, 0.1, 0.1), (0, 0, 0.56)))) == 0
    assert value(asked, scene(table, box("Cup", (0.1, 0.1, 0.1), (1, 0, 0.55)))) == 0


def test_volume(box: Any, scene: Any) -> None:
    asked = check("volume", objects="*", volume_m3=2.0, tolerance=0.01)
    assert value(asked, scene(box(size=(2, 1, 1)))) == 1
    assert value(asked, scene(box(size=(2.1, 1, 1)))) == 0
    assert value(asked, scene(box("A"), box("B"))) == 0, "two copies in one place are no two cubes"


def test_solid(box: Any, joined: Any, scene: Any) -> None:
    asked = check("solid", objects="Part")
    whole = box("Part")
    assert value(asked, scene(whole)) == 1
    assert value(asked, scene(box("Part", inverted=True))) == 0
    assert value(asked, scene(box("Part", crosses=True))) == 0
    assert value(asked, scene(box("Part", crosses=None))) == 0
    assert value(asked, scene(joined("Part", whole, box(size=(0.2, 0.2, 0.2))))) == 0, "a hidden inner body"
    assert value(check("solid", objects="Part", bodies=2), scene(joined("Part", whole, box(size=(0.2,) * 3)))) == 0
    apart = joined("Part", whole, box(center=(3, 0, 0)))
    assert value(check("solid", objects="Part", bodies=2), scene(apart)) == 1
    assert value(check("solid", objects="Part", genus=1), scene(whole)) == 0
    mesh = whole.mesh
    opened = Mesh(mesh.vertices, mesh.triangles[1:], 0, 0, ())
    assert value(asked, scene(Item(1, "Part", "mesh", np.eye(4), False, (), opened))) == 0
    loose = Mesh(np.concatenate([mesh.vertices, [[9, 9, 9]]]), mesh.triangles, 0, 0, ())
    assert value(asked, scene(Item(1, "Part", "mesh", np.eye(4), False, (), loose))) == 0


def test_iou(box: Any, joined: Any, scene: Any) -> None:
    asked = check("iou", objects="*", target=BOX_TARGET)
    assert value(asked, scene(box())) == 1
    assert 0 < value(asked, scene(box(center=(0.1, 0, 0)))) < 1
    assert value(asked, scene(box(center=(2, 0, 0)))) == 0
    assert value(asked, scene(box(), box("Copy", center=(1e-4, 0, 0)))) == 0, "a copy a hair apart"
    assert value(asked, scene(joined("Both", box(), box(center=(1e-4, 0, 0))))) == 0
    assert value(asked, scene(box(inverted=True))) == 0
    halves = (box("L", (0.5, 1, 1), (-0.25, 0, 0)), box("R", (0.5, 1, 1), (0.25, 0, 0)))
    assert value(asked, scene(*halves)) == 1
    assert value(asked, scene(box(size=(1000, 1000, 1000)))) == 0


def test_absurd_coordinates_are_a_reason(box: Any, scene: Any) -> None:
    for size in ((np.nan, 1, 1), (np.inf, 1, 1), (1e30, 1, 1)):
        for asked in (
            check("iou", objects="*", target=BOX_TARGET),
            check("solid", objects="*"),
            check("dimensions", objects="*", size=[1.0, 1.0, 1.0], tolerance_m=1.0),
            check("count", objects="*"),
            check("places", objects="*", positions=[[0, 0, 0]], tolerance_m=1.0),
            check("volume", objects="*", volume_m3=1.0, tolerance=0.5),
        ):
            got, reason = judge(asked, scene(box(size=size)))
            assert got == 0
            assert reason


def test_probe(box: Any, scene: Any) -> None:
    empty = check("probe", objects="*", probe={"shape": "sphere", "diameter": 0.5}, filled=[0.0, 0.01])
    assert value(empty, scene(box())) == 0
    assert value(empty, scene(box(center=(3, 0, 0)))) == 1


def test_a_wall_between_two_probes(scene: Any) -> None:
    def plate(sides: int, diameter: float, off: float = 0.0, top: float | None = None) -> Item:
        hole = manifold3d.Manifold.cylinder(2, diameter / 2, (diameter if top is None else top) / 2, sides, True)
        made = (manifold3d.Manifold.cube((3, 3, 1), True) - hole.translate((off, 0, 0))).to_mesh64()
        vertices, triangles = np.asarray(made.vert_properties)[:, :3], np.asarray(made.tri_verts).astype(np.int64)
        return Item(1, "Plate", "mesh", np.eye(4), False, (), Mesh(vertices, triangles, 0, False, ()))

    clear = {"shape": "cylinder", "diameter": 0.97, "height": 0.9}
    ring = {"shape": "cylinder", "diameter": 1.2, "bore": 1.03, "height": 0.9}
    inner = check("probe", objects="*", probe=clear, filled=[0.0, 0.002])
    outer = check("probe", objects="*", probe=ring, filled=[0.998, 1.0])

    def both(item: Item) -> float:
        return min(value(inner, scene(item)), value(outer, scene(item)))

    assert both(plate(48, 1.0)) == 1
    assert both(plate(128, 1.02)) == 1
    for wrong in (plate(8, 1.0), plate(8, 1.05), plate(64, 1.1), plate(64, 0.9), plate(64, 1.0, 0.05)):
        assert both(wrong) == 0
    assert both(plate(64, 0.9, top=1.1)) == 0, "a cone"


def test_material(box: Any, scene: Any) -> None:
    asked = check("material", objects="*", base_color=[0.02, 0.2, 0.08], metallic=0.0, roughness=0.15)
    assert value(asked, scene(box(materials=(GREEN,)))) == 1
    shiny = Material("Green", (0.02, 0.2, 0.08), 1.0, 0.15, True, 1.0)
    assert value(asked, scene(box(materials=(shiny,)))) == pytest.approx(2 / 3)
    patch = (Material("Green", GREEN.base_color, 0.0, 0.15, True, 0.6), Material("Red", (1, 0, 0), 0, 0.5, True, 0.4))
    assert value(asked, scene(box(materials=patch))) == 0
    assert value(asked, scene(box())) == 0
    textured = Material("Green", GREEN.base_color, 0.0, 0.15, False, 1.0)
    assert value(asked, scene(box(materials=(textured,)))) == 0


def test_light(box: Any, scene: Any) -> None:
    asked = check("light", light="area", energy=[30.0, 80.0], aimed_at="Box", max_angle_deg=5.0)
    assert value(asked, scene(box(), lamp())) == 1
    assert value(asked, scene(box(), lamp(down=False))) == 0
    assert value(asked, scene(box(), lamp(energy=500))) == 0
    assert value(asked, scene(box(), lamp("point"))) == 0
    assert value(asked, scene(lamp())) == 0
    near = check("light", within=[[-1, -1, 0], [1, 1, 2]])
    assert value(near, scene(lamp(at=(0, 0, 1)))) == 1
    assert value(near, scene(lamp(at=(0, 0, 3)))) == 0
    assert value(check("light", min=2, max=2), scene(lamp())) == 0


def test_camera_frames(box: Any, scene: Any) -> None:
    asked = check("camera", frames=["Box"], margin=0.05, fill=[0.2, 0.9], center_tolerance=0.05, visible_share=0.9)
    cube = box()
    # the near face, 4.5 m away, spans 2 * (0.5 / 4.5) * (50 / 18) / 2 of the picture
    assert judge(asked, scene(cube, camera=eye()))[0] == 1
    assert value(asked, scene(cube)) == 0
    assert value(asked, scene(cube, camera=eye((0, 0, -5)))) == 0, "behind the camera"
    assert value(asked, scene(cube, camera=eye((2, 0, 5)))) == 0, "cut by the edge"
    assert value(asked, scene(cube, camera=eye((0, 0, 50)))) == pytest.approx(2 / 3), "too small"
    assert value(asked, scene(cube, camera=eye((0.6, 0, 5)))) == pytest.approx(2 / 3), "off the middle"
    wall = box("Wall", (4, 4, 0.1), (0, 0, 2))
    assert value(asked, scene(cube, wall, camera=eye())) == 0, "hidden by a wall"
    assert value(asked, scene(cube, camera=eye(kind="ortho"))) == 0
    assert value(asked, scene(cube, box("Other", center=(0, 0, -3)), camera=eye())) == 1


def test_projection_of_a_known_point(box: Any, scene: Any) -> None:
    from tradeschool.envs.blender.framing import project

    places, depth = project(np.array([[1.0, 0.5, 0.0]]), eye((0, 0, 10), focal=36.0), (400, 200))
    assert depth[0] == pytest.approx(10)
    # 36 mm on a 36 mm sensor: at 10 m the picture is 10 m wide, and 5 m high
    assert places[0] == pytest.approx([0.6, 0.6])


def test_a_failed_gate_makes_the_reward_zero(box: Any, scene: Any) -> None:
    gate = check("count", objects="Missing", gate=True, reason="it is asked for")
    other = check("count", objects="Box").model_copy(update={"name": "other"})
    reward = evaluate((gate, other), scene(box()))
    assert reward.value == 0
    assert "it is asked for" in reward.parts[0].reason
    assert evaluate((gate, other), scene(box(), box("Missing"))).value == 1


def test_grading_twice_agrees(box: Any, scene: Any) -> None:
    asked = check("iou", objects="*", target=BOX_TARGET)
    one = scene(box(center=(0.07, 0.02, 0)))
    assert judge(asked, one) == judge(asked, one)


sizes = st.tuples(*[st.floats(1e-3, 5, allow_nan=False)] * 3)
spots = st.tuples(*[st.floats(-3, 3, allow_nan=False)] * 3)


@settings(max_examples=40, deadline=None)
@given(boxes=st.lists(st.tuples(sizes, spots), max_size=4))
def test_every_judge_gives_a_share_and_a_reason(box: Any, boxes: list[Any]) -> None:
    items = tuple(box(str(n), size, center) for n, (size, center) in enumerate(boxes))
    the_scene = Snapshot(items, (512, 512), eye())
    for asked in (
        check("iou", objects="*", target=BOX_TARGET),
        check("solid", objects="*"),
        check("volume", objects="*", volume_m3=1.0, tolerance=0.1),
        check("places", objects="*", positions=[[0, 0, 0]], tolerance_m=0.1),
        check("camera", frames=["*"], fill=[0.2, 0.8], visible_share=0.5),
        check("on_top", objects="0", other="*", tolerance_m=0.1),
    ):
        got, reason = judge(asked, the_scene)
        assert 0 <= got <= 1
        assert reason

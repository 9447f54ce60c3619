"""The real worker in the namespace sandbox: what each operation does, and that a refused one changes nothing."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from tradeschool.envs.blender.client import BlenderWorker, Refused, start_worker
from tradeschool.envs.blender.session import decode_pictures
from tradeschool.envs.blender.snapshot import Item, Snapshot, read_snapshot
from tradeschool.errors import SandboxError
from tradeschool.verify import meshes

pytestmark = [pytest.mark.blender, pytest.mark.sandbox]
KINDS = ("cube", "uv_sphere", "ico_sphere", "cylinder", "cone", "torus")


def do(worker: BlenderWorker, op: str, **args: Any) -> dict[str, Any]:
    return worker.call(op, args).result


def add(worker: BlenderWorker, kind: str = "cube", dimensions: Any = (1, 1, 1), **more: Any) -> int:
    return do(worker, "add_primitive", kind=kind, dimensions=list(dimensions), **more)["object"]["id"]


def look(worker: BlenderWorker) -> Snapshot:
    reply = worker.call("export_state", {})
    return read_snapshot(reply.result, reply.blob)


def item(worker: BlenderWorker, number: int) -> Item:
    return next(each for each in look(worker).items if each.id == number)


def state(worker: BlenderWorker) -> tuple[str, bytes]:
    reply = worker.call("export_state", {})
    return json.dumps(reply.result, sort_keys=True), reply.blob


def test_it_says_what_it_is(worker: BlenderWorker) -> None:
    assert tuple(int(part) for part in worker.blender.split(".")) >= (4, 2)
    assert do(worker, "ping") == {}


@pytest.mark.parametrize("kind", KINDS)
def test_primitives_are_solids_of_exact_size(worker: BlenderWorker, kind: str) -> None:
    number = add(worker, kind, (0.4, 0.6, 0.2), location=[1, 2, 3], segments=24)
    mesh = item(worker, number).mesh
    assert mesh is not None
    low, high = meshes.box([mesh.vertices])
    assert high - low == pytest.approx([0.4, 0.6, 0.2], abs=1e-6)
    assert (high + low) / 2 == pytest.approx([1, 2, 3], abs=1e-6)
    assert len(meshes.bodies(mesh.vertices, mesh.triangles)) == 1
    assert mesh.crosses is False


def test_a_plane_is_flat_and_open(worker: BlenderWorker) -> None:
    mesh = item(worker, add(worker, "plane", (2, 3, 0))).mesh
    assert mesh is not None
    assert meshes.edge_faults(mesh.triangles).open == 4


def test_ids_survive_renaming_and_are_not_used_again(worker: BlenderWorker) -> None:
    one = add(worker, name="A")
    assert do(worker, "rename", object=one, name="B")["object"]["name"] == "B"
    do(worker, "delete", object=one)
    two = add(worker, name="B")
    assert two > one
    third = do(worker, "add_primitive", kind="cube", dimensions=[1, 1, 1], name="B")["object"]
    assert third["name"] == "B.001"
    with pytest.raises(Refused, match=f"no object #{one}. Objects: #{two} 'B'"):
        do(worker, "delete", object=one)


def test_transform(worker: BlenderWorker) -> None:
    number = add(worker, dimensions=(1, 2, 3))
    moved = do(worker, "transform", object=number, location=[1, 0, 0], rotation=[0, 0, 90], dimensions=[2, 2, 2])
    assert moved["object"]["dimensions"] == [2, 2, 2]
    assert moved["object"]["rotation"] == pytest.approx([0, 0, 90], abs=1e-4)
    again = do(worker, "transform", object=number, location=[0, 0, 1], scale=[1, 1, 2], relative=True, bake=True)
    assert again["object"]["location"] == [1, 0, 1]
    assert again["object"]["scale"] == [1, 1, 1]
    assert again["object"]["dimensions"] == pytest.approx([2, 2, 4], abs=1e-5)


@pytest.mark.parametrize("bake", [False, True])
def test_a_mirrored_object_still_shows_its_outside(worker: BlenderWorker, bake: bool) -> None:
    number = add(worker)
    do(worker, "transform", object=number, scale=[-1, 1, 1], bake=bake)
    mesh = item(worker, number).mesh
    assert mesh is not None
    assert meshes.signed_volume(mesh.vertices, mesh.triangles) == pytest.approx(1)
    assert do(worker, "measure", object=number)["volume"] == pytest.approx(1)


def test_duplicate(worker: BlenderWorker) -> None:
    number = add(worker, dimensions=(0.1, 0.1, 0.1), name="Leg")
    made = do(worker, "duplicate", object=number, offset=[0.5, 0, 0], count=3)["objects"]
    assert [each["name"] for each in made] == ["Leg.001", "Leg.002", "Leg.003"]
    assert [each["location"][0] for each in made] == [0.5, 1.0, 1.5]


@pytest.mark.parametrize(
    ("fields", "dimensions", "vertices"),
    [
        ({"kind": "array", "count": 3, "offset": [2, 0, 0]}, [5, 1, 1], 24),
        ({"kind": "bevel", "width": 0.1, "segments": 2}, [1, 1, 1], None),
        ({"kind": "subdivision", "levels": 2}, None, 98),
        ({"kind": "solidify", "thickness": 0.1}, [1, 1, 1], 16),
        ({"kind": "decimate", "ratio": 1.0}, [1, 1, 1], 8),
        ({"kind": "weld", "distance": 0.001}, [1, 1, 1], 8),
        ({"kind": "mirror", "axes": ["x"]}, [1, 1, 1], None),
    ],
)
def test_modifiers(worker: BlenderWorker, fields: dict, dimensions: Any, vertices: int | None) -> None:
    number = add(worker)
    live = do(worker, "add_modifier", object=number, **fields)["object"]
    assert len(live["modifiers"]) == 1
    applied = do(worker, "apply_modifiers", object=number)["object"]
    assert applied["modifiers"] == []
    for told in (live, applied):
        assert dimensions is None or told["dimensions"] == pytest.approx(dimensions, abs=1e-5)
        assert vertices is None or told["vertices"] == vertices


def test_boolean(worker: BlenderWorker) -> None:
    block, drill = add(worker), add(worker, "cylinder", (0.5, 0.5, 2), segments=32)
    cut = do(worker, "boolean", object=block, operand=drill, operation="difference")
    assert cut["volume"] < cut["volume_before"] == pytest.approx(1)
    mesh = item(worker, block).mesh
    assert mesh is not None
    assert meshes.genus(mesh.triangles) == 1
    assert len(look(worker).items) == 1


def test_a_live_boolean_keeps_and_guards_its_operand(worker: BlenderWorker) -> None:
    block, drill = add(worker), add(worker, dimensions=(0.5, 0.5, 2))
    do(worker, "boolean", object=block, operand=drill, operation="difference", apply=False, operand_after="keep")
    assert item(worker, drill).hidden
    with pytest.raises(Refused, match="operand of a live boolean"):
        do(worker, "delete", object=drill)
    with pytest.raises(Refused, match="operand of a live boolean"):
        do(worker, "add_modifier", object=drill, kind="subdivision", levels=4)
    do(worker, "apply_modifiers", object=block)
    do(worker, "delete", object=drill)


def test_clean_and_separate(worker: BlenderWorker) -> None:
    tetrahedron = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]
    faces = [[0, 2, 1], [0, 1, 3], [1, 2, 3]]
    copies = [[*corner] for face in faces for corner in (tetrahedron[index] for index in face)]
    soup = [[3 * n, 3 * n + 1, 3 * n + 2] for n in range(3)]
    soup[1].reverse()
    number = do(worker, "add_mesh", name="Soup", vertices=[*copies, [5, 5, 5]], faces=soup)["object"]["id"]
    told = do(
        worker,
        "clean_mesh",
        object=number,
        merge_distance=0.001,
        delete_loose=True,
        fill_holes=4,
        recalculate_normals=True,
    )
    assert (told["merged_vertices"], told["loose_vertices"], told["filled_holes"]) == (5, 1, 1)
    assert told["boundary_edges"] == told["uneven_edges"] == 0
    mesh = item(worker, number).mesh
    assert mesh is not None
    assert meshes.signed_volume(mesh.vertices, mesh.triangles) == pytest.approx(1 / 6, abs=1e-6)
    with pytest.raises(Refused, match="one connected part"):
        do(worker, "separate_parts", object=number)
    do(worker, "add_modifier", object=number, kind="array", count=3, offset=[3, 0, 0], apply=True)
    assert len(do(worker, "separate_parts", object=number)["objects"]) == 2


def test_measure_distance(worker: BlenderWorker) -> None:
    one, two = add(worker), add(worker, location=[1.5, 0, 0])
    assert do(worker, "measure", object=one, other=two)["distance"] == pytest.approx(0.5, abs=1e-5)
    do(worker, "transform", object=two, location=[0.5, 0.1, 0.1])
    assert do(worker, "measure", object=one, other=two)["distance"] == 0


def test_looks(worker: BlenderWorker) -> None:
    number = add(worker)
    do(worker, "set_material", object=number, base_color=[0.1, 0.2, 0.3], metallic=1, roughness=0.25, name="Steel")
    do(worker, "add_light", kind="area", energy=40, location=[0, 0, 5], look_at=[0, 0, 0])
    do(worker, "set_camera", location=[0, -5, 0], look_at=[0, 0, 0], focal_length=85)
    seen = look(worker)
    (material,) = seen.meshes()[0].mesh.materials  # type: ignore[union-attr]
    assert material.base_color == pytest.approx((0.1, 0.2, 0.3))
    assert (material.metallic, material.roughness, material.plain, material.share) == (1, 0.25, True, 1)
    assert seen.camera is not None
    assert seen.camera.camera is not None
    assert seen.camera.camera.focal_length_mm == pytest.approx(85)
    assert -seen.camera.matrix[:3, 2] == pytest.approx([0, 1, 0], abs=1e-6)
    assert do(worker, "set_camera", location=[0, -6, 0], rotation=[90, 0, 0])["object"]["id"] == seen.camera.id


def test_renders_repeat_and_leave_the_scene_alone(worker: BlenderWorker) -> None:
    add(worker)
    before = state(worker)
    args = {"views": ["iso", "front"], "size": 64, "samples": 2}
    one, two = (decode_pictures(worker.call("render", args)) for _ in range(2))
    assert [picture.shape for picture in one] == [(64, 64, 3)] * 2
    assert all((a == b).all() for a, b in zip(one, two, strict=True))
    assert one[0].std() > 5
    assert state(worker) == before


def test_a_picture_from_outside_leaves_the_scenes_camera(worker: BlenderWorker) -> None:
    add(worker)
    do(worker, "set_camera", location=[0, -5, 0], look_at=[0, 0, 0])
    before = state(worker)
    args = {"views": ["iso", "camera", "front", "camera"], "size": 64, "samples": 1}
    _, one, _, two = decode_pictures(worker.call("render", args))
    assert (one == two).all()
    assert state(worker) == before


def test_bake_does_not_reshape_what_live_modifiers_make(worker: BlenderWorker) -> None:
    number = add(worker)
    do(worker, "add_modifier", object=number, kind="bevel", width=0.1)
    do(worker, "transform", object=number, scale=[2, 1, 1])
    before = state(worker)
    with pytest.raises(Refused, match="apply or clear the modifiers first") as caught:
        do(worker, "transform", object=number, location=[3, 0, 0], bake=True)
    assert caught.value.status == "illegal"
    assert state(worker) == before
    do(worker, "apply_modifiers", object=number)
    do(worker, "transform", object=number, bake=True)


REFUSED = [
    ("add_primitive", {"kind": "cube", "dimensions": [1, 0, 1]}),
    ("transform", {"object": 1, "scale": [0, 1, 1]}),
    ("transform", {"object": 1, "dimensions": [1, 1, 0]}),
    ("transform", {"object": 1, "dimensions": [1, 1, 1], "relative": True}),
    ("transform", {"object": 1, "location": [999, 0, 0], "scale": [100, 1, 1]}),
    ("transform", {"object": 9}),
    ("duplicate", {"object": 1, "count": 50, "offset": [100, 0, 0]}),
    ("add_modifier", {"object": 1, "kind": "bevel"}),
    ("add_modifier", {"object": 1, "kind": "bevel", "width": 0.1, "count": 3}),
    ("add_modifier", {"object": 1, "kind": "array", "count": 3}),
    ("add_modifier", {"object": 1, "kind": "array", "count": 100, "offset": [900, 0, 0]}),
    ("boolean", {"object": 1, "operand": 1, "operation": "union"}),
    ("boolean", {"object": 1, "operand": 2, "operation": "intersect"}),
    ("boolean", {"object": 1, "operand": 2, "operation": "union", "apply": False}),
    ("apply_modifiers", {"object": 1}),
    ("clean_mesh", {"object": 1, "merge_distance": 10}),
    ("set_camera", {"location": [0, 0, 0]}),
    ("set_camera", {"location": [0, 0, 0], "look_at": [0, 0, 0]}),
    ("add_light", {"kind": "sun", "energy": 1, "location": [0, 0, 0], "look_at": [0, 0, 0]}),
    ("render", {"views": ["camera"]}),
    ("open_blend", {}),
]


@pytest.mark.parametrize(("op", "args"), REFUSED, ids=lambda value: value if isinstance(value, str) else "")
def test_a_refused_call_leaves_the_scene_as_it_was(worker: BlenderWorker, op: str, args: dict) -> None:
    first, second = add(worker), add(worker, location=[5, 0, 0])
    before = state(worker)
    numbers = {1: first, 2: second, 9: 99_999}
    named = {key: numbers[value] if key in ("object", "operand") else value for key, value in args.items()}
    with pytest.raises(Refused):
        worker.call(op, named, b"no blend" if op == "open_blend" else b"")
    assert state(worker) == before


def test_what_would_be_too_much_is_refused(worker: BlenderWorker) -> None:
    number = add(worker, "uv_sphere", segments=128)
    with pytest.raises(Refused, match="at most 100000"):
        do(worker, "add_modifier", object=number, kind="subdivision", levels=4)
    with pytest.raises(Refused, match="at most 300000"):
        do(worker, "duplicate", object=number, count=50, offset=[1, 0, 0])
    other = add(worker, "uv_sphere", segments=256)
    with pytest.raises(Refused, match="at most 30000 faces"):
        do(worker, "boolean", object=number, operand=other, operation="union")


def test_a_saved_scene_opens_the_same_elsewhere(worker: BlenderWorker) -> None:
    add(worker, "torus", location=[1, 2, 3], name="Ring")
    do(worker, "set_camera", location=[0, -5, 0], look_at=[0, 0, 0])
    saved = worker.call("save", {}).blob
    fresh = start_worker("namespace")
    try:
        fresh.call("open_blend", {}, saved)
        assert state(fresh) == state(worker)
    finally:
        fresh.close()


def test_an_unknown_operation_breaks_the_worker_with_its_reason() -> None:
    worker = start_worker("namespace")
    with pytest.raises(SandboxError, match="no operation 'exec'"):
        worker.call("exec", {"code": "1"})
    with pytest.raises(SandboxError, match="closed"):
        worker.call("ping", {})


def test_a_call_past_its_deadline_ends_the_worker() -> None:
    worker = start_worker("namespace")
    with pytest.raises(SandboxError, match="no answer in time") as caught:
        worker.call("render", {"views": ["iso"] * 4, "size": 512, "samples": 16}, timeout_s=0.05)
    assert caught.value.kind == "timeout"


def test_blender_prints_do_not_break_frames(worker: BlenderWorker) -> None:
    assert worker.call("save", {}).blob[:4] in (b"BLEN", b"\x28\xb5\x2f\xfd")
    assert do(worker, "ping") == {}
    assert np.isfinite(len(worker.channel.stderr()))

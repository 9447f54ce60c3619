"""Surfaces that cut through themselves, by the real worker: what does is found, what does not is left in peace."""

from __future__ import annotations

from typing import Any

import pytest

from tradeschool.envs.blender.client import BlenderWorker
from tradeschool.envs.blender.snapshot import Mesh, read_snapshot
from tradeschool.verify import meshes

pytestmark = [pytest.mark.blender, pytest.mark.sandbox]


def add(worker: BlenderWorker, kind: str, dimensions: Any, **more: Any) -> int:
    args = {"kind": kind, "dimensions": list(dimensions), **more}
    return worker.call("add_primitive", args).result["object"]["id"]


def repeat(worker: BlenderWorker, number: int, count: int, offset: list[float]) -> None:
    args = {"object": number, "kind": "array", "count": count, "offset": offset, "apply": True}
    worker.call("add_modifier", args)


def seen(worker: BlenderWorker) -> list[Mesh]:
    reply = worker.call("export_state", {})
    return [item.mesh for item in read_snapshot(reply.result, reply.blob).items if item.mesh is not None]


def test_clean_round_shapes_do_not_cut_themselves(worker: BlenderWorker) -> None:
    for segments in (16, 24, 32, 48):
        for size in ((1, 1, 1), (0.05, 0.05, 0.02), (0.3, 0.1, 0.7), (0.001, 0.001, 0.001)):
            for kind in ("uv_sphere", "torus", "cone"):
                number = add(worker, kind, size, segments=segments, rotation=[31, 12, 7])
                (mesh,) = seen(worker)
                assert mesh.crosses is False, (kind, segments, size)
                worker.call("delete", {"object": number})


@pytest.mark.parametrize("turn", [0, 30, 90])
def test_a_drilled_and_bevelled_block_is_sound(worker: BlenderWorker, turn: int) -> None:
    block = add(worker, "cube", (0.2, 0.1, 0.02), location=[0, 0, 0.01])
    drill = add(worker, "cylinder", (0.03, 0.03, 0.3), segments=48, location=[0.03, 0.01, 0.01], rotation=[turn, 0, 0])
    worker.call("boolean", {"object": block, "operand": drill, "operation": "difference"})
    (mesh,) = seen(worker)
    assert mesh.crosses is False
    assert meshes.edge_faults(mesh.triangles).none


@pytest.mark.parametrize(
    ("offset", "crosses"), [(0.3, True), (1e-5, True), (1.0, False), (3.0, False)], ids=lambda value: str(value)
)
def test_two_cubes_in_one_mesh(worker: BlenderWorker, offset: float, crosses: bool) -> None:
    number = add(worker, "cube", (1, 1, 1))
    repeat(worker, number, 2, [offset, 0.31 * offset if crosses else 0, 0.17 * offset if crosses else 0])
    assert [mesh.crosses for mesh in seen(worker)] == [crosses]


def test_a_thousand_cubes_in_one_place_are_no_burden(worker: BlenderWorker) -> None:
    """Every pair of all these triangles overlaps: their list would not fit into any memory."""
    one, two = add(worker, "cube", (1, 1, 1)), add(worker, "cube", (1, 1, 1))
    for number in (one, two):
        repeat(worker, number, 100, [1e-5, 0, 0])
        repeat(worker, number, 10, [0, 1e-5, 0])
    assert [mesh.crosses for mesh in seen(worker)] == [True, True]
    assert worker.call("measure", {"object": one, "other": two}).result["distance"] == 0


@pytest.mark.parametrize("tall_first", [False, True])
@pytest.mark.parametrize("tall", [0.054, 0.06])
def test_a_union_of_two_boxes_is_printable_and_measured_as_it_is_judged(
    worker: BlenderWorker, tall_first: bool, tall: float
) -> None:
    foot = add(worker, "cube", (0.08, 0.04, 0.006), location=[0.04, 0.02, 0.003])
    wall = add(worker, "cube", (0.006, 0.04, tall), location=[0.003, 0.02, 0.06 - tall / 2])
    one, other = (wall, foot) if tall_first else (foot, wall)
    worker.call("boolean", {"object": one, "operand": other, "operation": "union"})
    (mesh,) = seen(worker)
    assert meshes.edge_faults(mesh.triangles).none
    told = worker.call("measure", {"object": one}).result
    assert (told["boundary_edges"], told["overfull_edges"], told["uneven_edges"]) == (0, 0, 0)


def test_measure_counts_the_edges_that_the_grader_counts(worker: BlenderWorker) -> None:
    corners = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [5, 5, 5]]
    faces = [[0, 1, 2], [1, 0, 3], [0, 1, 4]]
    args = {"name": "Fin", "vertices": corners, "faces": faces}
    number = worker.call("add_mesh", args).result["object"]["id"]
    told = worker.call("measure", {"object": number}).result
    (mesh,) = seen(worker)
    faults = meshes.edge_faults(mesh.triangles)
    assert (told["boundary_edges"], told["overfull_edges"], told["uneven_edges"]) == (
        faults.open,
        faults.overfull,
        faults.uneven,
    )
    assert (faults.overfull, told["loose_vertices_left"]) == (1, 1)

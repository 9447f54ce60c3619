"""Mesh measures: what a solid is, and every way of looking like one."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tradeschool.verify import meshes

CORNERS = np.array([[x, y, z] for x in (0.0, 1.0) for y in (0.0, 1.0) for z in (0.0, 1.0)])
CORNERS_OF_TRIANGLES = "013032467475045051237276026064157173"
CUBE = np.array([int(corner) for corner in CORNERS_OF_TRIANGLES]).reshape(-1, 3)


def two(offset: float, scale: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """Two cubes as one mesh."""
    return np.concatenate([CORNERS, CORNERS * scale + offset]), np.concatenate([CUBE, CUBE + 8])


def test_a_cube_is_a_body_of_its_volume() -> None:
    (body,) = meshes.bodies(CORNERS, CUBE)
    assert body.volume() == pytest.approx(1.0)
    assert meshes.edge_faults(CUBE).none
    assert meshes.signed_volume(CORNERS, CUBE) == pytest.approx(1.0)
    assert meshes.genus(CUBE) == 0


def test_volume_keeps_its_digits_far_from_the_origin() -> None:
    assert meshes.signed_volume(CORNERS + 1e7, CUBE) == pytest.approx(1.0, rel=1e-6)


@pytest.mark.parametrize(
    ("triangles", "why"),
    [
        (CUBE[1:], "3 open"),
        (CUBE[:, ::-1], "inside out"),
        (np.concatenate([CUBE[:1, ::-1], CUBE[1:]]), "3 unevenly wound"),
        (np.concatenate([CUBE, CUBE[:1]]), "3 overfull"),
        (CUBE[:0], "no surface"),
    ],
)
def test_what_is_no_solid_says_why(triangles: np.ndarray, why: str) -> None:
    with pytest.raises(meshes.NotSolid, match=why):
        meshes.bodies(CORNERS, triangles)


def test_coordinates_that_are_not_finite_are_a_reason_and_no_crash() -> None:
    broken = CORNERS.copy()
    broken[3, 1] = np.nan
    with pytest.raises(meshes.NotSolid, match="finite"):
        meshes.bodies(broken, CUBE)


def test_flat_shells_enclose_nothing() -> None:
    with pytest.raises(meshes.NotSolid, match=r"encloses nothing|inside out"):
        meshes.bodies(CORNERS * [1, 1, 0], CUBE)


@pytest.mark.parametrize(("offset", "scale", "share"), [(1e-4, 1.0, 0.5), (0.25, 0.5, 1 / 9), (2.0, 1.0, 0.0)])
def test_material_within_material_is_counted(offset: float, scale: float, share: float) -> None:
    solids = meshes.bodies(*two(offset, scale))
    assert len(solids) == 2
    assert meshes.doubled_share(solids, meshes.union(solids)) == pytest.approx(share, abs=2e-4)


def test_two_copies_a_hair_apart_do_not_beat_one() -> None:
    (target,) = meshes.bodies(CORNERS, CUBE)
    solids = meshes.bodies(*two(1e-4))
    assert meshes.iou(meshes.union(solids), target) <= 1.0
    assert meshes.iou(target, target) == pytest.approx(1.0)


def grid(count: int, step: float) -> tuple[np.ndarray, np.ndarray]:
    """Cubes in a row as one mesh."""
    moves = np.arange(count)[:, None, None] * np.array([step, step / 3, 0.0])
    return (CORNERS + moves).reshape(-1, 3), (CUBE + 8 * np.arange(count)[:, None, None]).reshape(-1, 3)


def test_too_many_bodies_are_a_reason_before_they_are_made() -> None:
    many = meshes.MAX_BODIES + 1
    with pytest.raises(meshes.NotSolid, match=f"{many} unconnected bodies"):
        meshes.bodies(*grid(many, 2.0))
    (cube,) = meshes.bodies(CORNERS, CUBE)
    with pytest.raises(meshes.NotSolid, match=f"{many} bodies"):
        meshes.union([cube] * many)


def test_too_many_bodies_in_one_place_are_a_reason_before_they_are_united() -> None:
    solids = meshes.bodies(*grid(100, 1e-3))
    with pytest.raises(meshes.NotSolid, match="4000 pairs"):
        meshes.union(solids)
    apart = meshes.bodies(*grid(300, 1.0))
    assert meshes.meetings(apart) == 0, "touching is no meeting"
    assert meshes.union(apart).volume() == pytest.approx(300)
    assert meshes.meetings(meshes.bodies(*grid(3, 0.5))) == 2


def test_shells_are_in_the_order_of_their_lowest_vertex() -> None:
    _, triangles = grid(3, 2.0)
    mixed = np.concatenate([triangles[24:], triangles[:24]])
    assert [int(part.min()) for part in meshes.shells(mixed)] == [0, 8, 16]


def test_genus_counts_through_holes() -> None:
    import manifold3d

    block = manifold3d.Manifold.cube((3, 3, 1), True)
    for at in (-0.8, 0.8):
        block -= manifold3d.Manifold.cylinder(2, 0.3, 0.3, 24, True).translate((at, 0, 0))
    triangles = np.asarray(block.to_mesh64().tri_verts).astype(np.int64)
    assert meshes.genus(triangles) == 2


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(st.integers(0, 7), min_size=3, max_size=3), max_size=20))
def test_any_triangles_give_a_body_or_a_reason(rows: list[list[int]]) -> None:
    triangles = np.array(rows, dtype=np.int64).reshape(-1, 3)
    found = []
    with contextlib.suppress(meshes.NotSolid):
        found = meshes.bodies(CORNERS, triangles)
    assert all(body.volume() > 0 for body in found)

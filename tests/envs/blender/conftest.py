"""Meshes and scenes made of numbers, and a live worker, for the tests of the Blender trade."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest

from tradeschool.envs.blender.client import BlenderWorker, start_worker
from tradeschool.envs.blender.snapshot import Item, Material, Mesh, Snapshot

BOX_CORNERS = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
CORNERS_OF_TRIANGLES = "013032467475045051237276026064157173"
BOX_TRIANGLES = np.array([int(corner) for corner in CORNERS_OF_TRIANGLES]).reshape(-1, 3)
"""A closed cube of side 1, wound outward."""

Box = Callable[..., Item]
Scene = Callable[..., Snapshot]


def make_box(
    name: str = "Box",
    size: tuple[float, float, float] = (1, 1, 1),
    center: tuple[float, float, float] = (0, 0, 0),
    *,
    number: int = 1,
    inverted: bool = False,
    hidden: bool = False,
    crosses: bool | None = False,
    materials: tuple[Material, ...] = (),
) -> Item:
    triangles = BOX_TRIANGLES[:, ::-1] if inverted else BOX_TRIANGLES
    mesh = Mesh(BOX_CORNERS * size + center, triangles, 0, crosses, materials)
    matrix = np.eye(4)
    matrix[:3, 3] = center
    return Item(number, name, "mesh", matrix, hidden, (), mesh)


def make_joined(name: str, *parts: Item, crosses: bool | None = False) -> Item:
    """One object of several unconnected bodies."""
    vertices, triangles, at = [], [], 0
    for part in parts:
        assert part.mesh is not None
        vertices.append(part.mesh.vertices)
        triangles.append(part.mesh.triangles + at)
        at += len(part.mesh.vertices)
    mesh = Mesh(np.concatenate(vertices), np.concatenate(triangles), 0, crosses, ())
    return Item(1, name, "mesh", np.eye(4), False, (), mesh)


@pytest.fixture(scope="session")
def box() -> Box:
    return make_box


@pytest.fixture
def joined() -> Callable[..., Item]:
    return make_joined


@pytest.fixture
def scene() -> Scene:
    def make(*items: Item, camera: Item | None = None, resolution: tuple[int, int] = (512, 512)) -> Snapshot:
        everything = (*items, camera) if camera is not None else items
        return Snapshot(everything, resolution, camera)

    return make


@pytest.fixture(scope="module")
def live() -> Iterator[BlenderWorker]:
    worker = start_worker("namespace")
    yield worker
    worker.close()


@pytest.fixture
def worker(live: BlenderWorker) -> BlenderWorker:
    """A live worker with an empty scene; ids go on counting over a module's tests."""
    for told in live.call("scene_info", {}).result["objects"]:
        live.call("delete", {"object": told["id"]})
    return live

"""The objects a check is about, their boxes and their bodies, with the reason when they have none."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tradeschool.verify import meshes

from .snapshot import Item, Mesh, Snapshot

Verdict = tuple[float, str]
SLACK = 1e-6
"""Metres, or shares: what single-precision coordinates may be off without anybody's fault."""
DOUBLED = 1e-4
"""Share of material inside other material from which on bodies count as overlapping."""


def chosen(pattern: str, scene: Snapshot) -> tuple[Item, ...]:
    """The visible meshes of this name."""
    return scene.meshes(pattern)


def surface(item: Item) -> Mesh:
    """Its mesh. Raises NotSolid when its coordinates are absurd."""
    assert item.mesh is not None
    if not item.mesh.usable:
        raise meshes.NotSolid("its coordinates are not finite or lie beyond 1 km")
    return item.mesh


def box_of(items: Sequence[Item]) -> tuple[np.ndarray, np.ndarray]:
    """The world box of the surfaces; vertices of no face do not count."""
    found = [surface(item) for item in items]
    return meshes.box(mesh.vertices[np.unique(mesh.triangles)] for mesh in found)


def each(pattern: str, scene: Snapshot, ask: Callable[[Item], Verdict]) -> Verdict:
    """The mean over the matching objects, with the reason of the worst."""
    items = chosen(pattern, scene)
    if not items:
        return 0.0, f"there is no visible mesh {pattern!r}"
    verdicts = []
    for item in items:
        try:
            value, reason = ask(item)
        except meshes.NotSolid as fault:
            value, reason = 0.0, str(fault)
        verdicts.append((value, f"{item.name}: {reason}"))
    worst = min(verdicts, key=lambda verdict: verdict[0])
    return math.fsum(value for value, _ in verdicts) / len(verdicts), worst[1]


def bodies_of(item: Item) -> list[Any]:
    """Every body of an object as a solid. Raises NotSolid."""
    mesh = surface(item)
    if mesh.crosses is None:
        raise meshes.NotSolid("it has too many triangles to be checked")
    if mesh.crosses:
        raise meshes.NotSolid("its surface cuts through itself somewhere")
    return meshes.bodies(mesh.vertices, mesh.triangles)


def whole(pattern: str, scene: Snapshot) -> Any:
    """The matching objects as one solid. Raises NotSolid when there are none, or their bodies overlap."""
    items = chosen(pattern, scene)
    if not items:
        raise meshes.NotSolid(f"there is no visible mesh {pattern!r}")
    solids = []
    for item in items:
        try:
            solids += bodies_of(item)
        except meshes.NotSolid as fault:
            raise meshes.NotSolid(f"{item.name}: {fault}") from None
    united = meshes.union(solids)
    doubled = meshes.doubled_share(solids, united)
    if doubled > DOUBLED:
        raise meshes.NotSolid(f"bodies overlap: {doubled:.1%} of the material lies inside other material")
    return united


def tells(values: Sequence[float] | np.ndarray) -> str:
    """`(1.2, 0.7)`, for reasons."""
    return f"({', '.join(f'{float(value):.4g}' for value in values)})"

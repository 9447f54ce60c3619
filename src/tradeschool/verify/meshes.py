"""Measures of triangle meshes that cannot be talked round: closedness, winding, bodies, volume, overlap.

Vertices are float arrays (V, 3) in metres, triangles int arrays (T, 3). Vertices count as the same only when they are
one vertex: coincident copies are open edges here, as they are for a slicer's strict mode.
Covered: open, overfull and unevenly wound edges; inverted, nested and overlapping bodies; doubled material.
Not covered: a single body whose surface cuts through itself (the exporter looks for that) and touching faces.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import manifold3d
import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

MAX_BODIES = 1000
MAX_MEETINGS = 4000
"""Pairs of bodies whose boxes overlap: each may be cut by each, and a union grows with their product."""


TOUCHING = 1e-6
"""Metres by which boxes may overlap and still only touch."""


class NotSolid(ValueError):
    """The mesh encloses no volume in a well-defined way; the message says why."""


@dataclass(frozen=True)
class EdgeFaults:
    """Numbers of edges with one triangle, with more than two, and with two that are wound against each other."""

    open: int
    overfull: int
    uneven: int

    @property
    def none(self) -> bool:
        return not (self.open or self.overfull or self.uneven)

    def __str__(self) -> str:
        found = ((self.open, "open"), (self.overfull, "overfull"), (self.uneven, "unevenly wound"))
        return ", ".join(f"{count} {name} edges" for count, name in found if count) or "no faulty edge"


def edge_faults(triangles: np.ndarray) -> EdgeFaults:
    """Look at every edge of the mesh."""
    if not len(triangles):
        return EdgeFaults(0, 0, 0)
    directed = np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]])
    forward = directed[:, 0] < directed[:, 1]
    _, edge, uses = np.unique(np.sort(directed, axis=1), axis=0, return_inverse=True, return_counts=True)
    ahead = np.bincount(edge.ravel(), weights=forward, minlength=len(uses))
    return EdgeFaults(int((uses == 1).sum()), int((uses > 2).sum()), int(((uses == 2) & (ahead != 1)).sum()))


def shells(triangles: np.ndarray, most: int | None = None) -> list[np.ndarray]:
    """The triangles of each part that shares no vertex with another, in the order of the lowest vertex.

    Raises NotSolid when there are more than `most`.
    """
    if not len(triangles):
        return []
    size = int(triangles.max()) + 1
    rows = np.concatenate([triangles[:, 0], triangles[:, 1]])
    columns = np.concatenate([triangles[:, 1], triangles[:, 2]])
    graph = coo_array((np.ones(len(rows), np.int8), (rows, columns)), shape=(size, size))
    _, part = connected_components(graph, directed=False)
    of_triangle = part[triangles[:, 0]]
    order = np.argsort(of_triangle, kind="stable")
    starts = np.flatnonzero(np.diff(of_triangle[order])) + 1
    if most is not None and len(starts) >= most:
        raise NotSolid(f"it has {len(starts) + 1} unconnected bodies, more than the {most} that are judged")
    return np.split(triangles[order], starts)


def signed_volume(vertices: np.ndarray, triangles: np.ndarray) -> float:
    """Enclosed volume in m3; negative when the faces look inward. Means something for closed meshes only."""
    if not len(triangles):
        return 0.0
    # from a point of the mesh itself: far from the origin the sum would lose its digits
    a, b, c = (vertices[triangles[:, corner]] - vertices[triangles[0, 0]] for corner in range(3))
    return float(np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6.0)


def genus(triangles: np.ndarray) -> int:
    """How many through holes a closed mesh has, over all its shells: sum of 1 - (V - E + F) / 2."""
    used = len(np.unique(triangles))
    return len(shells(triangles)) - (used - len(triangles) // 2) // 2


def bodies(vertices: np.ndarray, triangles: np.ndarray) -> list[manifold3d.Manifold]:
    """Each shell as a solid of positive volume. Raises NotSolid for an open, faulty or inverted one, or too many."""
    if not len(triangles):
        raise NotSolid("there is no surface")
    if not np.isfinite(vertices).all():
        raise NotSolid("it has coordinates that are not finite")
    faults = edge_faults(triangles)
    if not faults.none:
        raise NotSolid(f"it is not watertight: {faults}")
    made = []
    for part in shells(triangles, MAX_BODIES):
        volume = signed_volume(vertices, part)
        if volume <= 0:
            what = "encloses nothing" if volume == 0 else "is turned inside out"
            raise NotSolid(f"a part of it {what} (volume {volume:.3g} m3)")
        made.append(_solid(vertices, part))
    return made


def _solid(vertices: np.ndarray, triangles: np.ndarray) -> manifold3d.Manifold:
    used, renumbered = np.unique(triangles, return_inverse=True)
    mesh = manifold3d.Mesh64(
        np.ascontiguousarray(vertices[used], np.float64),
        np.ascontiguousarray(renumbered.reshape(-1, 3), np.uint64),
    )
    made = manifold3d.Manifold(mesh)
    if made.status() != manifold3d.Error.NoError or made.is_empty():
        raise NotSolid(f"it is no manifold ({made.status().name})")
    return made


def union(solids: Sequence[manifold3d.Manifold]) -> manifold3d.Manifold:
    """All solids as one; what they share counts once.

    Raises NotSolid, before anything is computed, when there are more than MAX_BODIES or MAX_MEETINGS.
    """
    if len(solids) > MAX_BODIES:
        raise NotSolid(f"there are {len(solids)} bodies, more than the {MAX_BODIES} that are judged")
    met = meetings(solids)
    if met > MAX_MEETINGS:
        raise NotSolid(f"more than {MAX_MEETINGS} pairs of bodies lie within each other's bounds")
    return manifold3d.Manifold.batch_boolean(list(solids), manifold3d.OpType.Add)


def meetings(solids: Sequence[manifold3d.Manifold]) -> int:
    """How many pairs of solids have boxes that overlap, touching not counted; stops soon after MAX_MEETINGS."""
    bounds = np.array([solid.bounding_box() for solid in solids], dtype=np.float64).reshape(-1, 6)
    low, high = bounds[:, :3], bounds[:, 3:]
    found = 0
    for at in range(len(bounds) - 1):
        deep = np.minimum(high[at], high[at + 1 :]) - np.maximum(low[at], low[at + 1 :])
        found += int((deep > TOUCHING).all(axis=1).sum())
        if found > MAX_MEETINGS:
            break
    return found


def doubled_share(solids: Sequence[manifold3d.Manifold], whole: manifold3d.Manifold) -> float:
    """The share of material that lies within other material: 0 for bodies that do not overlap, 1/2 for a copy."""
    total = sum(solid.volume() for solid in solids)
    return max(0.0, 1.0 - whole.volume() / total) if total > 0 else 0.0


def iou(one: manifold3d.Manifold, other: manifold3d.Manifold) -> float:
    """Intersection over union of two solids, each already one; in [0, 1]."""
    shared = (one ^ other).volume()
    total = one.volume() + other.volume() - shared
    return min(1.0, max(0.0, shared / total)) if total > 0 else 0.0


def box(points: Iterable[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """The two corners of the axis-aligned box around all points of some (N, 3) arrays."""
    stacked = np.concatenate(list(points))
    return stacked.min(axis=0), stacked.max(axis=0)

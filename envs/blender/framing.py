"""What a camera sees, by plain projection: where points fall in the picture, and what hides them."""

from __future__ import annotations

import numpy as np

from .snapshot import Camera, Item

MAX_RAYS = 200
CHUNK = 20_000


def focal_factors(lens: Camera, resolution: tuple[int, int]) -> tuple[float, float]:
    """Focal length over half the picture's width, and over half its height."""
    width, height = resolution
    factor = 2.0 * lens.focal_length_mm / lens.sensor_mm
    wide = lens.fit == "horizontal" or (lens.fit == "auto" and width >= height)
    return (factor, factor * width / height) if wide else (factor * height / width, factor)


def project(points: np.ndarray, camera: Item, resolution: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    """Places in the picture (N, 2), 0 to 1 from the left and from the bottom, and depths (N,) in metres.

    Only points of positive depth have a place. The camera must be a perspective one without shift.
    """
    assert camera.camera is not None
    seen = (points - camera.location) @ axes(camera)
    depth = -seen[:, 2]
    across, up = focal_factors(camera.camera, resolution)
    with np.errstate(divide="ignore", invalid="ignore"):
        places = np.stack([seen[:, 0] * across / depth, seen[:, 1] * up / depth], axis=1)
    return 0.5 + places / 2, depth


def axes(camera: Item) -> np.ndarray:
    """The camera's own axes as columns (3, 3), without scale: right, up, backward."""
    columns = camera.matrix[:3, :3]
    return columns / np.linalg.norm(columns, axis=0)


def visible_share(
    camera: Item, vertices: np.ndarray, triangles: np.ndarray, scene: tuple[np.ndarray, np.ndarray]
) -> float:
    """The share of an object's surface turned to the camera that nothing in the scene hides, as the picture shows it.

    `scene` is all vertices and triangles, the object's own among them. At most MAX_RAYS faces are asked, by their
    middles, evenly spread over those turned to the camera, and weighted by their size in the picture. 0 when none is.
    """
    eye = camera.location
    a, b, c = (vertices[triangles[:, corner]] for corner in range(3))
    middles, normals = (a + b + c) / 3, np.cross(b - a, c - a)
    ways = middles - eye
    size = -np.einsum("ij,ij->i", normals, ways) / np.maximum(np.linalg.norm(ways, axis=1), 1e-9) ** 3
    turned = np.flatnonzero(size > 0)
    if not len(turned):
        return 0.0
    chosen = turned[np.unique(np.linspace(0, len(turned) - 1, MAX_RAYS).astype(int))]
    hidden = np.array([_blocked(eye, middles[at], scene) for at in chosen])
    return float(size[chosen][~hidden].sum() / size[chosen].sum())


def _blocked(eye: np.ndarray, target: np.ndarray, scene: tuple[np.ndarray, np.ndarray]) -> bool:
    """Whether a triangle crosses the segment well before its end (Moeller and Trumbore's test)."""
    ray = target - eye
    for start in range(0, len(scene[1]), CHUNK):
        a, b, c = (scene[0][scene[1][start : start + CHUNK, corner]] for corner in range(3))
        one, two, away = b - a, c - a, eye - a
        cross = np.cross(ray, two)
        with np.errstate(divide="ignore", invalid="ignore"):
            inverse = 1.0 / np.einsum("ij,ij->i", one, cross)
            u = np.einsum("ij,ij->i", away, cross) * inverse
            turned = np.cross(away, one)
            v = (turned @ ray) * inverse
            along = np.einsum("ij,ij->i", two, turned) * inverse
            hit = (u >= 0) & (v >= 0) & (u + v <= 1) & (along > 1e-6) & (along < 1 - 1e-4)
        if hit.any():
            return True
    return False

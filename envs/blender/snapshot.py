"""The exported state of a scene, typed: what the graders read, and all they read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

import numpy as np

from tradeschool.errors import VerifierError

MAX_METRES = 1000.0


@dataclass(frozen=True)
class Material:
    """A material and the share of the object's area that it covers. `plain`: its values are numbers, not textures."""

    name: str
    base_color: tuple[float, float, float]
    metallic: float
    roughness: float
    plain: bool
    share: float


@dataclass(frozen=True)
class Light:
    """A light; `energy` in watts, or W/m2 for a sun."""

    kind: str
    energy: float
    color: tuple[float, float, float]


@dataclass(frozen=True)
class Camera:
    """A camera's lens; lengths in millimetres, clip distances in metres."""

    kind: str
    focal_length_mm: float
    sensor_mm: float
    fit: str
    shift: tuple[float, float]
    clip: tuple[float, float]


@dataclass(frozen=True, eq=False)
class Mesh:
    """World-space vertices (V, 3) float64 and triangles (T, 3) int64, wound as they are seen from outside.

    `loose_edges`: edges of no face. `crosses`: whether it cuts through itself, None when that was too much to ask.
    """

    vertices: np.ndarray
    triangles: np.ndarray
    loose_edges: int
    crosses: bool | None
    materials: tuple[Material, ...]

    @property
    def usable(self) -> bool:
        """Whether there is a surface, of finite coordinates within 1 km of the origin."""
        return bool(
            len(self.triangles)
            and np.isfinite(self.vertices).all()
            and (np.abs(self.vertices) <= MAX_METRES * 1.001).all()
        )


@dataclass(frozen=True, eq=False)
class Item:
    """One object. `matrix` is its 4 x 4 transformation to the world."""

    id: int
    name: str
    type: str
    matrix: np.ndarray
    hidden: bool
    modifiers: tuple[str, ...]
    mesh: Mesh | None = None
    light: Light | None = None
    camera: Camera | None = None

    @property
    def location(self) -> np.ndarray:
        """Its origin in the world, in metres."""
        return self.matrix[:3, 3]


@dataclass(frozen=True, eq=False)
class Snapshot:
    """A scene: its objects in the order of their ids, the picture's size in pixels, and the active camera."""

    items: tuple[Item, ...]
    resolution: tuple[int, int]
    camera: Item | None

    def meshes(self, pattern: str = "*") -> tuple[Item, ...]:
        """The visible objects with a surface whose name matches the glob."""
        return tuple(
            item
            for item in self.items
            if item.mesh is not None
            and len(item.mesh.triangles)
            and not item.hidden
            and fnmatchcase(item.name, pattern)
        )


def read_snapshot(result: Mapping[str, Any], blob: bytes) -> Snapshot:
    """A worker's export as a Snapshot. Raises VerifierError when the two do not fit together."""
    try:
        items, at = [], 0
        for entry in result["objects"]:
            item, at = _item(entry, blob, at)
            items.append(item)
        if at != len(blob):
            raise ValueError(f"{len(blob) - at} bytes are left over")
        width, height = result["resolution"]
        active = next((item for item in items if item.id == result["camera"] and item.camera is not None), None)
        return Snapshot(tuple(items), (int(width), int(height)), active)
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise VerifierError(f"the exported scene cannot be read: {type(error).__name__}: {error}.") from error


def _item(entry: Mapping[str, Any], blob: bytes, at: int) -> tuple[Item, int]:
    matrix = np.array(entry["matrix"], dtype=np.float64).reshape(4, 4)
    mesh, light, camera = None, None, None
    if "vertices" in entry:
        mesh, at = _mesh(entry, matrix, blob, at)
    if "light" in entry:
        told = entry["light"]
        light = Light(told["kind"], float(told["energy"]), _triple(told["color"]))
    if "camera" in entry:
        told = entry["camera"]
        camera = Camera(
            told["kind"],
            float(told["focal_length_mm"]),
            float(told["sensor_mm"]),
            told["fit"],
            (float(told["shift"][0]), float(told["shift"][1])),
            (float(told["clip"][0]), float(told["clip"][1])),
        )
    modifiers = tuple(str(kind) for kind in entry["modifiers"])
    made = Item(
        entry["id"], entry["name"], entry["type"], matrix, bool(entry["hidden"]), modifiers, mesh, light, camera
    )
    return made, at


def _mesh(entry: Mapping[str, Any], matrix: np.ndarray, blob: bytes, at: int) -> tuple[Mesh, int]:
    count, faces = int(entry["vertices"]), int(entry["triangles"])
    local = np.frombuffer(blob, np.float32, 3 * count, at).reshape(count, 3).astype(np.float64)
    at += 12 * count
    triangles = np.frombuffer(blob, np.int32, 3 * faces, at).reshape(faces, 3).astype(np.int64)
    at += 12 * faces
    slots = np.frombuffer(blob, np.int32, faces, at)
    at += 4 * faces
    if faces and not (triangles.min() >= 0 and triangles.max() < count):
        raise ValueError("a triangle names a vertex that does not exist")
    with np.errstate(over="ignore", invalid="ignore"):
        vertices = local @ matrix[:3, :3].T + matrix[:3, 3]
    if np.linalg.det(matrix[:3, :3]) < 0:
        # a mirrored object shows the other side of its faces, as every exporter for printing has it
        triangles = triangles[:, ::-1]
    materials = _materials(entry["materials"], vertices, triangles, slots)
    return Mesh(vertices, triangles, int(entry["loose_edges"]), entry["crosses"], materials), at


def _materials(
    told: list[Mapping[str, Any] | None], vertices: np.ndarray, triangles: np.ndarray, slots: np.ndarray
) -> tuple[Material, ...]:
    if not told or not len(triangles):
        return ()
    with np.errstate(over="ignore", invalid="ignore"):
        a, b, c = (vertices[triangles[:, corner]] for corner in range(3))
        areas = np.nan_to_num(np.linalg.norm(np.cross(b - a, c - a), axis=1) / 2)
    # a slot beyond the last one shows the last material
    shares = np.bincount(np.clip(slots, 0, len(told) - 1), weights=areas, minlength=len(told)) / (areas.sum() or 1.0)
    return tuple(
        Material(
            entry["name"],
            _triple(entry["base_color"]),
            float(entry["metallic"]),
            float(entry["roughness"]),
            bool(entry["plain"]),
            float(share),
        )
        for entry, share in zip(told, shares, strict=True)
        if entry is not None and share > 0
    )


def _triple(values: Any) -> tuple[float, float, float]:
    x, y, z = (float(value) for value in values)
    return x, y, z

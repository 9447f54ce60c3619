"""Judges of what the picture shows: materials, lights and the camera."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from tradeschool.verify import meshes

from . import checkfile as kinds
from .chosen import SLACK, Verdict, box_of, chosen, each, surface, tells
from .framing import axes, project, visible_share
from .snapshot import Item, Material, Mesh, Snapshot


def material(check: kinds.MaterialCheck, scene: Snapshot) -> Verdict:
    def fits(found: Material) -> list[bool]:
        asked = []
        if check.base_color is not None:
            off = max(abs(a - b) for a, b in zip(found.base_color, check.base_color, strict=True))
            asked.append(off <= check.color_tolerance + SLACK)
        if check.metallic is not None:
            asked.append(abs(found.metallic - check.metallic) <= check.tolerance + SLACK)
        if check.roughness is not None:
            asked.append(abs(found.roughness - check.roughness) <= check.tolerance + SLACK)
        return asked

    def ask(item: Item) -> Verdict:
        worn = [found for found in surface(item).materials if found.plain and found.share >= check.share - SLACK]
        if not worn:
            return 0.0, f"no plain material covers {check.share:.0%} of it"
        asked = fits(worn[0])
        seen = f"colour {tells(worn[0].base_color)}, metallic {worn[0].metallic:.3g}, roughness {worn[0].roughness:.3g}"
        return sum(asked) / len(asked), seen

    return each(check.objects, scene, ask)


def light(check: kinds.LightCheck, scene: Snapshot) -> Verdict:
    target = None
    if check.aimed_at is not None:
        aimed = [item for item in chosen(check.aimed_at, scene) if item.mesh is not None and item.mesh.usable]
        if not aimed:
            return 0.0, f"there is no visible mesh {check.aimed_at!r}"
        low, high = box_of(aimed)
        target = (low + high) / 2
    found = [item for item in scene.items if item.light is not None and not item.hidden and _lit(check, item, target)]
    fits = len(found) >= check.min and (check.max is None or len(found) <= check.max)
    total = sum(item.light is not None for item in scene.items)
    most = "any" if check.max is None else check.max
    return float(fits), f"{len(found)} of {total} lights fit, asked {check.min} to {most}"


def _lit(check: kinds.LightCheck, item: Item, target: np.ndarray | None) -> bool:
    lamp = item.light
    if lamp is None or (check.light is not None and lamp.kind != check.light):
        return False
    if check.energy is not None and not check.energy[0] - SLACK <= lamp.energy <= check.energy[1] + SLACK:
        return False
    if check.within is not None:
        low, high = np.array(check.within)
        if (item.location < low - SLACK).any() or (item.location > high + SLACK).any():
            return False
    if target is None or lamp.kind == "point":
        return True
    shines, way = -axes(item)[:, 2], target - item.location
    reach = float(np.linalg.norm(way))
    if reach < SLACK:
        return False
    return math.degrees(math.acos(max(-1.0, min(1.0, float(shines @ way) / reach)))) <= check.max_angle_deg


def camera(check: kinds.CameraCheck, scene: Snapshot) -> Verdict:
    eye = scene.camera
    if eye is None or eye.camera is None:
        return 0.0, "the scene has no active camera"
    if eye.camera.kind != "persp" or any(eye.camera.shift):
        return 0.0, "the camera is not a plain perspective one"
    items = tuple(item for pattern in check.frames for item in chosen(pattern, scene))
    missing = [pattern for pattern in check.frames if not chosen(pattern, scene)]
    if missing:
        return 0.0, f"there is no visible mesh {missing[0]!r}"
    named = " and ".join(check.frames)
    try:
        low, high = box_of(items)
    except meshes.NotSolid as fault:
        return 0.0, str(fault)
    points = np.concatenate([surface(item).vertices[np.unique(surface(item).triangles)] for item in items])
    seen, depth = project(points, eye, scene.resolution)
    near, far = eye.camera.clip
    if (depth <= near).any() or (depth >= far).any():
        return 0.0, f"{named} is not wholly between the camera's clip distances"
    left, right = seen.min(axis=0), seen.max(axis=0)
    if (left < check.margin - SLACK).any() or (right > 1 - check.margin + SLACK).any():
        return 0.0, f"{named} spans {tells(left)} to {tells(right)} of the picture, beyond the margin"
    if check.visible_share is not None:
        share = _visible(eye, items, scene)
        if share < check.visible_share:
            return 0.0, f"{named}: only {share:.0%} of what faces the camera is unhidden"
    asked = [(True, f"spans {tells(left)} to {tells(right)} of the picture")]
    if check.fill is not None:
        side = float((right - left).max())
        asked.append((check.fill[0] - SLACK <= side <= check.fill[1] + SLACK, f"fills {side:.3f}"))
    if check.center_tolerance is not None:
        off = float(np.abs((left + right) / 2 - 0.5).max())
        asked.append((off <= check.center_tolerance + SLACK, f"off the middle by {off:.3f}"))
    if check.focal_length_mm is not None:
        lens = eye.camera.focal_length_mm
        asked.append((check.focal_length_mm[0] - SLACK <= lens <= check.focal_length_mm[1] + SLACK, f"{lens:.1f} mm"))
    if check.elevation_deg is not None:
        way = eye.location - (low + high) / 2
        angle = math.degrees(math.atan2(way[2], math.hypot(way[0], way[1])))
        asked.append((check.elevation_deg[0] <= angle <= check.elevation_deg[1], f"from {angle:.1f} degrees above"))
    failed = [told for holds, told in asked if not holds]
    return 1 - len(failed) / len(asked), "; ".join(failed or [told for _, told in asked])


def _visible(eye: Item, items: Sequence[Item], scene: Snapshot) -> float:
    everything = [item.mesh for item in scene.meshes() if item.mesh is not None and item.mesh.usable]
    return min(
        visible_share(eye, surface(item).vertices, surface(item).triangles, _stack(everything)) for item in items
    )


def _stack(parts: Sequence[Mesh]) -> tuple[np.ndarray, np.ndarray]:
    starts = np.cumsum([0, *(len(part.vertices) for part in parts)])
    return (
        np.concatenate([part.vertices for part in parts]),
        np.concatenate([part.triangles + start for part, start in zip(parts, starts[:-1], strict=True)]),
    )

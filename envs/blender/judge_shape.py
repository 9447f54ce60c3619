"""Judges of shape and place: one function a kind of check, from the check and a snapshot to a verdict."""

from __future__ import annotations

from fnmatch import fnmatchcase

import numpy as np
from scipy.optimize import linear_sum_assignment

from tradeschool.verify import meshes

from . import checkfile as kinds
from .chosen import DOUBLED, SLACK, Verdict, bodies_of, box_of, chosen, each, surface, tells, whole
from .snapshot import Item, Snapshot
from .targets import build, solid_of


def count(check: kinds.CountCheck, scene: Snapshot) -> Verdict:
    found = [
        item
        for item in scene.items
        if item.type == check.type
        and not item.hidden
        and fnmatchcase(item.name, check.objects)
        and (item.mesh is None or item.mesh.usable)
    ]
    fits = len(found) >= check.min and (check.max is None or len(found) <= check.max)
    return float(fits), f"{len(found)} of {check.min} to {'any' if check.max is None else check.max} {check.objects!r}"


def only(check: kinds.OnlyCheck, scene: Snapshot) -> Verdict:
    strays = [
        item.name
        for item in scene.items
        if item.mesh is not None and not any(fnmatchcase(item.name, pattern) for pattern in check.objects)
    ]
    return float(not strays), f"not asked for: {', '.join(strays[:8])}" if strays else "nothing else is there"


def dimensions(check: kinds.DimensionsCheck, scene: Snapshot) -> Verdict:
    def ask(item: Item) -> Verdict:
        low, high = box_of([item])
        off = float(np.abs(high - low - check.size).max())
        fits = off <= check.tolerance_m + SLACK
        return float(fits), f"measures {tells(high - low)} m, asked {tells(check.size)}, off by at most {off:.4g}"

    return each(check.objects, scene, ask)


def _anchor(item: Item, anchor: str) -> np.ndarray:
    low, high = box_of([item])
    if anchor == "origin":
        return item.location
    middle = (low + high) / 2
    if anchor == "bottom":
        middle[2] = low[2]
    elif anchor == "top":
        middle[2] = high[2]
    return middle


def places(check: kinds.PlacesCheck, scene: Snapshot) -> Verdict:
    items = [item for item in chosen(check.objects, scene) if item.mesh is not None and item.mesh.usable]
    if not items:
        return 0.0, f"there is no visible mesh {check.objects!r}"
    axis = ["xyz".index(letter) for letter in check.axes]
    stands = np.array([_anchor(item, check.anchor) for item in items])[:, axis]
    wanted = np.array(check.positions)[:, axis]
    off = np.abs(stands[:, None] - wanted[None]).max(axis=2)
    fits = off <= check.tolerance_m + SLACK
    rows, columns = linear_sum_assignment(~fits)
    filled = int(fits[rows, columns].sum())
    nearest = off.min(axis=0).max()
    reason = f"{filled} of {len(wanted)} places filled by {len(items)} objects; the farthest misses by {nearest:.4g} m"
    return filled / max(len(wanted), len(items)), reason


def distance(check: kinds.DistanceCheck, scene: Snapshot) -> Verdict:
    try:
        one, other = whole(check.objects, scene), whole(check.other, scene)
    except meshes.NotSolid as fault:
        return 0.0, str(fault)
    low, high = check.range_m
    shared = (one ^ other).volume()
    if shared > DOUBLED * min(one.volume(), other.volume()):
        return 0.0, f"they overlap by {shared:.4g} m3"
    gap = one.min_gap(other, high + 1.0)
    return float(low - SLACK <= gap <= high + SLACK), f"the gap is {gap:.4g} m, asked {low:.4g} to {high:.4g}"


def on_top(check: kinds.OnTopCheck, scene: Snapshot) -> Verdict:
    under = chosen(check.other, scene)
    if not under:
        return 0.0, f"there is no visible mesh {check.other!r}"

    def ask(item: Item) -> Verdict:
        low, high = box_of([item])
        base_low, base_high = box_of(under)
        gap = float(low[2] - base_high[2])
        shared = np.clip(np.minimum(high, base_high) - np.maximum(low, base_low), 0, None)[:2]
        share = float(shared.prod() / max((high - low)[:2].prod(), 1e-12))
        fits = abs(gap) <= check.tolerance_m + SLACK and share >= check.share - SLACK
        return float(fits), f"its underside is {gap:.4g} m above {check.other!r}, {share:.0%} of it supported"

    return each(check.objects, scene, ask)


def volume(check: kinds.VolumeCheck, scene: Snapshot) -> Verdict:
    try:
        found = whole(check.objects, scene).volume()
    except meshes.NotSolid as fault:
        return 0.0, str(fault)
    off = abs(found / check.volume_m3 - 1.0)
    return float(off <= check.tolerance), f"volume {found:.6g} m3, asked {check.volume_m3:.6g} (off by {off:.2%})"


def solid(check: kinds.SolidCheck, scene: Snapshot) -> Verdict:
    def ask(item: Item) -> Verdict:
        mesh = surface(item)
        if mesh.loose_edges or len(np.unique(mesh.triangles)) < len(mesh.vertices):
            return 0.0, "it has vertices or edges of no face"
        found = bodies_of(item)
        if len(found) != check.bodies:
            return 0.0, f"it has {len(found)} bodies, asked {check.bodies}"
        doubled = meshes.doubled_share(found, meshes.union(found))
        if doubled > DOUBLED:
            return 0.0, f"one of its bodies lies inside or overlaps another ({doubled:.1%} doubled)"
        holes = meshes.genus(mesh.triangles)
        if check.genus is not None and holes != check.genus:
            return 0.0, f"it has {holes} through holes, asked {check.genus}"
        return 1.0, f"watertight, outward, {len(found)} bodies, {holes} through holes"

    return each(check.objects, scene, ask)


def iou(check: kinds.IouCheck, scene: Snapshot) -> Verdict:
    try:
        found = meshes.iou(whole(check.objects, scene), build(check.target))
    except meshes.NotSolid as fault:
        return 0.0, str(fault)
    value = min(1.0, max(0.0, (found - check.zero) / (check.full - check.zero)))
    return value, f"IoU with the target {found:.4f}; full from {check.full}, 0 at {check.zero}"


def probe(check: kinds.ProbeCheck, scene: Snapshot) -> Verdict:
    wanted = solid_of(check.probe)
    try:
        filled = (whole(check.objects, scene) ^ wanted).volume() / wanted.volume()
    except meshes.NotSolid as fault:
        return 0.0, str(fault)
    low, high = check.filled
    return float(
        low - SLACK <= filled <= high + SLACK
    ), f"the probe is {filled:.2%} filled, asked {low:.0%} to {high:.0%}"

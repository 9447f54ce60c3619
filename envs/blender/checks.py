"""The verdict on a scene: pure functions from a check and a snapshot to a value in [0, 1] and a reason.

Nothing here talks to Blender; the same snapshot always gives the same verdict.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from tradeschool.rewards import Part, Reward

from . import checkfile as kinds
from . import judge_look, judge_shape
from .chosen import Verdict
from .snapshot import Snapshot


def evaluate(checks: Sequence[kinds.Check], scene: Snapshot) -> Reward:
    """All checks as the parts of one reward."""
    return Reward.from_parts(_part(check, scene) for check in checks)


def _part(check: kinds.Check, scene: Snapshot) -> Part:
    value, reason = judge(check, scene)
    if value < 1.0 and check.reason:
        reason = f"{reason} ({check.reason})"
    return Part(check.name, value, check.weight, reason, check.gate)


def judge(check: kinds.Check, scene: Snapshot) -> Verdict:
    """One check: its value and why."""
    return JUDGES[check.kind](check, scene)


JUDGES: Mapping[str, Callable[[Any, Snapshot], Verdict]] = MappingProxyType(
    {
        "count": judge_shape.count,
        "only": judge_shape.only,
        "dimensions": judge_shape.dimensions,
        "places": judge_shape.places,
        "distance": judge_shape.distance,
        "on_top": judge_shape.on_top,
        "volume": judge_shape.volume,
        "solid": judge_shape.solid,
        "iou": judge_shape.iou,
        "probe": judge_shape.probe,
        "material": judge_look.material,
        "light": judge_look.light,
        "camera": judge_look.camera,
    }
)

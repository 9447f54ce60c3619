"""The reward of one episode: a number in [0, 1], the parts it is made of, and whether it may be believed."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Part:
    """One named piece of a reward.

    `value` is in [0, 1] for parts with `weight > 0`; a reported-only part (`weight == 0`) may be any finite number,
    for instance a count. A `gate` that is below 1 makes the whole reward 0. `reason` says why, for a person.
    """

    name: str
    value: float
    weight: float = 0.0
    reason: str = ""
    gate: bool = False

    def __post_init__(self) -> None:
        if not (math.isfinite(self.value) and math.isfinite(self.weight)) or self.weight < 0:
            raise ValueError(f"part {self.name!r}: value and weight must be finite and weight >= 0")
        if (self.weight > 0 or self.gate) and not 0.0 <= self.value <= 1.0:
            raise ValueError(f"part {self.name!r}: a weighted value must lie in [0, 1], got {self.value}")


@dataclass(frozen=True)
class Reward:
    """`value` is the weighted mean of the parts, or None when no verdict could be had (`valid` is then False).

    `verifier` says how it was graded: `clean-room` (a fresh sandbox or worker) or `shared`.
    """

    value: float | None
    parts: tuple[Part, ...] = ()
    valid: bool = True
    verifier: str = "clean-room"

    def __post_init__(self) -> None:
        if self.valid != (self.value is not None):
            raise ValueError("a reward has a value exactly when it is valid")
        if self.value is not None and not 0.0 <= self.value <= 1.0:
            raise ValueError(f"a reward lies in [0, 1], got {self.value}")

    @classmethod
    def from_parts(cls, parts: Iterable[Part], *, verifier: str = "clean-room") -> Reward:
        """sum(weight * value) / sum(weight), or 0 when a gate is not fully passed.

        Raises ValueError when neither a weight nor a gate is there to decide.
        """
        parts = tuple(parts)
        total = sum(part.weight for part in parts)
        gates = [part for part in parts if part.gate]
        if total == 0 and not gates:
            raise ValueError("a reward needs at least one part with a weight or a gate")
        if any(part.value < 1.0 for part in gates):
            value = 0.0
        elif total == 0:
            value = 1.0
        else:
            # fsum: the mean of equal values is that value exactly, whatever the weights
            value = math.fsum(part.weight * part.value for part in parts) / math.fsum(part.weight for part in parts)
        return cls(min(1.0, max(0.0, value)), parts, verifier=verifier)

    @classmethod
    def invalid(cls) -> Reward:
        """The reward of an episode whose environment or grader failed. It is not a zero."""
        return cls(None, valid=False, verifier="none")

    def with_parts(self, more: Sequence[Part]) -> Reward:
        """The same verdict with reported-only parts added. Raises ValueError if one of them has a weight."""
        if any(part.weight > 0 or part.gate for part in more):
            raise ValueError("parts added after grading are reported only: their weight is 0")
        return Reward(self.value, self.parts + tuple(more), self.valid, self.verifier)

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return asdict(self)

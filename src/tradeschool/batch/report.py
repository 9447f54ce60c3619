"""What a run came to. An episode without a valid reward is counted, and enters no mean."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tradeschool.batch.store import Row


@dataclass(frozen=True)
class Tally:
    """Episodes counted, and the mean reward of the valid ones (None when there is none)."""

    episodes: int
    valid: int
    mean_reward: float | None

    @classmethod
    def of(cls, rows: Iterable[Row]) -> Tally:
        """Count some episodes."""
        rows = list(rows)
        rewards = [row.reward for row in rows if row.reward is not None]
        return cls(len(rows), len(rewards), math.fsum(rewards) / len(rewards) if rewards else None)

    @property
    def invalid(self) -> int:
        return self.episodes - self.valid

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {
            "episodes": self.episodes,
            "valid": self.valid,
            "invalid": self.invalid,
            "mean_reward": self.mean_reward,
        }


@dataclass(frozen=True)
class Summary:
    """A run in numbers."""

    run: Path
    total: Tally
    by_family: dict[str, Tally]
    rows: tuple[Row, ...]

    def to_dict(self) -> dict[str, Any]:
        """The object that `tradeschool run --json` prints."""
        return {
            "run": str(self.run),
            **self.total.to_dict(),
            "by_family": {family: tally.to_dict() for family, tally in self.by_family.items()},
            "by_task": [
                {
                    "task": row.task,
                    "attempt": row.attempt,
                    "reward": row.reward,
                    "valid": row.valid,
                    "steps": row.steps,
                    "seconds": round(row.seconds, 3),
                    "error": row.error,
                }
                for row in self.rows
            ],
        }


def summarise(run: Path, rows: Sequence[Row]) -> Summary:
    """Count a run's episodes, in all and by family."""
    families = sorted({row.family for row in rows})
    by_family = {family: Tally.of(row for row in rows if row.family == family) for family in families}
    return Summary(run, Tally.of(rows), by_family, tuple(rows))

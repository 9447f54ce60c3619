"""What to play: tasks x attempts, by one agent, in one kind of sandbox, from one seed."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from tradeschool.errors import UsageError
from tradeschool.task import Task, TaskPack


@dataclass(frozen=True)
class Item:
    """One episode to play. `attempt` counts from 1. The seeds come from the run's seed, the task and the attempt."""

    task: Task
    attempt: int
    seed: int
    agent_seed: int

    @property
    def name(self) -> str:
        """The episode's folder: `<task>__<attempt>`."""
        return f"{self.task.name}__{self.attempt}"


@dataclass(frozen=True)
class RunPlan:
    """A whole run, resolved. `sandbox` is a back end's name, never `auto`; `max_steps` None leaves it to each task."""

    pack: TaskPack
    tasks: tuple[Task, ...]
    agent: str
    sandbox: str
    attempts: int = 1
    seed: int = 0
    max_steps: int | None = None
    replay: Path | None = None

    def __post_init__(self) -> None:
        if not self.tasks:
            raise UsageError("a run needs at least one task.")
        for name, value in (("attempts", self.attempts), ("max_steps", self.max_steps)):
            if value is not None and value < 1:
                raise UsageError(f"{name} must be at least 1, got {value}.")
        if self.seed < 0:
            raise UsageError(f"seed must be 0 or more, got {self.seed}.")

    @cached_property
    def items(self) -> tuple[Item, ...]:
        """Every episode, first attempts first."""
        return tuple(self._item(task, attempt) for attempt in range(1, self.attempts + 1) for task in self.tasks)

    def _item(self, task: Task, attempt: int) -> Item:
        return Item(
            task,
            attempt,
            seed=derive_seed(self.seed, task.id, attempt, "environment"),
            agent_seed=derive_seed(self.seed, task.id, attempt, "agent"),
        )

    @cached_property
    def digest(self) -> str:
        """sha256 of all that decides what is played: the options, and the content of every task."""
        return hashlib.sha256(json.dumps(self.to_dict(), sort_keys=True).encode()).hexdigest()

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {
            "pack": self.pack.name,
            "pack_version": self.pack.file.version,
            "pack_folder": str(self.pack.root),
            "tasks": {task.id: task.digest for task in self.tasks},
            "agent": self.agent,
            "sandbox": self.sandbox,
            "attempts": self.attempts,
            "seed": self.seed,
            "max_steps": self.max_steps,
            "replay": str(self.replay) if self.replay else None,
        }


def derive_seed(*parts: object) -> int:
    """A seed in [0, 2^31) from anything, by sha256: the same in every process and in any order of play."""
    text = "\0".join(str(part) for part in parts)
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big") >> 1

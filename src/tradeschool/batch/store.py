"""The results of one run, in one folder, safe against a kill at any moment.

    results.sqlite                          one row an episode; SQLite in WAL mode
    plan.json                               what was asked for, resolved
    episodes/<task>__<attempt>/trajectory.json, images/, result.json, error.txt (only where something failed)

An episode's files are complete before its row is there, and the row with its parts and retries is one transaction:
what the database lists is whole, and what it does not list was never finished.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tradeschool import __version__
from tradeschool.batch.plan import RunPlan
from tradeschool.episode import EpisodeResult, Fault
from tradeschool.errors import UsageError
from tradeschool.recordings import save_trajectory

SCHEMA = """
CREATE TABLE run (
    digest TEXT NOT NULL, plan TEXT NOT NULL, tradeschool TEXT NOT NULL, started TEXT NOT NULL, ended TEXT
);
CREATE TABLE episode (
    task TEXT NOT NULL, attempt INTEGER NOT NULL, family TEXT NOT NULL, agent TEXT NOT NULL, seed INTEGER NOT NULL,
    reward REAL, valid INTEGER NOT NULL, steps INTEGER NOT NULL, seconds REAL NOT NULL, ended_by TEXT NOT NULL,
    error_kind TEXT, error_at_fault TEXT, error_message TEXT, task_digest TEXT NOT NULL, folder TEXT NOT NULL,
    PRIMARY KEY (task, attempt), CHECK ((reward IS NULL) = (valid = 0))
);
CREATE TABLE part (
    task TEXT NOT NULL, attempt INTEGER NOT NULL, position INTEGER NOT NULL, name TEXT NOT NULL, value REAL NOT NULL,
    weight REAL NOT NULL, gate INTEGER NOT NULL, reason TEXT NOT NULL,
    PRIMARY KEY (task, attempt, position), FOREIGN KEY (task, attempt) REFERENCES episode
);
CREATE TABLE retry (
    task TEXT NOT NULL, attempt INTEGER NOT NULL, try INTEGER NOT NULL, kind TEXT NOT NULL, at_fault TEXT NOT NULL,
    message TEXT NOT NULL,
    PRIMARY KEY (task, attempt, try), FOREIGN KEY (task, attempt) REFERENCES episode
);
"""


@dataclass(frozen=True)
class Row:
    """One finished episode as the database has it. `reward` is None exactly when not `valid`.

    `short` is the first part that kept the reward below 1, with its reason.
    """

    task: str
    family: str
    attempt: int
    reward: float | None
    valid: bool
    steps: int
    seconds: float
    error: Mapping[str, str] | None
    short: str = ""


class Store:
    """A run's folder and database. One thread writes. A context manager that closes the database."""

    def __init__(self, folder: Path, connection: sqlite3.Connection) -> None:
        self.folder = folder
        self._db = connection

    @classmethod
    def create(cls, folder: Path, plan: RunPlan) -> Self:
        """A new run in `folder`, which is made. Raises UsageError when something lies there already."""
        check_free(folder)
        folder.mkdir(parents=True, exist_ok=True)
        plan_text = json.dumps(plan.to_dict(), indent=1)
        (folder / "plan.json").write_text(plan_text + "\n", "utf-8")
        store = cls(folder, _connect(folder / "results.sqlite"))
        store._db.executescript(SCHEMA)
        with store._db:
            values = (plan.digest, plan_text, __version__, _now())
            store._db.execute("INSERT INTO run (digest, plan, tradeschool, started) VALUES (?, ?, ?, ?)", values)
        return store

    @classmethod
    def open(cls, folder: Path) -> Self:
        """A run that is there. Raises UsageError when `folder` holds none."""
        if not (folder / "results.sqlite").is_file():
            raise UsageError(f"{folder} is not the folder of a run: it has no results.sqlite.")
        return cls(folder, _connect(folder / "results.sqlite"))

    def record(self, result: EpisodeResult) -> Path:
        """Keep a finished episode: its files, then its row. The episode's folder is returned."""
        name = f"{result.task.rpartition('/')[2]}__{result.attempt}"
        folder = self.folder / "episodes" / name
        if folder.exists():
            # left by a process that was killed between the files and the row
            shutil.rmtree(folder)
        folder.mkdir(parents=True)
        if result.trajectory is not None:
            save_trajectory(result.trajectory, folder)
        traces = [fault.trace for fault in (*result.retries, *([result.error] if result.error else []))]
        if traces:
            (folder / "error.txt").write_text("\n".join(traces), "utf-8", errors="replace")
        (folder / "result.json").write_text(json.dumps(result.to_dict(), indent=1) + "\n", "utf-8")
        with self._db:
            self._insert(result, f"episodes/{name}")
        return folder

    def _insert(self, result: EpisodeResult, folder: str) -> None:
        key = (result.task, result.attempt)
        error = result.error or Fault("", "", "")
        row = (
            *key,
            result.family,
            result.agent,
            result.seed,
            result.reward.value if result.reward else None,
            result.valid,
            result.steps,
            result.seconds,
            result.ended_by,
            *((error.kind, error.at_fault, error.message) if result.error else (None, None, None)),
            result.task_digest,
            folder,
        )
        self._db.execute(f"INSERT INTO episode VALUES ({', '.join('?' * len(row))})", row)
        parts = result.reward.parts if result.reward else ()
        self._db.executemany(
            "INSERT INTO part VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            [(*key, at, part.name, part.value, part.weight, part.gate, part.reason) for at, part in enumerate(parts)],
        )
        self._db.executemany(
            "INSERT INTO retry VALUES (?, ?, ?, ?, ?, ?)",
            [(*key, at, fault.kind, fault.at_fault, fault.message) for at, fault in enumerate(result.retries, 1)],
        )

    def finish(self) -> None:
        """Note that every episode of the plan is there."""
        with self._db:
            self._db.execute("UPDATE run SET ended = ?", (_now(),))

    def rows(self) -> tuple[Row, ...]:
        """Every finished episode, ordered by task and attempt."""
        found = self._db.execute(
            "SELECT task, family, attempt, reward, valid, steps, seconds, error_kind, error_at_fault, error_message, ("
            "  SELECT part.name || ': ' || part.reason FROM part WHERE part.task = episode.task"
            "  AND part.attempt = episode.attempt AND (weight > 0 OR gate = 1) AND value < 1 ORDER BY position LIMIT 1"
            ") FROM episode ORDER BY task, attempt"
        )
        return tuple(_row(values) for values in found)

    def close(self) -> None:
        """Close the database. Idempotent."""
        self._db.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def check_free(folder: Path) -> None:
    """Raise UsageError when a new run in `folder` would mix with what lies there."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        what = "is not empty" if folder.is_dir() else "is a file"
        raise UsageError(f"--out {folder} {what}. Give a new folder, so that no result is overwritten.")


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=30)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA foreign_keys = ON")
    return connection


def _row(values: tuple[Any, ...]) -> Row:
    task, family, attempt, reward, valid, steps, seconds, kind, at_fault, message, short = values
    error = None if kind is None else {"kind": kind, "at_fault": at_fault, "message": message}
    return Row(task, family, attempt, reward, bool(valid), steps, seconds, error, short or "")


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")

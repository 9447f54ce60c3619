"""Tasks and packs as data: what an author writes, read once, frozen, and never executed here.

pack.toml                       name, version, licence, authors, description
<task-id>/task.toml             Harbor's tables + [tradeschool]
          instruction.md
          environment/  tests/  solution/  exploits/
"""

from __future__ import annotations

import fnmatch
import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from importlib import resources
from pathlib import Path
from typing import Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field

from tradeschool.errors import TaskError, UsageError, did_you_mean
from tradeschool.families import FAMILIES
from tradeschool.tomlfile import read_model

NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
Split = Literal["train", "dev", "test", "private"]
SPLITS: tuple[str, ...] = get_args(Split)
PARTS_OF_A_TASK = ("instruction.md", "tests", "solution")
FamilyName = Literal["terminal", "blender", "docqa"]


class _Table(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class _OpenTable(BaseModel):
    """A table of Harbor's of which we use a few fields and keep quiet about the rest."""

    model_config = ConfigDict(frozen=True, extra="allow", strict=True)


class TaskLimits(_Table):
    """What one episode may use. Sizes in MiB, times in seconds."""

    max_steps: int = Field(default=50, ge=1, le=100_000)
    wall_time_s: float = Field(default=900.0, gt=0)
    command_timeout_s: float = Field(default=60.0, gt=0)
    processes: int = Field(default=128, ge=8)
    output_bytes: int = Field(default=16_384, ge=256)


class TradeschoolTable(_Table):
    """`[tradeschool]` of task.toml: what Harbor's format has no field for."""

    family: FamilyName
    difficulty: int = Field(default=1, ge=1, le=5)
    split: Split = "train"
    licence: str | None = None
    kind: str = ""
    artifacts: tuple[str, ...] = ("/workspace",)
    requires: tuple[str, ...] = ()
    required_tests: tuple[str, ...] = ()
    regression_tests: tuple[str, ...] = ()
    seed: int = 0
    limits: TaskLimits = TaskLimits()


class TaskTable(_OpenTable):
    """Harbor's `[task]`."""

    name: str = ""
    description: str = ""


class PhaseTable(_OpenTable):
    """Harbor's `[agent]` and `[verifier]`: how long the phase may take."""

    timeout_sec: float = Field(default=600.0, gt=0)


class EnvironmentTable(_OpenTable):
    """Harbor's `[environment]`, the resources of the sandbox."""

    cpus: float = Field(default=1.0, gt=0)
    memory_mb: int = Field(default=1024, ge=16)
    build_timeout_sec: float = Field(default=600.0, gt=0)


class TaskFile(_Table):
    """The whole of task.toml."""

    schema_version: str = "1.4"
    task: TaskTable = TaskTable()
    metadata: dict[str, Any] = Field(default_factory=dict)
    agent: PhaseTable = PhaseTable()
    verifier: PhaseTable = PhaseTable()
    environment: EnvironmentTable = EnvironmentTable()
    tradeschool: TradeschoolTable


class PackFile(_Table):
    """The whole of pack.toml."""

    name: str = Field(pattern=r"^[a-z0-9][a-z0-9._-]{0,63}$")
    version: str
    licence: str
    description: str = ""
    authors: tuple[str, ...] = ()


@dataclass(frozen=True)
class TaskPaths:
    """Where each thing of a task lies; the only place that knows the layout."""

    root: Path

    @property
    def config(self) -> Path:
        return self.root / "task.toml"

    @property
    def instruction(self) -> Path:
        return self.root / "instruction.md"

    @property
    def environment(self) -> Path:
        return self.root / "environment"

    @property
    def tests(self) -> Path:
        return self.root / "tests"

    @property
    def solution(self) -> Path:
        return self.root / "solution"

    @property
    def exploits(self) -> Path:
        return self.root / "exploits"


@dataclass(frozen=True)
class Task:
    """One task of a pack, frozen. `id` is `<pack>/<folder>`."""

    id: str
    file: TaskFile
    paths: TaskPaths
    licence: str

    @classmethod
    def load(cls, root: Path, pack: str, pack_licence: str) -> Task:
        """Read `root/task.toml`. Raises TaskError naming file, line and field."""
        paths = TaskPaths(root)
        file = read_model(paths.config, TaskFile)
        if not paths.instruction.is_file() or not paths.instruction.read_text("utf-8").strip():
            raise TaskError(f"{paths.instruction}: missing or empty. Write there what the agent is asked to do.")
        return cls(f"{pack}/{root.name}", file, paths, file.tradeschool.licence or pack_licence)

    @property
    def name(self) -> str:
        """The folder's name, without the pack."""
        return self.paths.root.name

    @property
    def family(self) -> str:
        return self.file.tradeschool.family

    @property
    def limits(self) -> TaskLimits:
        return self.file.tradeschool.limits

    @cached_property
    def instruction(self) -> str:
        """What the agent is asked to do (Markdown)."""
        return self.paths.instruction.read_text("utf-8").strip()

    @cached_property
    def digest(self) -> str:
        """sha256 over every file of the task: path, run bit and content, in sorted order."""
        total = hashlib.sha256()
        for path in sorted(p for p in self.paths.root.rglob("*") if p.is_file() and "__pycache__" not in p.parts):
            run_bit = bool(path.stat().st_mode & 0o100)
            head = f"{path.relative_to(self.paths.root).as_posix()}\0{run_bit}\0{path.stat().st_size}\0"
            total.update(head.encode())
            total.update(path.read_bytes())
        return total.hexdigest()


@dataclass(frozen=True)
class TaskPack:
    """A folder of tasks with a pack.toml."""

    root: Path
    file: PackFile
    tasks: tuple[Task, ...]

    @property
    def name(self) -> str:
        return self.file.name

    @classmethod
    def load(cls, ref: str | Path) -> TaskPack:
        """A built-in pack by name, or any pack by its folder.

        Raises UsageError when there is no such pack (with a suggestion), TaskError when one of its files is broken.
        """
        root = find_pack(ref)
        file = read_model(root / "pack.toml", PackFile)
        folders = sorted(path.parent for path in root.glob("*/task.toml"))
        for folder in folders:
            if not NAME.fullmatch(folder.name):
                raise TaskError(f"{folder}: a task's folder name uses a-z, 0-9, '.', '_' and '-'. Rename it.")
        for path in sorted(root.iterdir()):
            if path.is_dir() and path not in folders and any((path / name).exists() for name in PARTS_OF_A_TASK):
                raise TaskError(f"{path}: looks like a task, but has no task.toml. Add one, or move the folder.")
        if not folders:
            raise TaskError(f"{root}: the pack has no task (no */task.toml).")
        return cls(root, file, tuple(Task.load(folder, file.name, file.licence) for folder in folders))

    def get(self, task: str) -> Task:
        """The task with this id or folder name. Raises UsageError with a suggestion."""
        for candidate in self.tasks:
            if task in (candidate.id, candidate.name):
                return candidate
        raise UsageError(f"pack {self.name!r} has no task {task!r}.{did_you_mean(task, [t.name for t in self.tasks])}")

    def select(self, pattern: str = "*", family: str | None = None, split: str | None = None) -> tuple[Task, ...]:
        """Tasks whose id or folder name matches the glob, of one family and split if given.

        Raises UsageError when nothing is left, or the family is unknown.
        """
        if family is not None and family not in FAMILIES:
            raise UsageError(f"there is no family {family!r}.{did_you_mean(family, FAMILIES)}")
        found = tuple(self._matching(pattern, family, split))
        if not found:
            if split is not None and split not in SPLITS:
                raise UsageError(f"there is no split {split!r}.{did_you_mean(split, SPLITS)}")
            asked = ", ".join(
                f"{key} {value!r}" for key, value in (("task", pattern), ("family", family), ("split", split)) if value
            )
            raise UsageError(f"pack {self.name!r} has no task for {asked}. `tradeschool tasks list` shows what it has.")
        return found

    def _matching(self, pattern: str, family: str | None, split: str | None) -> Iterator[Task]:
        for task in self.tasks:
            named = fnmatch.fnmatchcase(task.name, pattern) or fnmatch.fnmatchcase(task.id, pattern)
            if named and family in (None, task.family) and split in (None, task.file.tradeschool.split):
                yield task


def builtin_packs() -> dict[str, Path]:
    """Name and folder of each pack that comes with the package."""
    base = Path(str(resources.files("tradeschool.tasks")))
    return {path.parent.name: path.parent for path in sorted(base.glob("*/pack.toml"))}


def find_pack(ref: str | Path) -> Path:
    """The folder of a pack, by name or path. Raises UsageError with a suggestion."""
    builtin = builtin_packs()
    if str(ref) in builtin:
        return builtin[str(ref)]
    folder = Path(ref).expanduser()
    if (folder / "pack.toml").is_file():
        return folder.resolve()
    if folder.is_dir():
        raise UsageError(f"{folder} is not a pack: it has no pack.toml. Give the folder that holds pack.toml.")
    if "/" in str(ref):
        raise UsageError(
            f"there is no folder {folder}. Give a pack's folder, or the name of one: {', '.join(builtin)}."
        )
    raise UsageError(f"there is no pack {str(ref)!r}.{did_you_mean(str(ref), builtin)}")

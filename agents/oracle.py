"""The agent that knows the solution: a task must give it 1."""

from __future__ import annotations

import base64
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar, Self

from tradeschool.errors import TaskError, UsageError
from tradeschool.recordings import read_actions
from tradeschool.task import Task

from .base import Agent, AgentContext

TARGET = "/tmp/solution"
"""Where the files of a `solution/` folder are put in the sandbox before `solve.sh` runs there."""
CHUNK_BYTES = 30_000
"""Of a binary file, in one shell command."""
ACTIONS, SCRIPT = "actions.jsonl", "solve.sh"


class OracleAgent(Agent):
    """Plays `solution/actions.jsonl`; or, for a terminal task, puts `solution/` into the sandbox and runs `solve.sh`.

    It acts through the same tools as any agent, so what it can do an agent can do.
    """

    privileged: ClassVar[bool] = True

    def __init__(self, task: Task) -> None:
        self.task = task
        self.actions = solution_actions(task)

    @classmethod
    def create(cls, context: AgentContext) -> Self:
        if context.task is None:
            raise UsageError("the oracle agent needs AgentContext.task: it plays that task's solution.")
        return cls(context.task)

    @classmethod
    def check_task(cls, task: Task) -> None:
        for _ in solution_actions(task):
            pass

    def act(self, observation: Mapping[str, Any], info: Mapping[str, Any]) -> Any:
        try:
            return next(self.actions)
        except StopIteration:
            raise TaskError(
                f"{self.task.paths.solution}: ends, and the episode goes on. The last action must be submit.",
                kind="solution_ended",
            ) from None


def solution_actions(task: Task) -> Iterator[dict[str, Any]]:
    """The tool calls that solve a task. Raises TaskError where the task has no solution or it cannot be read."""
    folder = task.paths.solution
    if (folder / ACTIONS).is_file():
        return iter(read_actions(folder / ACTIONS, TaskError))
    if task.family == "terminal" and (folder / SCRIPT).is_file():
        return iter([*_copy_folder(folder), {"name": "submit", "arguments": {}}])
    wanted = f"{ACTIONS} or {SCRIPT}" if task.family == "terminal" else ACTIONS
    raise TaskError(f"{folder}: has no {wanted}, so the oracle cannot play {task.id}. Write one.")


def _copy_folder(folder: Path) -> Iterator[dict[str, Any]]:
    programs = [SCRIPT]
    for file in sorted(path for path in folder.rglob("*") if path.is_file()):
        name = file.relative_to(folder).as_posix()
        target = f"{TARGET}/{name}"
        data = file.read_bytes()
        if file.stat().st_mode & 0o100:
            programs.append(name)
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError:
            yield from _copy_binary(target, data)
        else:
            yield {"name": "write_file", "arguments": {"path": target, "content": text}}
    marks = " ".join(shlex.quote(f"{TARGET}/{name}") for name in programs)
    yield _shell(f"chmod +x {marks} && bash {TARGET}/{SCRIPT}")


def _copy_binary(target: str, data: bytes) -> Iterator[dict[str, Any]]:
    quoted = shlex.quote(target)
    yield _shell(f"mkdir -p {shlex.quote(str(Path(target).parent))} && : > {quoted}")
    for start in range(0, len(data), CHUNK_BYTES):
        lines = base64.encodebytes(data[start : start + CHUNK_BYTES]).decode("ascii")
        yield _shell(f"base64 -d >> {quoted} <<'END_OF_DATA'\n{lines}END_OF_DATA")


def _shell(command: str) -> dict[str, Any]:
    return {"name": "shell", "arguments": {"command": command}}

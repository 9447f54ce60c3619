"""`tradeschool/Terminal-v0`."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import ClassVar

from tradeschool.errors import TaskError
from tradeschool.task import Task

from ..base import Session, ToolEnv
from .session import TerminalSession


class TerminalEnv(ToolEnv):
    """Programming and system work in a real Linux sandbox.

    ## Description
    The agent works in `/workspace` of a sandbox of its own (a container, or Linux namespaces): real files, real
    programs, no network. When it submits, its processes are killed, the files the task names are copied into a fresh
    sandbox, and hidden tests judge them there.

    ## Action space
    `{"name": str, "arguments": dict}`, a call of one of: `shell(command, timeout_s=)`, `read_file(path, start=,
    lines=)`, `write_file(path, content)`, `edit_file(path, old, new)`, `submit()`. Paths are absolute or relative to
    `/workspace`. A call that is no such thing is answered with what was wrong, and counts as a step.

    ## Observation space
    `{"text": str, "images": ()}`: the tool's output, at most the task's `output_bytes`, cut in the middle. The first
    observation is the task's instruction.

    ## Reward
    0 until the end, then `1 if every required and every regression test passed else 0`, or what the task's own
    tests/test.sh reports in [0, 1]. `info["reward"]` holds the parts: the share of tests, each test's verdict, and how
    the agent behaved (share of well-formed and legal calls, steps, repeated failing calls), all reported only.

    ## Episode end
    Terminated when the agent submits. Truncated after `max_steps` calls or the task's wall time; the state left behind
    is graded then too.

    ## Arguments
    `pack` (a built-in pack's name or a folder; `"starter"`), `task` (an id; None: the seed draws one), `split`
    (`train`, `dev`, `test`, `private`; None: any), `sandbox` (`"auto"`, `"docker"`, `"namespace"`),
    `max_steps` (None: the task's), `render_mode` (`"ansi"`, `"rgb_array"`).

    ## Version history
    - v0: first version.
    """

    family: ClassVar[str] = "terminal"
    session_class: ClassVar[type[Session]] = TerminalSession

    @classmethod
    def check_task(cls, task: Task) -> None:
        super().check_task(task)
        wanted = task.file.tradeschool.required_tests
        if not wanted and not (task.paths.tests / "test.sh").is_file():
            raise TaskError(
                f"{task.paths.config}: name the hidden tests in [tradeschool] required_tests, or write tests/test.sh."
            )
        for test in (*wanted, *task.file.tradeschool.regression_tests):
            if not _defines(task.paths.tests, test):
                raise TaskError(f"{task.paths.config}: {test!r} is in no file of tests/. Correct its name.")


def _defines(tests: Path, test: str) -> bool:
    """Whether `file.py::name`, or `file.py::Class::name[case]`, is there, by reading the file without running it."""
    file, _, name = test.partition("::")
    if not (tests / file).is_file():
        return False
    try:
        tree = ast.parse((tests / file).read_text("utf-8"))
    except (SyntaxError, ValueError) as error:
        raise TaskError(f"{tests / file}: is not Python ({error}).") from error
    wanted = name.split("[")[0].split("::")[-1]
    return any(isinstance(node, ast.FunctionDef) and node.name == wanted for node in ast.walk(tree))

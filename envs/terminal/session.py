"""A terminal episode: one sandbox with a shell, file tools, and a clean-room grader."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from typing import Any, ClassVar

from tradeschool.errors import SandboxError
from tradeschool.rewards import Reward
from tradeschool.sandbox import Sandbox, SandboxSpec, Shell, open_sandbox
from tradeschool.sandbox.base import WORKSPACE
from tradeschool.tools import Tool, ToolResult

from ..base import Session, SessionConfig
from .verify import ENDED, Spoiled, collect, is_healthy, spoiled, verify
from .workspace import prepare, task_limits

MAX_TIMEOUT_S = 3600.0
_PATH = {
    "type": "string",
    "minLength": 1,
    "maxLength": 4096,
    "description": "Absolute, or relative to /workspace.",
    "examples": ["README.md", "notes.txt", "/workspace/data.txt"],
}

TOOLS = (
    Tool(
        "shell",
        "Run a bash command line in a persistent shell that starts in /workspace; folder, variables and functions stay "
        "from call to call. Standard input is empty. The output is cut in the middle when it is long.",
        {
            "type": "object",
            "properties": {
                "command": {"type": "string", "maxLength": 200_000, "examples": ["ls -la", "pwd", "cat README.md"]},
                "timeout_s": {
                    "type": "number",
                    "exclusiveMinimum": 0,
                    "maximum": MAX_TIMEOUT_S,
                    "description": "Seconds until it is stopped, with every other process.",
                    "examples": [10, 30],
                },
            },
            "required": ["command"],
        },
    ),
    Tool(
        "read_file",
        "Show a text file, or `lines` of its lines from line `start` (counted from 1).",
        {
            "type": "object",
            "properties": {
                "path": _PATH,
                "start": {"type": "integer", "minimum": 1, "maximum": 10_000_000},
                "lines": {"type": "integer", "minimum": 1, "maximum": 100_000},
            },
            "required": ["path"],
        },
    ),
    Tool(
        "write_file",
        "Write a text file whole, replacing it if it exists; folders on the way are made.",
        {
            "type": "object",
            "properties": {"path": _PATH, "content": {"type": "string", "maxLength": 4_000_000}},
            "required": ["path", "content"],
        },
    ),
    Tool(
        "edit_file",
        "Replace one piece of a text file. `old` must occur exactly once, to the letter; give enough of the text "
        "around it.",
        {
            "type": "object",
            "properties": {"path": _PATH, "old": {"type": "string", "minLength": 1}, "new": {"type": "string"}},
            "required": ["path", "old", "new"],
        },
    ),
    Tool("submit", "Say that the work is done. It ends the episode, and the files are graded.", {"type": "object"}),
)


class TerminalSession(Session):
    """See the module."""

    tools: ClassVar[tuple[Tool, ...]] = TOOLS

    def __init__(self, config: SessionConfig) -> None:
        super().__init__(config)
        self._sandbox: Sandbox | None = None
        self._shell: Shell | None = None

    def launch(self) -> None:
        first = prepare(self.task, self.config.sandbox, self.hidden)
        spec = SandboxSpec(workspace=first, hidden=self.hidden, limits=task_limits(self.task))
        self._sandbox = open_sandbox(self.config.sandbox, spec)
        self._sandbox.start()

    def open(self) -> str:
        assert self._sandbox is not None
        self._shell = self._sandbox.shell()
        return ""

    def call(self, name: str, arguments: Mapping[str, Any]) -> ToolResult:
        """Do one call. A sandbox that the agent brought down ends the episode, and what it left is graded.

        Raises SandboxError when the infrastructure failed: no new sandbox would start either.
        """
        try:
            return super().call(name, arguments)
        except SandboxError as error:
            if error.kind in ENDED and is_healthy(self.config.sandbox):
                return ToolResult(f"The sandbox works no more ({error}); the episode ends.", status="failed", done=True)
            raise

    def grade(self) -> Reward:
        assert self._sandbox is not None
        try:
            artifacts = collect(self.task, self._sandbox)
        except Spoiled as error:
            return spoiled(str(error))
        return verify(self.task, artifacts, self.config.sandbox, self.hidden)

    def close(self) -> None:
        sandbox, self._sandbox = self._sandbox, None
        if sandbox is not None:
            sandbox.close()

    def do_shell(self, command: str, timeout_s: float | None = None) -> ToolResult:
        assert self._shell is not None
        limit = self.task.limits.command_timeout_s if timeout_s is None else timeout_s
        done = self._shell.run(command, min(limit, max(1.0, self.seconds_left)))
        ending = "" if done.exit_code is None else f"[exit code {done.exit_code}]"
        if done.notice:
            ending = f"{ending}\n[{done.notice}]".strip()
        output = done.output if not done.output or done.output.endswith("\n") else f"{done.output}\n"
        return ToolResult(output + ending, status="ok" if done.exit_code == 0 else "failed")

    def do_read_file(self, path: str, start: int = 1, lines: int | None = None) -> ToolResult:
        text, trouble = self._read(path)
        if trouble:
            return trouble
        if start > 1 or lines is not None:
            every = text.splitlines(keepends=True)
            end = len(every) if lines is None else start - 1 + lines
            text = "".join(every[start - 1 : end])
            if not text:
                return ToolResult(
                    f"{path} has {len(every)} lines; there is none from line {start} on.", status="failed"
                )
        limit = self.task.limits.output_bytes
        if len(text) > limit:
            text = f"{text[:limit]}\n[cut after {limit} of {len(text)} characters; read on with `start` and `lines`]"
        return ToolResult(text)

    def do_write_file(self, path: str, content: str) -> ToolResult:
        return self._write(path, content) or ToolResult(f"Wrote {len(content.splitlines())} lines to {path}.")

    def do_edit_file(self, path: str, old: str, new: str) -> ToolResult:
        text, trouble = self._read(path)
        if trouble:
            return trouble
        count = text.count(old)
        if count != 1:
            found = "does not occur" if count == 0 else f"occurs {count} times"
            return ToolResult(
                f"Nothing was changed: `old` {found} in {path}. It must occur exactly once.", status="failed"
            )
        return self._write(path, text.replace(old, new)) or ToolResult(f"Edited {path}.")

    def do_submit(self) -> ToolResult:
        return ToolResult("Submitted.", done=True)

    def _read(self, path: str) -> tuple[str, ToolResult | None]:
        assert self._sandbox is not None
        try:
            raw = self._sandbox.read_bytes(_absolute(path), 4_000_000)
            return raw.decode("utf-8"), None
        except UnicodeDecodeError:
            said = f"{path} is not a UTF-8 text file. Look at it with the shell (for instance `xxd`)."
        except (OSError, ValueError) as error:
            said = f"{path} cannot be read: {_plain(error)}."
        return "", ToolResult(said, status="failed")

    def _write(self, path: str, content: str) -> ToolResult | None:
        assert self._sandbox is not None
        try:
            self._sandbox.write_bytes(_absolute(path), content.encode("utf-8", "replace"))
        except (OSError, ValueError) as error:
            return ToolResult(f"{path} cannot be written: {_plain(error)}.", status="failed")
        return None


def _absolute(path: str) -> str:
    return posixpath.join(WORKSPACE, path)


def _plain(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)

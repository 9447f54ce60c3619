"""The sandbox contract: one isolated machine for one episode, seen from outside.

Covered by every back end: own file system, processes, users, host name and IPC; no network; limits on memory,
processes, open files and wall time; no capability, no privilege gained by SUID files; nothing of the host but its
system folders (read-only) and what `Mount` names.
Not covered: a kernel vulnerability (agents share the host's kernel), CPU caches and other side channels, disk quota
beyond the size of one file.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self

WORKSPACE = "/workspace"
"""Where a task's files lie and every command starts."""

ENVIRONMENT: Mapping[str, str] = {
    "HOME": "/root",
    "LANG": "C.UTF-8",
    "PATH": "/opt/tradeschool/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    "TERM": "dumb",
    "NO_COLOR": "1",
    "TZ": "UTC",
    "PAGER": "cat",
    "GIT_PAGER": "cat",
    "PYTHONDONTWRITEBYTECODE": "1",
}
"""The whole environment of a sandbox's processes, before what a spec or a call adds."""


@dataclass(frozen=True)
class Limits:
    """What a sandbox may use. Memory in MiB, file size in MiB, times in seconds, output in bytes."""

    memory_mb: int = 1024
    cpus: float = 1.0
    processes: int = 128
    open_files: int = 1024
    file_mb: int = 1024
    command_timeout_s: float = 60.0
    output_bytes: int = 16_384


@dataclass(frozen=True)
class Mount:
    """A host file or folder shown read-only at `target`.

    `private`: the source may lie where the sandbox's user cannot read (a home, a checkout), so it is copied first.
    """

    source: Path
    target: str
    private: bool = False


@dataclass(frozen=True)
class SandboxSpec:
    """What to start: files to begin with, what to show of the host, limits.

    `workspace` is a tar of the workspace's content at the start (None: empty); equal bytes are unpacked once and
    shared. `hidden` are folders of the host that stay out of sight even where a mount or a system folder holds them.
    `image` names a root file system of the back end (`base` is the only one so far).
    """

    image: str = "base"
    workspace: bytes | None = field(default=None, repr=False)
    mounts: tuple[Mount, ...] = ()
    hidden: tuple[Path, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    limits: Limits = Limits()


@dataclass(frozen=True)
class Capabilities:
    """What a back end enforces here, for a task to compare with what it needs. `detail` is a line for people."""

    memory: str
    processes: str
    network: str
    cpu: str
    detail: str = ""


@dataclass(frozen=True)
class Completed:
    """A finished command. Output beyond `limits.output_bytes` is cut in the middle, and `truncated` is then True.

    `timed_out`: the command was killed with all it had started; `exit_code` is then -1 and the output what it had
    written until then.
    """

    exit_code: int
    stdout: bytes
    stderr: bytes
    truncated: bool
    duration_s: float
    timed_out: bool = False


@dataclass(frozen=True)
class ShellResult:
    """One command in a persistent shell: its output as text (invalid UTF-8 replaced), cut in the middle if long.

    `exit_code` is None when the command did not end by itself; `notice` then says why (a time-out, the shell's end).
    """

    output: str
    exit_code: int | None
    duration_s: float
    notice: str = ""


class Shell(ABC):
    """A bash that keeps its folder, variables and functions between commands."""

    @abstractmethod
    def run(self, command: str, timeout_s: float | None = None) -> ShellResult:
        """Run a command line (any bash, several lines too) and wait for it.

        After `timeout_s` (default: the sandbox's `command_timeout_s`) every process of the sandbox is killed and a
        new shell started. Raises SandboxError only when the sandbox itself is gone.
        """

    @abstractmethod
    def close(self) -> None:
        """End the shell and what runs in its foreground. Idempotent."""


class Channel(ABC):
    """The standard input and output of one process in a sandbox, as binary pipes."""

    @abstractmethod
    def write(self, data: bytes, timeout_s: float) -> None:
        """Send all of `data`. Raises SandboxError (kind `closed` or `timeout`)."""

    @abstractmethod
    def read(self, size: int, timeout_s: float) -> bytes:
        """Exactly `size` bytes. Raises SandboxError (kind `closed` or `timeout`)."""

    @abstractmethod
    def stderr(self) -> str:
        """The last 16 KiB the process wrote to standard error so far, for error messages."""

    @abstractmethod
    def close(self) -> None:
        """Kill the process and close the pipes. Idempotent."""


class Sandbox(ABC):
    """One sandbox, from `start` to `close`; a context manager that does both."""

    def __init__(self, spec: SandboxSpec) -> None:
        self.spec = spec

    @classmethod
    @abstractmethod
    def check(cls) -> Capabilities:
        """What this back end can enforce here. Raises SandboxError, with the remedy, where it cannot run."""

    @abstractmethod
    def start(self) -> None:
        """Bring it up, or begin to: the first call then waits. Never with less isolation than the contract says.

        Raises SandboxError.
        """

    def run(
        self,
        command: str | Sequence[str],
        timeout_s: float | None = None,
        *,
        cwd: str = WORKSPACE,
        env: Mapping[str, str] | None = None,
        stdin: bytes = b"",
    ) -> Completed:
        """Run a bash command line, or a program with arguments, in a process of its own, and wait for it.

        A non-zero exit is a result, not an error. Raises SandboxError when the sandbox is gone.
        """
        limits = self.spec.limits
        limit_s = limits.command_timeout_s if timeout_s is None else timeout_s
        return self._run(command, limit_s, cwd, env, stdin, limits.output_bytes)

    @abstractmethod
    def _run(
        self,
        command: str | Sequence[str],
        limit_s: float,
        cwd: str,
        env: Mapping[str, str] | None,
        stdin: bytes,
        output_bytes: int,
    ) -> Completed:
        """`run` with everything resolved; at most `output_bytes` of each stream are kept."""

    @abstractmethod
    def shell(self) -> Shell:
        """A new persistent shell in the workspace."""

    @abstractmethod
    def connect(self, argv: Sequence[str], *, cwd: str = WORKSPACE, env: Mapping[str, str] | None = None) -> Channel:
        """Start a program and talk to it over pipes."""

    @abstractmethod
    def read_bytes(self, path: str, max_bytes: int = 64 * 2**20) -> bytes:
        """The content of a file; a relative path starts at /workspace. Links are followed inside the sandbox only.

        Raises FileNotFoundError, IsADirectoryError, PermissionError, or ValueError when it is over `max_bytes`.
        """

    @abstractmethod
    def write_bytes(self, path: str, data: bytes, mode: int = 0o644) -> None:
        """Write a file, making its folders; relative to /workspace if not absolute.

        Raises OSError as `open` in the sandbox would.
        """

    @abstractmethod
    def freeze(self) -> None:
        """Kill every process of the sandbox for good. Files stay: afterwards only `export` and `close` are allowed."""

    @abstractmethod
    def export(self, paths: Sequence[str], max_bytes: int = 512 * 2**20) -> bytes:
        """A tar of files and folders (absolute paths; what is missing is left out), links not followed.

        Raises SandboxError (kind `too_large`) over `max_bytes`.
        """

    @abstractmethod
    def unpack(self, archive: bytes) -> None:
        """Unpack such a tar at `/`, inside the sandbox, so that hostile names can reach nothing else."""

    @abstractmethod
    def close(self) -> None:
        """Kill every process and remove every trace. Idempotent, and called on every way out."""

    def __enter__(self) -> Self:
        try:
            self.start()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

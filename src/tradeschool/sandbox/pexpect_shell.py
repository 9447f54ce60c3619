"""A persistent bash on a terminal, driven through pexpect: the same for every back end.

How a command ends is known by a marker that the command cannot guess. The shell is interactive, without prompts or
echo. For each command three things are typed ahead:

    __ts_read K ; eval "$__ts_command" </dev/null
    <the command, escaped, in short lines>  K
    __ts_end T

`K` and `T` are random. The command runs with nothing on its standard input, so `T` waits in the terminal's queue where
a program cannot meet it by accident. `T` is typed as a line of its own, so it is reached whatever the command does:
a syntax error, an open quote, `break`, a trailing comment.

Not covered: a program that opens /dev/tty on purpose can read `T` and fake the end of its own command. It deceives
only the agent that wrote it: nothing is graded here.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import secrets
import struct
import termios
import time
from collections.abc import Callable
from typing import Protocol

import pexpect

from tradeschool.errors import SandboxError
from tradeschool.sandbox.base import Limits, Shell, ShellResult
from tradeschool.sandbox.output import HeadTail
from tradeschool.sandbox.waiting import READ, WRITE, wait_for

BASH = ("bash", "--noprofile", "--norc", "--noediting", "-i")
START_TIMEOUT_S = 30.0
POLL_S = 0.2
LINE = 1000  # a terminal's line holds 4095 bytes; an escape is 4, and is never split
MARK = b"\x1e"

# where the terminal's own descriptor is in our hands this is done to it directly, without starting a program
STTY = "stty -echo -onlcr cols 120 rows 40; "
SIZE = struct.pack("HHHH", 40, 120, 0, 0)
SETUP = r"""PS1= PS2= PROMPT_COMMAND=; set +o history; unset HISTFILE
__ts_read() { local line; __ts_command=; while IFS= read -r line && [[ $line != "$1" ]]; do __ts_command+=$line; done; printf -v __ts_command %b "$__ts_command"; }
exec {__ts_fd}>&1; __ts_end() { local status=$?; printf '\036%s:%s\036' "$1" "$status" >&$__ts_fd; }
"""  # noqa: E501


class Tty(Protocol):
    """What is used of a pexpect spawn in bytes mode. `isalive` must be cheap: whether the bash on it still runs."""

    def fileno(self) -> int: ...
    def read_nonblocking(self, size: int = 1, timeout: float | None = None) -> bytes: ...
    def isalive(self) -> bool: ...
    def close(self) -> None: ...


class PexpectShell(Shell):
    """`open_tty` gives a pexpect spawn, in bytes mode, on the terminal of a fresh `bash` (argv `BASH`).

    `kill_all` kills every process of the sandbox but its supervisor.
    """

    def __init__(self, open_tty: Callable[[], Tty], kill_all: Callable[[], None], limits: Limits) -> None:
        self._open_tty = open_tty
        self._kill_all = kill_all
        self._limits = limits
        self._tty: Tty | None = None
        self._notice = ""
        self._begin()

    def run(self, command: str, timeout_s: float | None = None) -> ShellResult:
        limit = self._limits.command_timeout_s if timeout_s is None else timeout_s
        if not _can_be_typed(command):
            return ShellResult("", None, 0.0, "A command is UTF-8 text without NUL characters; nothing was run.")
        lost, self._notice = self._notice, ""
        if self._tty is None:
            self._begin()
        started = time.monotonic()
        output = HeadTail(self._limits.output_bytes)
        key, token = secrets.token_hex(16), secrets.token_hex(16)
        lines = [f'__ts_read {key}; eval "$__ts_command" </dev/null', *_escape(command), key, f"__ts_end {token}"]
        status: int | None = None
        notice = ""
        try:
            self._type("".join(line + "\n" for line in lines).encode(), started + limit, output)
            status = self._read_until(token, started + limit, output)
        except pexpect.TIMEOUT:
            self._drop()
            self._kill_all()
            notice = (
                f"The command was stopped after {time.monotonic() - started:.1f} s (limit {limit:g} s a command). "
                "Every process was ended; a new shell starts in /workspace with its initial variables."
            )
        except (pexpect.EOF, OSError):
            self._drop()
            notice = "The shell has ended; a new one starts in /workspace with its initial variables."
        text = output.text().replace("\r\n", "\n")
        return ShellResult(text, status, time.monotonic() - started, " ".join(filter(None, (lost, notice))))

    def lose(self, reason: str) -> None:
        """Say that the shell's processes were killed from elsewhere; the next command gets a new one and is told."""
        if self._tty is not None:
            self._drop()
            self._notice = reason

    def close(self) -> None:
        self._drop()

    def _begin(self) -> None:
        try:
            self._try_to_begin()
        except (OSError, SandboxError):
            # what the agent left running may be what prevents it
            self._kill_all()
            try:
                self._try_to_begin()
            except OSError as error:
                raise SandboxError(f"no shell can be started: {error}.", kind="shell") from error

    def _try_to_begin(self) -> None:
        token = secrets.token_hex(16)
        self._tty = self._open_tty()
        deadline = time.monotonic() + START_TIMEOUT_S
        sink = HeadTail(4096)
        try:
            fd = self._tty.fileno()
            if os.isatty(fd):
                fcntl.ioctl(fd, termios.TIOCSWINSZ, SIZE)
            setup = SETUP if os.isatty(fd) else STTY + SETUP
            self._type(f"{setup}__ts_end {token}\n".encode(), deadline, sink)
            self._read_until(token, deadline, sink)
        except (pexpect.TIMEOUT, pexpect.EOF, OSError) as error:
            self._drop()
            raise SandboxError(
                f"no shell came up: {sink.text()[-300:]!r} ({type(error).__name__}).", kind="shell"
            ) from error

    def _type(self, data: bytes, deadline: float, output: HeadTail) -> None:
        # reads while it writes: with both directions full, bash would wait for us and we for bash
        assert self._tty is not None
        fd = self._tty.fileno()
        _silence(fd)
        while data:
            ready = wait_for(fd, deadline - time.monotonic(), READ | WRITE)
            if not ready:
                raise pexpect.TIMEOUT("the terminal takes no input")
            if ready & WRITE:
                with contextlib.suppress(BlockingIOError):
                    data = data[os.write(fd, data[:LINE]) :]
            else:
                output.add(self._tty.read_nonblocking(65_536, timeout=0))

    def _read_until(self, token: str, deadline: float, output: HeadTail) -> int:
        """Collect output until the marker; the command's exit code."""
        assert self._tty is not None
        wanted = MARK + token.encode() + b":"
        held = b""
        while True:
            left = deadline - time.monotonic()
            if left <= 0:
                output.add(held)
                raise pexpect.TIMEOUT("no end in time")
            # a background job may hold the terminal open after bash has ended, so its end is asked for as well
            alive = self._tty.isalive()
            try:
                held += self._tty.read_nonblocking(65_536, timeout=min(left, POLL_S if alive else 0))
            except pexpect.TIMEOUT:
                if not alive:
                    output.add(held)
                    raise pexpect.EOF("the shell has ended") from None
                continue
            except (pexpect.EOF, OSError):
                output.add(held)
                raise
            at = held.find(wanted)
            if at >= 0:
                end = held.find(MARK, at + len(wanted))
                if end >= 0:
                    output.add(held[:at])
                    status = held[at + len(wanted) : end]
                    return int(status) if status.isdigit() else 255
            # all but what may be the beginning of a marker
            keep = len(held) - at if at >= 0 else len(wanted) - 1
            output.add(held[:-keep] if keep < len(held) else b"")
            held = held[-keep:]

    def _drop(self) -> None:
        tty, self._tty = self._tty, None
        if tty is not None:
            tty.close()


def _can_be_typed(command: str) -> bool:
    try:
        command.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return "\0" not in command


def _silence(fd: int) -> None:
    """Turn the terminal's echo off, and its carriage returns. A back end's socket is no terminal here."""
    if os.isatty(fd):
        mode = termios.tcgetattr(fd)
        if mode[3] & termios.ECHO or mode[1] & termios.ONLCR:
            mode[3] &= ~termios.ECHO
            mode[1] &= ~termios.ONLCR
            termios.tcsetattr(fd, termios.TCSANOW, mode)


def _escape(command: str) -> list[str]:
    r"""The command as lines of plain ASCII for `printf %b`: all but ordinary characters become \0ooo."""
    lines, line = [], ""
    for byte in command.encode("utf-8"):
        piece = chr(byte) if 0x20 <= byte < 0x7F and byte != 0x5C else f"\\0{byte:03o}"
        if len(line) + len(piece) > LINE - 50:
            lines.append(line)
            line = ""
        line += piece
    return [*lines, line]

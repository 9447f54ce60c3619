"""The owner's end of the socket to process 1 of a namespace sandbox (see `init.py`)."""

from __future__ import annotations

import array
import errno
import marshal
import os
import socket
import time
from collections.abc import Mapping, Sequence
from typing import Any

from tradeschool.errors import SandboxError
from tradeschool.sandbox.waiting import wait_for

ANSWER_TIMEOUT_S = 30.0
MAX_NOTES = 1000  # taken at once: a flood, if one should come, must not hold a caller up


class Link:
    """Sends requests and takes answers; one thread at a time. What comes from inside is not trusted."""

    def __init__(self, sock: socket.socket) -> None:
        self.sock = sock
        self._next = 0
        self._running: set[int] = set()
        self._ended: dict[int, int] = {}

    def wait_ready(self, timeout_s: float) -> None:
        """Wait until process 1 serves. Raises SandboxError when it does not."""
        words, _ = self._receive(time.monotonic() + timeout_s)
        if words != [-1, 0]:
            raise SandboxError("the sandbox's process 1 does not answer as it should.", kind="protocol")

    def spawn(
        self, argv: Sequence[str], cwd: str, env: Mapping[str, str], fds: Sequence[int], *, tty: bool = False
    ) -> tuple[int, int | None]:
        """Start a program with `fds` as its descriptors 0, 1, 2 ..., or on a terminal of its own.

        Returns its name here and the terminal's descriptor. Raises OSError when it cannot be started.
        """
        name, out = self._ask("spawn", list(argv), cwd, dict(env), tty, fds=fds)
        self._running.add(name)
        if tty and len(out) != 1:
            raise SandboxError("the sandbox's process 1 gave no terminal.", kind="protocol")
        return name, out[0] if out else None

    def open(self, path: str, flags: int, mode: int = 0) -> int:
        """A descriptor of a file opened inside, not blocking. Raises OSError as `open` there does."""
        _, out = self._ask("open", path, flags, mode)
        if len(out) != 1:
            raise SandboxError("the sandbox's process 1 gave no file.", kind="protocol")
        return out[0]

    def mkdir(self, path: str) -> None:
        """Make a folder and those above it."""
        self._ask("mkdir", path)

    def kill(self, name: int) -> None:
        """Kill a program and its process group."""
        self._ask("kill", name)

    def kill_all(self) -> None:
        """Kill every process but process 1; returns when they are gone."""
        self._ask("killall")

    def ended(self, name: int) -> int | None:
        """The exit code of a program that has ended (minus the signal's number if killed), else None."""
        if self.sock.fileno() < 0:
            raise SandboxError("the sandbox is gone: it was ended.", kind="gone")
        for _ in range(MAX_NOTES):
            if not wait_for(self.sock.fileno(), 0):
                break
            self._note(*self._receive(time.monotonic() + 1))
        return self._ended.pop(name, None)

    def close(self) -> None:
        """Close the socket, at which process 1 and with it the sandbox ends."""
        self.sock.close()

    def _ask(self, op: str, *arguments: Any, fds: Sequence[int] = ()) -> tuple[int, list[int]]:
        self._next += 1
        packet = marshal.dumps((self._next, op, *arguments), 2)
        attached = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))] if fds else []
        try:
            self.sock.settimeout(ANSWER_TIMEOUT_S)
            self.sock.sendmsg([packet], attached)
        except OSError as error:
            if error.errno == errno.EMSGSIZE:
                raise OSError(errno.E2BIG, os.strerror(errno.E2BIG)) from None
            raise SandboxError(f"the sandbox is gone ({error}).", kind="gone") from error
        deadline = time.monotonic() + ANSWER_TIMEOUT_S
        while time.monotonic() < deadline:
            words, out = self._receive(deadline)
            if words[0] == self._next:
                if words[1]:
                    self._discard(out)
                    raise OSError(words[1], os.strerror(words[1]))
                return self._next, out
            self._note(words, out)
        raise SandboxError("the sandbox's process 1 does not answer.", kind="timeout")

    def _note(self, words: list[int], out: list[int]) -> None:
        self._discard(out)
        if words[0] == -2 and len(words) == 3 and words[1] in self._running:
            self._running.discard(words[1])
            self._ended[words[1]] = words[2]

    def _receive(self, deadline: float) -> tuple[list[int], list[int]]:
        try:
            self.sock.settimeout(max(0.001, deadline - time.monotonic()))
            data, fds, _, _ = socket.recv_fds(self.sock, 4096, 4, socket.MSG_CMSG_CLOEXEC)
        except TimeoutError:
            raise SandboxError("the sandbox's process 1 does not answer.", kind="timeout") from None
        except OSError as error:
            raise SandboxError(f"the sandbox is gone ({error}).", kind="gone") from error
        try:
            words = [int(word) for word in data.split()]
        except ValueError:
            words = []
        if not data or len(words) < 2:
            self._discard(fds)
            raise SandboxError("the sandbox is gone: its process 1 has ended.", kind="gone")
        return words, fds

    @staticmethod
    def _discard(fds: list[int]) -> None:
        for fd in fds:
            os.close(fd)

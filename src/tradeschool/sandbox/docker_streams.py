"""What lasts longer than one command in a container: a program as a channel, and bash on a terminal."""

from __future__ import annotations

import contextlib
import select
import socket
import time
from collections.abc import Callable, Sequence

import docker
import pexpect
from pexpect.socket_pexpect import SocketSpawn

from tradeschool.errors import SandboxError
from tradeschool.sandbox.base import Channel
from tradeschool.sandbox.docker_exec import STDERR, Exec, Frames, end_of_input, receive, send
from tradeschool.sandbox.output import HeadTail

STDERR_TAIL = 16_384
MAX_HELD = 64 * 2**20
START_TIMEOUT_S = 30.0
ASK_S = 1.0

# the engine tells a program's number on the host only: so it says its own, the same after `exec`, in its first line
TELLING = ("/bin/bash", "-c", 'echo $$ && exec "$@"', "bash")


class DockerChannel(Channel):
    """A program's standard input and output over an exec socket; `kill` ends the process of a number."""

    def __init__(self, api: docker.APIClient, container: str, argv: Sequence[str], kill: Callable[[int], None]) -> None:
        self._exec = Exec(api, container, [*TELLING, *argv])
        self._kill = kill
        self._frames = Frames()
        self._out = bytearray()
        self._stderr = HeadTail(2 * STDERR_TAIL)
        self._over = False
        self._closed = False
        try:
            self._pid = self._first_line()
        except SandboxError:
            self._exec.close()
            raise

    def write(self, data: bytes, timeout_s: float) -> None:
        deadline = time.monotonic() + timeout_s
        view = memoryview(data)
        while view:
            self._wait(deadline, to_write=True)
            if self._over:
                raise SandboxError(f"the program has ended.{self._tail()}", kind="closed")
            view = send(self._exec.sock, view)

    def read(self, size: int, timeout_s: float) -> bytes:
        deadline = time.monotonic() + timeout_s
        while len(self._out) < size:
            if self._over:
                raise SandboxError(f"the program has ended.{self._tail()}", kind="closed")
            self._wait(deadline)
        data = bytes(self._out[:size])
        del self._out[:size]
        return data

    def stderr(self) -> str:
        while not (self._closed or self._over) and select_one(self._exec.sock, False, 0)[0]:
            self._take()
        return self._stderr.text()[-STDERR_TAIL:]

    def close(self) -> None:
        if not self._closed:
            self._closed = True
            end_of_input(self._exec.sock)
            with contextlib.suppress(SandboxError):
                self._kill(self._pid)
            self._exec.close()

    def _first_line(self) -> int:
        deadline = time.monotonic() + START_TIMEOUT_S
        while b"\n" not in self._out and not self._over:
            self._wait(deadline)
        line, _, rest = bytes(self._out).partition(b"\n")
        if not line.isdigit():
            said = line.decode("utf-8", "replace")
            raise SandboxError(f"no program can be started in the container: {said[:500]}.", kind="spawn")
        self._out[:] = rest
        return int(line)

    def _wait(self, deadline: float, *, to_write: bool = False) -> None:
        """Until some output came, or (`to_write`) there is room for input. Output is taken either way."""
        while True:
            if self._closed:
                raise SandboxError("the channel is closed.", kind="closed")
            left = deadline - time.monotonic()
            if left <= 0:
                raise SandboxError(f"the program does not answer in time.{self._tail()}", kind="timeout")
            readable, writable = select_one(self._exec.sock, to_write, left)
            # what nobody reads is held only up to a point, then the program has to wait
            if readable and not (to_write and len(self._out) > MAX_HELD):
                self._take()
            if writable or (readable and (not to_write or self._over)):
                return

    def _take(self) -> None:
        data = receive(self._exec.sock)
        if data == b"":
            self._over = True
        for stream, piece in self._frames.feed(data or b""):
            if stream == STDERR:
                self._stderr.add(piece)
            else:
                self._out += piece

    def _tail(self) -> str:
        said = self._stderr.text()[-STDERR_TAIL:].strip()
        return f" It said last: {said[-500:]}" if said else ""


class Terminal(SocketSpawn):
    """A pexpect spawn on the terminal of a program in a container."""

    def __init__(self, api: docker.APIClient, container: str, argv: Sequence[str], kill: Callable[[int], None]) -> None:
        self._exec = Exec(api, container, [*TELLING, *argv], tty=True)
        self._kill = kill
        self._over = False
        self._asked = time.monotonic()
        self._silent = False
        self._early = b""
        try:
            self._pid = self._first_line()
        except SandboxError:
            self._exec.close()
            raise
        super().__init__(self._exec.sock)

    def isalive(self) -> bool:
        """Whether the program runs. The engine is asked only when output has stopped, or a second has passed."""
        now = time.monotonic()
        if not self._over and (self._silent or now - self._asked > ASK_S):
            self._asked, self._silent = now, False
            try:
                self._over = self._exec.exit_code() is not None
            except SandboxError:
                self._over = True
        return not self._over

    def read_nonblocking(self, size: int = 1, timeout: float | None = -1) -> bytes:
        if self._early:
            early, self._early = self._early[:size], self._early[size:]
            return early
        wait = self.timeout if timeout == -1 else timeout
        if not select_one(self._exec.sock, False, wait)[0]:
            self._silent = True
            raise pexpect.TIMEOUT("nothing was written in time")
        data = receive(self._exec.sock)
        if data == b"":
            self.flag_eof = self._over = True
            raise pexpect.EOF("the terminal is closed")
        return data or b""

    def close(self) -> None:
        if self.child_fd != -1:
            self.child_fd = -1
            self.closed = True
            if not self._over:
                with contextlib.suppress(SandboxError):
                    self._kill(self._pid)
            self._exec.close()

    def _first_line(self) -> int:
        deadline = time.monotonic() + START_TIMEOUT_S
        said = b""
        while b"\n" not in said and (left := deadline - time.monotonic()) > 0:
            if select_one(self._exec.sock, False, left)[0]:
                data = receive(self._exec.sock)
                if data == b"":
                    break
                said += data or b""
        line, _, self._early = said.partition(b"\n")
        if not line.strip().isdigit():
            text = said.decode("utf-8", "replace")
            raise SandboxError(f"no shell can be started in the container: {text[:500]}.", kind="shell")
        return int(line)


def select_one(sock: socket.socket, to_write: bool, timeout_s: float | None) -> tuple[bool, bool]:
    """Whether a socket can be read and (if asked) written now, or after at most `timeout_s` (None: no limit)."""
    poll = select.poll()
    poll.register(sock, select.POLLIN | (select.POLLOUT if to_write else 0))
    events = poll.poll(None if timeout_s is None else max(0.0, timeout_s) * 1000)
    found = events[0][1] if events else 0
    return bool(found & (select.POLLIN | select.POLLHUP | select.POLLERR)), bool(found & select.POLLOUT)

"""One program in a running container: starting it, its streams, how it ended. Built on the engine's exec calls."""

from __future__ import annotations

import contextlib
import selectors
import shlex
import socket
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import docker

from tradeschool.sandbox.docker_engine import engine_errors
from tradeschool.sandbox.output import HeadTail

STDOUT, STDERR = 1, 2
CHUNK = 1 << 16
CHECK_S = 0.2
GRACE_S = 0.2
MAX_ARGUMENT = 100_000
"""Bytes; the kernel takes 128 KiB for one argument."""

# the command comes in pieces, escaped for printf
LONG = r"""__ts=; for __ts_piece; do __ts+=$__ts_piece; done; printf -v __ts %b "$__ts"; set --; eval "$__ts" """


def program(command: str | Sequence[str], cwd: str, env: Mapping[str, str]) -> list[str]:
    """The argv that runs `command` in `cwd` with exactly `env`; the engine would add variables of its own.

    Raises ValueError when a word holds a NUL character.
    """
    words = [command] if isinstance(command, str) else list(command)
    if any("\0" in word for word in (cwd, *words)):
        raise ValueError("an argument holds a NUL character")
    plain = all(len(word) <= MAX_ARGUMENT // 4 and _is_text(word) for word in words)
    if isinstance(command, str):
        words = ["bash", "-c", command] if plain else _the_long_way(command)
    elif not plain:
        words = _the_long_way(f"exec {shlex.join(words)}")
    return ["/usr/bin/env", "-i", "-C", cwd, *(f"{name}={value}" for name, value in env.items()), *words]


def _is_text(word: str) -> bool:
    try:
        word.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _the_long_way(command: str) -> list[str]:
    """For bytes that are no text, which the engine does not take, and for what is too long for one argument."""
    data = command.encode("utf-8", "surrogateescape")
    text = "".join(chr(b) if 0x20 <= b < 0x7F and b != 0x5C else f"\\0{b:03o}" for b in data)
    return ["bash", "-c", LONG, "bash", *(text[at : at + MAX_ARGUMENT] for at in range(0, len(text), MAX_ARGUMENT))]


class Exec:
    """A started program. `sock` carries its input, and its output in frames (with a terminal: bare)."""

    def __init__(self, api: docker.APIClient, container: str, argv: Sequence[str], *, tty: bool = False) -> None:
        self._api = api
        with engine_errors():
            self._id = api.exec_create(container, list(argv), stdin=True, tty=tty)["Id"]
            self._stream: Any = api.exec_start(self._id, tty=tty, socket=True)
        self.sock: socket.socket = self._stream._sock
        self.sock.settimeout(0)
        self._closed = False

    def exit_code(self) -> int | None:
        """None while it runs. Raises SandboxError when the container is gone."""
        with engine_errors():
            state = self._api.exec_inspect(self._id)
        return None if state["Running"] else state["ExitCode"]

    def close(self) -> None:
        """Close the streams; the program is not killed by that. Idempotent."""
        if not self._closed:
            self._closed = True
            self._stream._response.close()
            self._stream.close()
            self.sock.close()


class Frames:
    """Takes the engine's multiplexed stream apart: eight bytes of header (stream, length), then the payload."""

    def __init__(self) -> None:
        self._header = b""
        self._stream = STDOUT
        self._left = 0

    def feed(self, data: bytes) -> Iterator[tuple[int, bytes]]:
        """(STDOUT or STDERR, bytes) for each piece, however the stream was cut."""
        view = memoryview(data)
        while view:
            if self._left:
                piece, view = view[: self._left], view[self._left :]
                self._left -= len(piece)
                yield self._stream, bytes(piece)
            else:
                need = 8 - len(self._header)
                self._header += bytes(view[:need])
                view = view[need:]
                if len(self._header) == 8:
                    self._stream, self._left = self._header[0], int.from_bytes(self._header[4:], "big")
                    self._header = b""


def receive(sock: socket.socket) -> bytes | None:
    """What is there: None when nothing is for now, empty at the end."""
    try:
        return sock.recv(CHUNK)
    except (BlockingIOError, TimeoutError, InterruptedError):
        return None
    except OSError:
        return b""


def send(sock: socket.socket, data: memoryview) -> memoryview:
    """Send some of `data`; what is left of it (nothing, when nobody reads any more)."""
    try:
        return data[sock.send(data[:CHUNK]) :]
    except (BlockingIOError, TimeoutError, InterruptedError):
        return data
    except OSError:
        return data[:0]


def end_of_input(sock: socket.socket) -> None:
    """Tell the program that nothing more comes."""
    with contextlib.suppress(OSError):
        sock.shutdown(socket.SHUT_WR)


def collect(process: Exec, stdin: bytes, sinks: Mapping[int, HeadTail], deadline: float) -> int | None:
    """Feed a program and take its output until it ends; its exit code, or None when `deadline` came first.

    A child of it that lives on and holds its output open is not waited for, beyond `GRACE_S`.
    """
    sock, frames = process.sock, Frames()
    waiting = memoryview(stdin)
    code: int | None = None
    check = time.monotonic() + CHECK_S
    with selectors.DefaultSelector() as selector:
        if not waiting:
            end_of_input(sock)
        selector.register(sock, selectors.EVENT_READ | (selectors.EVENT_WRITE if waiting else 0))
        while (now := time.monotonic()) < deadline:
            if now >= check:
                if code is not None:
                    return code
                code = process.exit_code()
                check = now + (CHECK_S if code is None else GRACE_S)
            for _, event in selector.select(max(0.0, min(deadline, check) - now)):
                if event & selectors.EVENT_READ:
                    data = receive(sock)
                    if data == b"":
                        return code if code is not None else _await_end(process, deadline)
                    for stream, piece in frames.feed(data or b""):
                        sinks[STDERR if stream == STDERR else STDOUT].add(piece)
                if event & selectors.EVENT_WRITE and waiting:
                    waiting = send(sock, waiting)
                    if not waiting:
                        end_of_input(sock)
                        selector.modify(sock, selectors.EVENT_READ)
    return code


def _await_end(process: Exec, deadline: float) -> int | None:
    """The streams are closed: the program has ended and the engine is about to know, or it works on without them."""
    pause = 0.002
    while (code := process.exit_code()) is None and time.monotonic() < deadline:
        # the engine has no call that waits for the end of a program like this one
        time.sleep(pause)
        pause = min(2 * pause, CHECK_S)
    return code

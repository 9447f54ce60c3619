"""Talking to a program in a sandbox over plain pipes: run it to its end, or keep it as a channel."""

from __future__ import annotations

import contextlib
import os
import selectors
import time
from collections.abc import Callable
from io import FileIO

from tradeschool.errors import SandboxError
from tradeschool.sandbox.base import Channel, Completed
from tradeschool.sandbox.link import Link
from tradeschool.sandbox.output import HeadTail

CHUNK = 1 << 16
STDERR_TAIL = 16_384


class Pipes:
    """Three pipes; `inside` are the program's ends of standard input, output and error, `ours` the others."""

    def __init__(self) -> None:
        self.inside: list[FileIO] = []
        self.ours: list[FileIO] = []
        for number in range(3):
            reader, writer = os.pipe()
            read, write = FileIO(reader, "r"), FileIO(writer, "w")
            self.inside.append(read if number == 0 else write)
            self.ours.append(write if number == 0 else read)
        for end in self.ours:
            os.set_blocking(end.fileno(), False)

    def close_inside(self) -> None:
        """Close the program's ends here, so that we see when it closes them there."""
        for end in self.inside:
            end.close()

    def close(self) -> None:
        """Close every end. Idempotent."""
        for end in (*self.inside, *self.ours):
            with contextlib.suppress(BrokenPipeError):
                end.close()


def take(sink: HeadTail, end: FileIO) -> bool:
    """Move what is there into `sink`; False when nothing is left for now (or for good)."""
    data = end.read(CHUNK)
    if data:
        sink.add(data)
    return bool(data)


def run_to_end(
    link: Link,
    name: int,
    pipes: Pipes,
    stdin: bytes,
    limit_s: float,
    output_bytes: int,
    kill_all: Callable[[], None],
    most_bytes: int | None = None,
) -> Completed:
    """Feed a spawned program, collect what it writes, and wait for its end or for `limit_s`, when all is killed.

    Over `most_bytes` of standard output the program is killed at once; the caller sees it by the output's length.
    """
    started = time.monotonic()
    into, out, err = pipes.ours
    sinks = {out: HeadTail(output_bytes), err: HeadTail(output_bytes)}
    waiting = memoryview(stdin)
    code: int | None = None
    with selectors.DefaultSelector() as selector:
        for end in (out, err):
            selector.register(end, selectors.EVENT_READ)
        selector.register(into, selectors.EVENT_WRITE)
        selector.register(link.sock, selectors.EVENT_READ)
        while code is None and (left := started + limit_s - time.monotonic()) > 0:
            for key, _ in selector.select(left):
                end = key.fileobj
                if end is link.sock:
                    code = link.ended(name)
                elif end is into:
                    try:
                        waiting = waiting[into.write(waiting[:CHUNK]) or 0 :]
                    except BrokenPipeError:
                        waiting = waiting[:0]
                    if not waiting:
                        selector.unregister(into)
                        into.close()
                elif isinstance(end, FileIO) and not take(sinks[end], end):
                    selector.unregister(end)
            if most_bytes is not None and sinks[out].total > most_bytes:
                link.kill(name)
                break
    over = most_bytes is not None and sinks[out].total > most_bytes
    if code is None and not over:
        kill_all()
    # what was written before the end is in the pipe by now; a child that still holds it open is not waited for
    for end, sink in sinks.items():
        while not over and take(sink, end):
            pass
    return Completed(
        -1 if code is None else code,
        sinks[out].value(),
        sinks[err].value(),
        sinks[out].truncated or sinks[err].truncated,
        time.monotonic() - started,
        timed_out=code is None and not over,
    )


class PipeChannel(Channel):
    """A program's standard input and output; `kill` ends it."""

    def __init__(self, pipes: Pipes, kill: Callable[[], None]) -> None:
        self._pipes = pipes
        self._into, self._out, self._err = pipes.ours
        self._kill = kill
        self._stderr = HeadTail(STDERR_TAIL)
        self._closed = False

    def write(self, data: bytes, timeout_s: float) -> None:
        deadline = time.monotonic() + timeout_s
        view = memoryview(data)
        while view:
            self._wait(self._into, selectors.EVENT_WRITE, deadline)
            try:
                view = view[self._into.write(view[:CHUNK]) or 0 :]
            except BrokenPipeError:
                raise SandboxError(f"the program has closed its input.{self._tail()}", kind="closed") from None

    def read(self, size: int, timeout_s: float) -> bytes:
        deadline = time.monotonic() + timeout_s
        data = bytearray()
        while len(data) < size:
            self._wait(self._out, selectors.EVENT_READ, deadline)
            piece = self._out.read(min(size - len(data), 1 << 20))
            if piece == b"":
                raise SandboxError(f"the program has ended.{self._tail()}", kind="closed")
            data += piece or b""
        return bytes(data)

    def stderr(self) -> str:
        while not self._closed and take(self._stderr, self._err):
            pass
        return self._stderr.text()[-STDERR_TAIL:]

    def close(self) -> None:
        if not self._closed:
            self._closed = True
            self._pipes.close()
            with contextlib.suppress(SandboxError):
                self._kill()

    def _wait(self, end: FileIO, event: int, deadline: float) -> None:
        if self._closed:
            raise SandboxError("the channel is closed.", kind="closed")
        with selectors.DefaultSelector() as selector:
            selector.register(end, event)
            # standard error is emptied too: a program that fills it would stop
            selector.register(self._err, selectors.EVENT_READ)
            while (left := deadline - time.monotonic()) > 0:
                ready = [key.fileobj for key, _ in selector.select(left)]
                if self._err in ready and not take(self._stderr, self._err):
                    selector.unregister(self._err)
                if end in ready:
                    return
        raise SandboxError(f"the program does not answer in time.{self._tail()}", kind="timeout")

    def _tail(self) -> str:
        said = self.stderr().strip()
        return f" It said last: {said[-500:]}" if said else ""

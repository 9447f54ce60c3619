"""Talking to the document worker: one process in a sandbox, one request at a time, each with a deadline.

A document that the worker refuses is a DocumentError. One that kills or stalls it is a DocumentError too, after a
fresh worker has taken its place; when no fresh one comes up, the sandbox has failed: SandboxError.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from tradeschool.errors import SandboxError
from tradeschool.sandbox import Channel

from .documents import DocumentError

PROTOCOL = 1
START_TIMEOUT_S = 30.0
CALL_TIMEOUT_S = 30.0
MAX_FRAME = 64 * 2**20
WORKER_FOLDER = Path(__file__).parent / "worker"
WORKER_TARGET = "/srv/docqa/worker"
DOCUMENTS_TARGET = "/srv/docqa/documents"

T = TypeVar("T")


def worker_argv(python: str, worker: str = WORKER_TARGET, documents: str = DOCUMENTS_TARGET) -> tuple[str, ...]:
    """The command that starts the worker; `-I` keeps the environment and the current folder out of its imports."""
    return (python, "-I", f"{worker}/main.py", documents)


class WorkerClient:
    """`connect` starts a worker and gives the channel to it; it is called again after a crash or a time-out."""

    def __init__(self, connect: Callable[[], Channel], timeout_s: float = CALL_TIMEOUT_S) -> None:
        self._connect = connect
        self._timeout_s = timeout_s
        self._channel: Channel | None = None

    def start(self) -> None:
        """Start the worker unless it runs. Raises SandboxError."""
        if self._channel is None:
            self._channel = self._connect()
            hello = self._exchange({"op": "hello"}, START_TIMEOUT_S)
            if hello.get("ok") != {"protocol": PROTOCOL}:
                raise SandboxError(f"the document worker speaks another protocol ({hello!r:.100}).", kind="protocol")

    def call(self, shape: type[T] | Any, op: str, file: str, timeout_s: float | None = None, **arguments: Any) -> T:
        """Ask for something of a file; the answer is checked to have the shape. Raises DocumentError, SandboxError."""
        self.start()
        try:
            reply = self._exchange({"op": op, "file": file, **arguments}, timeout_s or self._timeout_s)
        except SandboxError as error:
            self._replace()
            if error.kind == "timeout":
                raise DocumentError(
                    "too_large", file, f"took longer than {timeout_s or self._timeout_s:g} s"
                ) from error
            raise DocumentError("malformed", file, f"stopped the parser ({str(error)[-200:]})") from error
        fault = reply.get("error")
        if isinstance(fault, dict):
            remedy = str(fault.get("remedy") or "")[:200]
            raise DocumentError(str(fault.get("kind")), file, str(fault.get("message"))[:400], remedy)
        try:
            return TypeAdapter(shape).validate_python(reply.get("ok"))
        except ValidationError as error:
            self._replace()
            raise DocumentError("malformed", file, f"made the parser answer nonsense to {op!r}") from error

    def close(self) -> None:
        """End the worker. Idempotent."""
        channel, self._channel = self._channel, None
        if channel is not None:
            channel.close()

    def _replace(self) -> None:
        self.close()
        self.start()

    def _exchange(self, request: dict[str, Any], timeout_s: float) -> dict[str, Any]:
        assert self._channel is not None
        data = json.dumps(request).encode("ascii")
        self._channel.write(struct.pack(">I", len(data)) + data, timeout_s)
        (size,) = struct.unpack(">I", self._channel.read(4, timeout_s))
        if size > MAX_FRAME:
            raise SandboxError(f"the document worker sent a frame of {size} bytes.", kind="protocol")
        try:
            reply = json.loads(self._channel.read(size, timeout_s))
        except (ValueError, RecursionError) as error:
            raise SandboxError(f"the document worker sent no JSON ({error}).", kind="protocol") from error
        if not isinstance(reply, dict):
            raise SandboxError("the document worker sent no object.", kind="protocol")
        return reply

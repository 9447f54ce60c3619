"""Talking to the Blender worker: a process in a sandbox, one request at a time, each with a deadline.

Errors keep their kinds apart: a call the worker refuses is `Refused` (the agent reads it), a worker that crashes,
hangs or closes its pipe is a SandboxError with the end of its standard error. Its kind is `died` or `timeout` when
the worker had taken a call and ended or gave no answer; `closed` when it was gone before.
"""

from __future__ import annotations

import importlib.util
import json
import os
import struct
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from tradeschool.errors import SandboxError
from tradeschool.home import home
from tradeschool.sandbox import Channel, Limits, Mount, SandboxSpec, open_sandbox
from tradeschool.sandbox.interpreter import interpreter_mounts

PROTOCOL = 1
OLDEST_BLENDER = [4, 2]
NEWEST_BLENDER = [5, 99]
START_TIMEOUT_S = 90.0
CALL_TIMEOUT_S = 60.0
MAX_FRAME = 256 * 2**20
WORKER_TARGET = "/opt/blender-worker"
VARIABLE = "TRADESCHOOL_BLENDER_PYTHON"


def blender_python() -> str:
    """The interpreter that can import bpy: the one that TRADESCHOOL_BLENDER_PYTHON names, else this one, else the
    environment of `tradeschool setup blender`.

    Raises SandboxError with the remedy when there is none. Nothing is imported or started.
    """
    chosen = os.environ.get(VARIABLE)
    if chosen:
        if not os.access(chosen, os.X_OK):
            raise SandboxError(f"{VARIABLE} names {chosen}, which is no program. Correct or unset it.", kind="no_bpy")
        return chosen
    if importlib.util.find_spec("bpy") is not None:
        return sys.executable
    made = home() / "envs" / "blender" / "bin" / "python"
    if made.exists():
        return str(made)
    raise SandboxError(
        f"no Python with bpy was found. Run `tradeschool setup blender`, or name one with {VARIABLE}.", kind="no_bpy"
    )


class Refused(Exception):
    """The worker did not carry a call out, and the scene is as it was. The message is for the agent."""

    def __init__(self, status: Literal["illegal", "failed"], message: str) -> None:
        super().__init__(message)
        self.status: Literal["illegal", "failed"] = status


@dataclass(frozen=True)
class Reply:
    """What an operation gave back: plain data and, for a picture or a file, bytes."""

    result: dict[str, Any]
    blob: bytes = b""


class BlenderWorker:
    """The client's end of one worker. `on_close` is called once, after the channel is closed."""

    def __init__(self, channel: Channel, on_close: Callable[[], None] | None = None) -> None:
        self.channel = channel
        self.blender = ""
        self._on_close = on_close
        self._closed = False
        self._requests = 0

    def greet(self, timeout_s: float = START_TIMEOUT_S) -> None:
        """Wait until the worker stands ready and check its versions. Raises SandboxError."""
        message, _ = self._receive(timeout_s)
        hello = message.get("hello")
        if not isinstance(hello, dict) or hello.get("protocol") != PROTOCOL:
            raise SandboxError(
                f"the Blender worker speaks protocol {(hello or {}).get('protocol')!r}, not {PROTOCOL}: "
                "its file is of another version of tradeschool. Reinstall the package.",
                kind="protocol",
            )
        self.blender = str(hello.get("blender"))
        try:
            release = [int(part) for part in self.blender.split(".")[:2]]
        except ValueError:
            release = []
        if not OLDEST_BLENDER <= release <= NEWEST_BLENDER:
            raise SandboxError(
                f"bpy {self.blender} is not supported (4.2 to 5.x are). Run `tradeschool setup blender`.",
                kind="version",
            )
        self.call("ping", {}, timeout_s=timeout_s)

    def call(self, op: str, args: Mapping[str, Any], blob: bytes = b"", *, timeout_s: float = CALL_TIMEOUT_S) -> Reply:
        """Do one operation. Raises Refused, or SandboxError when the worker failed (it is then of no more use)."""
        self._requests += 1
        request = {"id": self._requests, "op": op, "args": dict(args), "blob_bytes": len(blob)}
        try:
            data = json.dumps(request, allow_nan=False).encode()
        except ValueError:
            raise Refused("illegal", "Numbers must be finite.") from None
        self._guard(op, lambda: self.channel.write(struct.pack(">I", len(data)) + data + blob, timeout_s))
        message, out = self._receive(timeout_s, op)
        if message.get("id") != self._requests:
            raise self._broken(op, f"it answered request {message.get('id')!r} instead of {self._requests}")
        if message.get("ok") is True and isinstance(message.get("result"), dict):
            return Reply(message["result"], out)
        error = message.get("error")
        kind, text = (error.get("kind"), str(error.get("message"))) if isinstance(error, dict) else ("", "no reason")
        if kind in ("illegal", "failed"):
            raise Refused(kind, text)
        raise self._broken(op, text, "died" if text.startswith("MemoryError") else "worker")

    def close(self) -> None:
        """End the worker and its sandbox. Idempotent."""
        if self._closed:
            return
        self._closed = True
        try:
            self.channel.close()
        finally:
            if self._on_close is not None:
                self._on_close()

    def _receive(self, timeout_s: float, op: str = "start") -> tuple[dict[str, Any], bytes]:
        (size,) = struct.unpack(">I", self._guard(op, lambda: self.channel.read(4, timeout_s), "died"))
        if size > MAX_FRAME:
            raise self._broken(op, f"it announced a frame of {size} bytes")
        raw = self._guard(op, lambda: self.channel.read(size, timeout_s), "died")
        try:
            message = json.loads(raw)
            count = int(message["blob_bytes"])
        except (ValueError, TypeError, KeyError, RecursionError):
            raise self._broken(op, "it sent a frame that is no message") from None
        if not 0 <= count <= MAX_FRAME:
            raise self._broken(op, f"it announced {count} bytes")
        blob = self._guard(op, lambda: self.channel.read(count, timeout_s), "died") if count else b""
        return message, blob

    def _guard(self, op: str, act: Callable[[], Any], gone: str = "closed") -> Any:
        """Run one transfer; when it fails, add what the worker last wrote to the error. `gone`: the kind of an end."""
        if self._closed:
            raise SandboxError(f"the Blender worker is closed; {op!r} was not sent.", kind="closed")
        try:
            return act()
        except SandboxError as error:
            what = "gave no answer in time" if error.kind == "timeout" else "ended"
            raise self._broken(op, f"it {what}", gone if error.kind == "closed" else error.kind) from error

    def _broken(self, op: str, what: str, kind: str = "worker") -> SandboxError:
        last = " | ".join(self.channel.stderr().strip().splitlines()[-4:])[-600:]
        self.close()
        return SandboxError(
            f"the Blender worker failed at {op!r}: {what}.{f' It wrote: {last}' if last else ''}", kind=kind
        )


def worker_command(python: str, folder: str) -> list[str]:
    """The command line that starts the worker: isolated from the user's settings and packages."""
    return [python, "-I", "-B", f"{folder}/worker.py"]


def start_worker(backend: str, memory_mb: int = 2048, hidden: tuple[Path, ...] = ()) -> BlenderWorker:
    """A worker with an empty scene, ready, in a sandbox of its own that does not see `hidden`. The caller closes it.

    Raises SandboxError when it does not come up.
    """
    python = blender_python()
    folder = Path(__file__).parent / "worker"
    spec = SandboxSpec(
        mounts=(*interpreter_mounts(python), Mount(folder, WORKER_TARGET, private=True)),
        hidden=hidden,
        env={"BLENDER_USER_RESOURCES": "/tmp/blender"},
        # Blender starts a thread for each core it sees
        limits=Limits(memory_mb=max(memory_mb, 2048), cpus=2.0, processes=512, file_mb=512),
    )
    sandbox = open_sandbox(backend, spec)
    try:
        sandbox.start()
        worker = BlenderWorker(sandbox.connect(worker_command(python, WORKER_TARGET)), sandbox.close)
        worker.greet()
    except BaseException:
        sandbox.close()
        raise
    return worker

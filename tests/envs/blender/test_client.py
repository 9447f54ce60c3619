"""The client against a scripted worker: every way a worker can go wrong has its own clear error."""

from __future__ import annotations

import importlib.util
import json
import struct
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tradeschool.envs.blender import client
from tradeschool.envs.blender.client import BlenderWorker, Refused, blender_python
from tradeschool.errors import SandboxError
from tradeschool.sandbox import Channel

HELLO = {"hello": {"protocol": 1, "blender": "4.5.15", "python": "3.11.7"}, "blob_bytes": 0}
PONG = {"id": 1, "ok": True, "result": {}, "blob_bytes": 0}


def frame(message: Any, blob: bytes = b"") -> bytes:
    data = json.dumps(message).encode()
    return struct.pack(">I", len(data)) + data + blob


class Scripted(Channel):
    """A channel that says what it was told to say, then hangs or is closed."""

    def __init__(self, says: Sequence[bytes], then: str = "closed") -> None:
        self.pending = b"".join(says)
        self.then = then
        self.sent = b""
        self.closed = 0

    def write(self, data: bytes, timeout_s: float) -> None:
        self.sent += data

    def read(self, size: int, timeout_s: float) -> bytes:
        if len(self.pending) < size:
            raise SandboxError(f"the channel is {self.then}", kind=self.then)
        given, self.pending = self.pending[:size], self.pending[size:]
        return given

    def stderr(self) -> str:
        return "loading\nlibXrender.so.1: cannot open shared object file\n"

    def close(self) -> None:
        self.closed += 1


def worker(*says: bytes, then: str = "closed") -> BlenderWorker:
    return BlenderWorker(Scripted(says, then))


def test_a_good_start_and_a_call() -> None:
    reply = {"id": 2, "ok": True, "result": {"a": 1}, "blob_bytes": 3}
    it = worker(frame(HELLO), frame(PONG), frame(reply, b"abc"))
    it.greet()
    assert it.blender == "4.5.15"
    got = it.call("render", {}, b"xy")
    assert (got.result, got.blob) == ({"a": 1}, b"abc")
    sent = it.channel.sent  # type: ignore[attr-defined]
    assert sent.endswith(frame({"id": 2, "op": "render", "args": {}, "blob_bytes": 2}, b"xy"))


@pytest.mark.parametrize(
    ("hello", "kind", "why"),
    [
        ({"hello": {"protocol": 2, "blender": "4.5.15"}}, "protocol", "speaks protocol 2"),
        ({"ok": True}, "protocol", "protocol None"),
        ({"hello": {"protocol": 1, "blender": "2.79.0"}}, "version", r"bpy 2\.79\.0 is not supported"),
        ({"hello": {"protocol": 1, "blender": "new"}}, "version", "bpy new"),
    ],
)
def test_a_worker_of_another_version_is_refused(hello: dict, kind: str, why: str) -> None:
    with pytest.raises(SandboxError, match=why) as caught:
        worker(frame({**hello, "blob_bytes": 0})).greet()
    assert caught.value.kind == kind


@pytest.mark.parametrize(
    ("says", "then", "why"),
    [
        ((), "closed", "it ended.*libXrender"),
        ((), "timeout", "no answer in time"),
        ((struct.pack(">I", 2**31),), "closed", "a frame of 2147483648 bytes"),
        ((b"\0\0\0\2{]",), "closed", "no message"),
        ((frame([1]),), "closed", "no message"),
        ((frame({"id": 1}),), "closed", "no message"),
        ((frame({"id": 1, "ok": True, "result": {}, "blob_bytes": -1}),), "closed", "-1 bytes"),
        ((frame({"id": 1, "ok": True, "result": {}, "blob_bytes": 9}, b"abc"),), "closed", "it ended"),
        ((frame({"id": 7, "ok": True, "result": {}, "blob_bytes": 0}),), "closed", "request 7"),
        ((frame({"id": 1, "ok": True, "blob_bytes": 0}),), "closed", "no reason"),
        (
            (frame({"id": 1, "ok": False, "error": {"kind": "crash", "message": "KeyError: 'x'"}, "blob_bytes": 0}),),
            "closed",
            "KeyError",
        ),
    ],
)
def test_a_broken_worker_is_the_infrastructures_fault(says: tuple[bytes, ...], then: str, why: str) -> None:
    it = worker(*says, then=then)
    with pytest.raises(SandboxError, match=why):
        it.call("measure", {"object": 1})
    assert it.channel.closed == 1  # type: ignore[attr-defined]
    with pytest.raises(SandboxError, match="closed"):
        it.call("measure", {"object": 1})


def test_a_refusal_is_the_agents_and_leaves_the_worker_usable() -> None:
    error = {"id": 1, "ok": False, "error": {"kind": "illegal", "message": "no object #9"}, "blob_bytes": 0}
    it = worker(frame(error), frame({"id": 2, "ok": True, "result": {}, "blob_bytes": 0}))
    with pytest.raises(Refused, match="#9") as caught:
        it.call("delete", {"object": 9})
    assert caught.value.status == "illegal"
    assert it.call("ping", {}).result == {}


def test_numbers_that_are_not_finite_are_not_sent() -> None:
    it = worker()
    with pytest.raises(Refused, match="finite"):
        it.call("transform", {"object": 1, "location": [float("nan"), 0, 0]})
    assert it.channel.sent == b""  # type: ignore[attr-defined]


def test_close_is_idempotent_and_runs_what_follows_once() -> None:
    ends: list[int] = []
    it = BlenderWorker(Scripted(()), lambda: ends.append(1))
    it.close()
    it.close()
    assert ends == [1]


def test_the_interpreter_is_the_one_configured(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(client.VARIABLE, sys.executable)
    assert blender_python() == sys.executable
    monkeypatch.setenv(client.VARIABLE, str(tmp_path / "none"))
    with pytest.raises(SandboxError, match=client.VARIABLE):
        blender_python()


def test_the_interpreter_of_set_up_or_the_remedy(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    if importlib.util.find_spec("bpy") is not None:
        pytest.skip("this interpreter has bpy itself")
    monkeypatch.delenv(client.VARIABLE, raising=False)
    monkeypatch.setenv("TRADESCHOOL_HOME", str(tmp_path))
    with pytest.raises(SandboxError, match="tradeschool setup blender"):
        blender_python()
    made = tmp_path / "envs" / "blender" / "bin" / "python"
    made.parent.mkdir(parents=True)
    made.symlink_to(sys.executable)
    assert blender_python() == str(made)

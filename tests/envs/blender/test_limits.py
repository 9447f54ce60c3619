"""Whose fault an ended worker is: the agent's call or scene scores 0, and an engine that fails of itself is no zero."""

from __future__ import annotations

import json
import re
import struct
from pathlib import Path
from typing import Any

import pytest

from tradeschool.envs.base import SessionConfig
from tradeschool.envs.blender import client
from tradeschool.envs.blender.client import BlenderWorker
from tradeschool.envs.blender.env import BlenderEnv
from tradeschool.envs.blender.session import BlenderSession
from tradeschool.errors import SandboxError
from tradeschool.sandbox import Channel
from tradeschool.task import TaskPack

TASK = "blender-table-to-drawing"


def reply(number: int, result: dict[str, Any] | None = None) -> bytes:
    data = json.dumps({"id": number, "ok": True, "result": result or {}, "blob_bytes": 0}).encode()
    return struct.pack(">I", len(data)) + data


class Scripted(Channel):
    """A channel to a worker that gives these bytes, and is then `closed` or gives no answer (`timeout`)."""

    def __init__(self, gives: bytes = b"", then: str = "closed", takes: bool = True) -> None:
        self.gives, self.then, self.takes = gives, then, takes

    def write(self, data: bytes, timeout_s: float) -> None:
        if not self.takes:
            raise SandboxError("the channel is closed", kind="closed")

    def read(self, size: int, timeout_s: float) -> bytes:
        if len(self.gives) < size:
            raise SandboxError(f"the channel is {self.then}", kind=self.then)
        given, self.gives = self.gives[:size], self.gives[size:]
        return given

    def stderr(self) -> str:
        return ""

    def close(self) -> None:
        self.takes = False


class Played(BlenderSession):
    """A session whose workers are these, one after the other; when none is left, no worker comes up."""

    def __init__(self, *channels: Channel) -> None:
        super().__init__(SessionConfig(TaskPack.load("starter").get(TASK), "namespace", 0))
        self.channels = list(channels)
        self.checks = ()
        self.worker = self._start()

    def _start(self) -> BlenderWorker:
        if not self.channels:
            raise SandboxError("no worker comes up", kind="timeout")
        return BlenderWorker(self.channels.pop(0))


def healthy() -> Scripted:
    return Scripted(reply(1))


@pytest.mark.parametrize(("then", "why"), [("closed", "ended Blender"), ("timeout", r"took more than 60 s")])
def test_a_call_that_ends_its_worker_ends_the_episode_with_zero(then: str, why: str) -> None:
    session = Played(Scripted(then=then), healthy())
    told = session.call("boolean", {"object": 1, "operand": 2, "operation": "union"})
    assert (told.done, told.status) == (True, "failed")
    reward = session.grade()
    assert (reward.value, reward.valid) == (0.0, True)
    (part,) = reward.parts
    assert part.gate
    assert part.reason.startswith("the call exhausted its limits: 'boolean'")
    assert re.search(why, part.reason)


def test_no_fresh_worker_means_that_the_engine_failed() -> None:
    with pytest.raises(SandboxError, match="no worker comes up"):
        Played(Scripted()).call("scene_info", {})
    with pytest.raises(SandboxError, match="export_state"):
        Played(Scripted(), Scripted()).call("scene_info", {})


def test_a_worker_gone_before_the_call_is_not_the_calls_fault() -> None:
    with pytest.raises(SandboxError) as caught:
        Played(Scripted(takes=False), healthy()).call("scene_info", {})
    assert caught.value.kind == "closed"


@pytest.mark.parametrize("opens", [False, True])
def test_a_scene_that_ends_the_verifying_worker_scores_zero(opens: bool) -> None:
    verifying = Scripted(reply(1) if opens else b"")
    reward = Played(healthy(), verifying, healthy()).grade()
    assert (reward.value, reward.valid) == (0.0, True)
    assert "the scene exhausted the limits of its grading" in reward.parts[0].reason


def test_no_verifying_worker_is_no_zero() -> None:
    with pytest.raises(SandboxError, match="no worker comes up"):
        Played(healthy()).grade()
    with pytest.raises(SandboxError, match="no worker comes up"):
        Played(healthy(), Scripted(reply(1))).grade()


def hasty_pack(folder: Path) -> Path:
    """A pack whose one task gives a call a second."""
    (folder / "pack.toml").write_text('name = "mine"\nversion = "1"\nlicence = "MIT"\n', "utf-8")
    root = folder / "cube"
    (root / "tests").mkdir(parents=True)
    (root / "environment").mkdir()
    text = '[tradeschool]\nfamily = "blender"\n[tradeschool.limits]\ncommand_timeout_s = 1.0\n'
    (root / "task.toml").write_text(text, "utf-8")
    (root / "instruction.md").write_text("Make a cube.", "utf-8")
    (root / "environment" / "scene.json").write_text("{}", "utf-8")
    text = '[[check]]\nname = "a"\nkind = "count"\nobjects = "*"\ngate = true\n'
    (root / "tests" / "checks.toml").write_text(text, "utf-8")
    return folder


ADD = {"name": "add_primitive", "arguments": {"kind": "uv_sphere", "dimensions": [1, 1, 1]}}
SLOW = {"name": "render", "arguments": {"views": ["iso", "front", "top", "left"], "size": 512, "samples": 16}}


@pytest.mark.blender
@pytest.mark.sandbox
def test_a_real_call_past_its_deadline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    env = BlenderEnv(pack=str(hasty_pack(tmp_path)), sandbox="namespace")
    try:
        env.reset(seed=0)
        env.step(ADD)
        _, reward, terminated, _, info = env.step(SLOW)
        assert (reward, terminated, info["status"], info["reward"].valid) == (0.0, True, "failed", True)
        assert "'render' took more than 1 s" in info["reward"].parts[0].reason
        env.reset(seed=0)
        env.step(ADD)
        monkeypatch.setenv(client.VARIABLE, "/nowhere/python")
        with pytest.raises(SandboxError, match="/nowhere/python"):
            env.step(SLOW)
    finally:
        env.close()


@pytest.mark.blender
@pytest.mark.sandbox
def test_cubes_in_one_place_give_a_valid_reward() -> None:
    def array(count: int, offset: list[float]) -> dict[str, Any]:
        fields = {"object": 1, "kind": "array", "count": count, "offset": offset, "apply": True}
        return {"name": "add_modifier", "arguments": fields}

    cube = {"kind": "cube", "dimensions": [1, 1, 1], "name": "Tabletop"}
    env = BlenderEnv(task=TASK, sandbox="namespace")
    try:
        env.reset(seed=0)
        for action in (
            {"name": "add_primitive", "arguments": cube},
            array(100, [1e-5, 0, 0]),
            array(10, [0, 1e-5, 0]),
        ):
            env.step(action)
        _, reward, terminated, _, info = env.step({"name": "submit", "arguments": {}})
        assert (reward, terminated, info["reward"].valid) == (0.0, True, True)
    finally:
        env.close()

"""What is particular to the Docker back end; what it shares with others is in tests/contract."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests
from hypothesis import given
from hypothesis import strategies as st

from tradeschool.errors import SandboxError
from tradeschool.sandbox import Limits, Mount, SandboxSpec
from tradeschool.sandbox import docker as docker_backend
from tradeschool.sandbox.archive import pack_folder
from tradeschool.sandbox.docker import DockerSandbox
from tradeschool.sandbox.docker_engine import OWNER_LABEL, engine, explain, owner, owner_is_dead, reap
from tradeschool.sandbox.docker_exec import STDERR, STDOUT, Frames, program
from tradeschool.sandbox.docker_workspace import workspace_image

needs_engine = pytest.mark.docker


@pytest.fixture
def sandbox() -> Iterator[DockerSandbox]:
    with DockerSandbox(SandboxSpec(limits=Limits(memory_mb=200, processes=50, cpus=0.5))) as started:
        yield started


def inspect(sandbox: DockerSandbox) -> dict[str, Any]:
    return engine().inspect_container(sandbox._container)


# --- no engine: one line with the remedy (SWE-bench#143, SWE-agent/SWE-ReX#166: a stack trace of urllib3) ---


def test_a_missing_engine_is_named_with_its_remedy(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/none.sock")
    with pytest.raises(SandboxError, match=r"there is no Docker engine at .*none\.sock.*tradeschool setup docker"):
        DockerSandbox.check()


def test_an_engine_that_is_not_running_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as nobody_listens:
        nobody_listens.bind(str(tmp_path / "dead.sock"))
        monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/dead.sock")
        with pytest.raises(SandboxError, match=r"is not running. Start it"):
            DockerSandbox.check()


@pytest.mark.parametrize(
    ("cause", "said"),
    [
        (requests.ConnectionError("aborted", PermissionError(13, "denied")), "no permission .* usermod -aG docker"),
        (requests.ReadTimeout("read timed out"), "does not answer in time"),
        (ValueError("odd answer"), "cannot be used"),
    ],
)
def test_each_trouble_has_its_line(cause: Exception, said: str) -> None:
    with pytest.raises(SandboxError, match=said):
        raise SandboxError(explain(cause, "unix:///x.sock"))
    assert "\n" not in explain(cause, "unix:///x.sock")


@needs_engine
def test_a_missing_image_is_not_success(monkeypatch: pytest.MonkeyPatch) -> None:
    # SWE-bench#316, #367: "1 ran successfully" without an image
    monkeypatch.setitem(docker_backend.IMAGES, "base", "tradeschool/base:never")
    with pytest.raises(SandboxError, match=r"no image tradeschool/base:never.*tradeschool setup docker") as caught:
        DockerSandbox.check()
    assert caught.value.kind == "image"
    with pytest.raises(SandboxError, match="tradeschool/base:never") as caught, DockerSandbox(SandboxSpec()):
        pass
    assert caught.value.kind == "image"


# --- streams ---


@given(
    pieces=st.lists(st.tuples(st.sampled_from([STDOUT, STDERR]), st.binary(max_size=40))),
    cuts=st.lists(st.integers(min_value=1, max_value=9), min_size=1),
)
def test_frames_are_found_however_the_stream_is_cut(pieces: list[tuple[int, bytes]], cuts: list[int]) -> None:
    stream = b"".join(bytes([number, 0, 0, 0]) + len(data).to_bytes(4, "big") + data for number, data in pieces)
    frames, got, turn = Frames(), {STDOUT: b"", STDERR: b""}, 0
    while stream:
        size = cuts[turn % len(cuts)]
        for number, data in frames.feed(stream[:size]):
            got[number] += data
        stream, turn = stream[size:], turn + 1
    assert got == {n: b"".join(data for number, data in pieces if number == n) for n in (STDOUT, STDERR)}


def test_a_programs_environment_is_nothing_but_ours() -> None:
    assert program(["ls", "-l"], "/tmp", {"A": "1"}) == ["/usr/bin/env", "-i", "-C", "/tmp", "A=1", "ls", "-l"]
    with pytest.raises(ValueError, match="NUL"):
        program("a\0b", "/", {})


# --- the container ---


@needs_engine
def test_the_container_is_as_narrow_as_it_says(sandbox: DockerSandbox) -> None:
    found = inspect(sandbox)
    host = found["HostConfig"]
    assert host["Memory"] == host["MemorySwap"] == 200 * 2**20
    assert host["PidsLimit"] == 50
    assert host["NanoCpus"] == 500_000_000
    assert host["NetworkMode"] == "none"
    assert host["CapDrop"] == ["ALL"]
    assert not host["CapAdd"]
    assert not host["Privileged"]
    assert host["SecurityOpt"] == ["no-new-privileges"]
    assert host["LogConfig"]["Type"] == "none"
    assert not host["Binds"]
    assert all(not mount["RW"] for mount in found["Mounts"])
    assert found["Config"]["Labels"][OWNER_LABEL] == owner()


@needs_engine
def test_process_one_survives_what_is_written_to_it(sandbox: DockerSandbox) -> None:
    sandbox.run("for i in 1 2 3; do echo x > /proc/1/fd/0; done; echo y > /proc/1/fd/1")
    assert sandbox.run("echo lives").stdout == b"lives\n"


@needs_engine
def test_orphans_are_reaped(sandbox: DockerSandbox) -> None:
    sandbox.run("for i in $(seq 20); do (setsid true &); done")
    sandbox.run("sleep 0.2")
    assert b"Z" not in sandbox.run(["ps", "-eo", "stat="]).stdout


@needs_engine
def test_a_container_removed_by_others_is_gone(sandbox: DockerSandbox) -> None:
    # SWE-agent/mini-swe-agent#803, #807: steps went on against a container that was no more
    shell = sandbox.shell()
    engine().remove_container(sandbox._container, force=True, v=True)
    shell.run("echo lost")
    for use in (lambda: sandbox.run("true"), lambda: shell.run("true"), lambda: sandbox.export(["/workspace"])):
        with pytest.raises(SandboxError) as caught:
            use()
        assert caught.value.kind == "gone"


@needs_engine
def test_a_container_stopped_while_a_command_runs_is_gone(sandbox: DockerSandbox) -> None:
    stop = threading.Timer(0.5, lambda: engine().kill(sandbox._container))
    stop.start()
    with pytest.raises(SandboxError) as caught:
        sandbox.run("sleep 60")
    stop.join()
    assert caught.value.kind == "gone"


@needs_engine
def test_close_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x", "ascii")
    with DockerSandbox(SandboxSpec(mounts=(Mount(tmp_path, "/data", private=True),))) as sandbox:
        name, copies = sandbox._container, sandbox._copies
        assert copies is not None
        assert copies.is_dir()
    assert not copies.exists()
    assert not [found for found in engine().containers(all=True) if found["Id"] == name]


OWNER = """
import sys
from tradeschool.sandbox import SandboxSpec
from tradeschool.sandbox.docker import DockerSandbox
sandbox = DockerSandbox(SandboxSpec())
sandbox.start()
sandbox.run("setsid sleep 7777 >/dev/null 2>&1 &")
print(sandbox._container, flush=True)
sys.stdin.read()
"""


@needs_engine
def test_a_killed_owners_container_ends_by_itself_and_is_reaped() -> None:
    # valbaudo/dawn#15: kill -9 of the runner left a container running for 18 minutes
    with subprocess.Popen([sys.executable, "-c", OWNER], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        container = process.stdout.readline().decode().strip()
        assert engine().inspect_container(container)["State"]["Running"]
        process.send_signal(signal.SIGKILL)
    engine().wait(container, timeout=30, condition="not-running")
    assert reap() >= 1
    assert not [found for found in engine().containers(all=True) if found["Id"] == container]


def test_only_the_dead_of_this_machine_are_reaped() -> None:
    machine, pid, started = owner().split()
    assert not owner_is_dead(owner())
    assert owner_is_dead(f"{machine} {pid} {int(started) + 1}")
    assert not owner_is_dead(f"another-machine {pid} 1")
    for odd in ("", "x", f"{machine} x 1", "a b c d"):
        assert not owner_is_dead(odd)
    assert str(os.getpid()) == pid


# --- workspaces as images ---


@needs_engine
def test_equal_workspaces_are_made_once_even_at_once(tmp_path: Path) -> None:
    (tmp_path / "unique.txt").write_text(str(tmp_path), "utf-8")
    archive = pack_folder(tmp_path)
    names: list[str] = []
    api = engine()

    def make() -> None:
        names.append(workspace_image(engine(), docker_backend.BASE_IMAGE, archive))

    threads = [threading.Thread(target=make) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    try:
        assert len(names) == 3
        assert len(set(names)) == 1
        labels = api.inspect_image(names[0])["Config"]["Labels"]
        assert labels["tradeschool"] == "workspace"
        assert not owner_is_dead(labels[OWNER_LABEL])
        assert workspace_image(api, docker_backend.BASE_IMAGE, archive) == names[0]
    finally:
        api.remove_image(names[0])


@pytest.mark.docker
@pytest.mark.blender
def test_bpy_runs_in_the_image() -> None:
    from tradeschool.envs.blender.client import blender_python
    from tradeschool.sandbox.interpreter import interpreter_mounts

    python = str(blender_python())
    with DockerSandbox(SandboxSpec(mounts=interpreter_mounts(python))) as sandbox:
        done = sandbox.run([python, "-c", "import bpy; print('version', bpy.app.version_string)"], 120)
    assert done.exit_code == 0, done.stderr
    assert b"version 4.5" in done.stdout

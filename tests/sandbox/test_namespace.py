"""What is particular to the namespace back end; the common contract is in tests/contract."""

from __future__ import annotations

import io
import os
import select
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from tradeschool.errors import SandboxError
from tradeschool.home import home
from tradeschool.sandbox import Limits, Mount, SandboxSpec, open_sandbox
from tradeschool.sandbox.cgroup import abandoned_cgroups
from tradeschool.sandbox.namespace import NamespaceSandbox
from tradeschool.sandbox.pexpect_shell import _escape
from tradeschool.sandbox.reaper import reap
from tradeschool.sandbox.runtime import runtime

pytestmark = pytest.mark.sandbox


def folders() -> set[str]:
    place = home() / "sandboxes"
    return set(os.listdir(place)) if place.is_dir() else set()


def test_nothing_is_left_behind() -> None:
    before = folders()
    with open_sandbox("namespace", SandboxSpec()) as sandbox:
        # whatever an agent does to its files, they can be removed
        sandbox.run("mkdir -p a/b && touch a/b/c && chmod 000 a/b a && setsid sleep 1000 & disown")
        assert len(folders() - before) == 1
    assert folders() <= before | set()
    reap()  # a control group may have been busy for a moment
    assert not list(abandoned_cgroups(folders()))


def test_the_hosts_user_is_unprivileged() -> None:
    with open_sandbox("namespace", SandboxSpec()) as sandbox:
        assert sandbox.run("id -u; grep CapBnd /proc/self/status; cat /proc/self/uid_map").stdout.split() == [
            b"0",
            b"CapBnd:",
            b"0000000000000000",
            b"0",
            b"0",
            b"1",
        ]
        assert isinstance(sandbox, NamespaceSandbox)
        assert sandbox._life is not None
        outer = sandbox._life.process
        assert outer is not None
        children = Path(f"/proc/{outer.pid}/task/{outer.pid}/children").read_text().split()
        assert os.stat(f"/proc/{children[0]}").st_uid in (0, runtime().uid)  # 0: process 1 cannot be looked into
        status = Path(f"/proc/{children[0]}/status").read_text()
        assert f"Uid:\t{runtime().uid}\t" in status
        assert runtime().uid != 0


def test_process_one_cannot_be_traced_or_ended() -> None:
    with open_sandbox("namespace", SandboxSpec()) as sandbox:
        done = sandbox.run(
            "kill -9 1; kill -TERM 1; cat /proc/1/fd/* /proc/1/mem /proc/1/environ | head -c 1; echo alive"
        )
        assert done.stdout == b"alive\n"
        assert sandbox.run("readlink /proc/1/fd/0 /proc/1/exe").stdout == b""
        assert sandbox.run("echo still").stdout == b"still\n"


def test_a_sandbox_ends_with_its_owner() -> None:
    code = (
        "import os, signal, sys\n"
        "from tradeschool.sandbox import SandboxSpec, open_sandbox\n"
        "sandbox = open_sandbox('namespace', SandboxSpec())\n"
        "sandbox.start()\n"
        "sandbox.run('setsid sleep 4321 & disown')\n"
        "print(sandbox._life.process.pid, flush=True)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    # dawn#15: the runner is killed outright; what it started must not go on
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    outer = int(done.stdout)
    pidfd = None
    try:
        pidfd = os.pidfd_open(outer)
    except ProcessLookupError:
        return
    assert select.select([pidfd], [], [], 10)[0], "the sandbox outlived its owner by 10 s"
    os.close(pidfd)


def test_what_a_killed_owner_left_is_reaped_and_nothing_else() -> None:
    code = (
        "import os, signal\n"
        "from tradeschool.sandbox import SandboxSpec, open_sandbox\n"
        "sandbox = open_sandbox('namespace', SandboxSpec())\n"
        "sandbox.start()\n"
        "sandbox.run('mkdir -p d && chmod 000 d')\n"
        "print(sandbox._box.name, flush=True)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    left = done.stdout.strip()
    with open_sandbox("namespace", SandboxSpec()) as sandbox:
        assert left in folders()
        reap()
        assert left not in folders()
        assert sandbox.run("echo alive").stdout == b"alive\n"


def test_a_mount_that_its_user_cannot_reach_is_shown_all_the_same(tmp_path: Path) -> None:
    hidden = tmp_path / "hidden" / "data"
    hidden.mkdir(parents=True)
    (hidden / "file").write_text("here")
    hidden.parent.chmod(0o700)
    for private in (False, True):
        with open_sandbox("namespace", SandboxSpec(mounts=(Mount(hidden, "/opt/data", private=private),))) as sandbox:
            assert sandbox.run("cat /opt/data/file; touch /opt/data/x").stdout == b"here"
    assert os.listdir(hidden) == ["file"]


def test_a_missing_mount_is_named(tmp_path: Path) -> None:
    with pytest.raises(SandboxError, match="nowhere is to be shown"):
        open_sandbox("namespace", SandboxSpec(mounts=(Mount(tmp_path / "nowhere", "/opt/x"),))).__enter__()


def test_an_unknown_image_is_refused() -> None:
    with pytest.raises(SandboxError, match="no image 'x'"):
        open_sandbox("namespace", SandboxSpec(image="x"))


def test_limits_are_the_sandboxs_and_not_a_commands() -> None:
    with open_sandbox("namespace", SandboxSpec(limits=Limits(memory_mb=128))) as sandbox:
        done = sandbox.run("python3 -c 'b = bytearray(300 << 20)'; echo $?")
        assert done.stdout.strip() in (b"137", b"1")
        assert sandbox.run("echo on").stdout == b"on\n"


@pytest.mark.parametrize(
    "text", ["plain", "back\\slash", "new\nline\ttab", "é€😀", "\x01\x7f\x1e", "%s %d", "a" * 5000]
)
def test_commands_are_typed_in_short_plain_lines(text: str) -> None:
    lines = _escape(text)
    assert all(len(line) < 1000 and line.isascii() and line.isprintable() for line in lines)
    typed = subprocess.run(["bash", "-c", 'printf %b "$1"', "x", "".join(lines)], capture_output=True, check=True)
    assert typed.stdout == text.encode()


def test_what_an_agent_did_to_its_system_does_not_bear_on_reading_it_out() -> None:
    spoil = (
        "echo made > kept; mkdir /tmp/x; mv /opt /opt2; ln -s /workspace /opt; rm -rf /etc; ln -s /workspace /etc; "
        "mv /tmp /tmp2; ln -s /proc /tmp; echo /workspace/kept > ld.so.preload; rm -f /bin /lib /lib64 /sbin"
    )
    with open_sandbox("namespace", SandboxSpec()) as sandbox:
        sandbox.run(spoil)
        sandbox.freeze()
        with tarfile.open(fileobj=io.BytesIO(sandbox.export(["/workspace", "/tmp2"]))) as found:
            names = {member.name.removeprefix("./") for member in found}
        assert {"workspace/kept", "tmp2/x"} <= names

"""The contract of every back end: files in and out, whatever an agent made of them."""

from __future__ import annotations

import os
import posixpath
import tarfile
from pathlib import Path

import pytest

from tradeschool.errors import SandboxError
from tradeschool.sandbox import Sandbox


@pytest.mark.parametrize(
    "name",
    ["plain.txt", "deep/er/file", "ü ñ.txt", "-rf", "a\nb", "'\"$(id)`*?[x]", " ", "\udcff\udcfe.bin", "/tmp/abs.txt"],
)
def test_what_is_written_is_read_back(box: Sandbox, name: str) -> None:
    path = posixpath.join("/workspace", name)
    for data in (b"first and longer", b"\0\xff\n\r", b""):
        box.write_bytes(path, data)
        assert box.read_bytes(path) == data


def test_a_written_file_has_its_mode_and_is_there_for_programs(box: Sandbox) -> None:
    box.write_bytes("/workspace/bin/tool", b"#!/bin/sh\necho works\n", 0o755)
    box.write_bytes("/workspace/bin/data", b"x")
    assert box.run("bin/tool; stat -c '%a %U' bin/tool bin/data").stdout == b"works\n755 root\n644 root\n"


def test_a_large_file_goes_both_ways(box: Sandbox) -> None:
    data = os.urandom(3_000_000)
    box.write_bytes("/workspace/large.bin", data)
    assert box.read_bytes("/workspace/large.bin") == data


def test_reading_tells_what_is_wrong(box: Sandbox) -> None:
    box.run("mkdir -p folder; mkfifo pipe; head -c 2000 /dev/zero > two; touch closed; chmod 000 closed")
    for path, error in (
        ("/workspace/nothing-here", FileNotFoundError),
        ("/workspace/folder", IsADirectoryError),
        ("/workspace/pipe", PermissionError),
        ("/dev/zero", PermissionError),
        ("/workspace/two/below", NotADirectoryError),
    ):
        with pytest.raises(error):
            box.read_bytes(path)
    with pytest.raises(ValueError, match="1999"):
        box.read_bytes("/workspace/two", max_bytes=1999)
    assert len(box.read_bytes("/workspace/two", max_bytes=2000)) == 2000


def test_a_file_that_root_without_capabilities_cannot_open_is_refused(box: Sandbox) -> None:
    box.run("touch closed; chmod 000 closed")
    with pytest.raises(PermissionError):
        box.read_bytes("/workspace/closed")


def test_writing_tells_what_is_wrong(box: Sandbox) -> None:
    box.run("mkdir -p there; mkfifo queue; touch file; ln -s loop loop")
    for path, error in (
        ("/workspace/there", IsADirectoryError),
        ("/workspace/file/below", NotADirectoryError),
        ("/workspace/loop", OSError),
        ("/workspace/queue", OSError),
    ):
        with pytest.raises(error):
            box.write_bytes(path, b"x")


def test_links_lead_nowhere_but_into_the_sandbox(box: Sandbox, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("host-secret", "ascii")
    box.run(f"ln -s /etc/hostname name; ln -s {secret} out; ln -s / top; ln -s {'../' * 30}etc/hostname up")
    assert box.read_bytes("/workspace/name") == box.read_bytes("/workspace/up") == b"sandbox\n"
    for path in ("/workspace/out", f"/workspace/top{secret}", f"/proc/1/root{secret}", f"/proc/self/root{secret}"):
        with pytest.raises(OSError, match=r"o such file|denied"):
            box.read_bytes(path)
    box.run(f"mkdir -p {tmp_path}")
    box.write_bytes("/workspace/out", b"written through the link")
    assert box.run(["cat", str(secret)]).stdout == b"written through the link"
    assert secret.read_text("ascii") == "host-secret"


def test_freezing_ends_every_process_and_keeps_the_files(fresh, tar, token: str, host_processes) -> None:
    # macanderson/stella#2198: a writer in the background must be dead before the first byte is copied
    sandbox = fresh()
    sandbox.shell().run(f"(trap '' TERM HUP; while :; do echo {token} >> log; done) & echo keep > /tmp/kept")
    sandbox.run(f"setsid sleep {token} >/dev/null 2>&1 & mkdir -p /root/x; echo home > /root/x/y; echo etc > /etc/mine")
    sandbox.freeze()
    assert not host_processes(token)
    paths = ["/workspace/log", "/tmp/kept", "/root/x", "/etc/mine"]
    first, second = sandbox.export(paths), sandbox.export(paths)
    assert tar.content(first, "workspace/log") == tar.content(second, "workspace/log")
    assert tar.content(first, "tmp/kept") == b"keep\n"
    assert tar.content(first, "root/x/y") == b"home\n"
    assert tar.content(first, "etc/mine") == b"etc\n"
    with pytest.raises(SandboxError):
        sandbox.run("true")
    with pytest.raises(SandboxError):
        sandbox.shell()


MAKE = """
mkdir -p empty d/e; echo run > d/e/run; chmod 755 d/e/run; echo hidden > .hidden; chmod 600 .hidden
ln -s run d/e/link; ln -s /etc/passwd away; ln -s nowhere broken; ln d/e/run hard; chmod 700 empty
printf x > "$(printf 'odd \\377\\n name')"; seq 20000 > blob
"""
LIST = "find . -printf '%P %y %m %l\\n' | sort; sha256sum blob d/e/run hard .hidden; stat -c %h hard; ls -A | od -c"


def test_a_tree_goes_out_and_in_unchanged(fresh, tar) -> None:
    one, other = fresh(), fresh()
    assert one.run(MAKE).exit_code == 0
    listed = one.run(LIST).stdout
    one.freeze()
    archive = one.export(["/workspace", "/not/there"])
    found = tar.members(archive)
    assert found["workspace/away"].issym()
    assert found["workspace/away"].linkname == "/etc/passwd"
    assert found["workspace/empty"].isdir()
    assert not [name for name in found if name.startswith("/") or ".." in name or "not/there" in name]
    other.unpack(archive)
    assert other.run(LIST).stdout == listed != b""


def test_export_works_before_freezing_and_of_parts(fresh, tar) -> None:
    sandbox = fresh()
    sandbox.run("mkdir -p a/b; echo 1 > a/b/one; echo 2 > two; ln -s a linked; echo 3 > /var/tmp/three")
    found = tar.members(sandbox.export(["/workspace/a/b/one", "/workspace/linked", "/var/tmp/three"]))
    assert {"workspace/a/b/one", "workspace/linked", "var/tmp/three"} <= set(found)
    assert found["workspace/linked"].issym()
    assert "workspace/two" not in found
    assert tar.members(sandbox.export(["/nothing", "/nothing/more"])) == {}


def test_pipes_and_devices_are_no_obstacle_to_an_export(fresh, tar) -> None:
    sandbox = fresh()
    sandbox.run("mkfifo pipe; echo kept > file; python3 -c \"import socket as s; s.socket(s.AF_UNIX).bind('sock')\"")
    found = tar.members(sandbox.export(["/workspace"]))
    assert found["workspace/file"].isfile()


def test_an_export_that_is_too_large_is_refused(fresh) -> None:
    sandbox = fresh()
    sandbox.run("head -c 3000000 /dev/zero > big; truncate -s 500M sparse")
    for path, most in (("/workspace/big", 1_000_000), ("/workspace/sparse", 10_000_000)):
        with pytest.raises(SandboxError) as caught:
            sandbox.export([path], max_bytes=most)
        assert caught.value.kind == "too_large"
    assert sandbox.run("echo lives").stdout == b"lives\n"


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("/etc/evil", tarfile.REGTYPE),
        ("../evil", tarfile.REGTYPE),
        ("workspace/../../evil", tarfile.REGTYPE),
        ("workspace/evil", tarfile.CHRTYPE),
        ("workspace/evil", tarfile.BLKTYPE),
        ("workspace/evil", tarfile.FIFOTYPE),
    ],
)
def test_hostile_archives_are_refused(box: Sandbox, tar, name: str, kind: bytes) -> None:
    with pytest.raises(SandboxError, match="evil"):
        box.unpack(tar.make((tar.entry("workspace/before"), b"x"), (tar.entry(name, kind), b"")))
    assert box.run("ls before").exit_code != 0


def test_broken_archives_are_refused(box: Sandbox, tar) -> None:
    for archive in (b"no tar at all" * 100, tar.make((tar.entry("workspace/a"), b"x" * 2000))[:700]):
        with pytest.raises(SandboxError):
            box.unpack(archive)


def test_an_archive_that_writes_through_its_own_link_stays_inside(fresh, tar, tmp_path: Path) -> None:
    archive = tar.make(
        (tar.entry("workspace/l", tarfile.SYMTYPE, str(tmp_path)), b""),
        (tar.entry("workspace/l/evil"), b"x"),
    )
    sandbox = fresh()
    try:
        sandbox.unpack(archive)
    except SandboxError as refused:
        kind = refused.kind
    else:
        kind = "unpack"
    assert kind == "unpack"
    assert list(tmp_path.iterdir()) == []

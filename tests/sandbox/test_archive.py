"""Archives: what may cross a sandbox's border, and that packing is deterministic."""

from __future__ import annotations

import io
import os
import tarfile
from pathlib import Path

import pytest

from tradeschool.errors import SandboxError
from tradeschool.sandbox.archive import check_archive, check_confined, pack_folder


def tar(*members: tuple[str, bytes, str]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as out:
        for name, kind, link in members:
            member = tarfile.TarInfo(name)
            member.type, member.linkname = kind, link
            out.addfile(member)
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("member", "said"),
    [
        (("/etc/passwd", tarfile.REGTYPE, ""), "outside"),
        (("a/../../b", tarfile.REGTYPE, ""), "outside"),
        (("dev", tarfile.CHRTYPE, ""), "device"),
        (("pipe", tarfile.FIFOTYPE, ""), "pipe"),
    ],
)
def test_hostile_members_are_refused(member: tuple[str, bytes, str], said: str) -> None:
    with pytest.raises(SandboxError, match=said):
        check_archive(tar(member))


@pytest.mark.parametrize("data", [b"no tar at all" * 100, b"\0" * 3, b"x" * 512])
def test_what_is_no_archive_is_refused(data: bytes) -> None:
    with pytest.raises(SandboxError, match="cannot be read"):
        check_archive(data)


def test_plain_members_pass() -> None:
    check_confined(
        tar(("w", tarfile.DIRTYPE, ""), ("w/a", tarfile.REGTYPE, ""), ("w/l", tarfile.SYMTYPE, "/etc")), ["/w"]
    )


@pytest.mark.parametrize(
    "members",
    [
        [("etc/ld.so.preload", tarfile.REGTYPE, "")],
        [("w2/a", tarfile.REGTYPE, "")],
        [("w/l", tarfile.SYMTYPE, "/etc"), ("w/l/ld.so.preload", tarfile.REGTYPE, "")],
        [("w/l/x", tarfile.REGTYPE, ""), ("w/l", tarfile.SYMTYPE, "/etc")],
        [("w/h", tarfile.LNKTYPE, "etc/passwd")],
    ],
)
def test_artifacts_stay_in_their_folders(members: list[tuple[str, bytes, str]]) -> None:
    with pytest.raises(SandboxError) as caught:
        check_confined(tar(*members), ["/w"])
    assert caught.value.kind == "archive"


def test_equal_folders_give_equal_bytes(tmp_path: Path) -> None:
    archives = []
    for name in ("one", "two"):
        folder = tmp_path / name
        (folder / "sub").mkdir(parents=True)
        (folder / "sub" / "b").write_text("b")
        (folder / "run").write_text("#!/bin/sh\n")
        (folder / "run").chmod(0o700)
        (folder / "link").symlink_to("sub/b")
        (folder / "__pycache__").mkdir()
        (folder / "__pycache__" / "x.pyc").write_text(name)
        os.utime(folder / "sub" / "b", (1, len(name) + len(archives)))
        archives.append(pack_folder(folder, "top"))
    assert archives[0] == archives[1]
    with tarfile.open(fileobj=io.BytesIO(archives[0])) as packed:
        assert {m.name: m.mode for m in packed if m.isfile()} == {"top/sub/b": 0o644, "top/run": 0o755}
        assert packed.getmember("top/link").linkname == "sub/b"

"""Archives that cross a sandbox's border: looked at before they are unpacked, since an agent may have written them."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from tradeschool.errors import SandboxError
from tradeschool.sandbox.base import Completed

MAX_MEMBERS = 200_000


def check_archive(archive: bytes) -> None:
    """Raises SandboxError (kind `archive`) for a tar with absolute names, `..`, devices or too many members.

    It is unpacked inside a sandbox all the same; this is the first of two walls.
    """
    try:
        with tarfile.open(fileobj=io.BytesIO(archive), mode="r:") as tar:
            for count, member in enumerate(tar, 1):
                path = PurePosixPath(member.name)
                if path.is_absolute() or ".." in path.parts:
                    raise SandboxError(f"the archive names {member.name!r}, outside of its folder.", kind="archive")
                if not (member.isfile() or member.isdir() or member.issym() or member.islnk()):
                    raise SandboxError(f"the archive holds {member.name!r}, a device or pipe.", kind="archive")
                if count > MAX_MEMBERS:
                    raise SandboxError(f"the archive holds over {MAX_MEMBERS} members.", kind="archive")
    except (tarfile.TarError, EOFError, ValueError) as error:
        raise SandboxError(f"the archive cannot be read ({error}).", kind="archive") from error


def check_transfer(done: Completed, what: str, kind: str) -> None:
    """Raises SandboxError for a tar that did not do its work: of this `kind` where it refused what it was given.

    One that was killed, or ran out of time or disk, says nothing of the files: its kind is `transfer`.
    """
    said = done.stderr.decode("utf-8", "replace").strip()[:300]
    if done.timed_out or done.exit_code < 0 or done.exit_code > 128 or "No space left" in said:
        raise SandboxError(f"{what}: the transfer was cut short. {said}", kind="transfer")
    if done.exit_code:
        raise SandboxError(f"{what}: {said}.", kind=kind)


def check_confined(archive: bytes, folders: Sequence[str]) -> None:
    """Raises SandboxError (kind `archive`) unless every member lies in one of `folders` and none beneath a link.

    For what comes out of an agent's sandbox, whose own tar may be lying.
    """
    check_archive(archive)
    allowed = [PurePosixPath(folder.strip("/")) for folder in folders]
    with tarfile.open(fileobj=io.BytesIO(archive), mode="r:") as tar:
        members = tar.getmembers()
    links = {PurePosixPath(member.name) for member in members if member.issym()}
    for member in members:
        path = PurePosixPath(member.name)
        hard = [PurePosixPath(member.linkname)] if member.islnk() else []
        for place in (path, *hard):
            if not any(place == root or root in place.parents for root in allowed) or ".." in place.parts:
                raise SandboxError(
                    f"the archive names {str(place)!r}, which is no artifact of the task.", kind="archive"
                )
        if links.intersection(path.parents):
            raise SandboxError(f"the archive names {member.name!r}, which lies beneath a link.", kind="archive")


def pack_folder(folder: Path, prefix: str = "") -> bytes:
    """A tar of a folder's content under `prefix`: sorted, owned by root, undated, so equal trees give equal bytes.

    Links stay links; run bits are kept; other modes are made 0644 and 0755.
    """
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for path in sorted(folder.rglob("*")):
            if "__pycache__" in path.parts:
                continue
            member = tar.gettarinfo(str(path), arcname=str(PurePosixPath(prefix) / path.relative_to(folder).as_posix()))
            member.uid = member.gid = member.mtime = 0
            member.uname = member.gname = "root"
            member.mode = 0o755 if member.isdir() or member.mode & 0o100 else 0o644
            if member.isfile():
                with path.open("rb") as file:
                    tar.addfile(member, file)
            else:
                tar.addfile(member)
    return buffer.getvalue()

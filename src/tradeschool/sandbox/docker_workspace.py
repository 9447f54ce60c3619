"""Workspaces as images: made once for equal bytes, so that a sandbox starts with its files in place."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import io
import tarfile
from collections.abc import Iterator

import docker
from docker.errors import ImageNotFound

from tradeschool.home import make_folder
from tradeschool.sandbox.archive import check_archive
from tradeschool.sandbox.base import WORKSPACE
from tradeschool.sandbox.docker_engine import LABEL, OWNER_LABEL, engine_errors, owner, remove

REPOSITORY = "tradeschool/workspace"


def has_image(api: docker.APIClient, name: str) -> bool:
    """Whether the engine holds an image. Raises SandboxError when it does not answer."""
    with engine_errors():
        try:
            api.inspect_image(name)
        except ImageNotFound:
            return False
    return True


def workspace_image(api: docker.APIClient, base: str, workspace: bytes) -> str:
    """The name of `base` with the tar's content in /workspace, owned by root.

    Raises SandboxError for a hostile archive, or when `base` is missing.
    """
    name = f"{REPOSITORY}:{hashlib.sha256(base.encode() + workspace).hexdigest()[:24]}"
    if not has_image(api, name):
        check_archive(workspace)
        with _lock():
            if not has_image(api, name):
                _make(api, base, name, _owned_by_root(workspace))
    return name


def _make(api: docker.APIClient, base: str, name: str, workspace: bytes) -> None:
    with engine_errors():
        labels = {LABEL: "workspace", OWNER_LABEL: owner()}
        draft = api.create_container(base, ["/bin/true"], labels=labels, network_disabled=True)["Id"]
        try:
            api.put_archive(draft, WORKSPACE, workspace)
            repository, _, tag = name.partition(":")
            # an image has no owner: with this label a container made from it by hand would be removed as left over
            api.commit(draft, repository, tag, changes=[f'LABEL {OWNER_LABEL}=""'])
        finally:
            remove(api, draft)


def _owned_by_root(archive: bytes) -> bytes:
    buffer = io.BytesIO()
    with (
        tarfile.open(fileobj=io.BytesIO(archive), mode="r:") as old,
        tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as new,
    ):
        for member in old:
            member.uid = member.gid = 0
            member.uname = member.gname = "root"
            new.addfile(member, old.extractfile(member) if member.isfile() else None)
    return buffer.getvalue()


@contextlib.contextmanager
def _lock() -> Iterator[None]:
    """One maker at a time on this machine, whatever its process or thread."""
    with open(make_folder("docker") / "workspace.lock", "wb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield

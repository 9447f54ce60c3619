"""Files of a container: read and written by a program inside it, so that links lead nowhere else."""

from __future__ import annotations

import io
import os
import posixpath
import tarfile
from collections.abc import Sequence

import docker
import requests

from tradeschool.errors import SandboxError
from tradeschool.sandbox.base import WORKSPACE
from tradeschool.sandbox.docker_engine import engine_errors

# Runs inside. Input: the path's length in a line, the path, data to write. Output: an errno in a line, what was read.
HELPER = r"""
import os, stat, sys
write, number = sys.argv[1] == "write", int(sys.argv[2])
source, out = sys.stdin.buffer, sys.stdout.buffer
path = source.read(int(source.readline()))
try:
    flags = os.O_RDONLY
    if write:
        flags = os.O_WRONLY | os.O_CREAT
        try:
            os.makedirs(os.path.dirname(path), exist_ok=True)
        except FileExistsError:
            pass
    fd = os.open(path, flags | os.O_NONBLOCK | os.O_NOCTTY, number if write else 0)
    mode = os.fstat(fd).st_mode
    if stat.S_ISDIR(mode):
        raise OSError(21, "folder")
    if not stat.S_ISREG(mode):
        raise OSError(13, "no regular file")
    with open(fd, "wb" if write else "rb", buffering=0) as file:
        if write:
            file.truncate(0)
            while data := source.read(1 << 20):
                view = memoryview(data)
                while view:
                    view = view[file.write(view):]
        out.write(b"0\n")
        while not write and number and (data := file.read(min(number, 1 << 20))):
            out.write(data)
            number -= len(data)
except OSError as error:
    out.write(b"%d\n" % error.errno)
"""


def helper_argv(operation: str, number: int) -> list[str]:
    """The helper's command line: `read` with the most bytes to send, or `write` with the new file's mode."""
    return ["/usr/bin/python3", "-I", "-S", "-c", HELPER, operation, str(number)]


def helper_input(path: str, data: bytes = b"") -> bytes:
    """What the helper is given. Raises ValueError when the path holds a NUL character."""
    if "\0" in path:
        raise ValueError("a path cannot hold a NUL character")
    name = os.fsencode(posixpath.join(WORKSPACE, path))
    return b"%d\n" % len(name) + name + data


def helper_output(said: bytes, path: str) -> bytes:
    """What it read. Raises the OSError it met, or SandboxError when it did not do its work."""
    line, newline, data = said.partition(b"\n")
    if not newline or not line.isdigit():
        trouble = said[:300].decode("utf-8", "replace")
        raise SandboxError(f"{path}: the sandbox's own Python does not work ({trouble}).", kind="helper")
    if int(line):
        raise OSError(int(line), os.strerror(int(line)), path)
    return data


def export(api: docker.APIClient, container: str, paths: Sequence[str], max_bytes: int) -> bytes:
    """A tar of absolute paths with names relative to `/`, through the engine; the container may be stopped.

    Only files, folders and links. Raises SandboxError, `too_large` over `max_bytes` (headers included).
    """
    buffer = io.BytesIO()
    left = max_bytes
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for path in paths:
            clean = posixpath.normpath(posixpath.join("/", path))
            with engine_errors(), _get(api, container, clean) as response:
                if response.status_code == requests.codes.not_found and "No such container" not in response.text:
                    continue
                if response.status_code != requests.codes.ok:
                    kind = "gone" if response.status_code == requests.codes.not_found else "export"
                    raise SandboxError(f"{clean} could not be read out: {response.text[:300]}", kind=kind)
                source = _Bounded(response, left, clean)
                _copy(source, tar, posixpath.dirname(clean).strip("/"), clean)
                left = source.left
    return buffer.getvalue()


def _get(api: docker.APIClient, container: str, path: str) -> requests.Response:
    # not by `get_archive`: it gives no means to stop in the middle of what is too large
    url = f"{api.base_url}/v{api.api_version}/containers/{container}/archive"
    plain = {"Accept-Encoding": "identity"}
    return api.get(url, params={"path": path}, headers=plain, stream=True, timeout=api.timeout)


def _copy(source: _Bounded, tar: tarfile.TarFile, prefix: str, path: str) -> None:
    try:
        with tarfile.open(fileobj=source, mode="r|") as read:
            for member in read:
                if not (member.isfile() or member.isdir() or member.issym() or member.islnk()):
                    continue
                member.name = posixpath.join(prefix, member.name.strip("/"))
                if member.islnk():
                    member.linkname = posixpath.join(prefix, member.linkname.strip("/"))
                # else an old `path` among them would win over the new name
                member.pax_headers = {}
                tar.addfile(member, read.extractfile(member) if member.isfile() else None)
    except (tarfile.TarError, EOFError) as error:
        raise SandboxError(f"{path} could not be read out: {error}.", kind="export") from error


class _Bounded(io.RawIOBase):
    """A response's body as a file that refuses to be longer than `left` bytes."""

    def __init__(self, response: requests.Response, left: int, path: str) -> None:
        self._raw = response.raw
        self._path = path
        self.left = left

    def read(self, size: int = -1) -> bytes:
        data = self._raw.read(1 << 20 if size < 0 else size)
        self.left -= len(data)
        if self.left < 0:
            raise SandboxError(f"{self._path}: the files are over the limit of bytes.", kind="too_large")
        return data

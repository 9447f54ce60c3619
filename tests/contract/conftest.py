"""Sandboxes for the contract suite: each test runs on every back end that works here."""

from __future__ import annotations

import io
import os
import secrets
import tarfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from tradeschool.errors import SandboxError
from tradeschool.sandbox import Limits, Sandbox, SandboxSpec, open_sandbox
from tradeschool.sandbox.factory import backend_class


@pytest.fixture(
    scope="session",
    params=[
        pytest.param("namespace", marks=pytest.mark.sandbox),
        pytest.param("docker", marks=pytest.mark.docker),
    ],
)
def backend(request: pytest.FixtureRequest) -> str:
    """The name of a back end that can run here."""
    try:
        backend_class(request.param).check()
    except SandboxError as error:
        pytest.skip(f"THE {request.param.upper()} SANDBOX IS NOT TESTED HERE: {error}")
    return request.param


@pytest.fixture
def fresh(backend: str) -> Iterator[Callable[..., Sandbox]]:
    """Opens started sandboxes of a test's own: `fresh(spec)`; they are closed at its end."""
    with ExitStack() as stack:

        def start(spec: SandboxSpec | None = None) -> Sandbox:
            return stack.enter_context(open_sandbox(backend, spec or SandboxSpec()))

        yield start


@pytest.fixture(scope="module")
def box(backend: str) -> Iterator[Sandbox]:
    """One sandbox for the tests of a module that leave it working."""
    with open_sandbox(backend, SandboxSpec(limits=Limits(memory_mb=512, command_timeout_s=30))) as sandbox:
        yield sandbox


@pytest.fixture
def token() -> str:
    """A number of seconds that nothing else on this machine sleeps for."""
    return f"7{secrets.randbelow(10**7):07d}"


@pytest.fixture
def host_processes() -> Callable[..., list[str]]:
    """Gives the command lines of this machine's processes that hold a word, those inside sandboxes too.

    `host_processes(word, wait_s=10)` waits for the first to appear, `gone_s=10` for the last to go.
    """

    def find(word: str, wait_s: float = 0, gone_s: float = 0) -> list[str]:
        deadline = time.monotonic() + max(wait_s, gone_s)
        while True:
            found = [line for line in _command_lines() if word in line]
            if bool(found) == (gone_s == 0) or time.monotonic() >= deadline:
                return found

    return find


def _command_lines() -> Iterator[str]:
    for folder in Path("/proc").glob("[0-9]*"):
        if folder.name != str(os.getpid()):
            with suppress(OSError):
                yield (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")


class Tar:
    """Makes archives, as hostile as a test wants them."""

    @staticmethod
    def make(*members: tuple[tarfile.TarInfo, bytes]) -> bytes:
        """A tar of these members."""
        buffer = io.BytesIO()
        with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as tar:
            for member, content in members:
                member.size = len(content)
                tar.addfile(member, io.BytesIO(content))
        return buffer.getvalue()

    @staticmethod
    def entry(name: str, kind: bytes = tarfile.REGTYPE, link: str = "", mode: int = 0o644) -> tarfile.TarInfo:
        """A member's header."""
        member = tarfile.TarInfo(name)
        member.type, member.linkname, member.mode = kind, link, mode
        return member

    @staticmethod
    def members(archive: bytes) -> dict[str, tarfile.TarInfo]:
        """The members by name, a leading `./` left out."""
        with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
            return {member.name.removeprefix("./"): member for member in tar}

    @staticmethod
    def content(archive: bytes, name: str) -> bytes:
        """The bytes of one file."""
        with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
            file = tar.extractfile(next(member for member in tar if member.name.removeprefix("./") == name))
            assert file is not None
            return file.read()


@pytest.fixture
def tar() -> type[Tar]:
    """Makes archives and looks into them."""
    return Tar

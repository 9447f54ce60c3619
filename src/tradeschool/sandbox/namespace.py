"""The embedded back end: Linux namespaces through bubblewrap, no daemon, no image to pull.

Covered: what the contract in `base.py` says. The sandbox's root user is, on the host, an unprivileged user (one of its
own when we are root, else the caller), with no capability and no way to make further user namespaces. It sees the
host's /usr (and /lib, /bin ... where they are folders) read-only, a /proc of its own, and its own files; no home,
checkout, variable or process of the host.
Not covered: as an ordinary user without delegated control groups, memory is limited per process and not for the
sandbox as a whole, and CPU is not limited. `check()` says which holds here.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import posixpath
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import BinaryIO

from pexpect import fdpexpect

from tradeschool.errors import SandboxError
from tradeschool.home import make_folder
from tradeschool.sandbox.archive import check_archive, check_transfer
from tradeschool.sandbox.base import (
    ENVIRONMENT,
    WORKSPACE,
    Capabilities,
    Channel,
    Completed,
    Limits,
    Sandbox,
    SandboxSpec,
    Shell,
)
from tradeschool.sandbox.box import FROZEN, Box
from tradeschool.sandbox.hiding import covers
from tradeschool.sandbox.life import Life
from tradeschool.sandbox.link import Link
from tradeschool.sandbox.pexpect_shell import BASH, PexpectShell
from tradeschool.sandbox.pipes import PipeChannel, Pipes, run_to_end
from tradeschool.sandbox.reaper import reap
from tradeschool.sandbox.runtime import runtime
from tradeschool.sandbox.tasktools import task_tools

TRANSFER_TIMEOUT_S = 300.0
MAX_ARGUMENT = 100_000  # the kernel takes 128 KiB for one argument
# files, folders and links only; what the sandbox's user cannot read is left out
EXPORT = """cd -- "$1" && shift &&
{ find "${@/#/./}" '(' -type f -o -type d -o -type l ')' -print0 2>/dev/null || true; } |
tar --create --null --no-recursion --files-from=- --numeric-owner --ignore-failed-read --warning=no-failed-read"""


class NamespaceSandbox(Sandbox):
    """See the module. One thread at a time may use it."""

    def __init__(self, spec: SandboxSpec) -> None:
        super().__init__(spec)
        if spec.image != "base":
            raise SandboxError(f"the namespace sandbox has no image {spec.image!r}; it knows 'base'.", kind="image")
        self._box: Box | None = None
        self._life: Life | None = None
        self._shells: list[PexpectShell] = []
        self._channels: list[PipeChannel] = []

    @classmethod
    def check(cls) -> Capabilities:
        return _check()

    def start(self) -> None:
        if self._box is not None:
            raise SandboxError("the sandbox is started already.", kind="state")
        run, tools = runtime(), task_tools()
        image = None if self.spec.workspace is None else _image(self.spec.workspace)
        self._box = box = Box.make(run, tools.python, image, overlay=overlay_works())
        mounts = (*tools.mounts, *self.spec.mounts)
        box.place((*mounts, *covers(mounts, self.spec.hidden, system=True)), run)
        self._life = Life.begin(run, box, self.spec.limits)

    def shell(self) -> Shell:
        link = self._use()

        def open_tty() -> Terminal:
            name, fd = link.spawn(BASH, WORKSPACE, self._environment(None), [], tty=True)
            assert fd is not None
            return Terminal(fd, lambda: link.ended(name) is not None)

        shell = PexpectShell(open_tty, self._kill_all, self.spec.limits)
        self._shells.append(shell)
        return shell

    def connect(self, argv: Sequence[str], *, cwd: str = WORKSPACE, env: Mapping[str, str] | None = None) -> Channel:
        link = self._use()
        pipes = Pipes()
        try:
            name, _ = link.spawn(argv, cwd, self._environment(env), [end.fileno() for end in pipes.inside])
        except OSError as error:
            pipes.close()
            raise SandboxError(f"{argv[0]} does not start in the sandbox: {error.strerror}.", kind="spawn") from error
        pipes.close_inside()
        channel = PipeChannel(pipes, kill=lambda: link.kill(name))
        self._channels.append(channel)
        return channel

    def read_bytes(self, path: str, max_bytes: int = 64 * 2**20) -> bytes:
        path = posixpath.join(WORKSPACE, path)
        with self._regular(path, os.O_RDONLY) as file:
            data = file.read(max_bytes + 1)
        if len(data) > max_bytes:
            raise ValueError(f"{path} is over the limit of {max_bytes} bytes")
        return data

    def write_bytes(self, path: str, data: bytes, mode: int = 0o644) -> None:
        link = self._use()
        path = posixpath.join(WORKSPACE, path)
        folder = posixpath.dirname(path)
        if folder.strip("/"):
            link.mkdir(folder)
        with self._regular(path, os.O_RDWR | os.O_CREAT, mode) as file:
            file.truncate(0)
            file.write(data)

    def freeze(self) -> None:
        self._use()
        self._end()
        assert self._box is not None
        self._box.freeze(runtime())

    def export(self, paths: Sequence[str], max_bytes: int = 512 * 2**20) -> bytes:
        box = self._box
        if box is None:
            raise SandboxError("the sandbox is not running.", kind="state")
        if box.frozen and self._life is None:
            # a new process 1 to read by, after every earlier process is gone
            self._life = Life.begin(runtime(), box, self.spec.limits)
        if self._life is None:
            raise SandboxError("the sandbox is not running.", kind="state")
        names = [path.strip("/") or "." for path in paths]
        command = ["bash", "-o", "pipefail", "-c", EXPORT, "export", FROZEN if box.frozen else "/", *names]
        # twice the limit, since a cut buffer keeps a half at each end
        done = self._run_by(self._life.link, command, TRANSFER_TIMEOUT_S, "/", None, b"", 2 * max_bytes, max_bytes)
        if len(done.stdout) > max_bytes:
            raise SandboxError(f"{', '.join(paths)}: over the limit of {max_bytes} bytes.", kind="too_large")
        check_transfer(done, f"{', '.join(paths)} could not be read out", "export")
        return done.stdout

    def unpack(self, archive: bytes) -> None:
        self._unpack(archive, "/")

    def close(self) -> None:
        self._end()
        box, self._box = self._box, None
        if box is not None:
            box.remove()

    def _use(self) -> Link:
        if self._life is None or self._box is None or self._box.frozen:
            frozen = self._box is not None and self._box.frozen
            raise SandboxError(f"the sandbox is {'frozen' if frozen else 'not running'}.", kind="state")
        return self._life.link

    @contextlib.contextmanager
    def _regular(self, path: str, flags: int, mode: int = 0) -> Iterator[BinaryIO]:
        """A regular file of the sandbox's own, opened inside; no folder or device, and nothing of /proc.

        Process 1 opens it: through /proc it would lay hands on itself.
        """
        link = self._use()
        fd = link.open(path, flags, mode)
        try:
            status = os.fstat(fd)
            if stat.S_ISDIR(status.st_mode):
                raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
            if not stat.S_ISREG(status.st_mode) or _is_proc(link, status.st_dev):
                raise PermissionError(errno.EACCES, "is not a regular file")
            with open(fd, "r+b" if flags & os.O_RDWR else "rb", closefd=False) as file:
                yield file
        finally:
            os.close(fd)

    def _environment(self, more: Mapping[str, str] | None) -> dict[str, str]:
        return {**ENVIRONMENT, **self.spec.env, **(more or {})}

    def _run(
        self,
        command: str | Sequence[str],
        limit_s: float,
        cwd: str,
        env: Mapping[str, str] | None,
        stdin: bytes,
        output_bytes: int,
    ) -> Completed:
        return self._run_by(self._use(), command, limit_s, cwd, env, stdin, output_bytes)

    def _run_by(
        self,
        link: Link,
        command: str | Sequence[str],
        limit_s: float,
        cwd: str,
        env: Mapping[str, str] | None,
        stdin: bytes,
        output_bytes: int,
        most_bytes: int | None = None,
    ) -> Completed:
        pipes = Pipes()
        with contextlib.ExitStack() as stack:
            stack.callback(pipes.close)
            inside = [end.fileno() for end in pipes.inside]
            if isinstance(command, str) and len(command) < MAX_ARGUMENT:
                command = ["bash", "-c", command]
            elif isinstance(command, str):
                script = stack.enter_context(os.fdopen(os.memfd_create("command"), "w+b"))
                script.write(command.encode("utf-8", "surrogateescape"))
                script.flush()
                inside.append(script.fileno())
                command = ["bash", "/dev/fd/3"]
            try:
                name, _ = link.spawn(command, cwd, self._environment(env), inside)
            except OSError as error:
                return Completed(127, b"", f"{command[0]}: {error.strerror}\n".encode(), False, 0.0)
            pipes.close_inside()
            return run_to_end(link, name, pipes, stdin, limit_s, output_bytes, self._kill_all, most_bytes)

    def _unpack(self, archive: bytes, folder: str) -> None:
        check_archive(archive)
        command = ["tar", "--extract", "--file=-", "--no-same-owner", "--preserve-permissions"]
        done = self.run(command, TRANSFER_TIMEOUT_S, cwd=folder, stdin=archive)
        check_transfer(done, "the files could not be unpacked in the sandbox", "unpack")

    def _kill_all(self) -> None:
        assert self._life is not None
        self._life.link.kill_all()
        for shell in self._shells:
            shell.lose("The shell was ended when another command ran into its time limit; a new one was started.")

    def _end(self) -> None:
        for stream in (*self._shells, *self._channels):
            stream.close()
        self._shells.clear()
        self._channels.clear()
        life, self._life = self._life, None
        if life is not None:
            life.end()


def _is_proc(link: Link, device: int) -> bool:
    fd = link.open("/proc", os.O_RDONLY | os.O_DIRECTORY)
    try:
        return os.fstat(fd).st_dev == device
    finally:
        os.close(fd)


class Terminal(fdpexpect.fdspawn):
    """The master's end of a terminal in a sandbox; `has_ended` tells whether the shell on it has."""

    def __init__(self, fd: int, has_ended: Callable[[], bool]) -> None:
        os.set_blocking(fd, False)
        super().__init__(fd)
        self._has_ended = has_ended
        self._over = False

    def isalive(self) -> bool:
        self._over = self._over or self._has_ended()
        return not self._over


def _image(workspace: bytes) -> Path:
    """A layer with a workspace's tar unpacked in it, once for equal bytes, owned by the sandbox's user."""
    run = runtime()
    layer = make_folder("images") / f"{hashlib.sha256(workspace).hexdigest()[:32]}-{run.uid}"
    if not layer.is_dir():
        with NamespaceSandbox(SandboxSpec()) as sandbox:
            # what is written to one folder, beside the skeleton's, is a layer by itself
            sandbox.run(["mkdir", "-p", "/layer/workspace"], cwd="/")
            sandbox._unpack(workspace, "/layer/workspace")
            sandbox._end()
            assert sandbox._box is not None
            # another process may be faster; its layer holds the same
            with contextlib.suppress(OSError):
                (sandbox._box.folder / "root" / "layer").rename(layer)
    return layer


@cache
def overlay_works() -> bool:
    """Whether an overlay can be mounted here, tried once: not where `home()` lies on one, as in a container."""
    run, tools = runtime(), task_tools()
    box = Box.make(run, tools.python, None, overlay=True)
    try:
        box.place(tools.mounts, run)
        life = Life.begin(run, box, Limits())
        try:
            return life.link is not None
        finally:
            life.end()
    except SandboxError:
        return False
    finally:
        box.remove()


@cache
def _check() -> Capabilities:
    reap()
    with NamespaceSandbox(SandboxSpec()) as sandbox:
        done = sandbox.run("true")
        if done.exit_code:
            said = done.stderr.decode("utf-8", "replace").strip()
            raise SandboxError(f"the namespace sandbox runs no program: {said}.", kind="start")
        assert sandbox._life is not None
        version = sandbox._life.cgroup.version
    groups = f"control group v{version}" if version else "resource limits"
    return Capabilities(
        memory=f"{groups}, {'whole sandbox' if version else 'each process'}",
        processes=groups,
        network="none",
        cpu=groups if version else "not limited",
        detail=f"bubblewrap, user {runtime().uid}",
    )

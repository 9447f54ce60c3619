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
import hashlib
import json
import os
import secrets
import select
import signal
import socket
import stat
import subprocess
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path

from pexpect import fdpexpect

from tradeschool.errors import SandboxError
from tradeschool.home import make_folder
from tradeschool.sandbox.archive import check_archive
from tradeschool.sandbox.base import (
    ENVIRONMENT,
    WORKSPACE,
    Capabilities,
    Channel,
    Completed,
    Mount,
    Sandbox,
    SandboxSpec,
    Shell,
)
from tradeschool.sandbox.box import copy_readable, make_box, remove_tree
from tradeschool.sandbox.bwrap import Layout, bwrap_argv, launch_argv, reachable, required_programs
from tradeschool.sandbox.cgroup import Cgroup, make_cgroup
from tradeschool.sandbox.hiding import covers
from tradeschool.sandbox.link import Link
from tradeschool.sandbox.pexpect_shell import BASH, PexpectShell
from tradeschool.sandbox.pipes import PipeChannel, Pipes, run_to_end
from tradeschool.sandbox.runtime import Runtime, runtime
from tradeschool.sandbox.tasktools import task_tools

START_TIMEOUT_S = 30.0
TRANSFER_TIMEOUT_S = 300.0
MAX_ARGUMENT = 100_000  # the kernel takes 128 KiB for one argument
# files, folders and links only; what the sandbox's user cannot read is left out
EXPORT = """cd / && { find "${@/#/./}" '(' -type f -o -type d -o -type l ')' -print0 2>/dev/null || true; } |
tar --create --null --no-recursion --files-from=- --numeric-owner --ignore-failed-read --warning=no-failed-read"""


class NamespaceSandbox(Sandbox):
    """See the module. One thread at a time may use it."""

    def __init__(self, spec: SandboxSpec) -> None:
        super().__init__(spec)
        if spec.image != "base":
            raise SandboxError(f"the namespace sandbox has no image {spec.image!r}; it knows 'base'.", kind="image")
        self._name = secrets.token_hex(8)
        self._box: Path | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._pidfd: int | None = None
        self._link: Link | None = None
        self._cgroup = Cgroup()
        self._shells: list[PexpectShell] = []
        self._frozen = False

    @classmethod
    def check(cls) -> Capabilities:
        return _check()

    def start(self) -> None:
        if self._box is not None:
            raise SandboxError("the sandbox is started already.", kind="state")
        run = runtime()
        required_programs(run.as_root)
        lower = None if self.spec.workspace is None else _image(self.spec.workspace)
        self._box = make_box(self._name, run)
        if lower is not None and not _overlay_works():
            # for instance /var/lib on an overlay itself, as in a container
            subprocess.run(["cp", "-a", f"{lower}/.", str(self._box / "root" / "workspace")], check=True)
            lower = None
        self._layout = Layout(self._box / "root", self._box / "upper", self._box / "work", lower)
        tools = task_tools()
        self._python = tools.python
        mounts = (*tools.mounts, *self.spec.mounts)
        self._mounts, self._staged = self._place((*mounts, *covers(mounts, self.spec.hidden, system=True)), run)
        self._launch(run)

    def run(
        self,
        command: str | Sequence[str],
        timeout_s: float | None = None,
        *,
        cwd: str = WORKSPACE,
        env: Mapping[str, str] | None = None,
        stdin: bytes = b"",
    ) -> Completed:
        limits = self.spec.limits
        limit_s = limits.command_timeout_s if timeout_s is None else timeout_s
        return self._run(self._use(), command, limit_s, cwd, env, stdin, limits.output_bytes)

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
        return PipeChannel(pipes, kill=lambda: link.kill(name))

    def read_bytes(self, path: str, max_bytes: int = 64 * 2**20) -> bytes:
        with os.fdopen(self._use().open(path, os.O_RDONLY), "rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            if stat.S_ISDIR(mode):
                raise IsADirectoryError(f"{path} is a folder")
            if not stat.S_ISREG(mode):
                raise PermissionError(f"{path} is not a regular file")
            data = file.read(max_bytes + 1)
        if len(data) > max_bytes:
            raise ValueError(f"{path} is over the limit of {max_bytes} bytes")
        return data

    def write_bytes(self, path: str, data: bytes, mode: int = 0o644) -> None:
        link = self._use()
        folder = os.path.dirname(path)
        if folder.strip("/"):
            link.mkdir(folder)
        with os.fdopen(link.open(path, os.O_WRONLY | os.O_CREAT, mode), "wb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise PermissionError(f"{path} is not a regular file")
            file.truncate(0)
            file.write(data)

    def freeze(self) -> None:
        self._use()
        self._end_processes()
        self._frozen = True

    def export(self, paths: Sequence[str], max_bytes: int = 512 * 2**20) -> bytes:
        if self._frozen and self._link is None:
            # a new process 1 over the same files, after every earlier process is gone
            self._launch(runtime())
        if self._link is None:
            raise SandboxError("the sandbox is not running.", kind="state")
        names = [path.strip("/") or "." for path in paths]
        command = ["bash", "-o", "pipefail", "-c", EXPORT, "export", *names]
        # twice the limit, since a cut buffer keeps a half at each end
        done = self._run(self._link, command, TRANSFER_TIMEOUT_S, "/", None, b"", 2 * max_bytes)
        if len(done.stdout) > max_bytes:
            raise SandboxError(f"{', '.join(paths)}: over the limit of {max_bytes} bytes.", kind="too_large")
        if done.exit_code:
            said = done.stderr.decode("utf-8", "replace").strip()[:300]
            raise SandboxError(f"{', '.join(paths)} could not be read out: {said}.", kind="export")
        return done.stdout

    def unpack(self, archive: bytes) -> None:
        self._unpack(archive, "/")

    def close(self) -> None:
        self._end_processes()
        box, self._box = self._box, None
        if box is not None:
            remove_tree(box)

    def _use(self) -> Link:
        if self._link is None or self._frozen:
            raise SandboxError(f"the sandbox is {'frozen' if self._frozen else 'not running'}.", kind="state")
        return self._link

    def _environment(self, more: Mapping[str, str] | None) -> dict[str, str]:
        return {**ENVIRONMENT, **self.spec.env, **(more or {})}

    def _run(
        self,
        link: Link,
        command: str | Sequence[str],
        limit_s: float,
        cwd: str,
        env: Mapping[str, str] | None,
        stdin: bytes,
        output_bytes: int,
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
            return run_to_end(link, name, pipes, stdin, limit_s, output_bytes, self._kill_all)

    def _unpack(self, archive: bytes, folder: str) -> None:
        check_archive(archive)
        command = ["tar", "--extract", "--file=-", "--no-same-owner", "--preserve-permissions"]
        done = self.run(command, TRANSFER_TIMEOUT_S, cwd=folder, stdin=archive)
        if done.exit_code:
            said = done.stderr.decode("utf-8", "replace").strip()[:300]
            raise SandboxError(f"the files could not be unpacked in the sandbox: {said}.", kind="unpack")

    def _place(self, mounts: Sequence[Mount], run: Runtime) -> tuple[list[Mount], list[tuple[Path, Path]]]:
        """Make every mount's source reachable for the sandbox's user: private ones by copy, others by a bind."""
        assert self._box is not None
        placed, staged = [], []
        for number, mount in enumerate(mounts):
            here = self._box / "mounts" / str(number)
            if not mount.source.exists():
                raise SandboxError(f"{mount.source} is to be shown in the sandbox, but is not there.", kind="mount")
            if mount.private:
                copy_readable(mount.source, here)
                placed.append(Mount(here, mount.target))
            elif run.as_root and not reachable(mount.source, run.uid):
                here.mkdir() if mount.source.is_dir() else here.touch()
                staged.append((mount.source, here))
                placed.append(Mount(here, mount.target))
            else:
                placed.append(mount)
        return placed, staged

    def _launch(self, run: Runtime) -> None:
        assert self._box is not None
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._link = Link(ours)
        info_read, info_write = os.pipe()
        self._cgroup = make_cgroup(self._name, self.spec.limits)
        argv = bwrap_argv(run, self._layout, self._mounts, self._python, info_write, theirs.fileno())
        with open(self._box / "start.log", "w+b") as log, open(info_read, "rb") as info:
            try:
                self._process = subprocess.Popen(
                    launch_argv(run, self.spec.limits, self._cgroup, self._staged, argv),
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    env={"PATH": os.environ.get("PATH", os.defpath)},
                    cwd="/",
                    pass_fds=[theirs.fileno(), info_write],
                    start_new_session=True,
                )
            finally:
                theirs.close()
                os.close(info_write)
            try:
                self._pidfd = os.pidfd_open(json.loads(info.read())["child-pid"])
                self._link.wait_ready(START_TIMEOUT_S)
            except (SandboxError, ValueError, KeyError, OSError) as error:
                log.seek(0)
                said = log.read(2000).decode("utf-8", "replace").strip()
                raise SandboxError(_explain_start(said or str(error)), kind="start") from error

    def _kill_all(self) -> None:
        assert self._link is not None
        self._link.kill_all()
        for shell in self._shells:
            shell.lose("The shell was ended when another command ran into its time limit; a new one was started.")

    def _end_processes(self) -> None:
        for shell in self._shells:
            shell.close()
        self._shells.clear()
        pidfd, self._pidfd = self._pidfd, None
        if pidfd is not None:
            # process 1's death is the death of every process in its namespace
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(pidfd, signal.SIGKILL)
            os.close(pidfd)
        if self._link is not None:
            self._link.close()
            self._link = None
        process, self._process = self._process, None
        if process is not None:
            if pidfd is None:
                process.kill()
            _await_end(process)
        self._cgroup.remove()
        self._cgroup = Cgroup()


def _await_end(process: subprocess.Popen[bytes]) -> None:
    """Wait for a process that was killed, by its descriptor: Popen.wait with a time-out would poll and sleep."""
    pidfd = os.pidfd_open(process.pid)
    try:
        if not select.select([pidfd], [], [], START_TIMEOUT_S)[0]:
            raise SandboxError(f"process {process.pid} does not end though it was killed.", kind="cleanup")
    finally:
        os.close(pidfd)
    process.wait()


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


def _explain_start(said: str) -> str:
    if "user namespace" in said or "uid map" in said or "Operation not permitted" in said:
        return (
            f"no user namespace can be made here ({said[:200]}). Allow it (sysctl kernel.unprivileged_userns_clone=1; "
            "on Ubuntu also kernel.apparmor_restrict_unprivileged_userns=0), or use --sandbox docker."
        )
    return f"the namespace sandbox does not start: {said[:500]}."


def _image(workspace: bytes) -> Path:
    """The folder that a workspace's tar is unpacked in, once for equal bytes, owned by the sandbox's user."""
    folder = make_folder("images") / hashlib.sha256(workspace).hexdigest()[:32]
    if not folder.is_dir():
        with NamespaceSandbox(SandboxSpec()) as sandbox:
            sandbox._unpack(workspace, WORKSPACE)
            sandbox.freeze()
            assert sandbox._box is not None
            # another process may be faster; its folder holds the same
            with contextlib.suppress(OSError):
                (sandbox._box / "root" / "workspace").rename(folder)
    return folder


@cache
def _overlay_works() -> bool:
    run = runtime()
    sandbox = NamespaceSandbox(SandboxSpec())
    try:
        sandbox._box = box = make_box(sandbox._name, run)
        (box / "lower").mkdir()
        sandbox._layout = Layout(box / "root", box / "upper", box / "work", box / "lower")
        sandbox._python, sandbox._mounts, sandbox._staged = task_tools().python, [], []
        sandbox._mounts, sandbox._staged = sandbox._place(task_tools().mounts, run)
        sandbox._launch(run)
    except SandboxError:
        return False
    else:
        return True
    finally:
        sandbox.close()


@cache
def _check() -> Capabilities:
    with NamespaceSandbox(SandboxSpec()) as sandbox:
        done = sandbox.run("true")
        if done.exit_code:
            said = done.stderr.decode("utf-8", "replace").strip()
            raise SandboxError(f"the namespace sandbox runs no program: {said}.", kind="start")
        version = sandbox._cgroup.version
    groups = f"control group v{version}" if version else "resource limits"
    return Capabilities(
        memory=f"{groups}, {'whole sandbox' if version else 'each process'}",
        processes=groups,
        network="none",
        cpu=groups if version else "not limited",
        detail=f"bubblewrap, user {runtime().uid}",
    )

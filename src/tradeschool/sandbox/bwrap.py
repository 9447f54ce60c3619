"""The command line that starts a namespace sandbox: what it shows of the host, as whom it runs, its limits."""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Sequence
from pathlib import Path

from tradeschool.errors import SandboxError
from tradeschool.sandbox.base import Limits
from tradeschool.sandbox.box import FROZEN, Box
from tradeschool.sandbox.cgroup import Cgroup
from tradeschool.sandbox.interpreter import SYSTEM_FOLDERS
from tradeschool.sandbox.runtime import HOST_ETC, Runtime

SHM_BYTES = 64 * 2**20
INIT_TARGET = "/opt/.tradeschool-init.py"


def bwrap_argv(run: Runtime, box: Box, info_fd: int, sock_fd: int) -> list[str]:
    """bubblewrap's arguments: every namespace its own, system folders read-only, no network, no capability."""
    argv = [str(run.bwrap), "--unshare-all", "--unshare-user", "--disable-userns", "--uid", "0", "--gid", "0"]
    argv += ["--hostname", "sandbox", "--as-pid-1", "--new-session", "--clearenv", "--info-fd", str(info_fd)]
    argv += ["--bind", str(box.root), "/"]
    for folder in SYSTEM_FOLDERS:
        if os.path.islink(folder):
            argv += ["--symlink", os.readlink(folder), folder]
        elif os.path.isdir(folder):
            argv += ["--ro-bind", folder, folder]
    for name in HOST_ETC:
        argv += ["--ro-bind-try", f"/etc/{name}", f"/etc/{name}"]
    # memory files are bounded: what is left in them cannot be freed by killing a process
    argv += ["--proc", "/proc", "--dev", "/dev", "--size", str(SHM_BYTES), "--tmpfs", "/dev/shm"]
    argv += ["--remount-ro", "/dev"]
    files = "/"
    if box.frozen:
        files = FROZEN
        argv += ["--ro-bind", str(box.folder / "root"), FROZEN]
    if box.lower is not None:
        upper, work = str(box.folder / "upper"), str(box.folder / "work")
        argv += ["--overlay-src", str(box.lower), "--overlay", upper, work, f"{files.rstrip('/')}/workspace"]
    for mount in sorted(box.mounts, key=lambda mount: mount.target):
        argv += ["--ro-bind", str(mount.source), mount.target]
    argv += ["--ro-bind", str(run.init), INIT_TARGET, "--chdir", "/"]
    return [*argv, "--", box.python, "-I", "-S", INIT_TARGET, str(sock_fd)]


def launch_argv(
    run: Runtime, limits: Limits, cgroup: Cgroup, staged: Sequence[tuple[Path, Path]], argv: list[str]
) -> list[str]:
    """`argv` under resource limits, in its control group, and (when we are root) as the sandbox's own user.

    `staged` are (source, target) folders to bind on the host's side first, in a mount namespace of their own: sources
    that the sandbox's user cannot reach by path.
    """
    rlimits = [f"--nofile={limits.open_files}", f"--fsize={limits.file_mb * 2**20}", "--core=0"]
    if cgroup.version == 0:
        rlimits += [f"--nproc={limits.processes}", f"--as={limits.memory_mb * 2**20}"]
    command = ["prlimit", *rlimits]
    if run.as_root:
        command += ["setpriv", f"--reuid={run.uid}", f"--regid={run.uid}", "--clear-groups", "--no-new-privs"]
    command += argv
    before = [f"echo $$ > {shlex.quote(str(file))}" for file in cgroup.procs]
    before += [f"mount --bind {shlex.quote(str(a))} {shlex.quote(str(b))}" for a, b in staged]
    if not before:
        return command
    script = " && ".join([*before, f"exec {shlex.join(command)}"])
    unshare = ["unshare", "--mount", "--propagation", "private"] if staged else []
    return [*unshare, "sh", "-c", script]


def required_programs(as_root: bool) -> None:
    """Raises SandboxError when a program of util-linux that starting needs is missing."""
    for program in ("prlimit", *(("setpriv", "unshare", "mount") if as_root else ())):
        if shutil.which(program) is None:
            raise SandboxError(f"{program!r} is missing. Install it: apt-get install util-linux mount", kind="missing")

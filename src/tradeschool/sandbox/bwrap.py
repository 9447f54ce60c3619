"""The command line that starts a namespace sandbox: what it shows of the host, as whom it runs, its limits."""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Sequence
from pathlib import Path

from tradeschool.errors import SandboxError
from tradeschool.sandbox.base import Limits
from tradeschool.sandbox.box import Box
from tradeschool.sandbox.interpreter import SYSTEM_FOLDERS
from tradeschool.sandbox.runtime import INIT_TARGET, Runtime

SHM_BYTES = 64 * 2**20


def bwrap_argv(run: Runtime, box: Box, limits: Sequence[str], info_fd: int, sock_fd: int) -> list[str]:
    """bubblewrap's arguments: every namespace its own, system folders read-only, no network, no capability.

    `limits` go to process 1 (see `resource_limits`).
    """
    argv = [str(run.bwrap), "--unshare-all", "--unshare-user", "--disable-userns", "--uid", "0", "--gid", "0"]
    argv += ["--hostname", "sandbox", "--as-pid-1", "--new-session", "--clearenv", "--info-fd", str(info_fd)]
    argv += box.root_argv(run)
    for folder in SYSTEM_FOLDERS:
        if os.path.islink(folder):
            argv += ["--symlink", os.readlink(folder), folder]
        elif os.path.isdir(folder):
            argv += ["--ro-bind", folder, folder]
    # memory files are bounded: what is left in them cannot be freed by killing a process
    argv += ["--proc", "/proc", "--dev", "/dev", "--size", str(SHM_BYTES), "--tmpfs", "/dev/shm"]
    argv += ["--remount-ro", "/dev"]
    for mount in sorted(box.mounts, key=lambda mount: mount.target):
        argv += ["--ro-bind", str(mount.source), mount.target]
    argv += ["--ro-bind", str(run.init), INIT_TARGET, "--chdir", "/"]
    return [*argv, "--", box.python, "-I", "-S", INIT_TARGET, str(sock_fd), *limits]


def resource_limits(limits: Limits, *, whole: bool) -> list[str]:
    """What process 1 sets for every program it starts: open files, bytes of a file, processes and bytes of memory.

    The last two only (else -1) where no control group limits them for the sandbox as a `whole`.
    """
    processes, memory = (-1, -1) if whole else (limits.processes, limits.memory_mb * 2**20)
    return [str(number) for number in (limits.open_files, limits.file_mb * 2**20, processes, memory)]


def launch_argv(run: Runtime, staged: Sequence[tuple[Path, Path]], argv: Sequence[str]) -> list[str]:
    """`argv` as the sandbox's user, after (source, target) folders are bound in a mount namespace of their own.

    The binds are for sources that the sandbox's user cannot reach by path; there are none unless we are root. The user
    is changed by a program, and not by `Popen`, which could not use vfork then.
    """
    if not run.as_root:
        return list(argv)
    command = ["setpriv", f"--reuid={run.uid}", f"--regid={run.gid}", "--clear-groups", *argv]
    for program in ("unshare", "mount", "setpriv") if staged else ("setpriv",):
        if shutil.which(program) is None:
            raise SandboxError(f"{program!r} is missing. Install it: apt-get install util-linux mount", kind="missing")
    if not staged:
        return command
    binds = [f"mount --bind {shlex.quote(str(source))} {shlex.quote(str(target))}" for source, target in staged]
    script = " && ".join([*binds, f"exec {shlex.join(command)}"])
    return ["unshare", "--mount", "--propagation", "private", "sh", "-c", script]

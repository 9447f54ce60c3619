"""The processes of one namespace sandbox, from the start of its process 1 to the end of every one."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
from dataclasses import dataclass
from typing import IO

from tradeschool.errors import SandboxError
from tradeschool.sandbox.base import Limits
from tradeschool.sandbox.box import Box
from tradeschool.sandbox.bwrap import bwrap_argv, resource_limits, staged_argv
from tradeschool.sandbox.cgroup import Cgroup, make_cgroup
from tradeschool.sandbox.link import Link
from tradeschool.sandbox.runtime import Runtime
from tradeschool.sandbox.waiting import wait_for

START_TIMEOUT_S = 30.0


@dataclass
class Life:
    """A running process 1 and what holds it: ended once, by `end`, whatever went wrong before."""

    link: Link
    cgroup: Cgroup
    process: subprocess.Popen[bytes] | None = None
    pidfd: int | None = None

    @classmethod
    def begin(cls, run: Runtime, box: Box, limits: Limits) -> Life:
        """Start process 1 over a box's files, under `limits`. Raises SandboxError with what bubblewrap said."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        info_read, info_write = os.pipe()
        life = cls(Link(ours), make_cgroup(box.name, limits))
        try:
            with open(box.folder / "start.log", "w+b") as log, open(info_read, "rb") as info:
                try:
                    inside = resource_limits(limits, whole=life.cgroup.version > 0)
                    argv = bwrap_argv(run, box, inside, info_write, theirs.fileno())
                    change_user = run.as_root and not box.staged
                    life.process = subprocess.Popen(
                        staged_argv(run, box.staged, argv) if box.staged else argv,
                        user=run.uid if change_user else None,
                        group=run.gid if change_user else None,
                        extra_groups=[] if change_user else None,
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
                life._await_start(info, log)
        except BaseException:
            life.end()
            raise
        return life

    def end(self) -> None:
        """Kill process 1, and with it, by the kernel's own rule, every process of its namespace. Idempotent."""
        pidfd, self.pidfd = self.pidfd, None
        process, self.process = self.process, None
        if pidfd is not None:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(pidfd, signal.SIGKILL)
            os.close(pidfd)
        elif process is not None:
            process.kill()
        self.link.close()
        if process is not None:
            _await_end(process)
        self.cgroup.remove()

    def _await_start(self, info: IO[bytes], log: IO[bytes]) -> None:
        try:
            child = json.loads(info.read())["child-pid"]
            self.pidfd = os.pidfd_open(child)
            self.link.wait_ready(START_TIMEOUT_S)
            # process 1 has started nothing yet: whatever it will start is counted
            self.cgroup.add(child)
        except (SandboxError, ValueError, KeyError, OSError) as error:
            log.seek(0)
            said = log.read(2000).decode("utf-8", "replace").strip()
            raise SandboxError(_explain(said or str(error)), kind="start") from error


def _await_end(process: subprocess.Popen[bytes]) -> None:
    """Wait for a process that was killed, by its descriptor: Popen.wait with a time-out would poll and sleep."""
    pidfd = os.pidfd_open(process.pid)
    try:
        if not wait_for(pidfd, START_TIMEOUT_S):
            raise SandboxError(f"process {process.pid} does not end though it was killed.", kind="cleanup")
    finally:
        os.close(pidfd)
    process.wait()


def _explain(said: str) -> str:
    if "user namespace" in said or "uid map" in said or "Operation not permitted" in said:
        return (
            f"no user namespace can be made here ({said[:200]}). Allow it (sysctl kernel.unprivileged_userns_clone=1; "
            "on Ubuntu also kernel.apparmor_restrict_unprivileged_userns=0), or use --sandbox docker."
        )
    return f"the namespace sandbox does not start: {said[:500]}."

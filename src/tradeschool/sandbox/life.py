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
from tradeschool.sandbox.bwrap import bwrap_argv, launch_argv, resource_limits
from tradeschool.sandbox.cgroup import Cgroup, make_cgroup
from tradeschool.sandbox.link import Link
from tradeschool.sandbox.runtime import Runtime
from tradeschool.sandbox.waiting import wait_for

START_TIMEOUT_S = 30.0


@dataclass
class Life:
    """A process 1 and what holds it: ended once, by `end`, whatever went wrong before.

    `begin` does not wait for it to serve; the first use of `link` does.
    """

    cgroup: Cgroup
    _link: Link
    _info: IO[bytes]
    _log: IO[bytes]
    process: subprocess.Popen[bytes] | None = None
    pidfd: int | None = None
    _serves: bool = False

    @classmethod
    def begin(cls, run: Runtime, box: Box, limits: Limits) -> Life:
        """Start process 1 over a box's files, under `limits`. Raises SandboxError when it cannot be tried."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        info_read, info_write = os.pipe()
        log = open(box.folder / "start.log", "w+b")  # noqa: SIM115 - closed by `end`
        life = cls(make_cgroup(box.name, limits), Link(ours), open(info_read, "rb"), log)  # noqa: SIM115
        try:
            inside = resource_limits(limits, whole=life.cgroup.version > 0)
            argv = bwrap_argv(run, box, inside, info_write, theirs.fileno())
            life.process = subprocess.Popen(
                launch_argv(run, box.staged, argv),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env={"PATH": os.environ.get("PATH", os.defpath)},
                cwd="/",
                pass_fds=[theirs.fileno(), info_write],
                start_new_session=True,
            )
        except BaseException:
            life.end()
            raise
        finally:
            theirs.close()
            os.close(info_write)
        return life

    @property
    def link(self) -> Link:
        """The way to process 1, once it serves. Raises SandboxError with what bubblewrap said when it does not."""
        if not self._serves:
            self._await_start()
        return self._link

    def end(self) -> None:
        """Kill process 1, and with it, by the kernel's own rule, every process of its namespace. Idempotent."""
        if self.process is not None and not self._serves:
            # its number is not known before it serves; where it never will, there is nothing to kill but bubblewrap
            with contextlib.suppress(SandboxError):
                self._await_start()
        pidfd, self.pidfd = self.pidfd, None
        process, self.process = self.process, None
        if pidfd is not None:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(pidfd, signal.SIGKILL)
            os.close(pidfd)
        elif process is not None:
            process.kill()
        self._link.close()
        self._info.close()
        self._log.close()
        if process is not None:
            _await_end(process)
        self.cgroup.remove()

    def _await_start(self) -> None:
        try:
            child = json.loads(self._info.read())["child-pid"]
            self.pidfd = os.pidfd_open(child)
            # moved while it comes up, since the kernel takes milliseconds over it; it has started nothing yet
            self.cgroup.add(child)
            self._link.wait_ready(START_TIMEOUT_S)
        except (SandboxError, ValueError, KeyError, OSError) as error:
            self._log.seek(0)
            said = self._log.read(2000).decode("utf-8", "replace").strip()
            raise SandboxError(_explain(said or str(error)), kind="start") from error
        self._serves = True


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

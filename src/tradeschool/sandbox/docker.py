"""The Docker back end: one container for one sandbox, through the Docker SDK.

Covered: what the contract in `base.py` says, with the container's limits on memory (no swap), processes and CPU, its
own root file system (which can be written to, unlike that of the namespace back end), no network interface but `lo`,
no capability, the engine's seccomp filter. A container ends by itself when its owner dies.
Not covered: the quota of a disk; that root inside is not root outside (run the engine with `userns-remap`).
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from docker.errors import APIError

from tradeschool.errors import SandboxError
from tradeschool.sandbox.archive import check_archive
from tradeschool.sandbox.base import (
    ENVIRONMENT,
    WORKSPACE,
    Capabilities,
    Channel,
    Completed,
    Sandbox,
    SandboxSpec,
    Shell,
)
from tradeschool.sandbox.box import remove_tree
from tradeschool.sandbox.docker_container import Lifeline, create, place, refuse_weak
from tradeschool.sandbox.docker_engine import (
    BASE_IMAGE,
    SETUP_HINT,
    engine,
    engine_errors,
    reap,
    remove,
)
from tradeschool.sandbox.docker_exec import STDERR, STDOUT, Exec, collect, program
from tradeschool.sandbox.docker_files import export, helper_argv, helper_input, helper_output
from tradeschool.sandbox.docker_streams import DockerChannel, Terminal
from tradeschool.sandbox.docker_workspace import has_image, workspace_image
from tradeschool.sandbox.hiding import covers
from tradeschool.sandbox.output import HeadTail
from tradeschool.sandbox.pexpect_shell import BASH, PexpectShell
from tradeschool.sandbox.tasktools import task_tools

IMAGES = {"base": BASE_IMAGE}
TRANSFER_TIMEOUT_S = 300.0
KILL_TIMEOUT_S = 3.0
KILLED = 137


class DockerSandbox(Sandbox):
    """See the module. One thread at a time may use it."""

    def __init__(self, spec: SandboxSpec) -> None:
        super().__init__(spec)
        if spec.image not in IMAGES:
            raise SandboxError(f"the docker sandbox has no image {spec.image!r}; it knows 'base'.", kind="image")
        self._container = ""
        self._copies: Path | None = None
        self._lifeline: Lifeline | None = None
        self._shells: list[PexpectShell] = []
        self._channels: list[DockerChannel] = []
        self._ending = False

    @classmethod
    def check(cls) -> Capabilities:
        api = engine()
        with engine_errors():
            info = api.info()
        refuse_weak(info)
        for image in IMAGES.values():
            if not has_image(api, image):
                raise SandboxError(f"the Docker engine has no image {image}. {SETUP_HINT}.", kind="image")
        reap()
        groups = f"control group v{info.get('CgroupVersion', '1')}"
        return Capabilities(
            memory=f"{groups}, whole sandbox{'' if info.get('SwapLimit') else ', swap not limited'}",
            processes=groups,
            network="none",
            cpu=groups if info.get("CPUCfsQuota", info.get("CpuCfsQuota")) else "not limited",
            detail=f"Docker {info.get('ServerVersion', '?')}, {info.get('Driver', '?')}",
        )

    def start(self) -> None:
        if self._container:
            raise SandboxError("the sandbox is started already.", kind="state")
        api = engine()
        image = IMAGES[self.spec.image]
        if self.spec.workspace is not None:
            image = workspace_image(api, image, self.spec.workspace)
        mounts = (*task_tools().mounts, *self.spec.mounts)
        binds, self._copies = place((*mounts, *covers(mounts, self.spec.hidden, system=False)))
        self._container = create(api, image, self.spec.limits, binds)
        with engine_errors():
            api.start(self._container)
        self._attach()

    def shell(self) -> Shell:
        container = self._use()

        def open_tty() -> Terminal:
            self._use()
            return Terminal(engine(), container, program(BASH, WORKSPACE, self._environment(None)), self._kill)

        shell = PexpectShell(open_tty, self._kill_all, self.spec.limits)
        self._shells.append(shell)
        return shell

    def connect(self, argv: Sequence[str], *, cwd: str = WORKSPACE, env: Mapping[str, str] | None = None) -> Channel:
        channel = DockerChannel(engine(), self._use(), program(argv, cwd, self._environment(env)), self._kill)
        self._channels.append(channel)
        return channel

    def read_bytes(self, path: str, max_bytes: int = 64 * 2**20) -> bytes:
        # one byte more than allowed tells that there are too many
        data = self._help(helper_argv("read", max_bytes + 1), helper_input(path), max_bytes + 100, path)
        if len(data) > max_bytes:
            raise ValueError(f"{path} is over the limit of {max_bytes} bytes")
        return data

    def write_bytes(self, path: str, data: bytes, mode: int = 0o644) -> None:
        self._help(helper_argv("write", mode), helper_input(path, data), 1000, path)

    def freeze(self) -> None:
        container = self._use()
        self._end_streams()
        with engine_errors():
            api = engine()
            with contextlib.suppress(APIError):
                # fails when process 1 has ended already, with its input
                api.kill(container)
            api.wait(container, timeout=60, condition="not-running")

    def export(self, paths: Sequence[str], max_bytes: int = 512 * 2**20) -> bytes:
        if not self._container:
            raise SandboxError("the sandbox is not running.", kind="state")
        return export(engine(), self._container, paths, max_bytes)

    def unpack(self, archive: bytes) -> None:
        check_archive(archive)
        command = ["tar", "--extract", "--file=-", "--no-same-owner", "--preserve-permissions"]
        done = self._run(command, TRANSFER_TIMEOUT_S, "/", None, archive, 4096)
        if done.exit_code:
            said = done.stderr.decode("utf-8", "replace").strip()[:300]
            raise SandboxError(f"the files could not be unpacked in the sandbox: {said}.", kind="unpack")

    def close(self) -> None:
        self._end_streams()
        container, self._container = self._container, ""
        try:
            if container:
                remove(engine(), container)
        finally:
            copies, self._copies = self._copies, None
            if copies is not None:
                remove_tree(copies)

    def _use(self) -> str:
        if not self._container or self._ending:
            raise SandboxError(f"the sandbox is {'frozen' if self._container else 'not running'}.", kind="state")
        return self._container

    def _environment(self, more: Mapping[str, str] | None) -> dict[str, str]:
        return {**ENVIRONMENT, **self.spec.env, **(more or {})}

    def _attach(self) -> None:
        self._detach()
        self._lifeline = Lifeline(engine(), self._container)

    def _detach(self) -> None:
        lifeline, self._lifeline = self._lifeline, None
        if lifeline is not None:
            lifeline.close()

    def _run(
        self,
        command: str | Sequence[str],
        limit_s: float,
        cwd: str,
        env: Mapping[str, str] | None,
        stdin: bytes,
        output_bytes: int,
    ) -> Completed:
        container = self._use()
        started = time.monotonic()
        try:
            argv = program(command, cwd, self._environment(env))
        except ValueError as error:
            return Completed(126, b"", f"nothing was run: {error}\n".encode(), False, 0.0)
        sinks = {STDOUT: HeadTail(output_bytes), STDERR: HeadTail(output_bytes)}
        with contextlib.closing(Exec(engine(), container, argv)) as process:
            code = collect(process, stdin, sinks, started + limit_s)
        if code is None:
            self._kill_all()
        elif code == KILLED and not self._is_running():
            raise SandboxError("the container has ended while a command ran.", kind="gone")
        return Completed(
            -1 if code is None else code,
            sinks[STDOUT].value(),
            sinks[STDERR].value(),
            sinks[STDOUT].truncated or sinks[STDERR].truncated,
            time.monotonic() - started,
            timed_out=code is None,
        )

    def _help(self, argv: list[str], stdin: bytes, most: int, path: str) -> bytes:
        # twice the size, since a cut buffer keeps a half at each end
        done = self._run(argv, TRANSFER_TIMEOUT_S, "/", {}, stdin, 2 * most)
        if done.timed_out:
            raise SandboxError(f"{path}: not read or written within {TRANSFER_TIMEOUT_S:g} s.", kind="timeout")
        return helper_output(done.stdout or done.stderr, path)

    def _is_running(self) -> bool:
        """Whether the container still runs, after a program of it was killed: perhaps with the whole container."""
        # the engine hears of a program's end before the container's; once it has tried another one, it knows
        self._quietly(["/bin/true"], 10.0)
        with engine_errors():
            return bool(engine().inspect_container(self._container)["State"]["Running"])

    def _kill(self, pid: int) -> None:
        """Kill a process and its group, by its number inside, and see that they are gone."""
        if self._container and not self._ending:
            script = f"for ((n = 0; n < 200; n++)); do kill -9 -- -{pid} || break; sleep 0.01; done"
            self._quietly(["/bin/bash", "-c", script], KILL_TIMEOUT_S)

    def _quietly(self, argv: list[str], limit_s: float) -> None:
        sinks = {STDOUT: HeadTail(1000), STDERR: HeadTail(1000)}
        with contextlib.closing(Exec(engine(), self._container, argv)) as process:
            collect(process, b"", sinks, time.monotonic() + limit_s)

    def _kill_all(self) -> None:
        """Every process at once, by ending process 1: it works with no process left to fork, and no shell to trust."""
        with engine_errors():
            engine().restart(self._container, timeout=0)
        self._attach()
        for shell in self._shells:
            shell.lose("The shell was ended when another command ran into its time limit; a new one was started.")

    def _end_streams(self) -> None:
        self._ending = True
        for stream in (*self._shells, *self._channels):
            stream.close()
        self._shells.clear()
        self._channels.clear()
        self._detach()

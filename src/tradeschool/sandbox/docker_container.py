"""The container of one sandbox: what it is made with, and the line by which its owner keeps it alive."""

from __future__ import annotations

import contextlib
import secrets
import shutil
import socket
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import docker
from docker.types import LogConfig, Ulimit
from docker.types import Mount as BindMount

from tradeschool.errors import SandboxError
from tradeschool.home import make_folder
from tradeschool.sandbox.base import Limits, Mount
from tradeschool.sandbox.box import copy_readable, remove_tree
from tradeschool.sandbox.docker_engine import LABEL, OWNER_LABEL, engine_errors, owner

# Process 1: it counts its input, which the owner holds open, and so ends with the owner. The kernel reaps for one that
# ignores SIGCHLD, and lets no signal from inside end process 1. (With an init above it, the main program would die of
# a `kill -9 -1` inside, and the sandbox with it; bash as process 1 leaves zombies.)
SUPERVISOR = ["/usr/bin/env", "--ignore-signal=CHLD", "/usr/bin/wc", "-c"]


def create(api: docker.APIClient, image: str, limits: Limits, binds: Sequence[BindMount]) -> str:
    """The id of a new container, not yet started.

    Raises SandboxError when the image is missing, or when the engine would drop a limit.
    """
    with engine_errors():
        made = api.create_container(
            image,
            SUPERVISOR,
            name=f"tradeschool-{secrets.token_hex(8)}",
            hostname="sandbox",
            user="0:0",
            working_dir="/",
            stdin_open=True,
            labels={LABEL: "sandbox", OWNER_LABEL: owner()},
            host_config=_host_config(api, limits, binds),
        )
        weaker = [line for line in made.get("Warnings") or [] if "discarded" in line.lower()]
        if weaker:
            api.remove_container(made["Id"], v=True, force=True)
            raise SandboxError(f"the Docker engine cannot hold a limit: {weaker[0]}", kind="limits")
    return made["Id"]


def place(mounts: Sequence[Mount]) -> tuple[list[BindMount], Path | None]:
    """Read-only binds for the mounts, and the folder (to be removed) that private sources were copied to, if any.

    Of two mounts at one target the later holds. Raises SandboxError when a source is missing.
    """
    chosen = {mount.target: mount for mount in mounts}.values()
    for mount in chosen:
        if not mount.source.exists():
            raise SandboxError(f"{mount.source} is to be shown in the sandbox, but is not there.", kind="mount")
    copies = None
    if any(mount.private for mount in chosen):
        copies = Path(tempfile.mkdtemp(dir=make_folder("docker"), prefix="mounts-"))
    binds = []
    for number, mount in enumerate(chosen):
        source = mount.source.resolve()
        if mount.private and copies is not None:
            # root in the container has no capability: it cannot read what others keep for themselves
            try:
                copy_readable(source, copies / str(number))
            except (OSError, shutil.Error) as error:
                remove_tree(copies)
                raise SandboxError(f"{source} could not be copied for the sandbox: {error}.", kind="mount") from error
            source = copies / str(number)
        binds.append(BindMount(mount.target, str(source), type="bind", read_only=True))
    return binds, copies


def refuse_weak(info: Mapping[str, Any]) -> None:
    """Raises SandboxError when the engine, by what it tells of itself, cannot hold what the contract promises."""
    if info.get("OSType") != "linux":
        raise SandboxError(
            f"the Docker engine runs {info.get('OSType')} containers; switch it to linux ones.", kind="engine"
        )
    for name, word in (("MemoryLimit", "memory"), ("PidsLimit", "processes")):
        if info.get(name) is False:
            raise SandboxError(
                f"the Docker engine cannot limit {word}. Enable that control group in the host's kernel.", kind="limits"
            )


class Lifeline:
    """Holds the input of a container's process 1 open. When this process dies, the container ends."""

    def __init__(self, api: docker.APIClient, container: str) -> None:
        with engine_errors():
            self._stream: Any = api.attach_socket(container, params={"stdin": 1, "stream": 1})

    def close(self) -> None:
        """Let go; the container ends."""
        sock: socket.socket = self._stream._sock
        with contextlib.suppress(OSError):
            sock.shutdown(socket.SHUT_RDWR)
        self._stream._response.close()
        self._stream.close()
        sock.close()


def _host_config(api: docker.APIClient, limits: Limits, binds: Sequence[BindMount]) -> dict[str, Any]:
    memory, file_bytes = limits.memory_mb * 2**20, limits.file_mb * 2**20
    return api.create_host_config(
        network_mode="none",
        ipc_mode="private",
        mem_limit=memory,
        memswap_limit=memory,
        pids_limit=limits.processes,
        nano_cpus=int(limits.cpus * 1e9),
        ulimits=[
            Ulimit(name="nofile", soft=limits.open_files, hard=limits.open_files),
            Ulimit(name="fsize", soft=file_bytes, hard=file_bytes),
            Ulimit(name="core", soft=0, hard=0),
        ],
        cap_drop=["ALL"],
        security_opt=["no-new-privileges"],
        mounts=list(binds),
        # what an agent writes to the output of process 1 would fill the host's disk
        log_config=LogConfig(type=LogConfig.types.NONE),
    )

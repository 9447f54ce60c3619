"""What a terminal task begins with: its files, after its set-up script, as a tar that every episode shares.

environment/workspace/   copied to /workspace
environment/setup.sh     optional, run there once as root, without network; beside files in environment/ at /setup
"""

from __future__ import annotations

import hashlib
import io
import os
import tarfile
import tempfile
from functools import lru_cache
from pathlib import Path

from tradeschool.errors import SandboxError, TaskError
from tradeschool.home import make_folder
from tradeschool.sandbox import Limits, Mount, SandboxSpec, open_sandbox
from tradeschool.sandbox.archive import pack_folder
from tradeschool.task import Task

SETUP = "/setup"


def task_limits(task: Task) -> Limits:
    """The sandbox's limits, as the task's file states them."""
    return Limits(
        memory_mb=task.file.environment.memory_mb,
        cpus=task.file.environment.cpus,
        processes=task.limits.processes,
        command_timeout_s=task.limits.command_timeout_s,
        output_bytes=task.limits.output_bytes,
    )


def prepare(task: Task, backend: str, hidden: tuple[Path, ...]) -> bytes:
    """A tar of /workspace at the start; made once for each content and back end, then kept on disk.

    Raises TaskError when the set-up script fails, SandboxError when a program that the task needs is missing.
    """
    kept = (
        make_folder("workspaces") / f"{_digest(task.paths.environment, task.file.tradeschool.requires)}-{backend}.tar"
    )
    if kept.is_file():
        return kept.read_bytes()
    archive = _build(task, backend, hidden)
    # written aside and renamed: a reader never sees half of it
    with tempfile.NamedTemporaryFile(dir=kept.parent, delete=False) as draft:
        draft.write(archive)
    os.replace(draft.name, kept)
    return archive


@lru_cache(maxsize=1024)
def _digest(environment: Path, requires: tuple[str, ...]) -> str:
    # once a process: a task that is being written is played anew by a new command
    content = pack_folder(environment) if environment.is_dir() else b""
    return hashlib.sha256(content + repr(requires).encode()).hexdigest()[:32]


def _build(task: Task, backend: str, hidden: tuple[Path, ...]) -> bytes:
    files = task.paths.environment / "workspace"
    first = pack_folder(files) if files.is_dir() else None
    script = task.paths.environment / "setup.sh"
    needs = task.file.tradeschool.requires
    if not (script.is_file() or needs) and first is not None:
        return first
    mounts = (Mount(task.paths.environment, SETUP, private=True),) if script.is_file() else ()
    spec = SandboxSpec(workspace=first, mounts=mounts, hidden=hidden, limits=task_limits(task))
    with open_sandbox(backend, spec) as sandbox:
        for program in needs:
            if sandbox.run(["bash", "-c", 'command -v -- "$1"', "find", program]).exit_code:
                raise SandboxError(
                    f"task {task.id!r} needs {program!r}, which the {backend} sandbox lacks. Install it on the host "
                    f"(apt-get install {program}), or rebuild the image with it.",
                    kind="missing",
                )
        if script.is_file():
            done = sandbox.run(f"bash {SETUP}/setup.sh", task.file.environment.build_timeout_sec)
            if done.exit_code:
                said = (done.stderr or done.stdout).decode("utf-8", "replace").strip()[-300:]
                ended = "did not end in time" if done.timed_out else f"failed with exit code {done.exit_code}"
                raise TaskError(f"{script}: {ended}: {said}")
        sandbox.freeze()
        return _relative(sandbox.export(["/workspace"]))


def _relative(archive: bytes) -> bytes:
    """The same tar with names relative to /workspace."""
    out = io.BytesIO()
    with tarfile.open(fileobj=io.BytesIO(archive)) as old, tarfile.open(fileobj=out, mode="w") as new:
        for member in old:
            name = Path(member.name).as_posix().removeprefix("workspace").lstrip("/")
            if not name:
                continue
            member.name = name
            if member.islnk():
                member.linkname = Path(member.linkname).as_posix().removeprefix("workspace/")
            new.addfile(member, old.extractfile(member) if member.isfile() else None)
    return out.getvalue()

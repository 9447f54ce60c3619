"""Control groups for a namespace sandbox: v1, or v2 where we may create groups; otherwise resource limits stand in."""

from __future__ import annotations

import errno
import hashlib
from collections.abc import Container, Iterator
from dataclasses import dataclass
from pathlib import Path

from tradeschool.home import home
from tradeschool.sandbox.base import Limits

ROOT = Path("/sys/fs/cgroup")


def parent_name() -> str:
    """Of the folder above our groups: one for each `home()`, whose reaper must not take another's for abandoned."""
    return f"tradeschool-{hashlib.sha256(str(home()).encode()).hexdigest()[:8]}"


@dataclass(frozen=True)
class Cgroup:
    """The folders of one sandbox's group; empty where none could be made. `version` is 0, 1 or 2."""

    folders: tuple[Path, ...] = ()
    version: int = 0

    def add(self, pid: int) -> None:
        """Count a process, and all that it starts from now on, to this group. Raises OSError."""
        for folder in self.folders:
            _write(folder / "cgroup.procs", pid)

    def remove(self) -> None:
        """Remove the folders; their processes must be gone. What is still busy is left for a later reaping."""
        for folder in self.folders:
            try:
                folder.rmdir()
            except OSError as error:
                if error.errno not in (errno.ENOENT, errno.EBUSY):
                    raise


def abandoned_cgroups(alive: Container[str]) -> Iterator[Cgroup]:
    """Groups of ours whose sandbox's name is not `alive`: left by a killed owner, or busy when they were removed."""
    name = parent_name()
    for version, parents in ((1, [ROOT / c / name for c in ("memory", "pids", "cpu")]), (2, [ROOT / name])):
        for parent in parents:
            if parent.is_dir():
                yield from (Cgroup((p,), version) for p in parent.iterdir() if p.is_dir() and p.name not in alive)


def make_cgroup(name: str, limits: Limits) -> Cgroup:
    """A group that limits memory, processes and CPU, or an empty one where the host allows none."""
    for version, make in ((2, _make_v2), (1, _make_v1)):
        made: list[Path] = []
        try:
            make(name, limits, made)
        except OSError:
            Cgroup(tuple(made)).remove()
        else:
            return Cgroup(tuple(made), version)
    return Cgroup()


def _make_v1(name: str, limits: Limits, made: list[Path]) -> None:
    memory = limits.memory_mb * 2**20
    quota = int(limits.cpus * 100_000)
    for controller, settings in (
        ("memory", (("memory.limit_in_bytes", memory), ("memory.memsw.limit_in_bytes", memory))),
        ("pids", (("pids.max", limits.processes),)),
        ("cpu", (("cpu.cfs_period_us", 100_000), ("cpu.cfs_quota_us", quota))),
    ):
        folder = ROOT / controller / parent_name() / name
        folder.mkdir(parents=True)
        made.append(folder)
        for file, value in settings:
            _write(folder / file, value, optional=file == "memory.memsw.limit_in_bytes")


def _make_v2(name: str, limits: Limits, made: list[Path]) -> None:
    available = (ROOT / "cgroup.controllers").read_text("ascii").split()
    if not {"memory", "pids", "cpu"} <= set(available):
        raise OSError(errno.ENOSYS, "the controllers are not delegated")
    parent = ROOT / parent_name()
    parent.mkdir(exist_ok=True)
    for level in (ROOT, parent):
        _write(level / "cgroup.subtree_control", "+memory +pids +cpu")
    folder = parent / name
    folder.mkdir()
    made.append(folder)
    _write(folder / "memory.max", limits.memory_mb * 2**20)
    _write(folder / "memory.swap.max", 0, optional=True)
    _write(folder / "pids.max", limits.processes)
    _write(folder / "cpu.max", f"{int(limits.cpus * 100_000)} 100000")


def _write(file: Path, value: int | str, *, optional: bool = False) -> None:
    if optional and not file.exists():
        return
    file.write_text(str(value), "ascii")

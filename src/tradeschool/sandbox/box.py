"""The folders of one namespace sandbox on the host."""

from __future__ import annotations

import contextlib
import fcntl
import os
import secrets
import shutil
import stat
import subprocess
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tradeschool.errors import SandboxError
from tradeschool.home import make_folder
from tradeschool.sandbox.base import Mount
from tradeschool.sandbox.runtime import Runtime

MAKING_S = 600.0
FROZEN = "/frozen"
"""Where the files of a frozen sandbox are seen by the process that reads them out."""


@dataclass
class Box:
    """`folder` holds `root`, what the sandbox writes: over `layers` by an overlay, or with a copy of them in it.

    `mounts` are what it is shown, each source within its user's reach; `staged` are (source, target) folders that
    have to be bound first, on the host's side, to bring them there. `python` is an interpreter's path inside.
    `lease` is a locked file: as long as the owner lives, no other process takes the box for a leftover.
    Once `frozen`, the agent's `/` is shown at FROZEN of a new one, where nothing it left can bear on what is run.
    """

    folder: Path
    python: str
    layers: tuple[Path, ...]
    overlay: bool
    lease: int
    mounts: list[Mount] = field(default_factory=list)
    staged: list[tuple[Path, Path]] = field(default_factory=list)
    frozen: bool = False

    @property
    def name(self) -> str:
        return self.folder.name

    @classmethod
    def make(cls, run: Runtime, python: str, image: Path | None, *, overlay: bool) -> Box:
        """A new one below `home()/sandboxes`, over the skeleton and an image's files.

        Raises SandboxError when the disk is full or it cannot be written.
        """
        layers = (run.skeleton,) if image is None else (run.skeleton, image)
        try:
            folder = make_folder("sandboxes") / secrets.token_hex(8)
            folder.mkdir()
            folder.chmod(0o711)
            (folder / "mounts").mkdir()
            box = cls(folder, python, layers, overlay, _lease(folder))
            box._make_root("root", layers, run)
        except (OSError, subprocess.CalledProcessError) as error:
            raise SandboxError(f"no folder for a sandbox: {error}.", kind="disk") from error
        return box

    def freeze(self, run: Runtime) -> None:
        """From now on a new `/`, with the old one to be read from. Only when no process of it is left."""
        self.frozen = True
        self._make_root("clean", (run.skeleton,), run)

    def root_argv(self, run: Runtime) -> list[str]:
        """bubblewrap's arguments for `/`, and for FROZEN once it is there."""
        if not self.frozen:
            return self._mount_argv("root", self.layers, "/")
        return [*self._mount_argv("clean", (run.skeleton,), "/"), *self._mount_argv("root", self.layers, FROZEN)]

    def place(self, mounts: Sequence[Mount], run: Runtime) -> None:
        """Show these: private ones by a copy, those that the sandbox's user cannot reach by a bind, others as they are.

        Raises SandboxError when a source is missing.
        """
        for number, mount in enumerate(mounts):
            here = self.folder / "mounts" / str(number)
            if not mount.source.exists():
                raise SandboxError(f"{mount.source} is to be shown in the sandbox, but is not there.", kind="mount")
            if mount.private:
                copy_readable(mount.source, here)
                self.mounts.append(Mount(here, mount.target))
            elif run.as_root and not reachable(mount.source, run.uid):
                here.mkdir() if mount.source.is_dir() else here.touch()
                self.staged.append((mount.source, here))
                self.mounts.append(Mount(here, mount.target))
            else:
                self.mounts.append(mount)

    def remove(self) -> None:
        """Remove the folders, then the lease. Raises SandboxError when something is left. Idempotent."""
        try:
            if self.folder.exists():
                remove_tree(self.folder)
        finally:
            lease, self.lease = self.lease, -1
            if lease >= 0:
                os.close(lease)

    def _make_root(self, name: str, layers: Sequence[Path], run: Runtime) -> None:
        for folder in (self.folder / name, self.folder / f"{name}-work"):
            folder.mkdir()
            os.chown(folder, run.uid, run.gid)
        if not self.overlay:
            for layer in layers:
                subprocess.run(["cp", "-a", f"{layer}/.", str(self.folder / name)], check=True)

    def _mount_argv(self, name: str, layers: Sequence[Path], target: str) -> list[str]:
        upper = str(self.folder / name)
        if not self.overlay:
            return ["--bind", upper, target]
        below = [word for layer in layers for word in ("--overlay-src", str(layer))]
        return [*below, "--overlay", upper, f"{upper}-work", target]


def _lease(folder: Path) -> int:
    fd = os.open(folder / "lease", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return fd


def abandoned() -> Iterator[Path]:
    """Boxes whose owner died without removing them."""
    for folder in sorted(make_folder("sandboxes").iterdir()):
        try:
            with open(folder / "lease", "rb") as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                yield folder
        except FileNotFoundError:
            # just being made, or just removed; or its owner was killed in that moment, long ago
            with contextlib.suppress(FileNotFoundError):
                if time.time() - folder.stat().st_mtime > MAKING_S:
                    yield folder
        except BlockingIOError:
            continue


def copy_readable(source: Path, target: Path) -> None:
    """Copy a file or folder so that every user can read it; links are kept as links."""
    if source.is_dir():
        shutil.copytree(source, target, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
        for folder, _, files in os.walk(target):
            os.chmod(folder, 0o755)
            for file in files:
                path = os.path.join(folder, file)
                if not os.path.islink(path):
                    os.chmod(path, 0o755 if os.stat(path).st_mode & 0o100 else 0o644)
    else:
        shutil.copyfile(source, target)
        target.chmod(0o755 if source.stat().st_mode & 0o100 else 0o644)


def remove_tree(folder: Path) -> None:
    """Remove a folder whatever an agent made of it: any depth, any mode bits. Links are not followed.

    Raises SandboxError when something is left.
    """
    with contextlib.suppress(OSError, RecursionError):
        shutil.rmtree(folder)
        return
    # too deep, or closed against its owner
    for command in (["chmod", "-R", "u+rwX"], ["rm", "-rf", "--one-file-system"]):
        subprocess.run([*command, "--", str(folder)], capture_output=True, check=False)
    if folder.exists():
        raise SandboxError(f"{folder} could not be removed. Remove it by hand.", kind="cleanup")


def reachable(path: Path, uid: int) -> bool:
    """Whether the user can get to `path` and read it, judged by the mode bits of it and of every folder above."""

    def allowed(status: os.stat_result, need: int) -> bool:
        shift = 6 if status.st_uid == uid else 0
        return (status.st_mode >> shift) & need == need

    path = path.resolve()
    try:
        target = path.stat()
        return allowed(target, 0o5 if stat.S_ISDIR(target.st_mode) else 0o4) and all(
            allowed(parent.stat(), 0o1) for parent in path.parents
        )
    except OSError:
        return False

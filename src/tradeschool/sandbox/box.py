"""The folders of one namespace sandbox on the host."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import stat
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tradeschool.errors import SandboxError
from tradeschool.home import make_folder
from tradeschool.sandbox.base import Mount
from tradeschool.sandbox.runtime import ETC, Runtime

FROZEN = "/frozen"
"""Where the files of a frozen sandbox are seen by the process that reads them out."""

FOLDERS = ("root", "tmp", "var", "var/tmp", "etc", "opt", "home", "workspace")


@dataclass
class Box:
    """`folder` holds `root` (the sandbox's `/`), `upper` and `work` (what it writes over `lower` at /workspace).

    `mounts` are what it is shown, each source within its user's reach; `staged` are (source, target) folders that
    have to be bound first, on the host's side, to bring them there. `python` is an interpreter's path inside.
    Once `frozen`, the agent's `/` is shown at FROZEN of a new one, where nothing it left can bear on what is run.
    """

    folder: Path
    python: str
    lower: Path | None = None
    mounts: list[Mount] = field(default_factory=list)
    staged: list[tuple[Path, Path]] = field(default_factory=list)
    frozen: bool = False

    @property
    def name(self) -> str:
        return self.folder.name

    @classmethod
    def make(cls, run: Runtime, python: str) -> Box:
        """A new one below `home()/sandboxes`. Raises SandboxError when the disk is full or it cannot be written."""
        try:
            folder = make_folder("sandboxes") / secrets.token_hex(8)
            folder.mkdir()
            folder.chmod(0o711)
            (folder / "mounts").mkdir()
            for name in ("upper", "work"):
                (folder / name).mkdir()
                os.chown(folder / name, run.uid, run.gid)
            _make_root(folder / "root", run)
        except OSError as error:
            raise SandboxError(f"no folder for a sandbox: {error}.", kind="disk") from error
        return cls(folder, python)

    @property
    def root(self) -> Path:
        """What is `/` inside."""
        return self.folder / ("clean" if self.frozen else "root")

    def freeze(self, run: Runtime) -> None:
        """From now on a new `/`, with the old one to be read from. Only when no process of it is left."""
        self.frozen = True
        _make_root(self.root, run)

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
        """Remove the folders. Raises SandboxError when something is left. Idempotent."""
        if self.folder.exists():
            remove_tree(self.folder)


def _make_root(root: Path, run: Runtime) -> None:
    for folder in (root, *(root / name for name in FOLDERS)):
        folder.mkdir()
        os.chown(folder, run.uid, run.gid)
    for name in ("tmp", "var/tmp"):
        (root / name).chmod(0o1777)
    for name, content in ETC.items():
        path = root / "etc" / name
        path.write_text(content, "ascii")
        os.chown(path, run.uid, run.gid)


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

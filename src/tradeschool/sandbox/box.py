"""The folders of one namespace sandbox on the host, and the unpacked workspaces that many share."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from pathlib import Path

from tradeschool.errors import SandboxError
from tradeschool.home import make_folder
from tradeschool.sandbox.runtime import ETC, Runtime

FOLDERS = ("root", "tmp", "var", "var/tmp", "etc", "opt", "home", "workspace")


def make_box(name: str, run: Runtime) -> Path:
    """`sandboxes/<name>`: `root` (the sandbox's `/`), `upper` and `work` (its workspace), `mounts`.

    Raises SandboxError when the disk is full or the folder cannot be written.
    """
    try:
        box = make_folder("sandboxes") / name
        box.mkdir()
        box.chmod(0o711)
        (box / "mounts").mkdir()
        for folder in ("root", "upper", "work", *(f"root/{folder}" for folder in FOLDERS)):
            (box / folder).mkdir()
            os.chown(box / folder, run.uid, run.gid)
        for folder in ("root/tmp", "root/var/tmp"):
            (box / folder).chmod(0o1777)
        for file, content in ETC.items():
            path = box / "root" / "etc" / file
            path.write_text(content, "ascii")
            os.chown(path, run.uid, run.gid)
    except OSError as error:
        raise SandboxError(f"no folder for a sandbox: {error}.", kind="disk") from error
    return box


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

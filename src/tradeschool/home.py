"""Where tradeschool keeps what set-up made and what running sandboxes need.

    envs/        interpreters of their own: blender, task-tools
    images/      unpacked workspaces, by the hash of their content
    sandboxes/   one folder for each running namespace sandbox

`/var/lib/tradeschool` for root (a sandbox's unprivileged user must be able to reach it), else
`$XDG_DATA_HOME/tradeschool` (`~/.local/share/tradeschool`); the variable TRADESCHOOL_HOME names another folder.
"""

from __future__ import annotations

import os
from pathlib import Path


def home() -> Path:
    """The folder; it may not exist yet."""
    chosen = os.environ.get("TRADESCHOOL_HOME")
    if chosen:
        return Path(chosen).absolute()
    if os.geteuid() == 0:
        return Path("/var/lib/tradeschool")
    return Path(os.environ.get("XDG_DATA_HOME") or "~/.local/share").expanduser() / "tradeschool"


def make_folder(*parts: str) -> Path:
    """A folder below `home()`, made if need be so that other users may pass through it but not list it."""
    folder = home()
    folder.mkdir(parents=True, exist_ok=True)
    for part in parts:
        folder = folder / part
        if not folder.is_dir():
            folder.mkdir(exist_ok=True)
            folder.chmod(0o711)
    return folder

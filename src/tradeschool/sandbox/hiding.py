"""Keeping folders of the host out of sight though they lie in one that is shown.

Packs come with an installed package: their tests and solutions may lie in the very environment, or system folder, that
a sandbox is shown for its interpreter.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from tradeschool.home import make_folder
from tradeschool.sandbox.base import Mount
from tradeschool.sandbox.interpreter import SYSTEM_FOLDERS


@lru_cache(maxsize=256)
def covers(mounts: tuple[Mount, ...], hidden: tuple[Path, ...], *, system: bool) -> tuple[Mount, ...]:
    """An empty folder over each place where one of `hidden` would be seen through `mounts`.

    `system`: the host's system folders are shown too. A private mount is a copy of what its owner chose, and is left.
    """
    shown = [(mount.source.resolve(), Path(mount.target)) for mount in mounts if not mount.private]
    if system:
        shown += [(Path(folder).resolve(), Path(folder)) for folder in SYSTEM_FOLDERS]
    targets = set()
    for folder in {path.resolve() for path in hidden}:
        targets |= {
            str(target / folder.relative_to(source)) for source, target in shown if source in (folder, *folder.parents)
        }
    empty = make_folder("empty") if targets else None
    return tuple(Mount(empty, target) for target in sorted(targets) if empty is not None)

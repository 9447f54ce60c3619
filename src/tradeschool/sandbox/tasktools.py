"""Python and pytest for tasks, from a folder that set-up made, the same in every sandbox at /opt/tradeschool."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path

from tradeschool.home import home
from tradeschool.sandbox.base import Mount
from tradeschool.sandbox.interpreter import interpreter_mounts

TARGET = "/opt/tradeschool"
SYSTEM_PYTHON = "/usr/bin/python3"


@dataclass(frozen=True)
class TaskTools:
    """`python` is an interpreter's path inside; `mounts` show it (if it is no system file) and the tools, if made."""

    python: str
    mounts: tuple[Mount, ...]
    ready: bool


def tools_folder() -> Path:
    """Where `tradeschool setup tasks` puts them."""
    return home() / "envs" / "task-tools"


def host_python() -> str:
    """The interpreter that a namespace sandbox uses: the system's, else the one this process was started from."""
    if os.access(SYSTEM_PYTHON, os.X_OK):
        return SYSTEM_PYTHON
    return os.path.realpath(getattr(sys, "_base_executable", sys.executable))


def task_tools() -> TaskTools:
    """What to show a namespace sandbox."""
    python = host_python()
    mounts = interpreter_mounts(python)
    folder = tools_folder()
    ready = (folder / "bin" / "pytest").exists()
    return TaskTools(python, (*mounts, Mount(folder, TARGET)) if ready else mounts, ready)

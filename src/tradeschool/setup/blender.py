"""Make the Blender worker's own interpreter: Python 3.11 with bpy, and the system libraries that bpy links to."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from tradeschool.errors import UsageError
from tradeschool.home import make_folder
from tradeschool.setup.apt import apt_install, can_install
from tradeschool.setup.venv import is_current, make_venv, requirements

EXTRA = "blender-worker"
PYTHON = (3, 11)
"""bpy 4.5 has wheels for this version only."""
CHECK_TIMEOUT_S = 120.0
APT_PACKAGES = (
    "libgl1",
    "libice6",
    "libsm6",
    "libx11-6",
    "libxext6",
    "libxfixes3",
    "libxi6",
    "libxkbcommon0",
    "libxrender1",
)
"""Debian's packages of every library that bpy links to and does not bring along."""


def setup_blender(python: str | None = None, report: Callable[[str], object] = print) -> Path:
    """The interpreter of the environment in `home()/envs/blender`, made if need be and proved by a real import.

    `python` names the Python 3.11 to build on (default: this one, else `python3.11` on PATH). Raises UsageError with
    the remedy when there is none, when pip fails, or when a system library is missing and cannot be installed by us.
    """
    folder = make_folder("envs") / "blender"
    if not is_current(folder, EXTRA):
        base = find_python((python,) if python else (sys.executable, "python3.11"))
        report(f"blender: installing {', '.join(requirements(EXTRA))} (about 400 MB)")
        make_venv(folder, EXTRA, base)
    interpreter = folder / "bin" / "python"
    version, fault = try_import(interpreter)
    if "shared object" in fault:
        if not can_install():
            raise UsageError(
                f"bpy lacks a system library ({fault}). Install it: apt-get install {' '.join(APT_PACKAGES)}",
                kind="apt",
            )
        report(f"blender: installing {', '.join(APT_PACKAGES)}")
        apt_install(APT_PACKAGES)
        version, fault = try_import(interpreter)
    if fault:
        raise UsageError(
            f"bpy does not import in {interpreter}: {fault}. Delete {folder} and run this again.", kind="bpy"
        )
    report(f"blender: ready (bpy {version}, {folder})")
    return interpreter


def find_python(candidates: Sequence[str]) -> str:
    """The first of some programs that is a Python 3.11. Raises UsageError."""
    for program in _programs(candidates):
        ask = "import sys; print(*sys.version_info[:2])"
        try:
            done = subprocess.run([program, "-I", "-c", ask], capture_output=True, text=True, check=False, timeout=60)
        except (OSError, subprocess.TimeoutExpired):
            continue
        if done.stdout.split() == [str(part) for part in PYTHON]:
            return program
    raise UsageError(
        f"bpy needs Python 3.11, and {' and '.join(candidates)} is none. Install one (Debian 12: apt-get install "
        "python3.11), or name it: tradeschool setup blender --python PATH.",
        kind="python",
    )


def _programs(candidates: Sequence[str]) -> Iterator[str]:
    for candidate in candidates:
        found = shutil.which(candidate)
        if found:
            yield found


def try_import(interpreter: Path) -> tuple[str, str]:
    """(bpy's version, "") or ("", its last line). Told by what it prints, for Blender may crash on its way out."""
    ask = "import bpy; print('bpy-is', bpy.app.version_string, flush=True); import os; os._exit(0)"
    try:
        # Blender makes a folder for temporary files, and would leave it there
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(
                [interpreter, "-I", "-c", ask],
                capture_output=True,
                text=True,
                check=False,
                timeout=CHECK_TIMEOUT_S,
                env={**os.environ, "TMPDIR": folder},
            )
    except (OSError, subprocess.TimeoutExpired) as error:
        return "", str(error)
    told = re.search(r"^bpy-is (.+)$", done.stdout, re.MULTILINE)
    if told:
        return told.group(1).strip(), ""
    return "", (done.stderr.strip().splitlines() or [f"it ended with {done.returncode} and no word"])[-1]

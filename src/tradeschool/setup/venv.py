"""Environments of their own from the extras of pyproject.toml, so that each version is stated once."""

from __future__ import annotations

import importlib.metadata
import json
import subprocess
import sys
from pathlib import Path

from packaging.requirements import Requirement

from tradeschool.errors import UsageError

STAMP = "tradeschool.json"


def requirements(extra: str) -> list[str]:
    """What an extra of the installed package asks for, as pip takes it. Raises UsageError for an unknown extra."""
    found = []
    for line in importlib.metadata.requires("tradeschool") or []:
        wanted = Requirement(line)
        if wanted.marker and not wanted.marker.evaluate({"extra": ""}) and wanted.marker.evaluate({"extra": extra}):
            wanted.marker = None
            found.append(str(wanted))
    if not found:
        raise UsageError(f"the installed tradeschool has no extra {extra!r}. Reinstall it.")
    return found


def is_current(folder: Path, extra: str) -> bool:
    """Whether `folder` was made whole, for what the extra asks for now."""
    try:
        return json.loads((folder / STAMP).read_text("utf-8")) == requirements(extra)
    except (OSError, ValueError):
        return False


def stamp(folder: Path, extra: str) -> None:
    """Write down that `folder` is whole; the last act of making it."""
    (folder / STAMP).write_text(json.dumps(requirements(extra)), "utf-8")


def pip(*arguments: str) -> None:
    """Run this interpreter's pip. Raises UsageError with the end of its output."""
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input", *arguments]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode:
        last = " ".join(done.stdout.strip().splitlines()[-3:])
        raise UsageError(f"`{' '.join(command[1:])}` failed: {last}", kind="pip")


def make_venv(folder: Path, extra: str, python: str = sys.executable) -> Path:
    """A virtual environment in `folder` with an extra's packages; its interpreter is returned. Reused when current.

    Needs no ensurepip: this interpreter's pip installs into it.
    """
    interpreter = folder / "bin" / "python"
    if not is_current(folder, extra):
        subprocess.run([python, "-m", "venv", "--clear", "--without-pip", str(folder)], check=True)
        pip("--python", str(interpreter), "install", "--quiet", *requirements(extra))
        stamp(folder, extra)
    return interpreter

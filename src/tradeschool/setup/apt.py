"""Debian packages: whether we may install them, and doing so."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

from tradeschool.errors import UsageError


def can_install(os_release: Path = Path("/etc/os-release")) -> bool:
    """Whether we are root on Debian, Ubuntu or a child of theirs."""
    try:
        lines = os_release.read_text("utf-8").splitlines()
    except OSError:
        return False
    fields = dict(line.split("=", 1) for line in lines if "=" in line)
    family = f"{fields.get('ID', '')} {fields.get('ID_LIKE', '')}".replace('"', "").split()
    return os.geteuid() == 0 and bool({"debian", "ubuntu"} & set(family))


def apt_install(packages: Sequence[str]) -> None:
    """Install Debian packages. Raises UsageError with the end of apt's output."""
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for command in (["apt-get", "update"], ["apt-get", "install", "-y", "--no-install-recommends", *packages]):
        try:
            run_quietly(command, environment)
        except UsageError as error:
            # an update may fail for a source that is of no interest here
            if command[1] == "install":
                raise UsageError(
                    f"{error} Install by hand: apt-get install {' '.join(packages)}", kind="apt"
                ) from error


def run_quietly(command: Sequence[str], environment: dict[str, str] | None = None) -> None:
    """Run a program. Raises UsageError with the end of its output when it fails or is missing."""
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
            env=environment,
        )
    except OSError as error:
        raise UsageError(f"{command[0]!r} does not start ({error.strerror}).", kind="missing") from error
    if done.returncode:
        last = b" ".join(done.stdout.strip().splitlines()[-3:]).decode("utf-8", "replace")
        raise UsageError(f"`{' '.join(command)[:200]}` failed: {last[-500:]}", kind="command")

"""Bringing up a Docker engine where none answers, for root on Debian and Ubuntu."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from tradeschool.errors import SandboxError, UsageError
from tradeschool.home import make_folder
from tradeschool.sandbox.docker_engine import engine, engine_errors

PACKAGES = ("docker.io", "iptables")
START_TIMEOUT_S = 60.0
PAUSE_S = 0.2
DAEMONS = (["dockerd"], ["dockerd", "--iptables=false", "--bridge=none"])
"""Tried in turn: where the kernel lacks what bridges need, our sandboxes, which have no network, still run."""


def ensure_engine(report: Callable[[str], object] = print) -> bool:
    """Whether an engine answers, after installing and starting one if need be and possible. Says what it does."""
    if answers():
        return True
    if not can_install():
        report("docker: no engine answers, and only root on Debian or Ubuntu can have it installed by us")
        return False
    if not _has("dockerd"):
        report(f"docker: installing {', '.join(PACKAGES)}")
        try:
            apt_install(PACKAGES)
        except UsageError as error:
            report(f"docker: {error}")
            return False
        if _comes_up(None, 5.0):  # the package's own service
            return True
    log = make_folder("docker") / "dockerd.log"
    for command in DAEMONS:
        report(f"docker: starting {' '.join(command)} (log: {log})")
        with log.open("wb") as sink:
            # detached: it serves later runs too
            daemon = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=sink, stderr=sink, cwd="/", start_new_session=True
            )
        if _comes_up(daemon, START_TIMEOUT_S):
            return True
        if daemon.poll() is None:
            daemon.terminate()
            daemon.wait(30)
    last = log.read_text("utf-8", "replace").strip().splitlines()[-1:]
    report(f"docker: the engine does not come up: {' '.join(last)}")
    return False


def answers() -> bool:
    """Whether the engine answers."""
    try:
        with engine_errors():
            return bool(engine().ping())
    except SandboxError:
        return False


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


def _has(program: str) -> bool:
    return any((Path(folder) / program).is_file() for folder in ("/usr/bin", "/usr/sbin", "/usr/local/bin"))


def _comes_up(daemon: subprocess.Popen[bytes] | None, timeout_s: float) -> bool:
    deadline = time.monotonic() + timeout_s
    while time.monotonic() < deadline:
        if answers():
            return True
        if daemon is not None and daemon.poll() is not None:
            return False
        time.sleep(PAUSE_S)  # it tells nobody when it is ready
    return False

"""Bringing up a Docker engine where none answers, for root on Debian and Ubuntu."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from tradeschool.errors import SandboxError, UsageError
from tradeschool.home import make_folder
from tradeschool.sandbox.docker_engine import engine, engine_errors
from tradeschool.setup.apt import apt_install, can_install

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

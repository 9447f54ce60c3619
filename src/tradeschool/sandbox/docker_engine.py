"""The Docker engine: reaching it, saying in one line why it cannot be reached, clearing up what dead owners left.

Not covered: an engine behind ssh or TLS; its exec streams are no plain sockets. Use its Unix socket, or plain tcp.
"""

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import docker
import docker.utils
import requests
from docker.errors import APIError, DockerException, ImageNotFound, NotFound

from tradeschool.errors import SandboxError

BASE_IMAGE = "tradeschool/base:1"
"""The root file system of sandboxes; the number goes up whenever its content changes."""

LABEL = "tradeschool"
OWNER_LABEL = "tradeschool.owner"
ANSWER_TIMEOUT_S = 60
SETUP_HINT = "Run `tradeschool setup docker` (as root on Debian or Ubuntu it installs and starts the engine)"


def engine() -> docker.APIClient:
    """This process's client of the engine that the environment names. Raises SandboxError with the remedy."""
    # a connection must not be shared with a forked child, hence the process id
    return _connect(os.getpid(), address())


def address() -> str:
    """Where the engine is looked for."""
    return docker.utils.kwargs_from_env().get("base_url") or "unix:///var/run/docker.sock"


@cache
def _connect(pid: int, base_url: str) -> docker.APIClient:
    with engine_errors():
        scheme, _, path = base_url.partition("://")
        if scheme in ("unix", "http+unix"):
            # by hand first: the SDK leaves its socket open when there is nobody to connect to
            with socket.socket(socket.AF_UNIX) as probe:
                probe.settimeout(ANSWER_TIMEOUT_S)
                probe.connect(path)
        settings = docker.utils.kwargs_from_env()
        return docker.APIClient(base_url, version="auto", timeout=ANSWER_TIMEOUT_S, tls=settings.get("tls", False))


@contextlib.contextmanager
def engine_errors() -> Iterator[None]:
    """Turns what the SDK raises into SandboxError: `image` and `gone` for what is not there, else `engine`."""
    try:
        yield
    except ImageNotFound as error:
        raise SandboxError(f"the Docker engine: {error.explanation}. {SETUP_HINT}.", kind="image") from error
    except NotFound as error:
        raise SandboxError(f"the container is gone ({error.explanation}).", kind="gone") from error
    except APIError as error:
        # which status a stopped container gives depends on the call and on the engine's version
        kind = "gone" if "is not running" in str(error.explanation) else "engine"
        raise SandboxError(f"the Docker engine refused: {error.explanation or error}.", kind=kind) from error
    except (DockerException, requests.RequestException, OSError, ValueError) as error:
        raise SandboxError(explain(error, address()), kind="engine") from error


def explain(error: BaseException, where: str) -> str:
    """One line for a person: why there was no answer from `where`, and what to do."""
    causes = tuple(_causes(error))
    if any(isinstance(cause, PermissionError) for cause in causes):
        return f"no permission to use the Docker engine at {where}. Add yourself to its group: usermod -aG docker $USER"
    if any(isinstance(cause, FileNotFoundError) for cause in causes):
        return f"there is no Docker engine at {where}. {SETUP_HINT}, or use --sandbox namespace."
    if any(isinstance(cause, ConnectionRefusedError) for cause in causes):
        return f"the Docker engine at {where} is not running. Start it (systemctl start docker). {SETUP_HINT}."
    if any(isinstance(cause, requests.Timeout | TimeoutError) for cause in causes):
        return f"the Docker engine at {where} does not answer in time. Look at its log, or restart it."
    return f"the Docker engine at {where} cannot be used ({error}). {SETUP_HINT}, or use --sandbox namespace."


def _causes(error: BaseException) -> Iterator[BaseException]:
    # the SDK nests the system's error in arguments as well as in `__cause__` and `__context__`
    waiting, seen = [error], set()
    while waiting:
        cause = waiting.pop()
        if id(cause) not in seen:
            seen.add(id(cause))
            yield cause
            linked = (cause.__cause__, cause.__context__, getattr(cause, "reason", None), *cause.args)
            waiting += [other for other in linked if isinstance(other, BaseException)]


def owner() -> str:
    """This process, named so that another one of this machine can tell whether it still lives."""
    return f"{_machine()} {os.getpid()} {_start_time(os.getpid())}"


def owner_is_dead(name: str) -> bool:
    """Whether the process that `owner` named is gone. False for one of another machine, or when in doubt."""
    words = name.split()
    if len(words) != 3 or words[0] != _machine() or not words[1].isdecimal():
        return False
    return _start_time(int(words[1])) != words[2]


def reap() -> int:
    """Remove the containers of owners that are dead; how many there were. Raises SandboxError."""
    api, count = engine(), 0
    with engine_errors():
        for container in api.containers(all=True, filters={"label": OWNER_LABEL}):
            if owner_is_dead(container["Labels"].get(OWNER_LABEL, "")):
                remove(api, container["Id"])
                count += 1
    return count


def remove(api: docker.APIClient, container: str) -> None:
    """Kill and remove a container; nothing happens when it is gone or going already."""
    with engine_errors():
        try:
            api.remove_container(container, v=True, force=True)
        except NotFound:
            pass
        except APIError as error:
            if error.status_code != 409 or "in progress" not in str(error.explanation):
                raise


@cache
def _machine() -> str:
    # process ids mean something within one boot and one process namespace
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
        return f"{boot}:{os.stat('/proc/self/ns/pid').st_ino}"
    except OSError:
        return "unknown"


def _start_time(pid: int) -> str:
    """The clock tick at which a process started, since ids are used again; empty when there is no such process."""
    try:
        return Path(f"/proc/{pid}/stat").read_text("utf-8", "replace").rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return ""

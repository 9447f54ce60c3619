"""What is installed here, what is missing, and how to get it. Nothing is changed."""

from __future__ import annotations

import importlib
import importlib.util
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from types import MappingProxyType
from typing import Any

from tradeschool.errors import SandboxError, TradeschoolError, UsageError
from tradeschool.families import FAMILIES
from tradeschool.sandbox.factory import backend_class

BLENDER_PYTHON = "tradeschool.envs.blender.client:blender_python"
LIBRARIES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "blender": ("scipy", "manifold3d"),
        "docqa": ("pypdfium2", "pdfplumber", "openpyxl", "docx", "lxml", "rapidfuzz"),
    }
)
"""What each family's extra brings, by import name."""


@dataclass(frozen=True)
class Check:
    """One thing looked at. `needed`: the starter pack on the namespace sandbox cannot be played without it."""

    name: str
    ok: bool
    detail: str
    remedy: str = ""
    needed: bool = True

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return asdict(self)


def examine() -> list[Check]:
    """Look at everything, in a few seconds: it starts a sandbox, asks the Docker engine and loads bpy once."""
    return [
        check_python(),
        check_program("git"),
        check_namespace(),
        check_task_tools(),
        check_blender(),
        *(check_libraries(family) for family in LIBRARIES),
        check_docker(),
    ]


def require(family: str, sandbox: str) -> None:
    """The quick checks before a run: what the family needs here beside its sandbox. Raises UsageError."""
    checks: list[Check] = []
    if family == "terminal" and sandbox == "namespace":
        checks.append(check_task_tools())
    if family == "blender" and sandbox == "namespace":
        checks.append(find_blender())
    if family in LIBRARIES:
        checks.append(check_libraries(family))
    for check in checks:
        if not check.ok:
            raise UsageError(f"{FAMILIES[family].env_id} needs {check.name}: {check.detail}. {check.remedy}")


def check_python() -> Check:
    """Python on Linux (an older Python than the package asks for does not get this far)."""
    version = ".".join(str(part) for part in sys.version_info[:3])
    if sys.platform != "linux":
        return Check("Python", False, f"{version} on {sys.platform}", "Use Linux (on Windows: WSL 2).")
    return Check("Python", True, f"{version} ({sys.executable})")


def check_program(name: str) -> Check:
    """A program that tasks use; the namespace sandbox shows the host's."""
    found = shutil.which(name)
    return Check(name, bool(found), found or "not on the PATH", "" if found else f"apt-get install {name}")


def check_namespace() -> Check:
    """Start a namespace sandbox and run a program in it."""
    return _check_backend("namespace", "namespace sandbox", needed=True)


def check_docker() -> Check:
    """Whether the Docker engine answers and holds our image."""
    return _check_backend("docker", "Docker sandbox", needed=False)


def _check_backend(backend: str, name: str, *, needed: bool) -> Check:
    try:
        can = backend_class(backend).check()
    except ImportError as error:
        return _not_importable(name, error, needed)
    except SandboxError as error:
        return Check(name, False, *_split(str(error)), needed)
    detail = f"{can.detail}; memory: {can.memory}; processes: {can.processes}; CPU: {can.cpu}; network: {can.network}"
    return Check(name, True, detail, needed=needed)


def check_task_tools() -> Check:
    """Python and pytest for terminal tasks on the namespace sandbox."""
    name, remedy = "task tools (Python and pytest for tasks)", "tradeschool setup tasks"
    from tradeschool.sandbox.tasktools import task_tools, tools_folder

    try:
        ready = task_tools().ready
    except TradeschoolError as error:
        return Check(name, False, str(error), remedy)
    if not ready:
        return Check(name, False, f"{tools_folder()} is not there", remedy)
    return Check(name, True, str(tools_folder()))


def find_blender() -> Check:
    """Where the Blender worker's interpreter is; it is not started."""
    name, remedy = "Blender interpreter (bpy)", "tradeschool setup blender"
    module, _, function = BLENDER_PYTHON.partition(":")
    try:
        python = getattr(importlib.import_module(module), function)()
    except ImportError as error:
        return _not_importable(name, error, True)
    except TradeschoolError as error:
        return Check(name, False, *_split(str(error), remedy))
    return Check(name, True, python)


def check_blender() -> Check:
    """The Blender worker's interpreter, and which Blender it loads (this takes a second)."""
    found = find_blender()
    if not found.ok:
        return found
    ask = "import bpy; print(bpy.app.version_string)"
    try:
        done = subprocess.run([found.detail, "-I", "-c", ask], capture_output=True, text=True, check=True, timeout=120)
    except (OSError, subprocess.SubprocessError) as error:
        said = (getattr(error, "stderr", "") or str(error)).strip().splitlines()
        return Check(found.name, False, f"{found.detail}: {said[-1] if said else error}", "tradeschool setup blender")
    return Check(found.name, True, f"Blender {done.stdout.strip().splitlines()[-1]} ({found.detail})")


def check_libraries(family: str) -> Check:
    """The Python libraries of a family's extra; none is imported."""
    missing = [name for name in LIBRARIES[family] if importlib.util.find_spec(name) is None]
    name = f"libraries of {family}"
    if missing:
        return Check(name, False, f"missing: {', '.join(missing)}", f"pip install 'tradeschool[{family}]'")
    return Check(name, True, ", ".join(LIBRARIES[family]))


def _not_importable(name: str, error: ImportError, needed: bool) -> Check:
    remedy = f"pip install {error.name}" if error.name else "pip install --force-reinstall tradeschool"
    return Check(name, False, f"cannot be loaded ({error})", remedy, needed)


def _split(message: str, remedy: str = "") -> tuple[str, str]:
    """What is wrong, and the remedy, from an error's one line: our messages end in the remedy."""
    wrong, _, rest = message.partition(". ")
    return (wrong.rstrip("."), rest) if rest else (message, remedy)


def is_ready(checks: Sequence[Check]) -> bool:
    """Whether all is there that the starter pack needs on the namespace sandbox."""
    return all(check.ok for check in checks if check.needed)

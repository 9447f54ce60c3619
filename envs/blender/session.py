"""One Blender episode: a worker that holds the scene, the calls that change it, and the verdict at the end."""

from __future__ import annotations

import importlib.util
import io
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from tradeschool.errors import UsageError, VerifierError
from tradeschool.rewards import Reward
from tradeschool.tools import Tool, ToolResult

from ..base import Session, SessionConfig
from . import narrate
from .checkfile import load_checks
from .client import BlenderWorker, Refused, Reply, start_worker
from .recipe import build_scene
from .snapshot import Snapshot, read_snapshot
from .tools import TOOLS

PICTURE_PIXELS = 192
PICTURE_SAMPLES = 4


class BlenderSession(Session):
    """Every tool but `submit` is an operation of the worker of the same name."""

    tools: ClassVar[tuple[Tool, ...]] = TOOLS

    def __init__(self, config: SessionConfig) -> None:
        super().__init__(config)
        self.worker: BlenderWorker | None = None

    def open(self) -> str:
        """Start a worker, build the scene, and say what is in it."""
        require_graders()
        self.checks = load_checks(self.task.paths.tests / "checks.toml")
        self.worker = self._start()
        build_scene(self.worker, self.task.paths.environment)
        seen = narrate.scene(self.worker.call("scene_info", {}).result)
        return f"Blender {self.worker.blender}. Units: metres and degrees, Z is up, colours are linear RGB.\n{seen}"

    def call(self, name: str, arguments: Mapping[str, Any]) -> ToolResult:
        """Do one call. A refusal by the worker is a result; its crash raises SandboxError."""
        if name == "submit":
            return ToolResult("The scene is handed in.", done=True)
        try:
            reply = self._live().call(name, arguments, timeout_s=self.task.limits.command_timeout_s)
        except Refused as error:
            return ToolResult(str(error), status=error.status)
        images = decode_pictures(reply) if name == "render" else ()
        return ToolResult(narrate.tell(name, reply.result), images)

    def grade(self) -> Reward:
        """Save the scene, end its worker, and judge what a fresh worker finds in the file."""
        from .checks import evaluate  # manifold3d and scipy load here, not when an environment is made

        return evaluate(self.checks, self.snapshot())

    def snapshot(self) -> Snapshot:
        """The scene as a fresh worker reads it from the saved file; that worker stays, for pictures."""
        saved = self._live().call("save", {}).blob
        self.close()
        self.worker = self._start()
        try:
            self.worker.call("open_blend", {}, saved)
        except Refused as error:
            raise VerifierError(f"the saved scene was refused by the verifying worker: {error}") from error
        reply = self.worker.call("export_state", {})
        return read_snapshot(reply.result, reply.blob)

    def render(self) -> np.ndarray | None:
        """A small Cycles picture from outside, uint8 (H, W, 3); None when the worker is gone."""
        if self.worker is None:
            return None
        args = {"views": ["iso"], "size": PICTURE_PIXELS, "samples": PICTURE_SAMPLES}
        return decode_pictures(self.worker.call("render", args))[0]

    def close(self) -> None:
        worker, self.worker = self.worker, None
        if worker is not None:
            worker.close()

    def _start(self) -> BlenderWorker:
        return start_worker(self.config.sandbox, self.task.file.environment.memory_mb, self.hidden)

    def _live(self) -> BlenderWorker:
        if self.worker is None:
            raise UsageError("the session is not open: call open() first.")
        return self.worker


def decode_pictures(reply: Reply) -> tuple[np.ndarray, ...]:
    """The PNGs of a render as arrays, uint8 (H, W, 3)."""
    from PIL import Image

    pictures, at = [], 0
    for size in reply.result["bytes"]:
        with Image.open(io.BytesIO(reply.blob[at : at + size]), formats=["PNG"]) as picture:
            pictures.append(np.asarray(picture.convert("RGB"), dtype=np.uint8))
        at += size
    return tuple(pictures)


def require_graders() -> None:
    """Raises UsageError when the packages that the graders need are not installed."""
    missing = [name for name in ("manifold3d", "scipy") if importlib.util.find_spec(name) is None]
    if missing:
        raise UsageError(
            f"the Blender trade needs {' and '.join(missing)}. Run: pip install 'tradeschool[blender]'", kind="extra"
        )

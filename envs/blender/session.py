"""One Blender episode: a worker that holds the scene, the calls that change it, and the verdict at the end."""

from __future__ import annotations

import importlib.util
import io
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from tradeschool.errors import SandboxError, UsageError, VerifierError
from tradeschool.rewards import Part, Reward
from tradeschool.tools import Tool, ToolResult

from ..base import Session, SessionConfig
from . import narrate
from .checkfile import load_checks
from .client import CALL_TIMEOUT_S, BlenderWorker, Refused, Reply, start_worker
from .judge_client import Exhausted, JudgeProcess
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
        self.exhausted = ""

    def open(self) -> str:
        """Start a worker, build the scene, and say what is in it."""
        require_graders()
        self.checks = load_checks(self.task.paths.tests / "checks.toml")
        self.worker = self._start()
        build_scene(self.worker, self.task.paths.environment)
        seen = narrate.scene(self.worker.call("scene_info", {}).result)
        return f"Blender {self.worker.blender}. Units: metres and degrees, Z is up, colours are linear RGB.\n{seen}"

    def call(self, name: str, arguments: Mapping[str, Any]) -> ToolResult:
        """Do one call. A refusal is a result, and one that exhausts the worker's limits ends the episode.

        Raises SandboxError when the worker was gone before, or no fresh one comes up.
        """
        if name == "submit":
            return ToolResult("The scene is handed in.", done=True)
        try:
            reply = self._ask(name, arguments, timeout_s=self._deadline_s)
        except Refused as error:
            return ToolResult(str(error), status=error.status)
        except Exhausted as error:
            self.exhausted = f"the call exhausted its limits: {error}"
            return ToolResult(f"The scene is lost: {self.exhausted}.", status="failed", done=True)
        images = decode_pictures(reply) if name == "render" else ()
        return ToolResult(narrate.tell(name, reply.result), images)

    @property
    def _deadline_s(self) -> float:
        return min(self.task.limits.command_timeout_s, max(1.0, self.seconds_left))

    def grade(self) -> Reward:
        """Save the scene, end its worker, and judge what a fresh worker finds in the file.

        0 when the scene exhausts the limits of that. Raises SandboxError or VerifierError when the fault is ours.
        """
        if not self.exhausted:
            try:
                with JudgeProcess() as judge:
                    return judge.evaluate(self.checks, self.snapshot())
            except Exhausted as error:
                self.exhausted = f"the scene exhausted the limits of its grading: {error}"
        return Reward.from_parts([Part("limits", 0.0, reason=self.exhausted, gate=True)])

    def snapshot(self) -> Snapshot:
        """The scene as a fresh worker reads it from the saved file; that worker stays, for pictures.

        Raises Exhausted when the scene is too much for it, SandboxError or VerifierError when the fault is ours.
        """
        saved = self._ask("save", {}).blob
        self.close()
        self.worker = self._start()
        try:
            self._ask("open_blend", {}, saved)
        except Refused as error:
            raise VerifierError(f"the saved scene was refused by the verifying worker: {error}") from error
        reply = self._ask("export_state", {})
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

    def _ask(self, op: str, args: Mapping[str, Any], blob: bytes = b"", timeout_s: float = CALL_TIMEOUT_S) -> Reply:
        """One operation on what the agent built. Raises Refused; Exhausted when the worker ended over it or ran past
        the deadline while a fresh worker is well; else SandboxError.
        """
        try:
            return self._live().call(op, args, blob, timeout_s=timeout_s)
        except SandboxError as error:
            if error.kind not in ("died", "timeout"):
                raise
            self.close()
            self._probe()
            how = f"took more than {timeout_s:g} s" if error.kind == "timeout" else "ended Blender, as too much does"
            raise Exhausted(f"{op!r} {how}") from error

    def _probe(self) -> None:
        """Raises SandboxError when a fresh worker does not export its empty scene: the fault is not the agent's."""
        fresh = self._start()
        try:
            fresh.call("export_state", {})
        finally:
            fresh.close()

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

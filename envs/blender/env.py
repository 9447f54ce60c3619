"""tradeschool/Blender-v0."""

from __future__ import annotations

from typing import ClassVar

from tradeschool.task import Task

from ..base import Session, ToolEnv
from .checkfile import load_checks
from .recipe import check_scene
from .session import BlenderSession


class BlenderEnv(ToolEnv):
    """Model, repair and photograph real scenes in Blender, by typed tools.

    ## Description
    Each episode has a Blender of its own: a `bpy` process in a sandbox without network that holds one scene. The
    agent builds parts to a drawing, mends meshes, sets materials, lights and the camera, and hands the scene in.
    It cannot run code in Blender. Lengths are metres, angles degrees, colours linear RGB; Z is up.

    ## Action space
    `ToolCallSpace`: `{"name": str, "arguments": dict}` with the tools `scene_info`, `measure`, `add_primitive`,
    `transform`, `rename`, `delete`, `duplicate`, `add_modifier`, `apply_modifiers`, `clear_modifiers`, `boolean`,
    `clean_mesh`, `separate_parts`, `set_material`, `add_light`, `set_camera`, `render`, `submit`. Objects are named
    by an id that stays when they are renamed. A call that is refused leaves the scene as it was.

    ## Observation space
    `{"text": str, "images": tuple of uint8 arrays (H, W, 3)}`. The text says what the call changed; `render` gives
    up to four pictures of at most 512 pixels (Cycles on the CPU, fixed seed).

    ## Reward
    0 until the end. The scene is then saved, its worker ended, and the file opened by a fresh worker, scripts off,
    which exports every object as data. The checks of the task's `tests/checks.toml` are computed from that, outside
    Blender: reward = sum(weight * value) / sum(weight) over the checks, and 0 when a gate is not fully passed.

    ## Episode end
    Terminated by `submit`, or by a call that exhausts its limits of memory or time: the scene is then lost and the
    reward 0. Truncated after `max_steps` calls or the task's wall time, and graded. A scene that exhausts the limits of
    its grading scores 0. An engine that fails of itself raises SandboxError: that episode has no reward.

    ## Arguments
    `pack` (a built-in pack or a folder), `task` (an id; None: the seed draws one), `split`, `sandbox` (`auto`,
    `docker`, `namespace`), `max_steps` (None: the task's own), `render_mode` (`ansi`, or `rgb_array`: a small Cycles
    picture of the scene from outside).

    ## Version history
    v0: first version.
    """

    family: ClassVar[str] = "blender"
    session_class: ClassVar[type[Session]] = BlenderSession

    @classmethod
    def check_task(cls, task: Task) -> None:
        """The start scene and the checks, read strictly and without Blender. Raises TaskError."""
        super().check_task(task)
        check_scene(task.paths.environment)
        load_checks(task.paths.tests / "checks.toml")

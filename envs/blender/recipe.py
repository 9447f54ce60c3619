"""The scene a task starts with: `environment/scene.json`, a list of tool calls and raw meshes, or `scene.blend`.

{"resolution": [512, 512],
 "steps": [{"tool": "add_primitive", "arguments": {"kind": "cube", "dimensions": [1, 1, 1]}},
           {"mesh": {"name": "Bracket", "vertices": [[0, 0, 0], ...], "faces": [[0, 1, 2], ...]}}]}
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from tradeschool.errors import TaskError
from tradeschool.tools import MalformedCall, parse_call

from .client import BlenderWorker, Refused
from .tools import NAME_PATTERN, TOOLS

MAX_SCENE_BYTES = 32 * 2**20
MAGIC = (b"BLENDER", b"\x28\xb5\x2f\xfd", b"\x1f\x8b")
"""How a .blend begins: plain, compressed by zstd, or (of old) by gzip."""
NOT_IN_SCENES = ("submit", "render", "measure", "scene_info")

Point = tuple[float, float, float]
Metres = Annotated[float, Field(ge=-1000, le=1000)]


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)


class RawMesh(_Strict):
    """A mesh as it is, broken or not; metres and degrees."""

    name: str = Field(pattern=NAME_PATTERN, max_length=48)
    vertices: tuple[tuple[Metres, Metres, Metres], ...] = Field(min_length=3, max_length=50_000)
    faces: tuple[tuple[int, ...], ...] = Field(min_length=1, max_length=50_000)
    location: Point = (0.0, 0.0, 0.0)
    rotation: Point = (0.0, 0.0, 0.0)


class Step(_Strict):
    """One step: a tool call, or a mesh."""

    tool: str | None = None
    arguments: dict[str, Any] = Field(default_factory=dict)
    mesh: RawMesh | None = None


class Recipe(_Strict):
    """The whole of scene.json. `resolution` is the picture's width and height in pixels."""

    resolution: tuple[int, int] = (512, 512)
    steps: tuple[Step, ...] = Field(default=(), max_length=500)


def read_recipe(path: Path) -> Recipe:
    """Read and check a scene.json. Raises TaskError naming the file, the field and the remedy."""
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise TaskError(f"{path}: cannot be read ({error.strerror}).") from error
    if len(raw) > MAX_SCENE_BYTES:
        raise TaskError(f"{path}: {len(raw)} bytes is over the limit of {MAX_SCENE_BYTES}.")
    try:
        recipe = Recipe.model_validate_json(raw)
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        field = ".".join(str(part) for part in fault["loc"])
        raise TaskError(f"{path}: field {field or 'top level'!r}: {fault['msg']}.") from None
    if any(not 16 <= side <= 4096 for side in recipe.resolution):
        raise TaskError(f"{path}: field 'resolution': each side lies between 16 and 4096 pixels.")
    for number, step in enumerate(recipe.steps):
        check_step(path, number, step)
    return recipe


def check_step(path: Path, number: int, step: Step) -> None:
    """Raises TaskError when a step is not exactly one well-formed call or mesh."""
    where = f"{path}: steps.{number}"
    if (step.tool is None) == (step.mesh is None):
        raise TaskError(f"{where}: give either 'tool' with 'arguments', or 'mesh'.")
    if step.tool is not None:
        if step.tool in NOT_IN_SCENES:
            raise TaskError(f"{where}: {step.tool!r} makes nothing; a scene is made by the other tools.")
        try:
            parse_call({"name": step.tool, "arguments": step.arguments}, TOOLS)
        except MalformedCall as error:
            raise TaskError(f"{where}: {error}") from None


def read_blend(path: Path) -> bytes:
    """The bytes of a scene.blend. Raises TaskError when it is too large or no .blend."""
    if path.stat().st_size > MAX_SCENE_BYTES:
        raise TaskError(f"{path}: {path.stat().st_size} bytes is over the limit of {MAX_SCENE_BYTES}.")
    data = path.read_bytes()
    if not data.startswith(MAGIC):
        raise TaskError(f"{path}: is not a .blend file. Save it with Blender.")
    return data


def check_scene(environment: Path) -> None:
    """Check what a task starts with, without Blender. Raises TaskError."""
    recipe, blend = environment / "scene.json", environment / "scene.blend"
    if recipe.exists():
        read_recipe(recipe)
    if blend.exists():
        read_blend(blend)
    if not recipe.exists() and not blend.exists():
        raise TaskError(
            f"{environment}: has neither scene.json nor scene.blend. An empty scene is `{{}}` in scene.json."
        )


def build_scene(worker: BlenderWorker, environment: Path) -> None:
    """Bring a worker's empty scene to the start of a task: the .blend first, then the recipe's steps.

    Raises TaskError when Blender refuses it.
    """
    recipe, blend = environment / "scene.json", environment / "scene.blend"
    where = str(blend)
    try:
        if blend.exists():
            worker.call("open_blend", {}, read_blend(blend))
            worker.call("check_extent", {})
        if recipe.exists():
            read = read_recipe(recipe)
            width, height = read.resolution
            worker.call("set_resolution", {"width": width, "height": height})
            for number, step in enumerate(read.steps):
                where = f"{recipe}: steps.{number}"
                if step.mesh is not None:
                    worker.call("add_mesh", step.mesh.model_dump())
                elif step.tool is not None:
                    worker.call(step.tool, step.arguments)
    except Refused as error:
        raise TaskError(f"{where}: {error}") from None

"""Trajectories on disk: written as ATIF v1.8 with the images beside them, read back, and found again to be replayed.

<folder>/trajectory.json
<folder>/images/<step>-<n>.png      step 0 is the first observation
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from pydantic import ValidationError

from tradeschool import __version__
from tradeschool.atif import (
    AtifAgent,
    AtifFinalMetrics,
    AtifImage,
    AtifObservation,
    AtifPart,
    AtifResult,
    AtifStep,
    AtifToolCall,
    AtifTrajectory,
    Content,
)
from tradeschool.errors import TradeschoolError, UsageError
from tradeschool.plain import plain
from tradeschool.rewards import Part, Reward
from tradeschool.spaces import MAX_IMAGE_BYTES
from tradeschool.trajectory import StepRecord, Trajectory, as_call

FILE_NAME = "trajectory.json"
MAX_FILE_BYTES = 512 * 2**20


def image_paths(trajectory: Trajectory) -> list[list[str]]:
    """Where the images of the first observation and of each step lie, relative to the trajectory's folder."""
    counts = [len(trajectory.images), *(len(step.images) for step in trajectory.steps)]
    return [[f"images/{step:04d}-{n}.png" for n in range(count)] for step, count in enumerate(counts)]


def save_trajectory(trajectory: Trajectory, folder: Path) -> Path:
    """Write `trajectory.json` and its images into `folder` (made if need be); the file's path is returned."""
    folder.mkdir(parents=True, exist_ok=True)
    seen = [trajectory.images, *(step.images for step in trajectory.steps)]
    for images, paths in zip(seen, image_paths(trajectory), strict=True):
        for image, path in zip(images, paths, strict=True):
            (folder / path).parent.mkdir(exist_ok=True)
            Image.fromarray(image).save(folder / path, "PNG")
    file = folder / FILE_NAME
    # not exclude_none: that would drop nulls from the arguments of calls too
    file.write_text(to_atif(trajectory).model_dump_json(indent=1, exclude_defaults=True) + "\n", "utf-8")
    return file


def to_atif(trajectory: Trajectory) -> AtifTrajectory:
    """The trajectory as ATIF: the first observation is the user's message, every action a step of the agent."""
    paths = image_paths(trajectory)
    first = AtifStep(
        step_id=1,
        timestamp=trajectory.started or None,
        source="user",
        message=_content(trajectory.observation, paths[0]),
    )
    steps = [_to_step(number, step, paths[number]) for number, step in enumerate(trajectory.steps, 1)]
    ours = {
        "task": trajectory.task,
        "family": trajectory.family,
        "seed": trajectory.seed,
        "instruction": trajectory.instruction,
        "reward": trajectory.reward.to_dict() if trajectory.reward else None,
        "ended_by": trajectory.ended_by,
    }
    return AtifTrajectory(
        schema_version="ATIF-v1.8",
        agent=AtifAgent(
            name=trajectory.agent,
            version=__version__,
            tool_definitions=tuple(dict(tool) for tool in trajectory.tools) or None,
        ),
        steps=(first, *steps),
        final_metrics=AtifFinalMetrics(total_steps=1 + len(steps)),
        extra={"tradeschool": plain(ours)},
    )


def _to_step(number: int, step: StepRecord, paths: list[str]) -> AtifStep:
    calls = None
    call_id = None
    if step.call is not None:
        call_id = f"call_{number}"
        calls = (
            AtifToolCall(tool_call_id=call_id, function_name=step.call["name"], arguments=dict(step.call["arguments"])),
        )
    ours: dict[str, Any] = {
        "status": step.status,
        "reward": step.reward,
        "terminated": step.terminated,
        "truncated": step.truncated,
        "seconds": step.seconds,
        "agent_seconds": step.agent_seconds,
    }
    if step.call is None or step.action != step.call:
        ours["action"] = step.action
    return AtifStep(
        step_id=number + 1,
        source="agent",
        message=step.action if isinstance(step.action, str) else "",
        tool_calls=calls,
        observation=AtifObservation(
            results=(AtifResult(source_call_id=call_id, content=_content(step.observation, paths)),)
        ),
        extra={"tradeschool": ours},
    )


def _content(text: str, paths: list[str]) -> Content:
    if not paths:
        return text
    images = (AtifPart(type="image", source=AtifImage(media_type="image/png", path=path)) for path in paths)
    return (AtifPart(type="text", text=text), *images)


def load_trajectory(path: Path) -> Trajectory:
    """Read a trajectory.json, ours or another program's. Raises UsageError naming the file and the field.

    A step with several calls becomes several steps, all with that step's observation; what the file does not tell
    (rewards, times) keeps its default.
    """
    try:
        if path.stat().st_size > MAX_FILE_BYTES:
            raise UsageError(f"{path}: over {MAX_FILE_BYTES // 2**20} MiB. Is it a trajectory?")
        atif = AtifTrajectory.model_validate_json(path.read_bytes())
    except OSError as error:
        raise UsageError(f"{path}: cannot be read ({error.strerror}).") from error
    except ValidationError as error:
        fault = error.errors(include_url=False, include_input=False)[0]
        field = ".".join(str(part) for part in fault["loc"])
        raise UsageError(f"{path}: is not a trajectory in ATIF v1.8: {field or 'the file'}: {fault['msg']}.") from None
    ours = _ours(atif.extra)
    first = next((step for step in atif.steps if step.source != "agent"), None)
    text, images = _read_content(first.message if first else "", path)
    return Trajectory(
        task=str(ours.get("task", "")),
        family=str(ours.get("family", "")),
        agent=atif.agent.name,
        seed=int(ours.get("seed", 0)),
        instruction=str(ours.get("instruction", text)),
        observation=text,
        images=images,
        tools=atif.agent.tool_definitions or (),
        steps=tuple(record for step in atif.steps if step.source == "agent" for record in _from_step(step, path)),
        reward=_read_reward(ours.get("reward"), path),
        ended_by=str(ours.get("ended_by", "unknown")),
        started=(first.timestamp or "") if first else "",
    )


def _from_step(step: AtifStep, path: Path) -> list[StepRecord]:
    ours = _ours(step.extra)
    known = {
        name: ours[name]
        for name in ("status", "reward", "terminated", "truncated", "seconds", "agent_seconds")
        if name in ours
    }
    calls = [{"name": call.function_name, "arguments": call.arguments} for call in step.tool_calls or ()]
    results = step.observation.results if step.observation else ()
    text, images = _read_content(results[0].content if results else None, path)
    if not calls:
        return [StepRecord(ours.get("action", step.message), None, text, images, **known)]
    return [StepRecord(ours.get("action", call), call, text, images, **known) for call in calls]


def _ours(extra: Mapping[str, Any] | None) -> Mapping[str, Any]:
    found = (extra or {}).get("tradeschool", {})
    return found if isinstance(found, Mapping) else {}


def _read_content(content: Content | None, path: Path) -> tuple[str, tuple[np.ndarray, ...]]:
    if content is None or isinstance(content, str):
        return content or "", ()
    text = "\n".join(part.text for part in content if part.text is not None)
    return text, tuple(_read_image(path.parent, part.source.path) for part in content if part.source is not None)


def _read_image(folder: Path, name: str) -> np.ndarray:
    """The image, uint8 (H, W, 3). It must lie below `folder`: a recording is data from somewhere."""
    file = (folder / name).resolve()
    if not file.is_relative_to(folder.resolve()):
        raise UsageError(f"{folder / FILE_NAME}: the image {name!r} lies outside of the trajectory's folder.")
    try:
        with Image.open(file) as image:
            if image.width * image.height * 3 > MAX_IMAGE_BYTES:
                raise UsageError(f"{file}: {image.width} x {image.height} is too large for an observation.")
            return np.asarray(image.convert("RGB"), dtype=np.uint8)
    except (OSError, SyntaxError, Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise UsageError(f"{file}: is not an image that can be read ({error}).") from error


def _read_reward(data: Any, path: Path) -> Reward | None:
    if data is None:
        return None
    try:
        return Reward(**{**data, "parts": tuple(Part(**part) for part in data["parts"])})
    except (TypeError, KeyError, ValueError) as error:
        raise UsageError(f"{path}: the reward in it makes no sense ({error}).") from error


def read_actions(path: Path, error: type[TradeschoolError] = UsageError) -> tuple[Any, ...]:
    """The actions of a trajectory.json, or of a .jsonl file with one `{"name", "arguments"}` a line.

    Raises `error` naming the file and the line.
    """
    if path.suffix != ".jsonl":
        return load_trajectory(path).actions
    try:
        lines = path.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as problem:
        raise error(f"{path}: cannot be read ({problem}).") from problem
    actions = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            action = as_call(json.loads(line))
        except (ValueError, RecursionError) as problem:
            raise error(f"{path}:{number}: is not JSON ({problem}).") from None
        if action is None:
            raise error(f'{path}:{number}: is not an action. Write one {{"name": ..., "arguments": {{...}}}} a line.')
        actions.append(action)
    if not actions:
        raise error(f"{path}: holds no action.")
    return tuple(actions)


def find_recording(path: Path, task_name: str, attempt: int) -> Path:
    """The file to replay for a task: `path` itself, or in a run's folder that task's (else its first attempt's).

    Raises UsageError when there is none.
    """
    if path.is_file():
        return path
    if not path.is_dir():
        raise UsageError(
            f"there is no recording {str(path)!r}. Give a trajectory.json, an actions.jsonl or a run's folder."
        )
    for number in (attempt, 1):
        found = path / "episodes" / f"{task_name}__{number}" / FILE_NAME
        if found.is_file():
            return found
    raise UsageError(f"{path} has no episode of task {task_name!r} (looked for episodes/{task_name}__*/{FILE_NAME}).")

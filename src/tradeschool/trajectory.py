"""What happened in one episode, step by step, as it was seen by the agent.

`tradeschool.recordings` writes it to disk and reads it back; `to_messages` makes it a conversation to train on.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tradeschool.rewards import Reward


@dataclass(frozen=True)
class StepRecord:
    """One action and what it led to.

    `action` is what the agent sent, as plain JSON data. `call` is the tool call it was understood as
    (`{"name", "arguments"}`), or None where it was malformed. Images are uint8 arrays (H, W, 3). `seconds` is the
    environment's time for the step, `agent_seconds` the agent's before it.
    """

    action: Any
    call: Mapping[str, Any] | None
    observation: str
    images: tuple[np.ndarray, ...] = ()
    status: str = "ok"
    reward: float = 0.0
    terminated: bool = False
    truncated: bool = False
    seconds: float = 0.0
    agent_seconds: float = 0.0


@dataclass(frozen=True)
class Trajectory:
    """One episode: who played what, what was seen first, the steps, and the verdict.

    `reward` is None when the episode had no verdict; `ended_by` is then `error`.
    """

    task: str
    family: str
    agent: str
    seed: int
    instruction: str
    observation: str
    images: tuple[np.ndarray, ...] = ()
    tools: tuple[Mapping[str, Any], ...] = ()
    steps: tuple[StepRecord, ...] = ()
    reward: Reward | None = None
    ended_by: str = "error"
    started: str = ""

    @property
    def actions(self) -> tuple[Any, ...]:
        """What to send to play the episode again: the calls, and malformed actions as they were."""
        return tuple(step.action if step.call is None else step.call for step in self.steps)


def as_call(action: Any) -> dict[str, Any] | None:
    """The action as `{"name": str, "arguments": dict}`, or None where it has not that shape."""
    if not isinstance(action, Mapping) or not isinstance(action.get("name"), str):
        return None
    arguments = action.get("arguments", {})
    if not isinstance(arguments, Mapping) or set(action) - {"name", "arguments"}:
        return None
    return {"name": action["name"], "arguments": dict(arguments)}


def to_messages(trajectory: Trajectory, image_paths: Sequence[Sequence[str]] | None = None) -> dict[str, Any]:
    """The episode as a chat for supervised fine-tuning: `{"messages": [...], "tools": [...]}`.

    Arguments are objects, as the chat templates of `transformers` want them. A malformed action is the assistant's
    text, answered by the user. `image_paths` has a list of paths for the first observation and one for each step (as
    `tradeschool.recordings.image_paths` gives them); without it, images are left out.
    """
    paths = image_paths or [()] * (len(trajectory.steps) + 1)
    messages: list[dict[str, Any]] = [{"role": "user", "content": _content(trajectory.observation, paths[0])}]
    for number, step in enumerate(trajectory.steps, 1):
        said = step.action if isinstance(step.action, str) else ""
        seen = _content(step.observation, paths[number])
        if step.call is None:
            messages.append({"role": "assistant", "content": said or json.dumps(step.action, ensure_ascii=False)})
            messages.append({"role": "user", "content": seen})
            continue
        call_id = f"call_{number}"
        call = {"id": call_id, "type": "function", "function": dict(step.call)}
        messages.append({"role": "assistant", "content": "", "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": call_id, "name": step.call["name"], "content": seen})
    return {"messages": messages, "tools": [dict(tool) for tool in trajectory.tools]}


def _content(text: str, paths: Sequence[str]) -> str | list[dict[str, Any]]:
    if not paths:
        return text
    return [{"type": "text", "text": text}, *({"type": "image", "path": path} for path in paths)]

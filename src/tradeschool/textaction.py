"""An environment that takes a model's raw text as its action."""

from __future__ import annotations

from typing import Any

import gymnasium as gym

from tradeschool.spaces import UnicodeText
from tradeschool.tools import Malformed, MalformedCall, Tool, parse_text


class TextAction(
    gym.Wrapper[dict[str, Any], str, dict[str, Any], dict[str, Any]],
    gym.utils.RecordConstructorArgs,
):
    """The wrapped environment with `UnicodeText` actions: one JSON object `{"name", "arguments"}`, alone or between
    `<tool_call>` tags or code fences.

    A text that is no call of a known tool counts as a step, and the observation says what was wrong with it. After a
    step with a well-formed call, `info["call"]` is that call.
    """

    def __init__(self, env: gym.Env[dict[str, Any], dict[str, Any]]) -> None:
        gym.utils.RecordConstructorArgs.__init__(self)
        gym.Wrapper.__init__(self, env)
        self.action_space = UnicodeText()
        self.tools: tuple[Tool, ...] = tuple(env.get_wrapper_attr("tools"))

    def step(self, action: str) -> tuple[dict[str, Any], Any, bool, bool, dict[str, Any]]:
        """One step with a text. Nothing is raised for a bad one."""
        call = self._parse(action)
        observation, reward, terminated, truncated, info = self.env.step(call)
        if not isinstance(call, Malformed):
            info["call"] = call
        return observation, reward, terminated, truncated, info

    def _parse(self, text: Any) -> Any:
        if not isinstance(text, str):
            return Malformed(repr(type(text)), f"An action here is text, not a {type(text).__name__}.")
        try:
            call = parse_text(text, self.tools)
        except MalformedCall as error:
            return Malformed(text, str(error))
        return {"name": call.name, "arguments": dict(call.arguments)}

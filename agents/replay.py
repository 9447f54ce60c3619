"""The agent that plays a recorded episode again, action by action."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

from tradeschool.errors import AgentError, UsageError
from tradeschool.recordings import read_actions

from .base import Agent, AgentContext


class ReplayAgent(Agent):
    """Plays given actions in order, whatever comes back. Raises AgentError when they run out before the end."""

    def __init__(self, actions: Sequence[Any], source: str = "the recording") -> None:
        self.actions = tuple(actions)
        self.source = source
        self.position = 0

    @classmethod
    def create(cls, context: AgentContext) -> Self:
        if context.recording is None:
            raise UsageError("the replay agent needs a recording. Give --replay FILE or --replay RUN_FOLDER.")
        return cls(read_actions(context.recording), str(context.recording))

    def reset(self, instruction: str, tools: Sequence[Mapping[str, Any]]) -> None:
        self.position = 0

    def act(self, observation: Mapping[str, Any], info: Mapping[str, Any]) -> Any:
        if self.position == len(self.actions):
            raise AgentError(
                f"{self.source} has only {len(self.actions)} actions, and the episode goes on.", kind="recording_ended"
            )
        self.position += 1
        return self.actions[self.position - 1]

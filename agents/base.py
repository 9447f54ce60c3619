"""The agent contract: what plays an episode. Oracle, no-op, random, replay and model agents are alike to the runner.

class MyAgent(Agent):
    def act(self, observation, info):
        return {"name": "submit", "arguments": {}}

tradeschool run --agent my_module:MyAgent
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

from tradeschool.episode import AgentContext
from tradeschool.task import Task

__all__ = ["Agent", "AgentContext"]


class Agent(ABC):
    """Made anew for each episode by `create`, then `reset` once, then `act` until the episode ends."""

    privileged: ClassVar[bool] = False
    """Whether it is given `AgentContext.task`, with the solution. The scores of such an agent say nothing of skill."""

    @classmethod
    def create(cls, context: AgentContext) -> Self:
        """A new agent. Override to use the seed or the action space."""
        return cls()

    @classmethod
    def check_task(cls, task: Task) -> None:
        """For privileged agents, before a run starts: raise TaskError where this task cannot be played."""
        return None

    def reset(self, instruction: str, tools: Sequence[Mapping[str, Any]]) -> None:
        """The episode begins. `tools` are function-calling schemas."""
        return None

    @abstractmethod
    def act(self, observation: Mapping[str, Any], info: Mapping[str, Any]) -> Any:
        """The next action, `{"name": str, "arguments": dict}`.

        `observation` is `{"text": str, "images": tuple of uint8 (H, W, 3)}`; `info` says the limits left and, after
        the first step, the `status` of the last call. Whatever is raised ends the episode as the agent's fault.
        """

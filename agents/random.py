"""The agent that presses any button."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any, Self

import gymnasium as gym

from .base import Agent, AgentContext


class RandomAgent(Agent):
    """Samples the action space from its own seed until the episode ends, by a submit or at the step limit."""

    def __init__(self, space: gym.Space[Any], seed: int) -> None:
        # a copy: seeding the environment's own space would change what others draw from it
        self.space = copy.deepcopy(space)
        self.space.seed(seed)

    @classmethod
    def create(cls, context: AgentContext) -> Self:
        return cls(context.action_space, context.seed)

    def act(self, observation: Mapping[str, Any], info: Mapping[str, Any]) -> Any:
        return self.space.sample()

"""The agent that does nothing: a task must give it 0."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .base import Agent


class NoopAgent(Agent):
    """Submits at once, with nothing done and nothing to say."""

    def act(self, observation: Mapping[str, Any], info: Mapping[str, Any]) -> Any:
        return {"name": "submit", "arguments": {}}

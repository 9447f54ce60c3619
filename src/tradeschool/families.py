"""The trades, and where their environments are found. Strings only: the core imports no environment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True)
class Family:
    """One trade: its Gymnasium id and the `module:Class` of its environment."""

    name: str
    env_id: str
    entry_point: str


FAMILIES: Mapping[str, Family] = MappingProxyType(
    {
        "terminal": Family("terminal", "tradeschool/Terminal-v0", "tradeschool.envs.terminal.env:TerminalEnv"),
        "blender": Family("blender", "tradeschool/Blender-v0", "tradeschool.envs.blender.env:BlenderEnv"),
        "docqa": Family("docqa", "tradeschool/DocQA-v0", "tradeschool.envs.docqa.env:DocQAEnv"),
    }
)

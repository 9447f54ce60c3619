"""Agents by name: a lazy table for ours, `MODULE:CLASS` for anyone's."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from tradeschool.episode import agent_at_fault
from tradeschool.errors import UsageError, did_you_mean

AGENTS: Mapping[str, str] = MappingProxyType(
    {
        "oracle": "tradeschool.agents.oracle:OracleAgent",
        "noop": "tradeschool.agents.noop:NoopAgent",
        "random": "tradeschool.agents.random:RandomAgent",
        "replay": "tradeschool.agents.replay:ReplayAgent",
    }
)


def agent_class(name: str) -> type[Any]:
    """The class of an agent: one of `AGENTS`, or `MODULE:CLASS` from the Python path or the current folder.

    Raises UsageError naming what is missing, with a suggestion; AgentError when the module fails as it is imported.
    """
    if ":" not in name:
        if name not in AGENTS:
            raise UsageError(f"there is no agent {name!r}.{did_you_mean(name, AGENTS)} For your own: MODULE:CLASS.")
        name = AGENTS[name]
    elif os.getcwd() not in sys.path:
        # the installed command's path lacks the current folder, which `python -m` would have first
        sys.path.insert(0, os.getcwd())
    module_name, _, cls_name = name.partition(":")
    module = _import(module_name)
    found = getattr(module, cls_name, None)
    if not isinstance(found, type):
        classes = [key for key, value in vars(module).items() if isinstance(value, type) and hasattr(value, "act")]
        raise UsageError(f"module {module_name!r} has no class {cls_name!r}.{did_you_mean(cls_name, classes)}")
    missing = [verb for verb in ("create", "reset", "act") if not callable(getattr(found, verb, None))]
    if missing:
        raise UsageError(f"{name} is no agent: it has no {missing[0]}(). Derive it from tradeschool.agents.base:Agent.")
    return found


def _import(name: str) -> Any:
    if name.endswith(".py") or not all(part.isidentifier() for part in name.split(".")):
        raise UsageError(
            f"{name!r} is no module's name. Write --agent MODULE:CLASS, for my_agents.py: my_agents:Greedy."
        )
    with agent_at_fault():
        try:
            return importlib.import_module(name)
        except ModuleNotFoundError as error:
            raise UsageError(_explain(name, error.name or "")) from error


def _explain(name: str, missing: str) -> str:
    if missing and (name == missing or name.startswith(f"{missing}.")):
        return f"there is no module {missing!r} on the Python path or in the current folder ({os.getcwd()})."
    return f"module {name!r} needs {missing!r}, which is not installed here. Install it: pip install {missing}"

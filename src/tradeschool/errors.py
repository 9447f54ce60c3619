"""Who failed, and what the runner does about it.

    TradeschoolError
    ├── UsageError      the caller: a wrong argument, an unknown pack, a missing extra
    ├── TaskError       the pack's author: a broken task.toml, a document that does not open
    ├── SandboxError    the infrastructure: no engine, a dead worker, a full disk
    ├── VerifierError   the grader: it did not start, or left no readable verdict
    └── AgentError      the policy or its endpoint: an exception, an unreachable model

A failed *episode* (a wrong answer, a time-out, a malformed call) is data and raises nothing. Every message is one
line that names what is wrong, where, and the remedy.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar


class TradeschoolError(Exception):
    """Base of all errors of the suite. `kind` is a short stable word for machines."""

    at_fault: ClassVar[str] = "unknown"

    def __init__(self, message: str, *, kind: str = "") -> None:
        super().__init__(" ".join(message.split()))
        self.kind = kind or type(self).__name__


class UsageError(TradeschoolError):
    """The caller asked for something that does not exist or does not fit."""

    at_fault = "caller"


class TaskError(TradeschoolError):
    """A task or pack is broken; only its author can mend it."""

    at_fault = "task author"


class SandboxError(TradeschoolError):
    """The infrastructure failed: engine, namespace, worker process, disk."""

    at_fault = "infrastructure"


class VerifierError(TradeschoolError):
    """The grader failed to start or to give a verdict."""

    at_fault = "grader"


class AgentError(TradeschoolError):
    """The agent's own code or its model endpoint failed."""

    at_fault = "agent"


@dataclass(frozen=True)
class Policy:
    """What the runner does with an episode that ended in an error.

    `retry`: play it again from the start. `grade`: score the state that was left behind.
    `reward_valid`: the reward may enter statistics and gradients.
    """

    retry: bool
    grade: bool
    reward_valid: bool


POLICY: Mapping[type[TradeschoolError], Policy] = MappingProxyType(
    {
        UsageError: Policy(retry=False, grade=False, reward_valid=False),
        TaskError: Policy(retry=False, grade=False, reward_valid=False),
        SandboxError: Policy(retry=True, grade=False, reward_valid=False),
        VerifierError: Policy(retry=True, grade=False, reward_valid=False),
        AgentError: Policy(retry=True, grade=False, reward_valid=False),
    }
)


def policy_for(error: TradeschoolError) -> Policy:
    """The row of the one policy table that applies to `error`."""
    return next(POLICY[cls] for cls in type(error).__mro__ if cls in POLICY)


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """` Did you mean 'x'?` for the closest known word, else the list of known words."""
    names = sorted(known)
    close = difflib.get_close_matches(word, names, n=1, cutoff=0.6)
    if close:
        return f" Did you mean {close[0]!r}?"
    return f" Known: {', '.join(names)}." if names else ""

"""One line, who is at fault, and the one table."""

from __future__ import annotations

import pytest

from tradeschool.errors import (
    POLICY,
    AgentError,
    SandboxError,
    TaskError,
    TradeschoolError,
    UsageError,
    VerifierError,
    did_you_mean,
    policy_for,
)


@pytest.mark.parametrize("cls", [UsageError, TaskError, SandboxError, VerifierError, AgentError])
def test_an_error_is_one_line_and_has_a_policy(cls: type[TradeschoolError]) -> None:
    error = cls("two\nlines   of text")
    assert str(error) == "two lines of text"
    assert cls.at_fault != "unknown"
    assert policy_for(error) is POLICY[cls]
    assert not POLICY[cls].reward_valid  # nothing that failed may be learned from


def test_a_subclass_has_its_parents_policy() -> None:
    class Fuller(SandboxError):
        pass

    assert policy_for(Fuller("x")) is POLICY[SandboxError]


def test_did_you_mean() -> None:
    assert did_you_mean("startr", ["starter", "other"]) == " Did you mean 'starter'?"
    assert did_you_mean("zzz", ["b", "a"]) == " Known: a, b."
    assert did_you_mean("x", []) == ""

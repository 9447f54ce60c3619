"""Rewards: a mean of parts, gates, and no number where there is no verdict."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tradeschool.rewards import Part, Reward

SHARES = st.floats(0, 1)


def test_weighted_mean() -> None:
    assert Reward.from_parts([Part("a", 1.0, 3.0), Part("b", 0.0, 1.0), Part("note", 99.0)]).value == 0.75


def test_a_failed_gate_is_zero_whatever_else_passed() -> None:
    assert Reward.from_parts([Part("a", 1.0, 3.0), Part("g", 0.99, gate=True)]).value == 0.0
    assert Reward.from_parts([Part("g", 1.0, gate=True)]).value == 1.0


def test_nothing_to_decide_by_is_an_error() -> None:
    with pytest.raises(ValueError, match="at least one part"):
        Reward.from_parts([Part("note", 1.0)])


@pytest.mark.parametrize("value", [math.nan, math.inf, -0.1, 1.1])
def test_a_weighted_part_lies_in_the_unit_interval(value: float) -> None:
    with pytest.raises(ValueError, match="part 'a'"):
        Part("a", value, weight=1.0)


def test_an_invalid_reward_is_none_and_not_zero() -> None:
    assert Reward.invalid().value is None
    assert not Reward.invalid().valid
    with pytest.raises(ValueError, match="exactly when"):
        Reward(0.0, valid=False)
    with pytest.raises(ValueError, match="exactly when"):
        Reward(None)


def test_parts_added_later_carry_no_weight() -> None:
    reward = Reward.from_parts([Part("a", 1.0, 1.0)])
    assert reward.with_parts([Part("note", 7.0)]).value == 1.0
    with pytest.raises(ValueError, match="reported only"):
        reward.with_parts([Part("b", 0.0, weight=1.0)])


@given(st.lists(st.tuples(SHARES, st.floats(0.001, 1000)), min_size=1, max_size=20))
def test_the_mean_lies_between_its_parts(pairs: list[tuple[float, float]]) -> None:
    value = Reward.from_parts([Part(str(n), share, weight) for n, (share, weight) in enumerate(pairs)]).value
    assert value is not None
    shares = [share for share, _ in pairs]
    assert min(shares) - 1e-12 <= value <= max(shares) + 1e-12


@given(st.lists(st.floats(0.001, 1000), min_size=1, max_size=20))
def test_all_right_is_exactly_one_and_all_wrong_exactly_zero(weights: list[float]) -> None:
    for share in (0.0, 1.0):
        assert Reward.from_parts([Part(str(n), share, weight) for n, weight in enumerate(weights)]).value == share

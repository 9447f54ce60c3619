"""The calculator is exact, bounded, and evaluates nothing but arithmetic."""

from __future__ import annotations

import contextlib
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tradeschool.verify.arithmetic import MAX_BITS, ArithmeticFault, evaluate


@pytest.mark.parametrize(
    ("expression", "text"),
    [("0.1 + 0.2", "0.3"), ("1,577 - 1,373", "204"), ("-2**2", "-4"), ("2**-2", "0.25"), ("10% * 250", "25"),
     ("round(2.345, 2)", "2.35"), ("round(-2.5)", "-3"), ("round(1250, -2)", "1300"), ("percent(1, 8)", "12.5"),
     ("avg(1, 2)", "1.5"), ("max(1, -2) - min(1, -2)", "3"), ("sum(1577, 3)", "1580"), ("abs(-5)", "5"),
     ("2^3^2", "512"), ("(1 + 2) * 3", "9"), ("6 \u00f7 4 \u2212 1", "0.5")],
)  # fmt: skip
def test_exact(expression: str, text: str) -> None:
    assert evaluate(expression).text() == text


@pytest.mark.parametrize(
    "expression",
    ["", "1 +", "(1", "1)", "1/0", "0**-1", "9**9**9", "2**4000", "__import__('os')", "a", "1; 2", "(-1)**0.5", "1 2",
     "sum()", "sum(1,577, 3)", "round(1, 0.5)", "round(1, 99)", "percent(1)", "percent(1, 0)", "[1]", "1e5", "5 // 2",
     "(" * 500 + "1", "-" * 500 + "1", "9" * 2000, "lambda: 1", "1.5.2",
     "10**100*10**100*" * 20 + "1", "abs", "\u0665"],
)  # fmt: skip
def test_refused_with_a_reason(expression: str) -> None:
    with pytest.raises(ArithmeticFault):
        evaluate(expression)


@pytest.mark.parametrize(
    "expression",
    ["((10**-150)**99.5)**30.5", "((10**150)**99.5)**150.5", "((10**150)**8.5)**0.5", "((10**-150)**8.5)**-0.5",
     "((((10**-150)**8.1)**199.9)**199.9)**199.9", "(10**1200)**199.5", "(10**-1200)**199.5", "1%**(199.5)**1",
     "((1/3)**199.5)**199.5"],
)  # fmt: skip
def test_roots_are_bounded_like_all_else(expression: str) -> None:
    with contextlib.suppress(ArithmeticFault):
        value = evaluate(expression).value
        assert max(value.numerator.bit_length(), value.denominator.bit_length()) <= MAX_BITS
    # a root of what is in bounds is worked out
    assert evaluate("(10**100)**0.5").value == 10**50
    assert evaluate("0**0.5").value == 0


@given(st.lists(st.sampled_from(["10**150", "10**-150", "7**-99", "99.5", "150.5", "0.1", "-0.5", "1/3"]), max_size=5))
def test_towers_of_roots_end_soon_and_raise_nothing_else(parts: list[str]) -> None:
    expression = "2"
    for part in parts:
        expression = f"({expression})**({part})"
    with contextlib.suppress(ArithmeticFault):
        evaluate(expression).text()
    for part in parts:
        with contextlib.suppress(ArithmeticFault):
            evaluate(f"(10**150)**99.5**({part})").text()


def test_a_rounded_result_says_so() -> None:
    assert "rounded" in evaluate("1/3").text()
    assert evaluate("(1250/980)**(1/3) - 1").text().startswith("0.08449606")


@given(st.integers(-999, 999), st.integers(-999, 999), st.integers(1, 999))
def test_agrees_with_fractions(a: int, b: int, c: int) -> None:
    assert evaluate(f"({a}) * ({b}) + {a} / {c} - ({b})").value == a * b + Fraction(a, c) - b


@given(st.text(alphabet="0123456789+-*/%^().,absumx ", max_size=60))
def test_raises_nothing_else(expression: str) -> None:
    with contextlib.suppress(ArithmeticFault):
        evaluate(expression)

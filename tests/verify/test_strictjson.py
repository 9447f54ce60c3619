"""Traps of JSON that Python's parser lets through."""

from __future__ import annotations

import contextlib
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tradeschool.verify.strictjson import MAX_DEPTH, BadJson, loads, plain


@pytest.mark.parametrize(
    "text",
    ["NaN", "[Infinity]", '{"x": -Infinity}', "1e400", '{"x": 1, "x": 1}', "[" * 100_000, "9" * 5000, "1e-5000",
     '"' + "a" * 20_000 + '"', "", "{", "1" + "0" * 300_000, '{"a": [' + "1," * 30_000 + "1]}", "1.5" * 100],
)  # fmt: skip
def test_refused(text: str) -> None:
    with pytest.raises(BadJson):
        loads(text)


def test_numbers_stay_exact() -> None:
    assert loads("0.07") == Decimal("0.07")
    assert plain(0.1) == Decimal("0.1")
    assert loads("0e999") == 0


@pytest.mark.parametrize(
    "value", [float("nan"), float("inf"), Decimal("NaN"), {1: 2}, {"x": object()}, b"x", 10**80, 1j]
)
def test_python_data_that_is_no_json_is_refused(value: Any) -> None:
    with pytest.raises(BadJson):
        plain(value)


def test_a_list_that_holds_itself_ends() -> None:
    loop: list[Any] = []
    loop.append(loop)
    with pytest.raises(BadJson, match=str(MAX_DEPTH)):
        plain(loop)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
)


@given(JSON)
def test_plain_data_is_kept(value: Any) -> None:
    assert plain(value) == value


@given(st.text(max_size=200))
def test_loads_raises_nothing_else(text: str) -> None:
    with contextlib.suppress(BadJson):
        loads(text)

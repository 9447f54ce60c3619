import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tradeschool.conduct import Conduct
from tradeschool.plain import plain

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**60), 2**60)
    | st.floats(allow_nan=False, allow_infinity=False)
    # the JSON of a lone surrogate is not UTF-8
    | st.text(st.characters(exclude_categories=("Cs",))),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(st.characters(exclude_categories=("Cs",))), inner)
    ),
    max_leaves=10,
)


@given(JSON)
def test_json_data_is_kept(value):
    assert plain(value) == value


def _cycle():
    made = []
    made.append(made)
    return made


def _deep():
    made = []
    for _ in range(100_000):
        made = [made]
    return made


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("a\ud800b", "a?b"),
        ([float("nan"), float("inf")], ["NaN", "Infinity"]),
        ((np.int64(3), np.float32(0.5)), [3, 0.5]),
        (object(), "<object>"),
        ({(1, 2): 3}, "<dict>"),
        (_cycle(), "<list>"),
        (b"bytes", "<bytes>"),
        ({1: None}, {"1": None}),
    ],
)
def test_what_is_no_json_is_named(value, expected):
    assert plain(value) == expected


@pytest.mark.parametrize("action", [{1: 2, "a": 3}, {(1, 2): 3}, _cycle(), _deep(), float("nan"), object(), "\ud800"])
def test_conduct_counts_any_action_at_all(action):
    conduct = Conduct(5)
    conduct.record(action, "malformed")
    conduct.record(action, "malformed")
    assert conduct.repeated_failures == 1
    json.dumps(plain(action))

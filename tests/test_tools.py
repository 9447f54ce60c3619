"""Actions: what is a call, and what an agent is told when it is none."""

from __future__ import annotations

import contextlib
import json
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tradeschool.tools import MalformedCall, Tool, parse_call, parse_text

TOOLS = (
    Tool(
        "shell",
        "Run.",
        {
            "type": "object",
            "properties": {"command": {"type": "string"}, "timeout_s": {"type": "number", "exclusiveMinimum": 0}},
            "required": ["command"],
        },
    ),
    Tool("submit", "End.", {"type": "object"}),
    Tool(
        "page",
        "Read.",
        {
            "type": "object",
            "properties": {
                "number": {"type": "integer", "minimum": 1},
                "sheet": {"type": ["string", "integer"]},
                "size": {"type": "number", "minimum": 0},
                "lists": {"type": "array", "items": {"type": "array", "items": {"type": "integer"}}},
                "pair": {"type": "array", "prefixItems": [{"type": "number"}, {"type": "integer"}]},
                "inner": {"type": "object", "properties": {"n": {"type": "integer"}}},
                "counts": {"type": "object", "additionalProperties": {"type": "integer"}},
                "choice": {"oneOf": [{"type": "string"}, {"type": "object", "properties": {"n": {"type": "integer"}}}]},
                "any": {},
            },
        },
    ),
)
WHOLE: dict[str, Any] = {
    # as sent: as the call should hold it
    "number": (3.0, 3),
    "sheet": (2.0, 2),
    "size": (3.0, 3.0),
    "lists": ([[1.0, 2], [3.0]], [[1, 2], [3]]),
    "pair": ([1.0, 2.0, 3.0], [1.0, 2, 3.0]),
    "inner": ({"n": 1.0, "m": 1.0}, {"n": 1, "m": 1.0}),
    "counts": ({"a": 5.0}, {"a": 5}),
    "choice": ({"n": 4.0}, {"n": 4}),
    "any": ([1.0], [1.0]),
}


HUGE = 10**5000
ODD = (HUGE, Decimal("sNaN"), Fraction(1, 3), 1j, np.arange(3), np.float32(1), b"x", {1, 2}, object())
"""Python's own values that no JSON text gives: they come from an agent written in Python."""

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.sampled_from(range(len(ODD))).map(ODD.__getitem__),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


def test_a_call() -> None:
    call = parse_call({"name": "shell", "arguments": {"command": "ls", "timeout_s": 3}}, TOOLS)
    assert (call.name, call.arguments) == ("shell", {"command": "ls", "timeout_s": 3})
    assert parse_call({"name": "submit"}, TOOLS).arguments == {}


@pytest.mark.parametrize(
    ("action", "said"),
    [
        ("ls", "not a string"),
        (None, "not null"),
        ([], "not a list"),
        ({}, "'name' must be"),
        ({"name": 3}, "not a number"),
        ({"name": "shel"}, "Did you mean 'shell'?"),
        ({"name": "shell", "arguments": "ls"}, "must be an object"),
        ({"name": "shell", "arguments": {}}, "'command' is a required"),
        ({"name": "shell", "arguments": {"command": 3}}, "argument 'command': 3 is not of type 'string'"),
        ({"name": "shell", "arguments": {"command": "x", "timeout_s": True}}, "True is not of type 'number'"),
        ({"name": "shell", "arguments": {"command": "x", "timeout_s": 0}}, "timeout_s"),
        ({"name": "shell", "arguments": {"comand": "x", "command": "y"}}, "Did you mean 'command'?"),
        ({"name": "submit", "arguments": {}, "id": 1}, "not 'id'"),
        ({"name": "submit", "arguments": {"answer": 1}}, "no argument 'answer'"),
    ],
)
def test_what_is_no_call_is_explained(action: Any, said: str) -> None:
    with pytest.raises(MalformedCall) as caught:
        parse_call(action, TOOLS)
    assert said in str(caught.value)


def test_what_is_only_thought_of_is_not_done() -> None:
    text = '<think>perhaps <tool_call>{"name": "submit"}</tool_call>?</think>'
    call = '<tool_call>{"name": "shell", "arguments": {"command": "ls"}}</tool_call>'
    assert parse_text(f"{text} No: {call}", TOOLS).name == "shell"
    with pytest.raises(MalformedCall, match="in <tool_call> tags"):
        parse_text(f"{text} no", TOOLS)
    with pytest.raises(MalformedCall):
        parse_text('<think> it goes on {"name": "submit"}', TOOLS)


@pytest.mark.parametrize(
    "text",
    [
        '{"name": "submit", "arguments": {}}',
        'I am done.\n<tool_call>{"name": "submit"}</tool_call>',
        '```json\n{"name": "submit"}\n```',
        '```\n{"name": "submit"}\n```',
    ],
)
def test_a_call_in_text(text: str) -> None:
    assert parse_text(text, TOOLS).name == "submit"


@pytest.mark.parametrize(
    "text",
    ["", "submit", '{"name": "submit"', '{"name": "submit", "name": "shell"}', '{"name": NaN}', "[" * 100_000],
)
def test_text_that_is_no_json_is_explained(text: str) -> None:
    with pytest.raises(MalformedCall, match="not valid JSON"):
        parse_text(text, TOOLS)


ARGUMENTS = st.dictionaries(st.sampled_from(["command", "timeout_s", *WHOLE]) | st.text() | st.integers(), JSON)


@given(JSON, ARGUMENTS)
def test_no_action_raises_anything_else(action: Any, arguments: dict[Any, Any]) -> None:
    tries = [action, {"name": action}, {"name": "submit", HUGE: action}]
    tries += [{"name": tool.name, "arguments": given} for tool in TOOLS for given in (action, arguments)]
    for tried in tries:
        with contextlib.suppress(MalformedCall):
            assert parse_call(tried, TOOLS).name in ("shell", "submit", "page")


@pytest.mark.parametrize("value", ODD, ids=[type(value).__name__ for value in ODD])
@pytest.mark.parametrize("name", [*WHOLE, "stray"])
def test_values_of_no_json_are_at_most_malformed(name: str, value: Any) -> None:
    with contextlib.suppress(MalformedCall):
        parse_call({"name": "page", "arguments": {name: value}}, TOOLS)


def test_a_number_too_long_to_print_is_malformed_wherever_it_stands() -> None:
    for action in (
        {"name": "shell", "arguments": {"command": HUGE}},
        {"name": "shell", "arguments": {HUGE: 1}},
        {"name": "submit", HUGE: 1},
        {"name": HUGE},
        {"name": "page", "arguments": {"lists": [[HUGE, "x"]]}},
    ):
        with pytest.raises(MalformedCall):
            parse_call(action, TOOLS)


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
def test_what_is_no_number_to_json_is_none_here(number: float) -> None:
    for name in ("size", "number"):
        with pytest.raises(MalformedCall, match="is not of type"):
            parse_call({"name": "page", "arguments": {name: number}}, TOOLS)


@pytest.mark.parametrize("name", WHOLE)
def test_whole_numbers_become_ints_where_the_schema_says_integer(name: str) -> None:
    sent, wanted = WHOLE[name]
    before = repr(sent)
    made = parse_call({"name": "page", "arguments": {name: sent}}, TOOLS).arguments[name]
    # repr tells 3 from 3.0
    assert repr(made) == repr(wanted)
    assert repr(sent) == before
    text = json.dumps({"name": "page", "arguments": {name: sent}})
    assert repr(parse_text(text, TOOLS).arguments[name]) == repr(wanted)


def test_halves_are_no_integers() -> None:
    with pytest.raises(MalformedCall, match="'number'"):
        parse_call({"name": "page", "arguments": {"number": 3.5}}, TOOLS)


def test_a_message_is_short_whatever_was_sent() -> None:
    for arguments in ({"x" * 100_000: 1}, {"command": ["y" * 100_000]}, {"inner": {"z" * 100_000: "a"}}):
        with pytest.raises(MalformedCall) as caught:
            parse_call({"name": "shell", "arguments": arguments}, TOOLS)
        assert len(str(caught.value)) < 500


def test_the_function_schema_is_closed() -> None:
    function = TOOLS[0].to_function()["function"]
    assert function["name"] == "shell"
    assert function["parameters"]["additionalProperties"] is False

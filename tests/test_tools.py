"""Actions: what is a call, and what an agent is told when it is none."""

from __future__ import annotations

import contextlib
from typing import Any

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
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
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


@given(JSON)
def test_no_action_raises_anything_else(action: Any) -> None:
    for tried in (action, {"name": "shell", "arguments": action}, {"name": action}):
        with contextlib.suppress(MalformedCall):
            assert parse_call(tried, TOOLS).name in ("shell", "submit")


def test_the_function_schema_is_closed() -> None:
    function = TOOLS[0].to_function()["function"]
    assert function["name"] == "shell"
    assert function["parameters"]["additionalProperties"] is False

"""Tools an agent may call, the calls it makes and what comes back.

An action is `{"name": str, "arguments": dict}`. Anything else is *malformed*: the agent is told what was wrong, and
nothing is raised.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import Any, Literal, Self, cast

import jsonschema
import numpy as np
from jsonschema.exceptions import best_match
from jsonschema.protocols import Validator
from jsonschema.validators import extend

from tradeschool.errors import did_you_mean

Status = Literal["ok", "failed", "illegal", "malformed"]
"""ok: done. failed: a legal call whose work did not succeed. illegal: well-formed, but refused in this state.
malformed: not a call of a known tool with arguments of the right types."""


def _is_number(_checker: Any, value: Any) -> bool:
    # NaN and Infinity are no JSON, and pass every minimum and maximum
    if isinstance(value, bool):
        return False
    return isinstance(value, int) or (isinstance(value, (float, np.floating, np.integer)) and bool(np.isfinite(value)))


_Validator = extend(
    jsonschema.Draft202012Validator,
    type_checker=jsonschema.Draft202012Validator.TYPE_CHECKER.redefine("number", _is_number),
)


@dataclass(frozen=True)
class Tool:
    """A tool's name, its description for a model, and the JSON Schema of its arguments (an object schema)."""

    name: str
    description: str
    parameters: Mapping[str, Any] = field(default_factory=lambda: {"type": "object", "properties": {}})

    @cached_property
    def validator(self) -> Validator:
        """Draft 2020-12 validator of the arguments; unknown arguments are refused."""
        return _Validator({"additionalProperties": False, **self.parameters})

    def __reduce__(self) -> tuple[type[Tool], tuple[Any, ...]]:
        # without the cached validator, which does not pickle
        return Tool, (self.name, self.description, self.parameters)

    def to_function(self) -> dict[str, Any]:
        """The function-calling schema that chat APIs take."""
        return {
            "type": "function",
            "function": {
                "name": self.name,
                "description": self.description,
                "parameters": {"additionalProperties": False, **self.parameters},
            },
        }


@dataclass(frozen=True)
class ToolCall:
    """One well-formed call: a known tool, arguments that fit its schema. Where that says integer they are ints."""

    name: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True)
class ToolResult:
    """What the agent sees of one call. `done` ends the episode; images are uint8 arrays of shape (H, W, 3)."""

    text: str
    images: tuple[np.ndarray, ...] = ()
    status: Status = "ok"
    done: bool = False


class MalformedCall(ValueError):
    """An action that is no call of a known tool; the message is for the agent to read."""


class Malformed(str):
    """A model's text that is no call, with the reason: an action that every environment answers with that reason."""

    reason: str

    def __new__(cls, text: str, reason: str = "") -> Self:
        made = super().__new__(cls, text)
        made.reason = reason
        return made


def parse_call(action: Any, tools: Sequence[Tool]) -> ToolCall:
    """Check an action against the tools. Raises MalformedCall with a message that names the remedy, and nothing else.

    `3.0` is an integer to JSON Schema: where a schema asks for one, the call holds 3.
    """
    if isinstance(action, Malformed):
        raise MalformedCall(action.reason)
    if not isinstance(action, Mapping):
        raise MalformedCall(
            f'An action is an object {{"name": ..., "arguments": {{...}}}}, not {_kind(action)}. Send one tool call.'
        )
    name, arguments = action.get("name"), action.get("arguments", {})
    if not isinstance(name, str):
        raise MalformedCall(f"The action's 'name' must be the name of a tool, not {_kind(name)}.")
    by_name = {tool.name: tool for tool in tools}
    if name not in by_name:
        raise MalformedCall(f"There is no tool {name[:80]!r}.{did_you_mean(name[:80], by_name)}")
    if not isinstance(arguments, Mapping):
        raise MalformedCall(f"{name}: 'arguments' must be an object, not {_kind(arguments)}.")
    stray = set(action) - {"name", "arguments"}
    if stray:
        raise MalformedCall(f"An action has only 'name' and 'arguments', not {sorted(map(_key, stray))[0]}.")
    tool = by_name[name]
    try:
        error = best_match(tool.validator.iter_errors(dict(arguments)))
        fault = "" if error is None else _explain(error)
        checked = arguments if fault else whole_numbers(dict(arguments), tool.parameters)
    except RecursionError:
        raise MalformedCall(f"{name}: the arguments are nested too deeply.") from None
    except (ValueError, TypeError, ArithmeticError):
        # a whole number of more digits than Python prints, or values that no JSON has and that cannot be compared
        raise MalformedCall(f"{name}: an argument is too large a number, or no JSON value. Send plain JSON.") from None
    if fault:
        raise MalformedCall(f"{name}: {fault}")
    return ToolCall(name, checked)


def whole_numbers(value: Any, schema: Any) -> Any:
    """A copy of a value that fits a schema, with every float that fits where it says integer made an int.

    Follows properties, additionalProperties, items, prefixItems, oneOf, anyOf and allOf; the rest stays as it is.
    """
    if not isinstance(schema, Mapping):
        return value
    kinds = schema.get("type", ())
    if isinstance(value, float):
        if "integer" in ([kinds] if isinstance(kinds, str) else kinds) and value.is_integer():
            return int(value)
    elif isinstance(value, dict):
        known, others = schema.get("properties", {}), schema.get("additionalProperties")
        value = {key: whole_numbers(item, known.get(key, others)) for key, item in value.items()}
    elif isinstance(value, list):
        first = schema.get("prefixItems", ())
        value = [
            whole_numbers(item, first[at] if at < len(first) else schema.get("items")) for at, item in enumerate(value)
        ]
    for branch in (*schema.get("oneOf", ()), *schema.get("anyOf", ()), *schema.get("allOf", ())):
        # of a choice, the branches that the value fits not are no rule for it
        if _Validator(branch).is_valid(value):
            value = whole_numbers(value, branch)
    return value


def parse_text(text: str, tools: Sequence[Tool]) -> ToolCall:
    """A call from a model's raw text: one JSON object, alone or between <tool_call> tags or code fences.

    What stands in <think> tags is passed over; of several calls the first is taken.
    Raises MalformedCall. Duplicate keys, NaN and Infinity are refused.
    """
    body = _THOUGHT.sub("", text).strip()
    starts = [0]
    if not body.startswith("{"):
        # in a text around the object, the first tag or fence that an object follows
        starts = [opening.end() for opening in islice(_OPENINGS.finditer(body), MAX_OPENINGS)] or [0]
    fault: Exception | None = None
    for start in starts:
        try:
            action, end = _DECODER.raw_decode(body, start)
            rest = body[end : end + 80].lstrip()
            if rest and not rest.startswith(("</tool_call>", "```")):
                raise ValueError(f"there is more after the object: {rest[:40]!r}")
            break
        except (ValueError, RecursionError) as error:
            fault = fault or error
    else:
        raise MalformedCall(
            f"The action is not valid JSON ({fault}). Send one object, alone or in <tool_call> tags: "
            '{"name": ..., "arguments": {...}}.'
        )
    return parse_call(action, tools)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise ValueError("an object has the same key twice")
    return made


def _no_constant(word: str) -> Any:
    raise ValueError(f"{word} is not JSON")


_THOUGHT = re.compile(r"<think>.*?(?:</think>|$)", re.DOTALL)
_OPENINGS = re.compile(r"(?:<tool_call>|```(?:json)?)\s*")
MAX_OPENINGS = 32
_DECODER = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_no_constant)


def _kind(value: Any) -> str:
    names = {type(None): "null", str: "a string", bool: "a boolean", int: "a number", float: "a number", list: "a list"}
    return names.get(type(value), f"a {type(value).__name__}")


def _key(key: Any) -> str:
    """A stray key, quoted and short, whatever it is."""
    return repr(key[:80]) if isinstance(key, str) else _kind(key)


def _explain(error: jsonschema.ValidationError) -> str:
    where = "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in error.absolute_path).lstrip(".")[:80]
    if error.validator == "additionalProperties" and isinstance(error.schema, Mapping):
        known = error.schema.get("properties", {})
        stray = next((key for key in cast(Mapping[str, Any], error.instance) if key not in known), "")
        return f"there is no argument {_key(stray)}.{did_you_mean(stray[:80], known) if isinstance(stray, str) else ''}"
    message = error.message if len(error.message) < 200 else f"{error.message[:200]}..."
    return f"argument {where!r}: {message}." if where else f"{message}."

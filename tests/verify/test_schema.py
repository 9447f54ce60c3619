"""What an author may not build a grader on, and patterns that a hostile answer could stall."""

from __future__ import annotations

from typing import Any

import pytest

from tradeschool.errors import TaskError
from tradeschool.verify.answers import AnswerKey
from tradeschool.verify.patterns import unsafe_pattern
from tradeschool.verify.schema import AnswerSchema
from tradeschool.verify.strictjson import plain

NUMBER = {"type": "number", "x-type": "number"}


def schema(**fields: Any) -> dict[str, Any]:
    return {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}


BROKEN = {
    "multipleOf": schema(x={**NUMBER, "multipleOf": 0.01}),
    "ref": schema(x={"$ref": "#/x"}),
    "const": schema(x={**NUMBER, "const": 5}),
    "no x-type": schema(x={"type": "number"}),
    "unknown x-type": schema(x={"type": "number", "x-type": "nummer"}),
    "unknown keyword": schema(x={**NUMBER, "x-tolerence": {}}),
    "keyword of another type": schema(x={"type": "string", "x-type": "text", "x-scale": "million"}),
    "stray fields pass": {"type": "object", "properties": {"x": NUMBER}},
    "no object": {"type": "array"},
    "no field": schema(),
    "required without property": {**schema(x=NUMBER), "required": ["y"]},
    "type does not fit": schema(x={"type": "boolean", "x-type": "number"}),
    "enum without values": schema(x={"type": "string", "x-type": "enum"}),
    "nested quantifier": schema(x={"type": "string", "x-type": "text", "pattern": "^(a+)+$"}),
    "format not asserted": schema(x={"type": "string", "x-type": "text", "format": "uri"}),
    "unknown scale": schema(x={**NUMBER, "x-scale": "lakh"}),
    "unknown currency": schema(x={**NUMBER, "x-currency": "Euro"}),
    "tolerance below 0": schema(x={**NUMBER, "x-tolerance": {"absolute": -1}}),
    "precision of a count": schema(x={"type": "integer", "x-type": "number", "x-precision": 0}),
    "precision as text": schema(x={**NUMBER, "x-precision": "2"}),
    "list without items": schema(x={"type": "array", "x-type": "list"}),
    "list of lists": schema(x={"type": "array", "x-type": "list", "items": {"type": "array", "x-type": "list"}}),
    "weights of 0": schema(x={**NUMBER, "x-weight": 0}),
    "not json schema": schema(x={**NUMBER, "minimum": "0"}),
    "citations as text": {**schema(x=NUMBER), "x-citations": "yes"},
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_schema_is_the_authors_fault(name: str) -> None:
    with pytest.raises(TaskError, match=r"^here: ") as caught:
        AnswerSchema.check(plain(BROKEN[name]), "here")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "pattern",
    ["^(a+)+$", "(a*)*", "(a|aa)+", "(a?){20}", "(?=a)b", r"(a)\1", "a*b*c*", "(", "a" * 300, "((a+)b)*", "(?P<x>a+)+"],
)
def test_patterns_refused(pattern: str) -> None:
    assert unsafe_pattern(pattern)


@pytest.mark.parametrize(
    "pattern", ["^JE-[0-9]{4}$", "^[a-z]+$", r"^\(?[0-9]+\)?$", "^(yes|no)$", "^[A-Z]{2}(-[0-9]){3}$", "[*+]x"]
)
def test_patterns_allowed(pattern: str) -> None:
    assert not unsafe_pattern(pattern)


def test_validation_is_strict() -> None:
    checked = AnswerSchema.check(
        plain(
            schema(n={"type": "integer", "x-type": "number"}, d={"type": "string", "format": "date", "x-type": "date"})
        ),
        "here",
    )
    assert checked.fault(plain({"n": 1.0, "d": "2024-06-30"})) == ""
    for answer in ({"n": True, "d": "2024-06-30"}, {"n": 1.5, "d": "2024-06-30"}, {"n": 1, "d": "2020-13-45"},
                   {"n": 1, "d": "2024-06-30", "extra": 1}, {"n": 1}, [], 5, None):  # fmt: skip
        assert checked.fault(plain(answer))


BROKEN_KEYS: dict[str, tuple[dict[str, Any], Any]] = {
    "not an object": (schema(x=NUMBER), []),
    "no answer": (schema(x=NUMBER), {}),
    "unknown field": (schema(x=NUMBER), {"answer": {"x": 1}, "citation": []}),
    "does not fit": (schema(x=NUMBER), {"answer": {"x": "1"}}),
    "missing value": ({**schema(x=NUMBER, y=NUMBER), "required": ["x"]}, {"answer": {"x": 1}}),
    "0 would pass": (schema(x={**NUMBER, "x-tolerance": {"absolute": 2}}), {"answer": {"x": 1}}),
    "wrong sign would pass": (schema(x={**NUMBER, "x-tolerance": {"relative": 2}}), {"answer": {"x": 1}}),
    "all null": (schema(x={"type": ["number", "null"], "x-type": "number"}), {"answer": {"x": None}}),
    "empty text": (schema(x={"type": "string", "x-type": "text"}), {"answer": {"x": " . "}}),
    "empty list": (
        schema(x={"type": "array", "x-type": "set", "items": {"type": "string", "x-type": "text"}}),
        {"answer": {"x": []}},
    ),
    "derivation differs": (schema(x=NUMBER), {"answer": {"x": 1.9}, "derivations": {"x": "15.2 - 17.1"}}),
    "derivation broken": (schema(x=NUMBER), {"answer": {"x": 1}, "derivations": {"x": "1 +"}}),
    "accept unknown": (schema(x=NUMBER), {"answer": {"x": 1}, "accept": {"z": [1]}}),
    "accept unreadable": (schema(x=NUMBER), {"answer": {"x": 1}, "accept": {"x": ["many"]}}),
    "citations broken": (schema(x=NUMBER), {"answer": {"x": 1}, "citations": [{"document": "a"}]}),
    "citations missing": ({**schema(x=NUMBER), "x-citations": True}, {"answer": {"x": 1}}),
}


@pytest.mark.parametrize("name", BROKEN_KEYS)
def test_a_broken_key_is_the_authors_fault(name: str) -> None:
    made, key = BROKEN_KEYS[name]
    with pytest.raises(TaskError, match=r"^answer\.json: "):
        AnswerKey.check(plain(made), plain(key))


def test_a_derivation_that_agrees_is_accepted() -> None:
    AnswerKey.check(plain(schema(x=NUMBER)), plain({"answer": {"x": -1.9}, "derivations": {"x": "15.2 - 17.1"}}))

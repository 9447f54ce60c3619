"""Scores of whole answers: gates, weights, F1, citations, and properties that hold for any answer."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tradeschool.errors import TaskError
from tradeschool.verify.answers import NO_ANSWER, AnswerKey
from tradeschool.verify.strictjson import plain

SCHEMA = {
    "type": "object",
    "properties": {
        "holds": {"type": "boolean", "x-type": "bool", "x-required": True},
        "amount": {
            "type": ["number", "string"],
            "x-type": "number",
            "x-scale": "thousand",
            "x-weight": 2,
            "x-precision": 1,
        },
        "share": {"type": ["number", "string"], "x-type": "percent", "x-tolerance": {"relative": 0.01}},
        "when": {"type": ["string", "null"], "x-type": "date"},
        "names": {
            "type": "array",
            "x-type": "set",
            "x-score": "f1",
            "items": {"type": "string", "x-type": "text"},
        },
        "inner": {
            "type": "object",
            "properties": {"word": {"type": "string", "x-type": "text"}},
            "required": ["word"],
            "additionalProperties": False,
        },
    },
    "required": ["holds", "amount", "share", "when", "names", "inner"],
    "additionalProperties": False,
}
GOLD: dict[str, Any] = {
    "holds": True,
    "amount": -1577.5,
    "share": 12.5,
    "when": None,
    "names": ["Bergen", "Halden", "Lund"],
    "inner": {"word": "Dordrecht"},
}
KEY = AnswerKey.check(plain(SCHEMA), plain({"answer": GOLD, "citations": [{"document": "a.pdf", "page": 3}]}))


def changed(**fields: Any) -> dict[str, Any]:
    return {**GOLD, **fields}


def test_gold_is_one_and_grading_twice_agrees() -> None:
    assert KEY.score(GOLD) == KEY.score(GOLD)
    assert KEY.score(GOLD).value == 1.0


@pytest.mark.parametrize(
    ("answer", "score"),
    [
        (changed(amount=-1577.6), 1.0),
        (changed(amount="(1,577.5)"), 1.0),
        (changed(amount="(1.5775) million"), 1.0),
        (changed(amount=1577.5), 5 / 7),
        (changed(share=12.6), 1.0),
        (changed(share=12.7), 6 / 7),
        (changed(when="2024-01-01"), 6 / 7),
        (changed(holds=False), 0.0),
        (changed(names=["Lund", "Halden", "Bergen", "bergen"]), 1.0),
        (changed(names=["Lund", "Halden"]), (6 + 0.8) / 7),
        (changed(names=["Lund", "Halden", "Bergen", "Oslo", "Turin", "Graz"]), (6 + 2 / 3) / 7),
        (changed(inner={"word": "Rotterdam"}), 6 / 7),
    ],
)
def test_scores(answer: dict[str, Any], score: float) -> None:
    assert KEY.score(answer).value == pytest.approx(score)


@pytest.mark.parametrize(
    "answer",
    [NO_ANSWER, None, {}, [], "", "I cannot tell.", 0, True, {"holds": True}, changed(extra=1), changed(holds="Yes"),
     changed(amount=float("nan")), changed(amount=True), changed(names=[[[]]]), "[" * 100_000,
     '{"holds": true, "holds": true}', {1: 2}, changed(amount=10**100), changed(amount="9" * 20_000), "\ud800"],
)  # fmt: skip
def test_what_does_not_fit_is_zero_with_a_reason(answer: Any) -> None:
    reward = KEY.score(answer)
    assert reward.value == 0.0
    assert reward.parts[0].reason
    json.dumps(reward.to_dict()).encode("utf-8")


def test_reasons_name_the_field_and_give_no_answer_away() -> None:
    reward = KEY.score(changed(amount="1,577.5", inner={"word": "Rotterdam"}))
    reasons = {part.name: part.reason for part in reward.parts}
    assert "sign" in reasons["answer.amount"]
    assert "Dordrecht" not in str(reasons)


def test_citations_are_reported_or_multiply() -> None:
    assert KEY.score(GOLD, [("a.pdf", 4)]).value == 1.0
    strict = AnswerKey.check(
        plain({**SCHEMA, "x-citations": True}),
        plain({"answer": GOLD, "citations": [{"document": "a.pdf", "page": 3}, {"document": "b.pdf", "page": 1}]}),
    )
    assert strict.score(GOLD).value == 0.0
    assert strict.score(GOLD, [("a.pdf", 3)]).value == pytest.approx(2 / 3)
    assert strict.score(GOLD, [("b.pdf", 1), ("a.pdf", 3)]).value == 1.0
    everything = [("a.pdf", page) for page in range(1, 99)] + [("b.pdf", 1)]
    assert (strict.score(GOLD, everything).value or 0) < 0.05


def test_items_within_tolerance_of_two_golds_are_used_once() -> None:
    leaf = {"type": "number", "x-type": "number", "x-tolerance": {"absolute": 1}}
    schema = {
        "type": "object",
        "properties": {"x": {"type": "array", "x-type": "set", "items": leaf}},
        "required": ["x"],
        "additionalProperties": False,
    }
    key = AnswerKey.check(plain(schema), plain({"answer": {"x": [10, 11, 12]}}))
    assert key.score({"x": [11, 12, 13]}).value == 1.0
    assert key.score({"x": [11, 11.5]}).value == 0.0
    assert key.score({"x": [11]}).value == 0.0
    assert key.score({"x": list(range(1, 400))}).value == 0.0


def test_a_set_of_records() -> None:
    item = {
        "type": "object",
        "properties": {"id": {"type": "string", "x-type": "text"}, "sum": {"type": "number", "x-type": "number"}},
        "required": ["id", "sum"],
        "additionalProperties": False,
    }
    schema = {
        "type": "object",
        "properties": {"x": {"type": "array", "x-type": "set", "items": item}},
        "required": ["x"],
        "additionalProperties": False,
    }
    key = AnswerKey.check(plain(schema), plain({"answer": {"x": [{"id": "A", "sum": 1}, {"id": "B", "sum": 2}]}}))
    assert key.score({"x": [{"sum": 2, "id": "b"}, {"id": "A", "sum": 1}]}).value == 1.0
    assert key.score({"x": [{"id": "A", "sum": 2}, {"id": "B", "sum": 1}]}).value == 0.0


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=30),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=20,
)


@given(JSON)
def test_any_value_is_scored_and_none_is_right(value: Any) -> None:
    assert KEY.score(value).value == 0.0


@given(st.sampled_from(sorted(GOLD)), JSON)
def test_one_field_of_anything_never_raises(name: str, value: Any) -> None:
    reward = KEY.score(changed(**{name: value}))
    assert reward.value is not None


@given(st.integers(0, 2**32))
def test_the_order_of_keys_and_items_never_matters(seed: int) -> None:
    rng = random.Random(seed)
    names = list(GOLD)
    rng.shuffle(names)
    towns = list(GOLD["names"])
    rng.shuffle(towns)
    assert KEY.score({name: towns if name == "names" else GOLD[name] for name in names}).value == 1.0


@given(st.lists(st.integers(-9999, 9999), min_size=2, max_size=30))
def test_a_list_of_numbers_is_never_a_number(numbers: list[int]) -> None:
    # commas alone: three groups of digits could be one number, so each has a decimal point
    listed = ", ".join(f"{number}.5" for number in [*numbers, -1577])
    assert (KEY.score(changed(amount=listed)).value or 0) < 1


def test_files_are_read_strictly(tmp_path: Path) -> None:
    with pytest.raises(TaskError, match=r"answer\.schema\.json: cannot be read"):
        AnswerKey.load(tmp_path)
    (tmp_path / "answer.schema.json").write_text(json.dumps(SCHEMA))
    (tmp_path / "answer.json").write_text('{"answer": {}, "answer": {}}')
    with pytest.raises(TaskError, match="same key twice"):
        AnswerKey.load(tmp_path)
    (tmp_path / "answer.json").write_bytes(b"\xff")
    with pytest.raises(TaskError, match="UTF-8"):
        AnswerKey.load(tmp_path)
    (tmp_path / "answer.json").write_text(json.dumps({"answer": GOLD}))
    assert AnswerKey.load(tmp_path).score(GOLD).value == 1.0

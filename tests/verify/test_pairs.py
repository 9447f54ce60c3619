"""Gold and prediction pairs that public scorers judge wrongly, each with the verdict it should get.

The numbers are those of the project's list of public scorer faults; `source` names the scorer whose code or human
label gave another verdict or the same one for another reason (TAT-QA, GAIA, OfficeQA, MMLongBench-Doc, FinanceBench).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

from tradeschool.errors import TaskError
from tradeschool.verify.answers import AnswerKey
from tradeschool.verify.strictjson import loads, plain

THOUSAND = {"x-scale": "thousand"}
MILLION = {"x-scale": "million"}
USD = {"x-currency": "USD"}


@dataclass(frozen=True)
class Pair:
    number: int
    source: str
    kind: str
    gold: Any
    given: Any
    want: int
    spec: dict[str, Any] = field(default_factory=dict)


def text_list(kind: str) -> dict[str, Any]:
    return {"type": ["array", "string"], "items": {"type": "string", "x-type": "text"}, "x-type": kind}


YEARS = {"type": "array", "items": {"type": "integer", "x-type": "number"}}
PAIRS = [
    Pair(1, "TAT-QA", "number", -1234, "(1,234)", 1, THOUSAND),
    Pair(1, "TAT-QA", "number", -1234, "(1,234) thousand", 1, THOUSAND),
    Pair(2, "TAT-QA", "number", "(1,234)", "1,234", 0),
    Pair(3, "TAT-QA", "number", "(1,234)", "-1,234", 1),
    Pair(4, "TAT-QA", "number", -134, "(134)", 1),
    Pair(6, "TAT-QA", "percent", "(66)%", "-66%", 1),
    Pair(6, "TAT-QA", "percent", "(66)%", -66, 1),
    Pair(7, "TAT-QA", "percent", 0, 0, 1),
    Pair(8, "TAT-QA", "number", "0.0", "", 0),
    Pair(9, "TAT-QA", "ratio", "12.5%", "0.125", 1),
    Pair(9, "TAT-QA", "percent", "12.5", "0.125", 0),
    Pair(10, "TAT-QA", "percent", "12.5", "0.125 percent", 0),
    Pair(11, "TAT-QA", "ratio", "22.12%", "0.22121", 1, {"x-precision": 4}),
    Pair(13, "TAT-QA, OfficeQA", "number", "1.2 billion", "1,200 million", 1),
    Pair(14, "TAT-QA", "number", "1.2", "$1.2 billion", 1, {"x-scale": "billion", **USD}),
    Pair(16, "TAT-QA", "number", "0.004", "0.001", 0, {**MILLION, "x-precision": 3}),
    Pair(17, "TAT-QA", "number", "123.455", "123.46", 1, {"x-precision": 2}),
    Pair(18, "TAT-QA", "number", "123.456", "123.46", 1, {"x-precision": 2}),
    Pair(19, "TAT-QA", "number", "123.22", "123.2", 1, {"x-precision": 1}),
    Pair(19, "TAT-QA", "number", "123.22", "123.2", 0, {"x-precision": 2}),
    Pair(20, "TAT-QA", "number", ".5", "inf", 0),
    Pair(22, "TAT-QA", "number", "\u20ac1.2 million", "$1.2 million", 0, {"x-currency": "EUR"}),
    Pair(24, "TAT-QA, OfficeQA", "number", "1 234", "1234", 1),
    Pair(25, "OfficeQA", "number", 1234, "1\u00a0234", 1),
    Pair(26, "TAT-QA, GAIA", "number", -5, "\u22125", 1),
    Pair(28, "TAT-QA", "number", "5 million shares", "5 million", 1, {"x-unit": "shares"}),
    Pair(28, "TAT-QA", "number", "5 million shares", "5 million bonds", 0, {"x-unit": "shares"}),
    Pair(28, "TAT-QA", "number", "5 million", "5 million shares", 0),
    Pair(30, "TAT-QA", "number", "12 months", "12 years", 0, {"x-unit": "months"}),
    Pair(31, "TAT-QA", "set", [2019, 2018], [2018, 2019], 1, YEARS),
    Pair(31, "TAT-QA", "list", [2019, 2018], [2018, 2019], 0, YEARS),
    Pair(32, "TAT-QA", "list", ["a b", "c"], ["a", "b c"], 0, text_list("list")),
    Pair(32, "TAT-QA", "set", ["a b", "c"], ["a", "b c"], 0, text_list("set")),
    Pair(33, "TAT-QA", "set", ["a"], ["a", "a"], 1, text_list("set")),
    Pair(33, "TAT-QA", "list", ["a"], ["a", "a"], 0, text_list("list")),
    Pair(34, "TAT-QA, GAIA", "date", "April 1, 2020", "1 April 2020", 1),
    Pair(35, "TAT-QA, GAIA", "number", 5, "five", 1, {"x-words": True}),
    Pair(35, "TAT-QA, GAIA", "number", 5, "five", 0),
    Pair(37, "GAIA", "number", "1,234", "1234", 1),
    Pair(38, "GAIA", "number", "$1,000", "1000", 1, USD),
    Pair(39, "GAIA", "number", 17, "17%", 0),
    Pair(40, "GAIA", "ratio", "0.17", "17%", 1),
    Pair(41, "GAIA", "number", 17, "17 million", 0),
    Pair(44, "GAIA, OfficeQA", "number", "1.234,56", "1.234,56", 1, {"x-locale": "de"}),
    Pair(44, "GAIA, OfficeQA", "number", "1234.56", "1.234,56", 0),
    Pair(45, "GAIA", "number", "3.14159", "3.14", 1, {"x-precision": 2}),
    Pair(45, "GAIA", "number", "3.14159", "3.14", 0, {"x-precision": 5}),
    Pair(46, "GAIA", "set", "red, green", "red; green", 1, text_list("set")),
    Pair(46, "GAIA", "list", ["red", "green"], "red; green", 1, text_list("list")),
    Pair(48, "GAIA, OfficeQA", "bool", "Yes", "Yes, it did", 1),
    Pair(48, "GAIA, OfficeQA", "bool", "Yes", "Yes.", 1),
    Pair(48, "GAIA, OfficeQA", "bool", True, "No, it did not", 0),
    Pair(49, "GAIA", "text", "caf\u00e9", "cafe", 1),
    Pair(52, "OfficeQA", "number", "543 million", 543, 0),
    Pair(52, "OfficeQA", "number", "543", 543, 1, MILLION),
    Pair(53, "OfficeQA", "number", "543 million", 543000000, 1),
    Pair(54, "OfficeQA", "number", "543 million", "0.543 billion", 1),
    Pair(55, "OfficeQA", "number", "543 million", "543 thousand", 0),
    Pair(57, "OfficeQA", "percent", "12.5%", "12.5", 1),
    Pair(58, "OfficeQA", "ratio", "12.5%", "0.125", 1),
    Pair(59, "OfficeQA", "number", -1977, "(1977)", 1, USD),
    Pair(59, "OfficeQA", "number", -1977, "($1977)", 1, USD),
    Pair(59, "OfficeQA", "date", "1977", "(1977)", 0, {"x-granularity": "year"}),
    Pair(62, "OfficeQA", "number", "5 m", "5 miles", 0, {"x-unit": "m"}),
    Pair(62, "OfficeQA", "number", "5 m", "5 metres", 1, {"x-unit": "m"}),
    Pair(64, "MMLongBench-Doc", "number", 5, "5.9", 0, {"type": ["integer", "string"]}),
    Pair(65, "MMLongBench-Doc", "number", "0.5", 50, 0),
    Pair(65, "MMLongBench-Doc", "ratio", "0.5", 50, 0),
    Pair(66, "MMLongBench-Doc", "number", 100, 1, 0),
    Pair(
        68, "MMLongBench-Doc", "enum", "increase", "decrease", 0, {"enum": ["increase", "decrease"], "type": "string"}
    ),
    Pair(68, "MMLongBench-Doc", "text", "increase", "decrease", 0),
    Pair(69, "MMLongBench-Doc", "number", "1.2 billion", "1.2 million", 0),
    # the human label turns on rounding against truncation: half a unit of the last place is allowed
    Pair(73, "FinanceBench", "number", "$303 million", "$302,578,000", 1, {**USD, "x-tolerance": {"absolute": 500000}}),
    Pair(73, "FinanceBench", "number", "$303 million", "$302 million", 0, {**USD, "x-tolerance": {"absolute": 500000}}),
]
DEFAULTS = {"text": "string", "date": "string", "bool": ["boolean", "string"]}


def key_for(pair: Pair) -> AnswerKey:
    leaf = {"type": DEFAULTS.get(pair.kind, ["number", "string"]), "x-type": pair.kind, **pair.spec}
    schema = {"type": "object", "properties": {"x": leaf}, "required": ["x"], "additionalProperties": False}
    return AnswerKey.check(plain(schema), plain({"answer": {"x": pair.gold}}))


@pytest.mark.parametrize("pair", PAIRS, ids=[f"{p.number}-{p.source}-{p.kind}-{p.want}" for p in PAIRS])
def test_pair_gets_the_wanted_verdict(pair: Pair) -> None:
    reward = key_for(pair).score({"x": pair.given})
    assert reward.value == pair.want, reward.parts


def test_pair_42_an_infinite_gold_is_the_authors_fault() -> None:
    for gold in ("inf", "not a number"):
        with pytest.raises(TaskError, match="right value"):
            key_for(Pair(42, "GAIA", "number", gold, "", 0))


def test_a_scale_said_twice_is_read_once_and_told() -> None:
    pair = Pair(14, "TAT-QA", "number", "1.2", "$1.2 billion", 1, {"x-scale": "billion", **USD})
    part = key_for(pair).score({"x": pair.given}).parts[1]
    assert "read once" in part.reason


@pytest.mark.parametrize(
    ("gold", "given", "spec", "want"),
    [
        # FinanceBench policy cases: what is asked for is declared, so nothing is left to a judge
        ("1.43", "1.43 %", {}, 1),
        ("42.69", "42.67", {"x-tolerance": {"absolute": 0.05}}, 1),
        ("42.69", "42.57", {"x-tolerance": {"absolute": 0.05}}, 0),
        ("-0.2", "decrease of 0.2 percentage points", {"x-unit": "pp"}, 0),
        ("-0.2", "-0.2 percentage points", {"x-unit": "pp"}, 1),
        ("-0.2", "-20 bps", {"x-unit": "pp"}, 1),
        ("0.2", "0.2 percentage points", {}, 0),
    ],
)
def test_percent_policies(gold: str, given: str, spec: dict[str, Any], want: int) -> None:
    assert key_for(Pair(0, "FinanceBench", "percent", gold, given, want, spec)).score({"x": given}).value == want


def test_json_text_is_an_answer_too() -> None:
    key = key_for(Pair(0, "", "number", 5, 5, 1))
    assert key.score('{"x": 5.0}').value == 1
    assert key.score(loads('{"x": 5}')).value == 1

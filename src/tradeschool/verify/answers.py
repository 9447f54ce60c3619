"""The key of a document task, and the score of an answer against it.

    tests/answer.schema.json   the typed schema, which the agent is shown (see `schema.py`)
    tests/answer.json          {"answer": {...},                    the right answer
                                "accept": {"field": [other, ...]},  other right values of a field
                                "derivations": {"field": "a - b"},  sums that must come out at the right value
                                "citations": [{"document": "report.pdf", "page": 3}, ...]}

Score = weighted mean over the fields, 0 when the answer does not fit the schema or a required field is wrong; times
the F1 of the cited pages where the schema says `x-citations` (as HotpotQA's joint score does, Yang et al. 2018,
arXiv:1809.09600, section 5.1). A fault of the key is the author's: TaskError. Nothing a model wrote raises.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

from tradeschool.errors import TaskError, did_you_mean
from tradeschool.rewards import Part, Reward
from tradeschool.verify.arithmetic import ArithmeticFault, evaluate
from tradeschool.verify.fields import Verdict, compare, read, tolerance
from tradeschool.verify.schema import NUMERIC, AnswerSchema, FieldSpec
from tradeschool.verify.strictjson import BadJson, loads, plain
from tradeschool.verify.words import NotReadable, quote

SCHEMA_FILE = "answer.schema.json"
KEY_FILE = "answer.json"
MAX_BYTES = 100_000

Citation = tuple[str, int]
"""A document's file name and a page, from 1."""


class _NoAnswer:
    def __repr__(self) -> str:
        return "no answer"


NO_ANSWER = _NoAnswer()
"""What an episode without an answer is scored as; unlike None, which is JSON's null."""


@dataclass(frozen=True)
class AnswerKey:
    """A schema with its right answer. `load` and `check` prove that the right answer scores exactly 1."""

    schema: AnswerSchema
    gold: Mapping[str, Any] = field(repr=False)
    accept: Mapping[str, tuple[Any, ...]] = field(default_factory=dict, repr=False)
    citations: frozenset[Citation] = field(default=frozenset(), repr=False)

    @classmethod
    def load(cls, folder: Path) -> AnswerKey:
        """Read both files of a task's tests/. Raises TaskError naming file, field and remedy."""
        schema_path, key_path = folder / SCHEMA_FILE, folder / KEY_FILE
        return cls.check(_read(schema_path), _read(key_path), str(schema_path), str(key_path))

    @classmethod
    def check(cls, schema: Any, key: Any, schema_name: str = SCHEMA_FILE, key_name: str = KEY_FILE) -> AnswerKey:
        """From plain JSON data (see `strictjson`). Raises TaskError."""
        return _KeyReader(AnswerSchema.check(schema, schema_name), key_name).key(key)

    def score(self, answer: Any, citations: Collection[Citation] = ()) -> Reward:
        """Score anything at all; JSON text is read as the JSON it spells. Returns a valid Reward in [0, 1]."""
        fault, answer = self._readable(answer)
        if fault:
            return Reward.from_parts([Part("answer.schema", 0.0, reason=fault, gate=True)])
        parts = [Part("answer.schema", 1.0, reason="fits the schema", gate=True)]
        for spec in self.schema.fields:
            verdict = self._score_field(spec, answer)
            weight = float(spec.weight)
            parts.append(Part(f"answer.{spec.path}", verdict.value, weight, verdict.reason, gate=spec.gate))
        reward = Reward.from_parts(parts)
        if not (self.citations or citations):
            return reward
        f1, reason = self._citation_f1(citations)
        cited = Part("citations", f1, reason=f"{reason}; {'multiplies' if self.schema.cites else 'reported only'}")
        if not self.schema.cites:
            return reward.with_parts([cited])
        assert reward.value is not None
        return Reward(reward.value * f1, (*reward.parts, cited), verifier=reward.verifier)

    def _readable(self, answer: Any) -> tuple[str, Any]:
        if answer is NO_ANSWER:
            return "no answer was given", None
        try:
            # models often send the object as a string; it is parsed as strictly as any JSON, never evaluated
            answer = loads(answer) if isinstance(answer, str) else plain(answer)
        except BadJson as error:
            return f"the answer {error}", None
        return self.schema.fault(answer), answer

    def _score_field(self, spec: FieldSpec, answer: Mapping[str, Any]) -> Verdict:
        given = _at(answer, spec.path)
        if given is NO_ANSWER:
            return Verdict(0.0, "the field is missing")
        verdicts = [compare(spec, gold, given) for gold in (_at(self.gold, spec.path), *self.accept.get(spec.path, ()))]
        return max(verdicts, key=lambda verdict: verdict.value)

    def _citation_f1(self, citations: Collection[Citation]) -> tuple[float, str]:
        given = set(citations)
        hits = len(given & self.citations)
        f1 = 2 * hits / (len(given) + len(self.citations))
        return f1, f"{hits} of {len(given)} cited pages are among the {len(self.citations)} that hold the evidence"


def _at(answer: Any, path: str) -> Any:
    for name in path.split("."):
        if not isinstance(answer, Mapping) or name not in answer:
            return NO_ANSWER
        answer = answer[name]
    return answer


def _read(path: Path) -> Any:
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise TaskError(f"{path}: cannot be read ({error.strerror}). A document task needs it.") from error
    if len(raw) > MAX_BYTES:
        raise TaskError(f"{path}: {len(raw)} bytes is over the limit of {MAX_BYTES}.")
    try:
        return loads(raw.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise TaskError(f"{path}: is not UTF-8 (byte {error.start}). Save it as UTF-8.") from error
    except BadJson as error:
        raise TaskError(f"{path}: {error}. Mend the file.") from error


class _KeyReader:
    """Checks a key against its schema: every gold is readable, not given away by its tolerance, and scores 1."""

    def __init__(self, schema: AnswerSchema, where: str) -> None:
        self.schema = schema
        self.where = where
        self.specs = {spec.path: spec for spec in schema.fields}

    def fault(self, what: str) -> TaskError:
        return TaskError(f"{self.where}: {what}.", kind="answer_key")

    def key(self, data: Any) -> AnswerKey:
        if not isinstance(data, dict) or not isinstance(data.get("answer"), dict):
            raise self.fault("must be an object with the right answer under 'answer'")
        parts = ("answer", "accept", "derivations", "citations")
        for name in data:
            if name not in parts:
                raise self.fault(f"unknown field {name!r}.{did_you_mean(name, parts)}".rstrip("."))
        reason = self.schema.fault(data["answer"])
        if reason:
            raise self.fault(f"the right answer does not fit the schema: {reason}")
        for spec in self.schema.fields:
            self.gold(spec, _at(data["answer"], spec.path))
        if all(_at(data["answer"], spec.path) is None for spec in self.schema.fields if spec.weight):
            raise self.fault("every right value is null, so knowing nothing would score 1. Ask for a fact too")
        accept = self.accept(data.get("accept", {}))
        self.derivations(data.get("derivations", {}), data["answer"])
        key = AnswerKey(self.schema, data["answer"], accept, self.citations(data.get("citations", [])))
        if self.schema.cites and not key.citations:
            raise self.fault("the schema says x-citations, but 'citations' is empty")
        proof = key.score(data["answer"], key.citations)
        if proof.value != 1.0:
            wrong = next((part for part in proof.parts if part.value < 1), None)
            raise self.fault(f"the right answer scores {proof.value}, not 1 ({wrong})")
        return key

    def gold(self, spec: FieldSpec, value: Any) -> None:
        if value is NO_ANSWER:
            raise self.fault(f"field {spec.path!r} has no right value")
        if value is None:
            return
        try:
            wanted = read(spec, value)
        except NotReadable as error:
            raise self.fault(
                f"field {spec.path!r}: the right value {quote(value)} is no {spec.kind}: {error}"
            ) from None
        if spec.kind in NUMERIC and wanted and tolerance(spec, wanted) >= abs(wanted):
            raise self.fault(f"field {spec.path!r}: its tolerance is so wide that 0 would pass. Narrow it")
        if spec.kind in ("list", "set") and not wanted:
            raise self.fault(f"field {spec.path!r}: an empty {spec.kind} would be scored right for saying nothing")

    def accept(self, data: Any) -> dict[str, tuple[Any, ...]]:
        if not isinstance(data, dict) or not all(isinstance(values, list) for values in data.values()):
            raise self.fault("'accept' must map a field to a list of other right values")
        for path, values in data.items():
            if path not in self.specs:
                raise self.fault(f"'accept' names {path!r}.{did_you_mean(path, self.specs)}".rstrip("."))
            for value in values:
                self.gold(self.specs[path], value)
        return {path: tuple(values) for path, values in data.items()}

    def derivations(self, data: Any, answer: Mapping[str, Any]) -> None:
        if not isinstance(data, dict):
            raise self.fault("'derivations' must map a field to an expression")
        for path, expression in data.items():
            spec = self.specs.get(path)
            if spec is None or spec.kind not in NUMERIC or not isinstance(expression, str):
                raise self.fault(f"'derivations' can only have expressions for fields that are numbers, not {path!r}")
            try:
                result = evaluate(expression).value
                wanted = read(spec, _at(answer, path))
            except (ArithmeticFault, NotReadable) as error:
                raise self.fault(f"the derivation of {path!r} does not work: {error}") from None
            if abs(result - Fraction(wanted)) > Fraction(tolerance(spec, wanted) or Decimal(0)):
                raise self.fault(f"the derivation of {path!r} comes out at {float(result):.12g}, not the right value")

    def citations(self, data: Any) -> frozenset[Citation]:
        found = set()
        for item in data if isinstance(data, list) else [None]:
            document = item.get("document") if isinstance(item, dict) else None
            page = item.get("page") if isinstance(item, dict) else None
            if not isinstance(document, str) or isinstance(page, bool) or not isinstance(page, int) or page < 1:
                raise self.fault('\'citations\' is a list of {"document": file name, "page": from 1}')
            found.add((document, page))
        return frozenset(found)

"""One typed value against another: read both as declared, compare exactly, say why.

A value counts 1 or 0, except that a list or set may declare F1. Nothing a model wrote is evaluated, and nothing it
wrote makes this raise: what cannot be read as its type is wrong, with a reason.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from tradeschool.verify.dates import parse_date
from tradeschool.verify.decimals import EXACT, SCALES, Quantity, parse_quantity, same_unit
from tradeschool.verify.schema import NUMERIC, FieldSpec
from tradeschool.verify.words import NotReadable, fold, quote, split_list

MAX_ITEMS = 500
YES_NO = re.compile(r"(yes|no|true|false)(?:\s*[.,;:!]|\s+-|$)")


@dataclass(frozen=True)
class Verdict:
    """How far a value is right, in [0, 1], and why; the reason names what was given, never what was wanted."""

    value: float
    reason: str


def compare(spec: FieldSpec, gold: Any, given: Any) -> Verdict:
    """Score one given value (plain JSON data) against a gold that is known to be readable."""
    if gold is None or given is None:
        if gold is None and given is None:
            return Verdict(1.0, "rightly null")
        return Verdict(0.0, "null was given" if given is None else f"given {quote(given)}, where null is right")
    wanted = read(spec, gold)
    try:
        found = read(spec, given)
    except NotReadable as error:
        return Verdict(0.0, f"not readable as {spec.kind}: {error}")
    return _judge(spec, wanted, found, given)


def read(spec: FieldSpec, value: Any) -> Any:
    """A value as its type's own form: Decimal in the declared scale, date tuple, bool, folded text, tuple of items.

    Raises NotReadable.
    """
    if spec.kind in NUMERIC:
        return _number(spec, value)
    if spec.kind == "date":
        if isinstance(value, bool) or not isinstance(value, (str, int)):
            raise NotReadable(f"{quote(value)} is not a date")
        return parse_date(str(value), spec.granularity, spec.locale)
    if spec.kind == "bool":
        return _bool(value)
    if spec.kind in ("list", "set"):
        return _items(spec, value)
    if spec.kind == "record":
        return _record(spec, value)
    if not isinstance(value, str):
        raise NotReadable(f"{quote(value)} is not text")
    folded = fold(value)
    if not folded:
        raise NotReadable("the text is empty")
    return folded


def tolerance(spec: FieldSpec, gold: Decimal) -> Decimal:
    """How far a number may be off, in the declared scale: the largest of what the field declares, else 0."""
    last_place = Decimal(0) if spec.precision is None else Decimal(1).scaleb(-spec.precision)
    return max(spec.absolute, EXACT.multiply(spec.relative, abs(gold)), last_place)


def _judge(spec: FieldSpec, wanted: Any, found: Any, given: Any) -> Verdict:
    if spec.kind in NUMERIC:
        return _judge_number(spec, wanted, found, given)
    if spec.kind in ("list", "set"):
        assert spec.items is not None
        return _judge_items(spec, spec.items, wanted, found)
    if spec.kind == "record":
        marks = [_judge(sub, w, f, f) if None not in (w, f) else Verdict(float(w is f), "")
                 for sub, w, f in zip(spec.fields, wanted, found, strict=True)]  # fmt: skip
        return Verdict(float(all(mark.value == 1.0 for mark in marks)), "record")
    if wanted == found:
        return Verdict(1.0, f"given {quote(given)}: right")
    return Verdict(0.0, f"given {quote(given)}: another {spec.kind}")


def _number(spec: FieldSpec, value: Any) -> Decimal:
    if isinstance(value, bool) or not isinstance(value, (int, Decimal, str)):
        raise NotReadable(f"{quote(value)} is not a number")
    if isinstance(value, str):
        value = _from_text(spec, value)
    number = Decimal(value)
    if spec.integral and number != number.to_integral_value():
        raise NotReadable(f"{quote(value)} is not a whole number")
    return number


def _from_text(spec: FieldSpec, text: str) -> Decimal:
    said = parse_quantity(
        text,
        money=bool(spec.currency) and not spec.units,
        locale=spec.number_locale,
        words=spec.words,
    )
    if said.currencies and spec.currency not in said.currencies:
        raise NotReadable(f"{quote(text)} is in {said.currencies[0]}, the field in {spec.currency or 'no currency'}")
    if said.unit and not any(same_unit(said.unit, unit) for unit in spec.units):
        raise NotReadable(
            f"{quote(text)} has the unit {quote(said.unit)}, the field {' or '.join(spec.units) or 'none'}"
        )
    if spec.kind == "number":
        if said.percent is not None:
            raise NotReadable(f"{quote(text)} is a percentage, the field a plain number")
        # a scale word in the text counts instead of the declared scale, it is never applied twice
        return (
            EXACT.divide(EXACT.multiply(said.value, SCALES[said.scale]), SCALES[spec.scale])
            if said.scale
            else said.value
        )
    if said.scale:
        raise NotReadable(f"{quote(text)} has a scale, the field is a {spec.kind}")
    return _share(spec, said, text)


def _share(spec: FieldSpec, said: Quantity, text: str) -> Decimal:
    if said.percent is None:
        return said.value
    if said.points and spec.units != ("pp",):
        raise NotReadable(f"{quote(text)} is in percentage points, the field a {spec.kind}")
    percent = EXACT.multiply(said.value, said.percent)
    return percent if spec.kind == "percent" else EXACT.divide(percent, Decimal(100))


def _judge_number(spec: FieldSpec, wanted: Decimal, found: Decimal, given: Any) -> Verdict:
    allowed = tolerance(spec, wanted)
    if abs(EXACT.subtract(wanted, found)) <= allowed:
        note = ""
        if spec.scale and isinstance(given, str) and spec.scale in given.lower():
            note = f" (the field is in {spec.scale} already; the word was read once)"
        return Verdict(1.0, f"given {quote(given)}: right{note}")
    why = f"off by more than the {allowed} allowed" if allowed else "not the exact value"
    if wanted and abs(EXACT.add(wanted, found)) <= allowed:
        why = "the sign is wrong"
    elif wanted and found:
        for power in (2, 3, 6, 9):
            for factor in (Decimal(10) ** power, Decimal(10) ** -power):
                if abs(EXACT.subtract(EXACT.multiply(wanted, factor), found)) <= EXACT.multiply(allowed, factor):
                    why = f"off by a factor of {10**power:,}: look at scale and percent"
    return Verdict(0.0, f"given {quote(given)}: {why}")


def _bool(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and (match := YES_NO.match(" ".join(value.lower().split()))):
        return match.group(1) in ("yes", "true")
    raise NotReadable(f"{quote(value)} is neither yes nor no")


def _items(spec: FieldSpec, value: Any) -> tuple[Any, ...]:
    assert spec.items is not None
    if isinstance(value, str):
        value = split_list(value)
    if not isinstance(value, list):
        raise NotReadable(f"{quote(value)} is not a {spec.kind}")
    if len(value) > MAX_ITEMS:
        raise NotReadable(f"{len(value)} items are more than the {MAX_ITEMS} that are read")
    items = tuple(None if item is None and spec.items.nullable else read(spec.items, item) for item in value)
    # said twice is said once, in a set
    return tuple(dict.fromkeys(items)) if spec.kind == "set" else items


def _record(spec: FieldSpec, value: Any) -> tuple[Any, ...]:
    if not isinstance(value, dict):
        raise NotReadable(f"{quote(value)} is not an object")
    found = []
    for sub in spec.fields:
        item: Any = value
        for name in sub.path.removeprefix(f"{spec.path}.").split("."):
            item = item.get(name) if isinstance(item, dict) else None
        found.append(None if item is None else read(sub, item))
    return tuple(found)


def _judge_items(spec: FieldSpec, item: FieldSpec, wanted: Sequence[Any], found: Sequence[Any]) -> Verdict:
    def fits(one: Any, other: Any) -> bool:
        if one is None or other is None:
            return one is other
        return _judge(item, one, other, other).value == 1.0

    if spec.kind == "list":
        hits = sum(fits(one, other) for one, other in zip(wanted, found, strict=False))
    else:
        hits = _matching([[j for j, other in enumerate(found) if fits(one, other)] for one in wanted])
    if hits == len(wanted) == len(found):
        return Verdict(1.0, f"all {hits} items right")
    reason = f"{hits} of {len(found)} given items right, {len(wanted)} wanted"
    return Verdict(2 * hits / (len(wanted) + len(found)) if spec.partial else 0.0, reason)


def _matching(edges: Sequence[Sequence[int]]) -> int:
    """Size of the largest matching of a bipartite graph (Kuhn 1955): items within tolerance of two golds are used once.

    Augmenting paths are walked with an explicit stack, so that 500 items cannot exhaust Python's.
    """
    partner: dict[int, int] = {}
    for start in range(len(edges)):
        came_from: dict[int, int] = {}
        stack = [start]
        free = None
        while stack and free is None:
            left = stack.pop()
            for right in edges[left]:
                if right not in came_from:
                    came_from[right] = left
                    if right not in partner:
                        free = right
                        break
                    stack.append(partner[right])
        while free is not None:
            left = came_from[free]
            previous = next((right for right, owner in partner.items() if owner == left), None)
            partner[free] = left
            free = None if left == start else previous
    return len(partner)

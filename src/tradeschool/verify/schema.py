"""An answer's schema: JSON Schema 2020-12 with a declared type on every leaf, checked before anyone is graded by it.

    x-type         number | percent | ratio | date | bool | enum | text | list | set          (required on a leaf)
    x-unit         what is counted, or a list of its right spellings: "days", ["m", "metres"]; "pp" on a percent
    x-scale        thousand | million | billion | trillion: what a bare number is in
    x-currency     ISO code; a number without any is read as being in it
    x-tolerance    {"absolute": n, "relative": n}, absolute in the declared scale (percent: in percent)
    x-precision    decimal places that count, in the declared scale; one unit of the last is allowed
    x-granularity  day | month | year, of a date
    x-locale       en-US | en-GB | de: decimal comma, and the order of day and month
    x-words        true: numbers may be written as words
    x-score        exact | f1, of a list or set
    x-weight       how much the field counts (1)
    x-required     true: the whole answer scores 0 unless this field is right
    x-citations    at the top: true multiplies the score by the F1 of the pages cited

Only the keywords below are allowed. Left out on purpose: `multipleOf` (binary floats refuse 0.07 for 0.01), `$ref`
and the combinators (a leaf must be plain to see), `const` and `default` (they give the answer away).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from jsonschema import Draft202012Validator, FormatChecker, SchemaError
from jsonschema.exceptions import best_match
from jsonschema.validators import extend

from tradeschool.errors import TaskError, did_you_mean
from tradeschool.verify.dates import GRANULARITIES
from tradeschool.verify.decimals import CURRENCIES, SCALES
from tradeschool.verify.patterns import unsafe_pattern
from tradeschool.verify.words import quote

NUMERIC = ("number", "percent", "ratio")
TYPES: Mapping[str, frozenset[str]] = {
    # x-type: the JSON types its values may have, beside null
    **dict.fromkeys(NUMERIC, frozenset({"number", "integer", "string"})),
    "date": frozenset({"string", "integer"}),
    "bool": frozenset({"boolean", "string"}),
    "enum": frozenset({"string"}),
    "text": frozenset({"string"}),
    "list": frozenset({"array", "string"}),
    "set": frozenset({"array", "string"}),
}
KEYWORDS = frozenset({
    "$schema", "title", "description", "examples", "type", "properties", "required", "additionalProperties", "items",
    "enum", "minItems", "maxItems", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minLength",
    "maxLength", "pattern", "format",
})  # fmt: skip
COMMON = frozenset({"x-type", "x-weight", "x-required"})
EXTENSIONS: Mapping[str, frozenset[str]] = {
    "number": frozenset({"x-unit", "x-scale", "x-currency", "x-tolerance", "x-precision", "x-locale", "x-words"}),
    "percent": frozenset({"x-unit", "x-tolerance", "x-precision", "x-locale"}),
    "ratio": frozenset({"x-tolerance", "x-precision", "x-locale"}),
    "date": frozenset({"x-granularity", "x-locale"}),
    "bool": frozenset(),
    "enum": frozenset(),
    "text": frozenset(),
    "list": frozenset({"x-score"}),
    "set": frozenset({"x-score"}),
}
FORMATS = FormatChecker(("date",))
LOCALES = ("en-US", "en-GB", "de")
MAX_FIELDS = 100


@dataclass(frozen=True)
class FieldSpec:
    """One leaf of the answer. Tolerances and precision are in the declared scale; `record` is an item with fields."""

    path: str
    kind: str
    units: tuple[str, ...] = ()
    scale: str = ""
    currency: str = ""
    absolute: Decimal = Decimal(0)
    relative: Decimal = Decimal(0)
    precision: int | None = None
    integral: bool = False
    granularity: str = "day"
    locale: str = ""
    words: bool = False
    partial: bool = False
    weight: Decimal = Decimal(1)
    gate: bool = False
    nullable: bool = False
    items: FieldSpec | None = None
    fields: tuple[FieldSpec, ...] = ()

    @property
    def number_locale(self) -> str:
        return "de" if self.locale == "de" else "en"


def _is_integer(_checker: Any, value: Any) -> bool:
    # 1.0 is an integer by the standard, also when it comes as a Decimal
    if isinstance(value, bool):
        return False
    return isinstance(value, int) or (isinstance(value, (float, Decimal)) and value == int(value))


_Validator = extend(
    Draft202012Validator, type_checker=Draft202012Validator.TYPE_CHECKER.redefine("integer", _is_integer)
)


@dataclass(frozen=True)
class AnswerSchema:
    """A checked schema: `data` is what the agent is shown, `fields` its leaves in order."""

    data: Mapping[str, Any]
    fields: tuple[FieldSpec, ...]
    cites: bool

    @classmethod
    def check(cls, data: Any, where: str) -> AnswerSchema:
        """From plain JSON data. Raises TaskError that begins with `where` and names the keyword and its place."""
        reader = _Reader(where)
        if not isinstance(data, dict) or data.get("type") != "object":
            raise reader.fault("", "'type' must be 'object' at the top: an answer has named fields")
        try:
            _Validator.check_schema(_plain_numbers(data))
        except SchemaError as error:
            raise reader.fault(
                ".".join(map(str, error.absolute_path)), f"is not JSON Schema: {error.message}"
            ) from None
        cites = data.get("x-citations", False)
        if not isinstance(cites, bool):
            raise reader.fault("", "'x-citations' is true or false")
        top = {key: value for key, value in data.items() if key != "x-citations"}
        fields = tuple(reader.object_fields(top, ""))
        if not 0 < len(fields) <= MAX_FIELDS:
            raise reader.fault("", f"has {len(fields)} fields; 1 to {MAX_FIELDS} are allowed")
        if not any(field.weight for field in fields):
            raise reader.fault("", "every x-weight is 0, so nothing would count")
        return cls(data, fields, cites)

    def fault(self, answer: Any) -> str:
        """Why `answer` (plain JSON data) does not fit the schema, or an empty text. Formats are asserted."""
        validator = _Validator(dict(self.data), format_checker=FORMATS)
        error = best_match(validator.iter_errors(answer))
        if error is None:
            return ""
        place = ".".join(str(part) for part in error.absolute_path) or "the answer"
        rule = error.validator if isinstance(error.validator, str) else "schema"
        return f"{quote(place)} breaks {rule!r}: {quote(error.message, 160)}"


def _plain_numbers(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain_numbers(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain_numbers(item) for item in value]
    return float(value) if isinstance(value, Decimal) else value


class _Reader:
    """Turns subschemas into FieldSpecs, refusing what a grader should not be built on."""

    def __init__(self, where: str) -> None:
        self.where = where

    def fault(self, place: str, what: str) -> TaskError:
        return TaskError(f"{self.where}: {f'field {place!r}: ' if place else ''}{what}.", kind="answer_schema")

    def object_fields(self, node: Mapping[str, Any], path: str) -> Iterator[FieldSpec]:
        self.keywords(node, path, frozenset())
        if node.get("additionalProperties") is not False:
            raise self.fault(path, 'an object needs "additionalProperties": false, or stray fields would pass')
        properties = node.get("properties") or {}
        unknown = [name for name in node.get("required", ()) if name not in properties]
        if unknown:
            raise self.fault(path, f"'required' names {unknown[0]!r}, which has no property")
        for name, sub in properties.items():
            place = f"{path}.{name}" if path else name
            if not isinstance(sub, dict):
                raise self.fault(place, "must be an object")
            if sub.get("type") == "object" and "x-type" not in sub:
                yield from self.object_fields(sub, place)
            else:
                yield self.leaf(sub, place)

    def leaf(self, node: Mapping[str, Any], path: str) -> FieldSpec:
        kind = node.get("x-type")
        if not isinstance(kind, str) or kind not in TYPES:
            known = did_you_mean(str(kind), TYPES).strip() if kind else f"Known: {', '.join(TYPES)}."
            raise self.fault(path, f"needs 'x-type', a known one (got {kind!r}). {known}".rstrip("."))
        self.keywords(node, path, COMMON | EXTENSIONS[kind])
        types = node.get("type")
        types = frozenset([types] if isinstance(types, str) else types or ())
        if not types - {"null"} or not types - {"null"} <= TYPES[kind]:
            raise self.fault(path, f"'type' of a {kind} is one or more of {', '.join(sorted(TYPES[kind]))} and null")
        if kind == "enum" and not node.get("enum"):
            raise self.fault(path, "an enum needs 'enum', the list of its values")
        if "pattern" in node and (why := unsafe_pattern(node["pattern"])):
            raise self.fault(path, f"'pattern' {why}; a hostile answer could stall the grader")
        if node.get("format", "date") != "date":
            raise self.fault(path, f"'format' {node['format']!r} is not asserted here; only 'date' is")
        return self.spec(node, path, kind, types)

    def spec(self, node: Mapping[str, Any], path: str, kind: str, types: frozenset[str]) -> FieldSpec:
        units = node.get("x-unit", ())
        units = (units,) if isinstance(units, str) else tuple(units) if isinstance(units, list) else ()
        if "x-unit" in node and not (units and all(isinstance(unit, str) and unit.strip() for unit in units)):
            raise self.fault(path, "'x-unit' is a name or a list of names")
        if kind == "percent" and units not in ((), ("pp",)):
            raise self.fault(path, "'x-unit' of a percent can only be 'pp', percentage points")
        tolerance = node.get("x-tolerance", {})
        if not isinstance(tolerance, dict) or set(tolerance) - {"absolute", "relative"}:
            raise self.fault(path, "'x-tolerance' is an object with 'absolute' or 'relative'")
        precision = node.get("x-precision")
        integral = types - {"null", "string"} == {"integer"}
        if precision is not None and (isinstance(precision, bool) or not isinstance(precision, int)):
            raise self.fault(path, "'x-precision' is a whole number of decimal places")
        if precision is not None and (integral or abs(precision) > 12):
            raise self.fault(path, "'x-precision' lies in -12 to 12, and is not for integers: a count is exact")
        return FieldSpec(
            path=path,
            kind=kind,
            units=units,
            scale=self.one_of(node, path, "x-scale", tuple(name for name in SCALES if name), ""),
            currency=self.one_of(node, path, "x-currency", CURRENCIES, ""),
            absolute=self.amount(tolerance, path, "absolute", Decimal(0)),
            relative=self.amount(tolerance, path, "relative", Decimal(0)),
            precision=precision,
            integral=integral and kind == "number",
            granularity=self.one_of(node, path, "x-granularity", GRANULARITIES, "day"),
            locale=self.one_of(node, path, "x-locale", LOCALES, ""),
            words=self.flag(node, path, "x-words"),
            partial=self.one_of(node, path, "x-score", ("exact", "f1"), "exact") == "f1",
            weight=self.amount(node, path, "x-weight", Decimal(1)),
            gate=self.flag(node, path, "x-required"),
            nullable="null" in types,
            items=self.items(node, path) if kind in ("list", "set") else None,
        )

    def items(self, node: Mapping[str, Any], path: str) -> FieldSpec:
        item, place = node.get("items"), f"{path}[]"
        if not isinstance(item, dict):
            raise self.fault(path, "needs 'items', the schema of one item")
        if item.get("type") == "object":
            return FieldSpec(place, "record", fields=tuple(self.object_fields(item, place)))
        if item.get("x-type") in ("list", "set"):
            raise self.fault(place, "a list of lists is not supported; use objects")
        return self.leaf(item, place)

    def keywords(self, node: Mapping[str, Any], path: str, extensions: frozenset[str]) -> None:
        for key in node:
            if key not in KEYWORDS | extensions:
                known = did_you_mean(key, KEYWORDS | extensions).strip()
                raise self.fault(path, f"keyword {key!r} is not allowed here. {known}".rstrip("."))

    def one_of(self, node: Mapping[str, Any], path: str, key: str, known: tuple[str, ...], default: str) -> str:
        value = node.get(key, default)
        if value != default and value not in known:
            raise self.fault(path, f"{key!r} {value!r} is not one of {', '.join(known)}")
        return value

    def flag(self, node: Mapping[str, Any], path: str, key: str) -> bool:
        value = node.get(key, False)
        if not isinstance(value, bool):
            raise self.fault(path, f"{key!r} is true or false")
        return value

    def amount(self, node: Mapping[str, Any], path: str, key: str, default: Decimal) -> Decimal:
        value = node.get(key, default)
        if isinstance(value, bool) or not isinstance(value, (int, Decimal)) or value < 0:
            raise self.fault(path, f"{key!r} is a number of at least 0")
        return Decimal(value)

"""JSON that means one thing only: what a model or an author wrote, or a refusal.

Closed here, because Python's `json` lets them through: NaN and Infinity, numbers that overflow to infinity or lose
digits in binary, the same key twice, nesting that exhausts the stack, integers too long to convert.
"""

from __future__ import annotations

import json
import math
from decimal import Decimal
from typing import Any

MAX_CHARS = 200_000
MAX_DEPTH = 24
MAX_NODES = 20_000
MAX_STRING = 10_000
MAX_DIGITS = 60
"""Longest number, in digits before and after the point together, and the largest power of ten in it."""


class BadJson(ValueError):
    """Not plain JSON within the limits; the message says which rule was broken."""


def loads(text: str) -> Any:
    """Parse JSON text; numbers that are not integers come as `Decimal`. Raises BadJson, and nothing else."""
    if len(text) > MAX_CHARS:
        raise BadJson(f"is {len(text)} characters long; at most {MAX_CHARS} are read")
    try:
        value = json.loads(
            text, parse_float=_decimal, parse_int=_integer, parse_constant=_constant, object_pairs_hook=_unique
        )
    except BadJson:
        raise
    except RecursionError:
        raise BadJson(f"is nested deeper than {MAX_DEPTH} levels") from None
    except ValueError as error:
        raise BadJson(f"is not JSON ({error})") from None
    return plain(value)


def plain(value: Any) -> Any:
    """A copy of Python data as plain JSON data: None, bool, int, Decimal, str, list, dict with string keys.

    Floats become the `Decimal` of their shortest spelling. Raises BadJson for anything else and over the limits.
    """
    return _Copier().copy(value, 0)


class _Copier:
    def __init__(self) -> None:
        self.nodes = 0

    def copy(self, value: Any, depth: int) -> Any:
        self.nodes += 1
        if self.nodes > MAX_NODES:
            raise BadJson(f"has more than {MAX_NODES} values")
        if depth > MAX_DEPTH:
            raise BadJson(f"is nested deeper than {MAX_DEPTH} levels")
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, str):
            return _string(value)
        if isinstance(value, int):
            if value.bit_length() > MAX_DIGITS * 10 // 3:
                raise BadJson(f"has a number of more than {MAX_DIGITS} digits")
            return int(value)
        if isinstance(value, float):
            if not math.isfinite(value):
                raise BadJson("has NaN or Infinity, which are not JSON")
            return _bounded(Decimal(repr(float(value))))
        if isinstance(value, Decimal):
            return _bounded(value)
        if isinstance(value, (list, tuple)):
            return [self.copy(item, depth + 1) for item in value]
        if isinstance(value, dict):
            return {self._key(key): self.copy(item, depth + 1) for key, item in value.items()}
        raise BadJson(f"has a {type(value).__name__}, which is not JSON")

    @staticmethod
    def _key(key: Any) -> str:
        if not isinstance(key, str):
            raise BadJson("has a key that is not a string")
        return _string(key)


def _string(value: str) -> str:
    if len(value) > MAX_STRING:
        raise BadJson(f"has a string of {len(value)} characters; at most {MAX_STRING} are read")
    return str(value)


def _bounded(value: Decimal) -> Decimal:
    if not value.is_finite():
        raise BadJson("has NaN or Infinity, which are not JSON")
    if len(value.as_tuple().digits) > MAX_DIGITS or (value and abs(value.adjusted()) > MAX_DIGITS):
        raise BadJson(f"has a number of more than {MAX_DIGITS} digits")
    # a zero may carry any exponent, and a later subtraction would then overflow
    return value if value else Decimal(0)


def _decimal(text: str) -> Decimal:
    # Decimal itself caps the exponent at 18 digits and gives infinity beyond; _bounded refuses it
    return _bounded(Decimal(text)) if len(text) <= 3 * MAX_DIGITS else _constant("a number of that length")


def _integer(text: str) -> int:
    if len(text) > MAX_DIGITS + 1:
        raise BadJson(f"has a number of more than {MAX_DIGITS} digits")
    return int(text)


def _constant(word: str) -> Any:
    raise BadJson(f"has {word}, which is not JSON")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise BadJson("has the same key twice in one object")
    return made

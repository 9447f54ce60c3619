"""Anything at all as plain JSON data, for records: an agent may send what it likes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np


def plain(value: Any) -> Any:
    """A copy made of dict, list, str, int, float, bool and None, equal to `value` where that is JSON already.

    Lone surrogates become `?`, NaN and Infinity their names, numpy values Python ones, other objects the name of their
    type. What JSON cannot hold (a cycle, nesting beyond the interpreter's limit, odd keys) is named as a whole.
    """
    try:
        text = json.dumps(value, default=_leaf, ensure_ascii=False).encode("utf-8", "replace").decode("utf-8")
        return json.loads(text, parse_constant=str)
    except (TypeError, ValueError, RecursionError):
        return _name(value)


def _leaf(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, Mapping):
        return dict(value)
    return _name(value)


def _name(value: Any) -> str:
    return f"<{type(value).__qualname__}>"

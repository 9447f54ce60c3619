"""Whole numbers in words, zero to ninety-nine, and numbers said twice as contracts do: `ninety (90) days`."""

from __future__ import annotations

import re

_SMALL = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine",
          "ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen",
          "eighteen", "nineteen"]  # fmt: skip
_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]


def digits_for_words(body: str) -> str:
    """`five`, `twenty-one`, `ninety (90)` and `90 (ninety)` as digits, where they open the text."""
    both = re.match(r"([0-9]+) ?\(([a-z]+(?:[- ][a-z]+)?)\)", body)
    if both and digits_for_words(both.group(2)) == both.group(1):
        return both.group(1) + body[both.end() :]
    made = _leading_word(body)
    # said twice, as contracts do; two numbers that differ stay two, and are not readable
    return re.sub(r"^([0-9]+) ?\(\1\)", r"\1", made) if made != body else body


def _leading_word(body: str) -> str:
    match = re.match(r"([a-z]+)(?:[- ]([a-z]+))?", body)
    if not match:
        return body
    first, second = match.group(1), match.group(2) or ""
    if first in _TENS and second in _SMALL[1:10]:
        return f"{(_TENS.index(first) + 2) * 10 + _SMALL.index(second)}{body[match.end() :]}"
    if first in _SMALL or first in _TENS:
        number = _SMALL.index(first) if first in _SMALL else (_TENS.index(first) + 2) * 10
        return f"{number}{body[match.end(1) :]}"
    return body

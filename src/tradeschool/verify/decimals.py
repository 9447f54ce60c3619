"""Numbers as people write them, read exactly: `(1,577)`, `-12.5%`, `$1.2 billion`, `1 234`, `US$ 5m`, `90 days`.

One text holds exactly one number; anything left over (`1 or 2`, `about 5`, `5 (was 4)`) is not readable. Nothing is
guessed: a decimal comma is read only where the field's locale says so, `m` is a million only beside a currency.
Not covered: Indian grouping, fractions such as 1/2, number words above ninety-nine.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from decimal import Context, Decimal

from tradeschool.verify.numerals import digits_for_words
from tradeschool.verify.strictjson import MAX_DIGITS
from tradeschool.verify.words import DASHES, INVISIBLE, NotReadable, quote

EXACT = Context(prec=4 * MAX_DIGITS)
"""Enough digits that sums and products of two readable numbers are never rounded."""

SCALES = {
    "": Decimal(1),
    "thousand": Decimal(10) ** 3,
    "million": Decimal(10) ** 6,
    "billion": Decimal(10) ** 9,
    "trillion": Decimal(10) ** 12,
}
_SCALE_WORDS = {
    **{word: word for word in SCALES if word},
    **{f"{word}s": word for word in SCALES if word},
    "mn": "million",
    "mln": "million",
    "bn": "billion",
    "tn": "trillion",
}
_MONEY_SCALES = {"k": "thousand", "m": "million", "mm": "million", "b": "billion"}
"""Abbreviations that are units elsewhere (metres, millimetres): a scale only where money is meant."""

_DOLLARS = ("USD", "CAD", "AUD", "NZD", "SGD", "HKD")
_CURRENCY_WORDS: dict[str, tuple[str, ...]] = {
    "$": _DOLLARS,
    "us$": ("USD",),
    "c$": ("CAD",),
    "a$": ("AUD",),
    "dollar": _DOLLARS,
    "dollars": _DOLLARS,
    "\u20ac": ("EUR",),
    "euro": ("EUR",),
    "euros": ("EUR",),
    "\u00a3": ("GBP",),
    "pound": ("GBP",),
    "pounds": ("GBP",),
    "\u00a5": ("JPY", "CNY"),
    "yen": ("JPY",),
    "\u20b9": ("INR",),
    "sterling": ("GBP",),
    "pounds sterling": ("GBP",),
    **{
        f"{name} {word}": (code,)
        for code, *names in (
            ("USD", "us", "u.s.", "american"),
            ("CAD", "canadian"),
            ("AUD", "australian"),
            ("NZD", "new zealand"),
            ("SGD", "singapore"),
            ("HKD", "hong kong"),
        )
        for name in names
        for word in ("dollar", "dollars")
    },
}
CURRENCIES = ("AUD", "BRL", "CAD", "CHF", "CNY", "CZK", "DKK", "EUR", "GBP", "HKD", "HUF", "INR", "JPY", "KRW",
              "MXN", "NOK", "NZD", "PLN", "SEK", "SGD", "USD", "ZAR")  # fmt: skip
_PERCENT = {"%": Decimal(1), "percent": Decimal(1), "pct": Decimal(1)}
_POINTS = {"pp": Decimal(1), "percentage points": Decimal(1), "percentage point": Decimal(1)}
_BASIS = {"bps": Decimal("0.01"), "bp": Decimal("0.01"), "basis points": Decimal("0.01")}

_GROUPS = {"en": ",' ", "de": ".' "}
_POINT = {"en": ".", "de": ","}
_UNITS = {
    "metre": "m",
    "meter": "m",
    "kilometre": "km",
    "kilometer": "km",
    "kilogram": "kg",
    "yr": "year",
    "mo": "month",
    "hr": "hour",
    "hour": "hour",
}


@dataclass(frozen=True)
class Quantity:
    """What a text says: `value` before any scale, the scale word it carries, percent, currencies and unit."""

    value: Decimal
    scale: str = ""
    percent: Decimal | None = None
    points: bool = False
    currencies: tuple[str, ...] = ()
    unit: str = ""


def parse_quantity(text: str, *, money: bool = False, locale: str = "en", words: bool = False) -> Quantity:
    """Read one number with its sign, scale, percent sign, currency and unit. Raises NotReadable.

    `money` reads k, m and b as scales; `locale` is `en` (1,234.56) or `de` (1.234,56); `words` reads `five`.
    """
    if len(text) > 120:
        raise NotReadable(f"{quote(text)} is too long for a number")
    body = _plain_characters(text)
    if words:
        body = digits_for_words(body)
    found = list(_number(locale).finditer(body))
    if len(found) != 1:
        raise NotReadable(f"{quote(text)} holds {'no' if not found else 'more than one'} number")
    number = found[0]
    before, after = body[: number.start()], body[number.end() :]
    negative, currency = _head(text, before)
    closed = _count_brackets(text, before, after)
    tail = after.replace(")", " ", 1) if closed else after
    scale, percent, points, tail_currency, unit = _tail(text, tail, money)
    if currency and tail_currency:
        both = tuple(code for code in currency if code in tail_currency)
        if not both:
            raise NotReadable(f"{quote(text)} names two currencies")
        currency = both
    if negative and closed:
        raise NotReadable(f"{quote(text)} has a minus sign and parentheses")
    value = _value(text, number.group(), locale)
    return Quantity(
        value.copy_negate() if (negative or closed) and value else value,
        scale,
        percent,
        points,
        currency or tail_currency,
        unit,
    )


def same_unit(one: str, other: str) -> bool:
    """Whether two spellings name one unit: plural or singular, metre or m. Nothing is converted."""
    return _unit(one) == _unit(other)


def _unit(name: str) -> str:
    # of a genitive the apostrophe means nothing here: 90 days', 90 days' notice
    name = re.sub(r"(?<=s)['\u2019](?= |$)", "", " ".join(name.lower().split()).rstrip("."))
    plural = len(name) > 3 and name.endswith("s") and not name.endswith("ss")
    if plural or name in ("yrs", "mos", "hrs"):
        name = name[:-1]
    return _UNITS.get(name, name)


def _plain_characters(text: str) -> str:
    """Dashes, spaces and full-width signs made plain; superscripts are left alone, `10\u00b2` must not become 102."""
    made = []
    for char in INVISIBLE.sub("", text).translate(DASHES):
        if unicodedata.category(char) == "Zs" or char in "\t\n\r":
            made.append(" ")
        elif "\uff01" <= char <= "\uff5e":
            made.append(unicodedata.normalize("NFKC", char))
        else:
            made.append("'" if char == "\u2019" else char)
    body = "".join(made).strip().lower()
    return body[:-1].rstrip() if body.endswith(".") else body


def _number(locale: str) -> re.Pattern[str]:
    point = re.escape(_POINT[locale])
    groups = "|".join(rf"[0-9]{{1,3}}(?:{re.escape(mark)}[0-9]{{3}})+(?![0-9])" for mark in _GROUPS[locale])
    return re.compile(rf"(?:{groups}|[0-9]+)(?:{point}[0-9]*)?(?:e[+-]?[0-9]{{1,2}})?(?![a-z0-9]*[0-9])|{point}[0-9]+")


def _value(text: str, number: str, locale: str) -> Decimal:
    for mark in _GROUPS[locale]:
        number = number.replace(mark, "")
    value = Decimal(number.replace(_POINT[locale], "."))
    if len(value.as_tuple().digits) > MAX_DIGITS or (value and abs(value.adjusted()) > MAX_DIGITS):
        raise NotReadable(f"{quote(text)} has more than {MAX_DIGITS} digits")
    return value


def _head(text: str, before: str) -> tuple[bool, tuple[str, ...]]:
    """What stands before the number: a sign, a bracket and a currency, each at most once."""
    signs = before.count("-") + before.count("+")
    rest = before.replace("(", " ").replace("-", " ").replace("+", " ").strip()
    if signs > 1:
        raise NotReadable(f"{quote(text)} has two signs")
    if not rest:
        return "-" in before, ()
    codes = _currency(rest)
    if not codes:
        raise NotReadable(f"{quote(text)} has {quote(rest)} before the number")
    return "-" in before, codes


def _count_brackets(text: str, before: str, after: str) -> bool:
    opened, closed = before.count("("), after.count(")")
    if opened != closed or opened > 1 or "(" in after or ")" in before:
        raise NotReadable(f"{quote(text)} has brackets around something else than one number")
    return opened == 1


def _currency(word: str) -> tuple[str, ...]:
    return (word.upper(),) if word.upper() in CURRENCIES else _CURRENCY_WORDS.get(word, ())


def _tail(text: str, tail: str, money: bool) -> tuple[str, Decimal | None, bool, tuple[str, ...], str]:
    """What stands after the number: scale, percent or currency, unit, in this order, each at most once."""
    scale, percent, points = "", None, False
    currency: tuple[str, ...] = ()
    if re.search(r"[^a-z%$\u20ac\u00a3\u00a5\u20b9\u00b5\u00b0\u00b2\u00b3/' .-]", tail):
        raise NotReadable(f"{quote(text)} has {quote(tail.strip())} after the number")
    words = tail.replace("per cent", "percent").replace("%", " % ").split()
    if words and words[0] in (_SCALE_WORDS | _MONEY_SCALES if money else _SCALE_WORDS):
        word = words.pop(0)
        scale = _SCALE_WORDS.get(word) or _MONEY_SCALES[word]
    rest = " ".join(words)
    if rest in _PERCENT or rest in _POINTS or rest in _BASIS:
        percent = {**_PERCENT, **_POINTS, **_BASIS}[rest]
        return scale, percent, rest in _POINTS, (), ""
    # the longest first: `pounds sterling`, `hong kong dollars`
    for count in (3, 2, 1):
        if len(words) >= count and (named := _currency(" ".join(words[:count]))):
            currency, words = named, words[count:]
            break
    unit = " ".join(words)
    if "%" in unit or any(word in _SCALE_WORDS for word in words):
        raise NotReadable(f"{quote(text)} has {quote(unit)} after the number")
    return scale, percent, points, currency, unit

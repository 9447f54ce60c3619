"""Calendar dates as people write them: `2024-06-30`, `30 June 2024`, `June 30th, 2024`, `the 30th day of June 2024`.

`06/07/2024` is read only where the field's locale says which comes first; without one `30/06/2024` is, since there is
but one way to read it. Years have four digits. Not covered: times, time zones, quarters, fiscal years, other calendars.
"""

from __future__ import annotations

import datetime
import re

from tradeschool.verify.words import NotReadable, fold_characters, quote

GRANULARITIES = ("day", "month", "year")
_MONTHS = ["january", "february", "march", "april", "may", "june",
           "july", "august", "september", "october", "november", "december"]  # fmt: skip
_MONTH = "(?P<m>" + "|".join([*_MONTHS, *(name[:3] for name in _MONTHS), "sept"]) + r")\.?"
_DAY = r"(?P<d>[0-9]{1,2})(?:st|nd|rd|th)?"
_YEAR = "(?P<y>[0-9]{4})"
_WEEKDAY = r"^(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?\.?,?\s+"
_FULL = [
    re.compile(rf"{_YEAR}[-/.](?P<m>[0-9]{{1,2}})[-/.](?P<d>[0-9]{{1,2}})"),
    re.compile(rf"(?:the )?{_DAY}(?: day)?(?: of)?[ -]{_MONTH},?[ -]{_YEAR}"),
    re.compile(rf"{_MONTH} (?:the )?{_DAY},? {_YEAR}"),
]
_SLASHED = {
    "en-US": re.compile(rf"(?P<m>[0-9]{{1,2}})[/.-](?P<d>[0-9]{{1,2}})[/.-]{_YEAR}"),
    "en-GB": re.compile(rf"(?P<d>[0-9]{{1,2}})[/.-](?P<m>[0-9]{{1,2}})[/.-]{_YEAR}"),
    "de": re.compile(rf"(?P<d>[0-9]{{1,2}})[/.-](?P<m>[0-9]{{1,2}})[/.-]{_YEAR}"),
}
_FIGURES = re.compile(r"(?P<one>[0-9]{1,2})(?P<mark>[/.-])(?P<other>[0-9]{1,2})(?P=mark)[0-9]{4}")
_MONTH_ONLY = [re.compile(rf"{_YEAR}-(?P<m>[0-9]{{1,2}})"), re.compile(rf"{_MONTH},? {_YEAR}")]


def parse_date(text: str, granularity: str = "day", locale: str = "") -> tuple[int, ...]:
    """(year, month, day), or as many of them as the granularity has. Raises NotReadable.

    A finer date is read too and cut: `30 June 2024` where a month is asked for.
    """
    if len(text) > 60:
        raise NotReadable(f"{quote(text)} is too long for a date")
    body = re.sub(_WEEKDAY, "", " ".join(fold_characters(text).split()).rstrip("."))
    patterns = [*_FULL, *([_SLASHED[locale]] if locale in _SLASHED else [])]
    if not locale and (match := _FIGURES.fullmatch(body)):
        one, other = int(match["one"]), int(match["other"])
        if not (one == other or one <= 12 < other or other <= 12 < one):
            raise NotReadable(f"{quote(text)} leaves open which is the day; write it as 2024-01-31")
        patterns.append(_SLASHED["en-US" if other > 12 else "en-GB"])
    if granularity != "day":
        patterns += _MONTH_ONLY
    if granularity == "year":
        patterns.append(re.compile(_YEAR))
    for pattern in patterns:
        match = pattern.fullmatch(body)
        if match:
            return _checked(text, match.groupdict())[: GRANULARITIES[::-1].index(granularity) + 1]
    raise NotReadable(f"{quote(text)} is not a {'date' if granularity == 'day' else granularity}")


def _checked(text: str, found: dict[str, str | None]) -> tuple[int, int, int]:
    month = found.get("m") or "1"
    number = int(month) if month.isdigit() else next(i for i, name in enumerate(_MONTHS, 1) if name[:3] == month[:3])
    try:
        day = datetime.date(int(found["y"] or 0), number, int(found.get("d") or 1))
    except ValueError:
        raise NotReadable(f"{quote(text)} is not a day of the calendar") from None
    return day.year, day.month, day.day

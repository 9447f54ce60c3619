"""Text as a reader compares it: case, accents, kinds of space, dash and quote make no difference; digits always do.

Not covered: synonyms, spelling mistakes, translations. A task lists other right spellings in its key.
"""

from __future__ import annotations

import re
import unicodedata

SPACES = re.compile(r"\s+")
EDGES = " \t\n.,;:!?\"'"
ARTICLE = re.compile(r"^(?:the|an?)\s+(?=\S)")
DASHES = dict.fromkeys(map(ord, "\u2010\u2011\u2012\u2013\u2014\u2212\ufe63\uff0d"), "-")
QUOTES = {
    **dict.fromkeys(map(ord, "\u2018\u2019\u201a\u2032\u00b4`"), "'"),
    **dict.fromkeys(map(ord, "\u201c\u201d\u201e\u2033\u00ab\u00bb"), '"'),
}
MARKS = re.compile("[\u0300-\u036f]")
INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u2060\ufeff]")


class NotReadable(ValueError):
    """A value that cannot be read as its declared type; the message is a reason for a person."""


def fold_characters(text: str) -> str:
    """One form for each character: composed, lower case, Latin accents off, plain dashes and quotes."""
    text = INVISIBLE.sub("", unicodedata.normalize("NFKC", text))
    text = MARKS.sub("", unicodedata.normalize("NFD", text.casefold()))
    return unicodedata.normalize("NFC", text).translate(DASHES).translate(QUOTES)


def fold(text: str) -> str:
    """The form in which two texts are compared: folded, spaces single, no punctuation or article at the edges."""
    text = SPACES.sub(" ", fold_characters(text)).strip(EDGES)
    return ARTICLE.sub("", text)


def quote(value: object, limit: int = 60) -> str:
    """A model's value for a reason: short, on one line, safe to store and print."""
    text = value if isinstance(value, str) else "null" if value is None else str(value)
    text = "".join(c if c.isprintable() else " " for c in text[: limit + 1])
    text = text.encode("utf-8", "replace").decode("utf-8")
    return f"'{text[:limit]}...'" if len(text) > limit else f"'{text}'"


def split_list(text: str) -> list[str]:
    """Items of a list written as one text: one a line, or apart by ';', else by ', ' (so `1,577` stays whole)."""
    for separator in ("\n", ";"):
        if separator in text:
            parts = text.split(separator)
            break
    else:
        parts = re.split(r",\s+(?:and\s+)?|\s+and\s+", text)
    return [part.strip() for part in parts if part.strip()]

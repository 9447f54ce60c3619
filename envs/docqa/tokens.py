"""Words and numbers as search terms: a number stays whole, `1,577`, `10-K`, `12.5%`, `(1,577)`.

The same code makes the terms of pages and of queries, and terms are plain ASCII letters and digits, so that no
character of a query can mean anything to the index. Not covered: languages that write without spaces.
"""

from __future__ import annotations

import re

from tradeschool.verify.words import fold_characters

NUMBER = r"[0-9]{1,3}(?:,[0-9]{3})+(?![0-9])(?:\.[0-9]+)*|[0-9]+(?:\.[0-9]+)*"
TERM = re.compile(
    rf"(?P<open>\(\s*)?(?P<money>[$\u20ac\u00a3\u00a5]\s*)?(?P<minus>(?<![^\W_])(?<!\))-\s?)?(?<![^\W_])"
    rf"(?P<number>{NUMBER})(?![^\W_]|-[^\W_]|[/][0-9])(?P<percent>\s?%)?(?P<close>\s*\))?"
    rf"|(?P<code>(?=[^\W_]*(?:[-/.][^\W_]+)*[0-9]|[^\W_]+[-/.][0-9])[^\W_]+(?:[-/.][^\W_]+)+)"
    rf"|(?P<word>[^\W_]+)",
)
STOP = frozenset(
    {"a", "an", "and", "are", "as", "at", "be", "by", "did", "do", "does", "for", "from", "how", "in", "is", "it", "of",
     "on", "or", "that", "the", "this", "to", "was", "were", "what", "when", "which", "who", "with"}
)  # fmt: skip
MAX_QUERY = 400
MAX_TERMS = 32


def page_terms(text: str) -> list[str]:
    """Every term of a text, in order, numbers and codes in each form they may be asked for."""
    return [term for match in TERM.finditer(fold_characters(text)) for term in _terms(match)]


def query_terms(query: str, parts: bool = False, zeros: bool = True) -> list[str]:
    """The terms a passage should hold, each once, numbers and codes in their most exact form.

    `parts`: the loosest forms instead, a code as its parts. Without `zeros`, 2,586.90 is asked for as 2,586.9, a term
    that pages have for both. Stop words are left out unless there is nothing else.
    """
    forms = [(match, _terms(match)) for match in TERM.finditer(fold_characters(query[:MAX_QUERY]))]
    found: list[str] = []
    for match, terms in forms:
        if match["number"] and not zeros:
            terms = terms[: len(_forms(match, ""))]
        found += terms[:-1] if parts and match["code"] else terms[:1] if parts else terms[-1:]
    telling = [term for term in found if term not in STOP]
    return list(dict.fromkeys(telling or found))[:MAX_TERMS]


def _terms(match: re.Match[str]) -> list[str]:
    """From the loosest form to the most exact."""
    number, code = match["number"], match["code"]
    if number:
        plain = _number(number)
        # a workbook says 2586.9 where a list says 2,586.90; a section number (4.2.10) has zeros of its own
        short = _number(number.rstrip("0").rstrip(".")) if number.count(".") == 1 else plain
        return [*_forms(match, short), *(_forms(match, plain) if short != plain else ())]
    if code:
        parts = re.split(r"[-/.]", code)
        return [*(_word(part) for part in parts), "z".join(["code", *(_word(part) for part in parts)])]
    return [_word(match["word"])]


def _forms(match: re.Match[str], plain: str) -> list[str]:
    """A number's term alone, with its sign, as a percentage, with both."""
    terms = [plain]
    if match["minus"] or (match["open"] and match["close"]):
        terms.append(f"neg{plain}")
    return [*terms, *(f"{term}pct" for term in terms)] if match["percent"] else terms


def _number(text: str) -> str:
    return "n" + text.replace(",", "").replace(".", "d")


def _word(word: str) -> str:
    """ASCII letters and digits; other letters by their code. A plural loses its s."""
    if word.isdigit() and word.isascii():
        return _number(word)
    if len(word) > 3 and word.endswith("s") and not word.endswith("ss"):
        word = word[:-1]
    return "".join(char if char.isascii() else f"u{ord(char):x}" for char in word)

"""Regular expressions of packs that a hostile answer could make run for hours, found without running them."""

from __future__ import annotations

import re

MAX_PATTERN = 200
MAX_UNBOUNDED = 2


def unsafe_pattern(pattern: str) -> str:
    """Why a pattern is refused, or an empty text.

    Refused: quantified groups that hold a quantifier or an alternative (`(a+)+`, `(a|aa)+`: exponential time), more
    than two unbounded quantifiers (polynomial), look-around and back-references, over 200 characters.
    """
    if len(pattern) > MAX_PATTERN:
        return f"is longer than {MAX_PATTERN} characters"
    try:
        re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        return f"is not a regular expression ({error})"
    body = re.sub(r"\\[1-9]", "\x00", pattern)
    if "\x00" in body or "(?P=" in body or re.search(r"\(\?<?[=!]|\(\?\(", body):
        return "uses look-around or a back-reference"
    body = re.sub(r"\\.", "x", body)
    body = re.sub(r"\[\^?\]?[^\]]*\]", "x", body)
    return _nested(re.sub(r"\(\?(?:P<\w+>|[aimsux-]*:|[aiLmsux]+\))?", "(", body))


def _nested(body: str) -> str:
    # one mark a group that is open: whether it holds a quantifier or an alternative
    groups = [False]
    unbounded = 0
    last_group = False
    position = 0
    while position < len(body):
        char = body[position]
        quantifier = re.match(r"[*+?]|\{[0-9]*,?[0-9]*\}", body[position:])
        if char == "(":
            groups.append(False)
            last_group = False
        elif char == ")":
            last_group = groups.pop() if len(groups) > 1 else False
            # what a closed group holds, the group around it holds too
            groups[-1] = groups[-1] or last_group
        elif quantifier:
            repeats = quantifier.group() != "?"
            if repeats and last_group:
                return "repeats a group that holds a quantifier or an alternative"
            open_ended = char in "*+" or quantifier.group().endswith(",}")
            unbounded += open_ended
            groups[-1] = groups[-1] or repeats or quantifier.group() == "?"
            last_group = False
            position += len(quantifier.group()) - 1
        else:
            groups[-1] = groups[-1] or char == "|"
            last_group = False
        position += 1
    return f"has more than {MAX_UNBOUNDED} unbounded quantifiers" if unbounded > MAX_UNBOUNDED else ""

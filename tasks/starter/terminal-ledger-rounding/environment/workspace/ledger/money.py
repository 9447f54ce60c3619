"""Amounts of money as whole cents."""

import re

_AMOUNT = re.compile(r"-?\d+(\.\d+)?")


def parse(text):
    """Cents of an amount like ``19.99``. Raises ValueError for anything else."""
    text = text.strip()
    if not _AMOUNT.fullmatch(text):
        raise ValueError(f"not an amount: {text!r}")
    return int(float(text) * 100)


def show(cents):
    """``1234`` as ``12.34``."""
    sign = "-" if cents < 0 else ""
    whole, rest = divmod(abs(cents), 100)
    return f"{sign}{whole}.{rest:02d}"


def split(cents, parts):
    """Cents as a list of nearly equal parts."""
    if parts < 1:
        raise ValueError("parts must be at least 1")
    share = round(cents / parts)
    return [share] * parts

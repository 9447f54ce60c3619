"""A calculator that is exact and can do nothing else: fractions of integers, no names, no evaluation of code.

    expression := term (('+' | '-') term)*
    term       := unary (('*' | '/') unary)*
    unary      := ('+' | '-') unary | power
    power      := atom ('**' unary | '^' unary)?         right to left; -2**2 is -4
    atom       := number '%'? | '(' expression ')' '%'? | name '(' expression (',' expression)* ')' '%'?
    name       := abs | avg | max | min | percent | round | sum

A root (a power that is not whole) and only that is rounded, to 50 digits.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Context, Decimal, DecimalException
from fractions import Fraction

MAX_CHARS = 1_000
MAX_DEPTH = 40
MAX_BITS = 4_096
MAX_POWER = 200
ROOTS = Context(prec=50)
MAX_ROOT = 1_250
"""Powers of ten: about what MAX_BITS hold."""

TOKEN = re.compile(
    r"\s*(?:(?P<number>[0-9]+(?:,[0-9]{3})+(?![0-9])(?:\.[0-9]+)?|[0-9]+(?:\.[0-9]*)?|\.[0-9]+)"
    r"|(?P<name>[A-Za-z_]+)|(?P<op>\*\*|[-+*/^%(),]))"
)


class ArithmeticFault(ValueError):
    """An expression that cannot be worked out; the message says where and why."""


@dataclass(frozen=True)
class Result:
    """`value` is exact unless `rounded` (a root was taken)."""

    value: Fraction
    rounded: bool = False

    def text(self, digits: int = 28) -> str:
        """The decimal expansion in full where it ends within 60 digits, else `digits` significant ones, marked."""
        numerator, denominator = self.value.numerator, self.value.denominator
        twos = fives = 0
        while denominator % 2 == 0:
            denominator, twos = denominator // 2, twos + 1
        while denominator % 5 == 0:
            denominator, fives = denominator // 5, fives + 1
        places = max(twos, fives)
        if denominator == 1 and places <= 60 and abs(numerator).bit_length() < 400 and not self.rounded:
            # Context(prec=400): no digit is lost at these sizes
            return f"{Context(prec=400).divide(Decimal(numerator), Decimal(self.value.denominator)):f}"
        context = Context(prec=digits)
        return f"{context.divide(Decimal(numerator), Decimal(self.value.denominator))} (rounded to {digits} digits)"


def evaluate(expression: str) -> Result:
    """Work out an expression. Raises ArithmeticFault, and nothing else."""
    if len(expression) > MAX_CHARS:
        raise ArithmeticFault(f"the expression is longer than {MAX_CHARS} characters")
    parser = _Parser(_tokens(expression.replace("\u2212", "-").replace("\u00d7", "*").replace("\u00f7", "/")))
    value = parser.expression(0, inside=False)
    if parser.peek() is not None:
        raise ArithmeticFault(f"{parser.peek()!r} is left over after a whole expression")
    return Result(value, parser.rounded)


def _tokens(text: str) -> list[str]:
    found, position = [], 0
    text = text.rstrip()
    while position < len(text):
        match = TOKEN.match(text, position)
        if match is None:
            raise ArithmeticFault(f"{text[position : position + 10].strip()!r} is not a number, operator or function")
        found.append(match.group().strip())
        position = match.end()
    return found


def _round(*values: Fraction) -> Fraction:
    """Half away from zero, as people round; at most 30 places either way."""
    value, places = values[0], values[1] if len(values) > 1 else Fraction(0)
    if len(values) > 2 or places.denominator != 1 or abs(places) > 30:
        raise ArithmeticFault("round(x, places) takes a whole number of places, -30 to 30")
    unit = Fraction(10) ** int(-places)
    scaled = abs(value) / unit
    whole = int(scaled + Fraction(1, 2))
    return unit * (whole if value >= 0 else -whole)


def _percent(*values: Fraction) -> Fraction:
    if len(values) != 2:
        raise ArithmeticFault("percent(part, whole) takes two numbers")
    if values[1] == 0:
        raise ArithmeticFault("percent(part, whole): the whole is 0")
    return values[0] / values[1] * 100


def _abs(*values: Fraction) -> Fraction:
    if len(values) != 1:
        raise ArithmeticFault("abs(x) takes one number")
    return abs(values[0])


FUNCTIONS: Mapping[str, Callable[..., Fraction]] = {
    "abs": _abs,
    "avg": lambda *values: sum(values, Fraction(0)) / len(values),
    "max": lambda *values: max(values),
    "min": lambda *values: min(values),
    "percent": _percent,
    "round": _round,
    "sum": lambda *values: sum(values, Fraction(0)),
}


class _Parser:
    def __init__(self, tokens: list[str]) -> None:
        self.tokens = tokens
        self.at = 0
        self.rounded = False

    def peek(self) -> str | None:
        return self.tokens[self.at] if self.at < len(self.tokens) else None

    def take(self, *wanted: str) -> str | None:
        token = self.peek()
        if token is not None and token in wanted:
            self.at += 1
            return token
        return None

    def expression(self, depth: int, inside: bool) -> Fraction:
        if depth > MAX_DEPTH:
            raise ArithmeticFault(f"brackets are nested deeper than {MAX_DEPTH}")
        value = self.term(depth, inside)
        while operator := self.take("+", "-"):
            other = self.term(depth, inside)
            value = self.bounded(value + other if operator == "+" else value - other)
        return value

    def term(self, depth: int, inside: bool) -> Fraction:
        value = self.unary(depth, inside)
        while operator := self.take("*", "/"):
            other = self.unary(depth, inside)
            if operator == "/" and other == 0:
                raise ArithmeticFault("division by 0")
            value = self.bounded(value * other if operator == "*" else value / other)
        return value

    def unary(self, depth: int, inside: bool) -> Fraction:
        if depth > MAX_DEPTH:
            raise ArithmeticFault(f"signs and brackets are nested deeper than {MAX_DEPTH}")
        sign = self.take("+", "-")
        if sign:
            value = self.unary(depth + 1, inside)
            return -value if sign == "-" else value
        base = self.atom(depth, inside)
        return self.power(base, self.unary(depth + 1, inside)) if self.take("**", "^") else base

    def atom(self, depth: int, inside: bool) -> Fraction:
        token = self.peek()
        if token is None:
            raise ArithmeticFault("the expression ends where a number should stand")
        self.at += 1
        if token == "(":
            value = self.expression(depth + 1, inside=False)
            self.close("(")
        elif token[0].isdigit() or token[0] == ".":
            if "," in token and inside:
                raise ArithmeticFault(
                    f"{token!r} within a function could be one number or several: "
                    "leave out the thousands commas, or put a space after each comma"
                )
            value = self.bounded(Fraction(token.replace(",", "").rstrip(".")))
        elif token.lower() in FUNCTIONS:
            value = self.call(token.lower(), depth)
        elif token.isidentifier():
            raise ArithmeticFault(f"there is no function {token[:40]!r}. Known: {', '.join(FUNCTIONS)}")
        else:
            raise ArithmeticFault(f"{token!r} stands where a number should")
        return value / 100 if self.take("%") else value

    def call(self, name: str, depth: int) -> Fraction:
        if not self.take("("):
            raise ArithmeticFault(f"{name} needs brackets: {name}(...)")
        values = [self.expression(depth + 1, inside=True)]
        while self.take(","):
            values.append(self.expression(depth + 1, inside=True))
        self.close(f"{name}(")
        return self.bounded(FUNCTIONS[name](*values))

    def close(self, opening: str) -> None:
        if not self.take(")"):
            raise ArithmeticFault(
                f"{opening!r} is not closed" if self.peek() is None else f"{self.peek()!r} is misplaced"
            )

    def power(self, base: Fraction, exponent: Fraction) -> Fraction:
        if abs(exponent) > MAX_POWER:
            raise ArithmeticFault(f"a power beyond {MAX_POWER} is not worked out")
        if base == 0 and exponent < 0:
            raise ArithmeticFault("division by 0")
        if exponent.denominator == 1:
            bits = max(base.numerator.bit_length(), base.denominator.bit_length())
            if bits * abs(int(exponent)) > MAX_BITS:
                raise ArithmeticFault("the result has too many digits")
            return base ** int(exponent)
        if base < 0:
            raise ArithmeticFault("a root of a negative number has no real value")
        self.rounded = True
        if not base:
            return base
        try:
            root = ROOTS.power(_decimal(base), _decimal(exponent))
        except DecimalException:
            raise ArithmeticFault("the result has too many digits") from None
        # before it is a fraction: the whole numbers of 1E-400000 would take minutes
        if abs(root.adjusted()) > MAX_ROOT:
            raise ArithmeticFault("the result has too many digits")
        return self.bounded(Fraction(root))

    def bounded(self, value: Fraction) -> Fraction:
        if max(value.numerator.bit_length(), value.denominator.bit_length()) > MAX_BITS:
            raise ArithmeticFault("the result has too many digits")
        return value


def _decimal(value: Fraction) -> Decimal:
    context = Context(prec=60, rounding=ROUND_HALF_UP)
    return context.divide(Decimal(value.numerator), Decimal(value.denominator))

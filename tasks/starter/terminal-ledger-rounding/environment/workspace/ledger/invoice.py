"""Invoices made of lines."""

from dataclasses import dataclass

from ledger import money


@dataclass(frozen=True)
class Line:
    description: str
    quantity: int
    unit_cents: int

    @property
    def cents(self):
        return self.quantity * self.unit_cents


def read_line(text):
    """A line like ``paper;3;19.99``. Raises ValueError when it is not one."""
    fields = text.strip().split(";")
    if len(fields) != 3:
        raise ValueError(f"expected three fields: {text!r}")
    description, quantity, unit = fields
    return Line(description.strip(), int(quantity), money.parse(unit))


def total(lines):
    """The sum of the lines in cents."""
    return sum(read_line(line).cents for line in lines if line.strip())

"""The printed report."""

from ledger import invoice, money


def render(lines, departments=1):
    """The report as text: a row a line, the total, and the parts of each department."""
    rows = []
    for text in lines:
        if text.strip():
            line = invoice.read_line(text)
            rows.append(f"{line.description:<12}{line.quantity:>4} x {money.show(line.unit_cents):>10}{money.show(line.cents):>12}")
    total = invoice.total(lines)
    rows.append(f"{'total':<31}{money.show(total):>12}")
    if departments > 1:
        parts = ", ".join(money.show(part) for part in money.split(total, departments))
        rows.append(f"split {departments}: {parts}")
    return "\n".join(rows) + "\n"

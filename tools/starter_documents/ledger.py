"""A quarter's ledger with formulas, the report made of it, and the bank's export: one cost centre does not agree.

A duplicate entry was reversed on a hidden sheet after the report had been drawn. Its twin has the same supplier and
amount, was posted and was paid.
"""

from __future__ import annotations

import datetime
import io
import random
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path

import openpyxl
from openpyxl.styles import Font

from .stable import MOMENT, write_zip

CENTRES = ("Administration", "Field service", "Logistics", "Marketing", "Research")
ACCOUNTS = ("6100 Travel", "6200 Subcontractors", "6300 Materials", "6400 Software", "6500 Freight")
SUPPLIERS = (
    "Aston Rail",
    "Borealis Supply",
    "Ferro Tools",
    "Kappa Data",
    "Lindgren & Co",
    "Mira Freight",
    "Oslo Print",
)
HEAD = ("Entry", "Date", "Cost centre", "Account", "Supplier", "Amount (EUR)", "Status")
TWIN, DUPLICATE = "JE-0455", "JE-0457"
AMOUNT = Decimal("1240.00")
Entry = tuple[str, datetime.date, str, str, str, Decimal, str]


def journal() -> list[Entry]:
    rng = random.Random(71)
    rows: list[Entry] = []
    for number in range(60):
        ident = f"JE-{420 + number:04d}"
        day = datetime.date(2024, 7, 1) + datetime.timedelta(days=number * 3 // 2)
        amount = Decimal(rng.randint(9_000, 390_000)) / 100
        centre, account, supplier = rng.choice(CENTRES), rng.choice(ACCOUNTS), rng.choice(SUPPLIERS)
        status = "Posted"
        if ident in (TWIN, DUPLICATE):
            centre, account, supplier, amount = "Field service", ACCOUNTS[1], "Ferro Tools", AMOUNT
            status = "Reversed" if ident == DUPLICATE else "Posted"
        if ident == "JE-0431":
            # a reversal that the report did take into account
            centre, status = "Marketing", "Reversed"
        rows.append((ident, day, centre, account, supplier, amount, status))
    return rows


def posted(rows: list[Entry], centre: str) -> Decimal:
    return sum((row[5] for row in rows if row[2] == centre and row[6] == "Posted"), Decimal(0))


def _workbook(rows: list[Entry], path: Path) -> None:
    book = openpyxl.Workbook()
    book.properties.creator = "tradeschool"
    book.properties.created = book.properties.modified = MOMENT
    sheet = book.active
    assert sheet is not None
    sheet.title = "Journal"
    sheet.merge_cells("A1:G1")
    sheet["A1"] = "General ledger, third quarter 2024"
    sheet["A1"].font = Font(bold=True)
    for column, text in enumerate(HEAD, 1):
        sheet.cell(3, column, text)
    for number, row in enumerate(rows, 4):
        for column, value in enumerate(row, 1):
            sheet.cell(number, column, float(value) if isinstance(value, Decimal) else value)
        sheet.cell(number, 6).number_format = "#,##0.00"
        sheet.cell(number, 2).number_format = "yyyy-mm-dd"
    last = len(rows) + 3
    summary = book.create_sheet("Summary")
    summary["A1"] = "Posted entries by cost centre (EUR)"
    summary["A3"], summary["B3"], summary["C3"] = "Cost centre", "Posted", "Entries"
    edits = []
    for number, centre in enumerate(CENTRES, 4):
        summary.cell(number, 1, centre)
        summary.cell(number, 2, f'=SUMIFS(Journal!F4:F{last},Journal!C4:C{last},A{number},Journal!G4:G{last},"Posted")')
        summary.cell(number, 3, f'=COUNTIFS(Journal!C4:C{last},A{number},Journal!G4:G{last},"Posted")')
        count = sum(row[2] == centre and row[6] == "Posted" for row in rows)
        # openpyxl writes formulas without a value; a workbook that a person saved has them
        edits.append(
            (rf'(<c r="B{number}"[^>]*><f>[^<]*</f>)<v\s*/?>(?:</v>)?', rf"\g<1><v>{posted(rows, centre)}</v>")
        )
        edits.append((rf'(<c r="C{number}"[^>]*><f>[^<]*</f>)<v\s*/?>(?:</v>)?', rf"\g<1><v>{count}</v>"))
    # the total was typed in last and never calculated
    summary["A9"], summary["B9"] = "Total", "=SUM(B4:B8)"
    corrections = book.create_sheet("Corrections")
    corrections.sheet_state = "hidden"
    corrections.append(["Entry", "Reversed on", "Reason", "Report drawn before?"])
    corrections.append(["JE-0431", datetime.date(2024, 9, 12), "Wrong period; belongs to Q2", "no"])
    corrections.append(
        [DUPLICATE, datetime.date(2024, 10, 8), f"Duplicate of {TWIN}, same invoice booked twice", "yes"]
    )
    stream = io.BytesIO()
    book.save(stream)
    write_zip(path, stream.getvalue(), {"xl/worksheets/sheet2.xml": edits})


def _report(rows: list[Entry], path: Path) -> None:
    def euros(value: Decimal) -> Decimal:
        return value.quantize(Decimal(1), ROUND_HALF_UP)

    lines = []
    total = Decimal(0)
    for centre in CENTRES:
        actual = posted(rows, centre) + (AMOUNT if centre == "Field service" else 0)
        budget = (actual * Decimal("1.06") / 100).quantize(Decimal(1)) * 100
        total += actual
        lines.append(f"<tr><td>{centre}</td><td>{budget:,}</td><td>{euros(actual):,}</td></tr>")
    path.write_text(
        f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Management report Q3 2024</title>
<style>td {{ text-align: right }}</style><script>var total = "0";</script></head>
<body>
<h1>Management report, third quarter 2024</h1>
<p>Drawn on 2 October 2024 from the general ledger. Amounts in EUR, rounded to whole euros; differences of up to
one euro are due to rounding.</p>
<h2>Operating cost by cost centre</h2>
<table>
<tr><th rowspan="2">Cost centre</th><th colspan="2">Q3 2024</th></tr>
<tr><th>Budget</th><th>Actual</th></tr>
{chr(10).join(lines)}
<tr><th colspan="2">Total actual</th><td>{euros(total):,}</td></tr>
</table>
<p>Marketing is shown after the reversal of an entry that belonged to the second quarter.</p>
<h2>Outlook</h2>
<p>Field service expects two further subcontractor invoices of about EUR 1,250 each in October.</p>
</body></html>
""",
        "utf-8",
    )


def _bank(rows: list[Entry], path: Path) -> None:
    rng = random.Random(72)
    lines = ["Value date;Payee;Reference;Amount"]
    for ident, day, _centre, _account, supplier, amount, status in rows:
        if status == "Posted" and (ident == TWIN or rng.random() < 0.8):
            paid = day + datetime.timedelta(days=rng.randint(9, 21))
            lines.append(f"{paid.isoformat()};{supplier};{ident};-{amount:.2f}")
    # same payee and amount again, for another reason
    lines.append(f"2024-09-30;Ferro Tools;Prepayment Q4 frame order;-{AMOUNT:.2f}")
    path.write_text("\n".join(lines) + "\n", "utf-8")


def make(folder: Path) -> None:
    rows = journal()
    _workbook(rows, folder / "general-ledger-q3.xlsx")
    _report(rows, folder / "management-report-q3.html")
    _bank(rows, folder / "bank-export-q3.csv")

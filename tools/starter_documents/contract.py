"""A hosting agreement and its two amendments: which notice period and fee hold depends on when notice was given."""

from __future__ import annotations

import io
from pathlib import Path

import docx
from docx.document import Document

from .stable import MOMENT, write_zip

Block = tuple[str, str]


def _document(title: str, header: str, blocks: list[Block]) -> Document:
    """Blocks are (kind, text): `1` and `2` are headings of that level, `p` a paragraph."""
    made = docx.Document()
    made.core_properties.author = "tradeschool"
    made.core_properties.created = made.core_properties.modified = MOMENT
    made.sections[0].header.paragraphs[0].text = header
    made.add_heading(title, 0)
    for kind, text in blocks:
        if kind == "p":
            made.add_paragraph(text)
        else:
            made.add_heading(text, int(kind))
    return made


def _save(made: Document, path: Path) -> None:
    stream = io.BytesIO()
    made.save(stream)
    write_zip(path, stream.getvalue())


AGREEMENT: list[Block] = [
    ("p", "between Brightmoor Hosting Ltd (the Provider) and Alder Point Logistics GmbH (the Customer), dated "
          "1 September 2021."),
    ("1", "1. Definitions"),
    ("p", "1.1 Initial Term means the period from 1 January 2022 to 31 December 2024."),
    ("p", "1.2 Annual Fee means EUR 184,000 for each contract year, as amended from time to time."),
    ("p", "1.3 Service Tier means the tier set out in the Order Form, being Plus at the date of this Agreement."),
    ("1", "6. Service levels"),
    ("p", "6.1 The Provider shall make the Hosting Services available 99.9% of each calendar month."),
    ("p", "6.2 If availability falls below 98% in two consecutive months the Customer may terminate with thirty (30) "
          "days' notice. No charge is payable in that case."),
    ("1", "9. Suspension"),
    ("p", "9.4 The Provider may suspend the Hosting Services on ten (10) days' notice if an undisputed invoice is more "
          "than forty-five (45) days overdue."),
    ("1", "14. Term and termination"),
    ("2", "14.1 Term"),
    ("p", "This Agreement runs for the Initial Term and then from year to year."),
    ("2", "14.2 Termination for convenience"),
    ("p", "The Customer may terminate this Agreement at any time without cause by giving the Provider not less than "
          "sixty (60) days' written notice."),
    ("2", "14.3 Counting and effect"),
    ("p", "A notice period begins on the day after the notice is received. Termination under clause 14.2 takes effect "
          "on the last day of the calendar month in which the notice period ends."),
    ("2", "14.4 Early termination charge"),
    ("p", "If termination under clause 14.2 takes effect before the end of the Initial Term, the Customer shall pay a "
          "single charge. The charge is the percentage of the Annual Fee in Schedule 2 for its Service Tier and the "
          "number of full calendar months that then remain of the Initial Term. The Annual Fee is the one in force "
          "when the notice is received."),
    ("1", "21. General"),
    ("p", "21.3 This Agreement may be amended only in writing signed by both parties. Where an amendment and this "
          "Agreement differ, the amendment prevails to the extent it says so."),
    ("1", "Schedule 2. Early termination charge"),
    ("p", "Percentage of the Annual Fee."),
]  # fmt: skip

FIRST: list[Block] = [
    ("p", "to the Hosting Agreement dated 1 September 2021 between Brightmoor Hosting Ltd and Alder Point Logistics "
          "GmbH. This Amendment No. 1 is dated 16 January 2023 and takes effect on 1 February 2023."),
    ("1", "1. Fees"),
    ("p", "In clause 1.2 the amount EUR 184,000 is replaced by EUR 196,500 with effect from 1 January 2023."),
    ("1", "2. Notice"),
    ("p", "In clause 14.2 the words sixty (60) days' are replaced by ninety (90) days'."),
    ("1", "3. Availability"),
    ("p", "In clause 6.2 the words thirty (30) days' are replaced by fourteen (14) days'."),
    ("1", "4. Continuing effect"),
    ("p", "All other terms of the Agreement, Schedule 2 included, remain in force unchanged."),
]  # fmt: skip

SECOND: list[Block] = [
    ("p", "to the Hosting Agreement dated 1 September 2021 between Brightmoor Hosting Ltd and Alder Point Logistics "
          "GmbH, as amended by Amendment No. 1. This Amendment No. 2 is dated 20 May 2024 and takes effect on "
          "1 July 2024 (the Amendment No. 2 Effective Date)."),
    ("1", "1. Termination for convenience"),
    ("p", "Clause 14.2 is deleted and replaced by: The Customer may terminate this Agreement at any time without cause "
          "by giving the Provider not less than forty-five (45) days' written notice."),
    ("1", "2. Fees"),
    ("p", "In clause 1.2 the Annual Fee is EUR 205,000 with effect from the Amendment No. 2 Effective Date."),
    ("1", "3. Transition"),
    ("p", "This Amendment No. 2 applies to notices received on or after the Amendment No. 2 Effective Date. A notice "
          "received before that date continues to be governed by the Agreement as amended by Amendment No. 1."),
]  # fmt: skip


def make(folder: Path) -> None:
    agreement = _document("Hosting Agreement", "Brightmoor Hosting Ltd - confidential", AGREEMENT)
    table = agreement.add_table(rows=4, cols=4, style="Table Grid")
    table.cell(0, 1).merge(table.cell(0, 3)).text = "Full calendar months remaining"
    table.cell(0, 0).merge(table.cell(1, 0)).text = "Service Tier"
    for column, text in enumerate(("1 to 3", "4 to 6", "7 to 12"), 1):
        table.cell(1, column).text = text
    for row, values in enumerate((("Standard", "5%", "10%", "18%"), ("Plus", "8%", "15%", "25%")), 2):
        for column, text in enumerate(values):
            table.cell(row, column).text = text
    _save(agreement, folder / "hosting-agreement.docx")
    _save(_document("Amendment No. 1", "Amendment No. 1 - executed", FIRST), folder / "amendment-1.docx")
    _save(_document("Amendment No. 2", "Amendment No. 2 - executed", SECOND), folder / "amendment-2.docx")

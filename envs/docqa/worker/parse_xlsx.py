"""XLSX by openpyxl, loaded twice: once for formulas, once for the values that were last calculated.

A sheet is a page. Hidden sheets, rows and columns and merged cells are told. Not covered: charts, pictures, macros,
comments, conditional formats; nothing is calculated here.
"""

from __future__ import annotations

import datetime
import warnings
import zipfile
from pathlib import Path
from typing import Any

import openpyxl
from openpyxl.utils import get_column_letter, range_boundaries
from openpyxl.utils.exceptions import InvalidFileException
from pages import MAX_CELLS, Document, DocumentFault, Page, Table, cell, row_line
from zips import check_zip

SHOWN_ROWS = 2_000
MAX_ASKED = 2_000


class XlsxDocument(Document):
    kind = "XLSX"
    page_word = "sheet"

    def __init__(self, path: Path) -> None:
        super().__init__()
        check_zip(path)
        try:
            with warnings.catch_warnings():
                # openpyxl warns of extensions it leaves out
                warnings.simplefilter("ignore")
                self.formulas = openpyxl.load_workbook(path, data_only=False)
                self.values = openpyxl.load_workbook(path, data_only=True)
        except (InvalidFileException, zipfile.BadZipFile, KeyError, ValueError, TypeError, AttributeError,
                IndexError, SyntaxError, OSError) as error:  # fmt: skip
            raise DocumentFault("malformed", f"is not a workbook that opens ({error!r})") from None
        self.names = [sheet.title for sheet in self.formulas.worksheets]
        if not self.names:
            raise DocumentFault("empty", "has no sheet with cells")
        total = sum(sheet.max_row * sheet.max_column for sheet in self.formulas.worksheets)
        if total > MAX_CELLS:
            raise DocumentFault("too_large", f"spans {total} cells; at most {MAX_CELLS} are read")

    def count(self) -> int:
        return len(self.names)

    def page(self, number: int) -> Page:
        sheet = self.formulas.worksheets[number]
        notes = self._notes(sheet)
        table = self.tables(number)[0]
        lines = [f"{row}: {row_line(cells)}" for row, cells in enumerate(table.rows, 1) if any(cells)]
        if len(lines) > SHOWN_ROWS:
            notes.append(
                f"only the first {SHOWN_ROWS} of {len(lines)} filled rows are shown; read_cells has the others"
            )
        used = f"A1:{get_column_letter(sheet.max_column)}{sheet.max_row}"
        title = f"{sheet.title} ({used}{', hidden' if sheet.sheet_state != 'visible' else ''})"
        columns = row_line(["", *(get_column_letter(n) for n in range(1, sheet.max_column + 1))])
        return Page(title, "\n".join([columns, *lines[:SHOWN_ROWS]]), notes=notes)

    def tables(self, number: int) -> list[Table]:
        """The whole used range, values as they were last calculated."""
        sheet, cached = self.formulas.worksheets[number], self.values.worksheets[number]
        rows = [
            [shown(cached.cell(item.row, item.column).value, item.value) for item in row]
            for row in sheet.iter_rows(min_row=1, min_col=1, max_row=sheet.max_row, max_col=sheet.max_column)
        ]
        spans = [
            [area.min_row - 1, area.min_col - 1, area.max_row - area.min_row + 1, area.max_col - area.min_col + 1]
            for area in sorted(sheet.merged_cells.ranges, key=lambda area: (area.min_row, area.min_col))
        ]
        return [Table(rows, spans, sheet.title, "the used range of the sheet")]

    def cells(self, number: int, area: str) -> list[dict[str, Any]]:
        """Filled cells of a range such as `B2:D9`: `at`, `value` as last calculated, `formula` or an empty text."""
        try:
            left, top, right, bottom = range_boundaries(area.replace("$", "").upper())
        except (ValueError, TypeError):
            left = top = right = bottom = None
        if not all((left, top, right, bottom)):
            raise DocumentFault("missing", f"has no range {area!r}", "Ask for one such as B2 or A1:C10.")
        if left > right or top > bottom:
            first = f"{get_column_letter(min(left, right))}{min(top, bottom)}"
            last = f"{get_column_letter(max(left, right))}{max(top, bottom)}"
            raise DocumentFault("missing", f"has no range {area!r}", f"Put the top left cell first: {first}:{last}.")
        asked = (right - left + 1) * (bottom - top + 1)
        if asked > MAX_ASKED:
            remedy = f"At most {MAX_ASKED} are read at once: ask for a smaller range."
            raise DocumentFault("too_large", f"was asked for {asked} cells ({area})", remedy)
        sheet, cached = self.formulas.worksheets[number], self.values.worksheets[number]
        found = []
        for row in range(top, min(bottom, sheet.max_row) + 1):
            for column in range(left, min(right, sheet.max_column) + 1):
                written = sheet.cell(row, column).value
                if written is not None:
                    style = sheet.cell(row, column).number_format
                    found.append(
                        {
                            "at": f"{get_column_letter(column)}{row}",
                            "value": plain(cached.cell(row, column).value),
                            "formula": formula_text(written),
                            "format": "" if style == "General" else cell(style),
                        }
                    )
        return found

    @staticmethod
    def _notes(sheet: Any) -> list[str]:
        notes = []
        if sheet.sheet_state != "visible":
            notes.append(f"this sheet is hidden ({sheet.sheet_state})")
        merged = sorted(str(area) for area in sheet.merged_cells.ranges)
        if merged:
            more = f" and {len(merged) - 20} more" if len(merged) > 20 else ""
            notes.append(f"merged cells: {', '.join(merged[:20])}{more}")
        rows = sorted(number for number, row in sheet.row_dimensions.items() if row.hidden)
        if rows:
            notes.append(f"hidden rows: {', '.join(map(str, rows[:50]))}")
        columns = sorted(letter for letter, column in sheet.column_dimensions.items() if column.hidden)
        if columns:
            notes.append(f"hidden columns: {', '.join(columns[:50])}")
        return notes

    def close(self) -> None:
        self.formulas.close()
        self.values.close()


def formula_text(written: Any) -> str:
    """`=SUM(A1:A9)`, or an empty text for a plain value; array formulas too."""
    text = getattr(written, "text", written)
    return cell(text) if isinstance(text, str) and text.startswith("=") else ""


def plain(value: Any) -> str:
    """A value as text: numbers without a trailing .0, dates in ISO form."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    if isinstance(value, datetime.datetime) and value.time() == datetime.time():
        return value.date().isoformat()
    if isinstance(value, (datetime.datetime, datetime.date, datetime.time)):
        return value.isoformat()
    return cell(value)


def shown(value: Any, written: Any) -> str:
    """The calculated value; a formula that was never calculated is shown itself."""
    formula = formula_text(written)
    return f"{formula} (no calculated value)" if formula and value is None else plain(value)

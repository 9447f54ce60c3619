"""DOCX by python-docx: headings, paragraphs and tables in their order, cut into sections.

A merged cell is one cell of the XML; python-docx repeats it in every place it covers, so cells are told apart by
their element. Headers and footers stand at the top, once. Not covered: footnotes, comments, text boxes, tracked
changes (deleted text is left out, inserted text is read only where python-docx gives it).
"""

from __future__ import annotations

import re
import zipfile
from pathlib import Path
from typing import Any

import docx
from docx.opc.exceptions import PackageNotFoundError
from docx.table import Table as DocxTable
from docx.text.paragraph import Paragraph
from pages import MAX_CELLS, Document, DocumentFault, Sections, Table, cell, clean, number_tables, table_block
from zips import check_zip

HEADING = re.compile(r"(?:heading|title)\s*([0-9]?)", re.IGNORECASE)


class DocxDocument(Document):
    kind = "DOCX"
    page_word = "section"

    def __init__(self, path: Path) -> None:
        super().__init__()
        check_zip(path)
        try:
            word = docx.Document(str(path))
            sections = Sections()
            self._margins(word, sections)
            for block in word.iter_inner_content():
                if isinstance(block, Paragraph):
                    self._paragraph(block, sections)
                else:
                    table_block(sections, read_table(block))
        except (PackageNotFoundError, zipfile.BadZipFile, KeyError, ValueError, TypeError, AttributeError,
                IndexError, SyntaxError) as error:  # fmt: skip
            raise DocumentFault("malformed", f"is not a document that opens ({error!r})") from None
        self.pages = number_tables(sections.pages)
        if not any(page.text.strip() for page in self.pages):
            raise DocumentFault("empty", "has no text")

    @staticmethod
    def _margins(word: Any, sections: Sections) -> None:
        seen = []
        for section in word.sections:
            for name, part in (("header", section.header), ("footer", section.footer)):
                text = " / ".join(cell(p.text) for p in part.paragraphs if p.text.strip())
                if text and (name, text) not in seen:
                    seen.append((name, text))
        for name, text in seen:
            sections.add(f"[{name}] {text}")

    @staticmethod
    def _paragraph(block: Paragraph, sections: Sections) -> None:
        text = clean(block.text).strip()
        if not text:
            return
        style = block.style.name if block.style is not None and block.style.name else ""
        heading = HEADING.match(style)
        if heading:
            sections.heading(text, int(heading.group(1) or 1))
        elif style.lower().startswith("list"):
            sections.add(f"- {text}")
        else:
            sections.add(text)


def read_table(table: DocxTable) -> Table:
    """Cells on their grid; a cell that goes on over columns or rows is there once, with its span."""
    rows: list[list[str]] = []
    spans: list[list[int]] = []
    above: dict[int, list[int]] = {}
    total = 0
    for r, row in enumerate(table.rows):
        cells: list[str] = [""] * row.grid_cols_before
        going: dict[int, list[int]] = {}
        for element in row._tr.tc_lst:
            c, width = len(cells), element.grid_span
            if element.vMerge == "continue" and c in above:
                above[c][2] += 1
                going[c] = above[c]
                cells += [""] * width
                continue
            span = [r, c, 1, width]
            if element.vMerge is not None:
                going[c] = span
            if width > 1 or element.vMerge is not None:
                spans.append(span)
            text = cell(" ".join(Paragraph(p, table).text for p in element.p_lst))  # type: ignore[arg-type]
            cells += [text, *[""] * (width - 1)]
        above = going
        rows.append(cells)
        total += len(cells)
        if total > MAX_CELLS:
            raise DocumentFault("too_large", f"has a table of more than {MAX_CELLS} cells")
    width = max((len(row) for row in rows), default=0)
    return Table([row + [""] * (width - len(row)) for row in rows], [s for s in spans if s[2] > 1 or s[3] > 1])

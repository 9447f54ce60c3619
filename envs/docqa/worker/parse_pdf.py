"""PDF: text and pictures by pypdfium2, tables by pdfplumber. Pages are read one at a time.

Not covered: optical character recognition, forms, annotations, attachments.
"""

from __future__ import annotations

import re
from pathlib import Path

import pypdfium2
import pypdfium2.raw as pdfium
from pages import CONTROL, MAX_PAGE_CHARS, MAX_PAGES, Document, DocumentFault, Page, Table, cell

UNRELIABLE = re.compile("[\x00\ufffd\ue000-\uf8ff]|\\(cid:[0-9]+\\)")
MAX_PICTURE = 1_200
"""Longer side of a page's picture, in pixels."""


class PdfDocument(Document):
    kind = "PDF"

    def __init__(self, path: Path) -> None:
        super().__init__()
        with path.open("rb") as stream:
            if b"%PDF-" not in stream.read(1024):
                raise DocumentFault("malformed", "is not a PDF: it has no %PDF- header")
        self.path = path
        self.plumber = None
        try:
            self.pdf = pypdfium2.PdfDocument(path)
        except pypdfium2.PdfiumError as error:
            if pdfium.FPDF_GetLastError() == pdfium.FPDF_ERR_PASSWORD or "password" in str(error).lower():
                raise DocumentFault("encrypted", "is encrypted: it needs a password") from None
            raise DocumentFault("malformed", f"does not open ({error})") from None
        self.length = len(self.pdf)
        if not self.length:
            raise DocumentFault("empty", "has no page")
        if self.length > MAX_PAGES:
            raise DocumentFault("too_large", f"has {self.length} pages; at most {MAX_PAGES} are read")

    def count(self) -> int:
        return self.length

    def page(self, number: int) -> Page:
        try:
            page = self.pdf[number]
        except pypdfium2.PdfiumError as error:
            raise DocumentFault("malformed", f"page {number + 1} does not open ({error})") from None
        try:
            textpage = page.get_textpage()
            try:
                raw = textpage.get_text_bounded()
            finally:
                textpage.close()
            notes = self._notes(page, raw)
        except pypdfium2.PdfiumError as error:
            raise DocumentFault("malformed", f"page {number + 1} cannot be read ({error})") from None
        finally:
            page.close()
        if len(raw) > MAX_PAGE_CHARS:
            raise DocumentFault("too_large", f"page {number + 1} has {len(raw)} characters")
        # pdfium marks a hyphen at a line's end by U+FFFE
        text = CONTROL.sub("", raw.replace("\r\n", "\n").replace("\ufffe", "-")).strip()
        first = next((line.strip() for line in text.splitlines() if line.strip()), "")
        return Page(first[:80], text, notes=notes)

    def _notes(self, page: pypdfium2.PdfPage, text: str) -> list[str]:
        notes = []
        bad = len(UNRELIABLE.findall(text))
        if bad:
            notes.append(f"text unreliable: {bad} characters have no known meaning in the page's fonts")
        if not text.strip():
            notes.append("no text on this page; it may be a picture")
        hidden = sum(
            pdfium.FPDFTextObj_GetTextRenderMode(item.raw) == pdfium.FPDF_TEXTRENDERMODE_INVISIBLE
            for item in page.get_objects(filter=[pdfium.FPDF_PAGEOBJ_TEXT], max_depth=2)
        )
        if hidden:
            notes.append(f"{hidden} pieces of text are invisible to a reader of the page; do not rely on them")
        return notes

    def tables(self, number: int) -> list[Table]:
        """Ruled tables; where there is none, what the alignment of words suggests, marked as such."""
        # slow to import, and many episodes never ask for a table
        import pdfplumber
        from pdfminer.pdfexceptions import PDFException
        from pdfplumber.utils.exceptions import PdfminerException

        if self.plumber is None:
            self.plumber = pdfplumber.open(self.path)
        try:
            page = self.plumber.pages[number]
            found = [self._table(table.extract(), "ruled") for table in page.find_tables()]
            found = [table for table in found if len(table.rows) > 1 and len(table.rows[0]) > 1]
            if not found:
                settings = {"vertical_strategy": "text", "horizontal_strategy": "text"}
                aligned = [self._table(rows, "aligned words, no rules: compare with read_page")
                           for rows in page.extract_tables(settings)]  # fmt: skip
                found = [table for table in aligned if looks_tabular(table)]
            page.close()
        except (PDFException, PdfminerException, ValueError, TypeError, KeyError, IndexError, ArithmeticError) as error:
            raise DocumentFault("malformed", f"tables of page {number + 1} cannot be read ({error!r})") from None
        return found

    @staticmethod
    def _table(rows: list[list[str | None]], note: str) -> Table:
        # pdfplumber gives None for a cell that a merged one covers
        spans = []
        for r, row in enumerate(rows):
            for c, value in enumerate(row):
                width = 1
                while value is not None and c + width < len(row) and row[c + width] is None:
                    width += 1
                if width > 1:
                    spans.append([r, c, 1, width])
        return Table([[cell(value) for value in row] for row in rows if any(row)], spans, note=note)

    def picture(self, number: int) -> tuple[int, int, bytes]:
        """(height, width, RGB bytes) of a page."""
        page = self.pdf[number]
        try:
            longer = max(page.get_size())
            image = page.render(scale=min(2.0, MAX_PICTURE / max(longer, 1.0))).to_pil().convert("RGB")
        finally:
            page.close()
        return image.height, image.width, image.tobytes()

    def close(self) -> None:
        if self.plumber is not None:
            self.plumber.close()
        self.pdf.close()


def looks_tabular(table: Table) -> bool:
    """Whether words that happen to stand under each other are a table: prose has few figures."""
    cells = [value for row in table.rows for value in row if value]
    figures = sum(any(char.isdigit() for char in value) for value in cells)
    return len(table.rows) > 2 and len(table.rows[0]) > 1 and figures * 10 >= len(cells) * 3

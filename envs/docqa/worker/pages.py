"""What every parser makes of a document: pages with a title, text and tables; and how it says that it cannot.

Limits guard this process's memory; text past them is never dropped in silence, the document is refused instead.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

MAX_FILE_BYTES = 64 * 2**20
MAX_UNPACKED_BYTES = 256 * 2**20
MAX_PAGES = 5_000
MAX_PAGE_CHARS = 1_000_000
MAX_TEXT_CHARS = 10_000_000
MAX_CELLS = 1_000_000
SECTION_CHARS = 4_000
"""Formats without pages are cut into sections of about this size, at headings and paragraphs."""

CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


class DocumentFault(Exception):
    """A document that cannot be read: kind is encrypted, empty, malformed, too_large, unsupported or missing.

    `remedy` is a sentence, where the usual one of the kind would not help.
    """

    def __init__(self, kind: str, message: str, remedy: str = "") -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.remedy = remedy


@dataclass
class Table:
    """Rows of cell texts, all of one length. `spans`: [row, column, rows, columns] of merged cells, from 0.

    A merged cell's text stands in its first cell, the cells it covers are empty. `note` says how it was found.
    """

    rows: list[list[str]]
    spans: list[list[int]] = field(default_factory=list)
    title: str = ""
    note: str = ""

    def to_dict(self) -> dict[str, Any]:
        return {"rows": self.rows, "spans": self.spans, "title": self.title, "note": self.note}


@dataclass
class Page:
    """One page, sheet or section."""

    title: str
    text: str
    tables: list[Table] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


class Document:
    """An open document; parsers subclass it. Pages are counted from 0 here."""

    kind = ""
    page_word = "page"

    def __init__(self) -> None:
        self.pages: list[Page] = []
        self.notes: list[str] = []

    def count(self) -> int:
        return len(self.pages)

    def page(self, number: int) -> Page:
        return self.pages[number]

    def tables(self, number: int) -> list[Table]:
        return self.pages[number].tables

    def close(self) -> None:
        """Release what the parser holds."""


def clean(text: Any) -> str:
    """A cell's or line's text: control characters out, line ends plain."""
    if text is None:
        return ""
    return CONTROL.sub("", str(text).replace("\r\n", "\n").replace("\r", "\n").replace("\f", "\n"))


def cell(text: Any) -> str:
    """A cell on one line."""
    return " ".join(clean(text).split())


def row_line(cells: list[str]) -> str:
    return " | ".join(cells).rstrip()


class Sections:
    """Collects blocks of text and tables into pages of bounded size, a new one at a heading when it is worth it."""

    def __init__(self) -> None:
        self.pages: list[Page] = []
        self._fresh = True
        self._size = 0
        self._total = 0

    def heading(self, text: str, level: int) -> None:
        if self._size > SECTION_CHARS // (4 if level <= 1 else 2):
            self._fresh = True
        self.add("#" * max(1, min(level, 6)) + " " + text, title=text)

    def add(self, text: str, table: Table | None = None, title: str = "") -> None:
        # a line longer than a section is cut hard, so that a page can always be shown
        for start in range(0, max(len(text), 1), SECTION_CHARS):
            self._piece(text[start : start + SECTION_CHARS], table if start == 0 else None, title)

    def _piece(self, text: str, table: Table | None, title: str) -> None:
        self._total += len(text)
        if self._total > MAX_TEXT_CHARS or len(self.pages) > MAX_PAGES:
            raise DocumentFault("too_large", "has more text than can be read here")
        if self._fresh or self._size + len(text) > SECTION_CHARS:
            self.pages.append(Page(title, ""))
            self._fresh, self._size = False, 0
        page = self.pages[-1]
        page.title = page.title or title
        if table is not None:
            page.tables.append(table)
        page.text += ("\n" if page.text else "") + text
        self._size += len(text) + 1


def table_block(sections: Sections, table: Table) -> None:
    """A table as lines under a mark with its number on the page, and as a table; nothing of one without cells."""
    if not table.rows or not table.rows[0]:
        return
    lines = [row_line(row) for row in table.rows]
    body = "\n".join(lines)
    if len(body) <= SECTION_CHARS - 40:
        sections.add(f"{{table}}\n{body}", table)
        return
    # a long table: the whole of it hangs on the first page that shows a part
    head, part, size = True, [], 0
    for line in [*lines, None]:
        if part and (line is None or size + len(line) > SECTION_CHARS - 40):
            sections.add("\n".join(["{table}" if head else "(the table goes on)", *part]), table if head else None)
            head, part, size = False, [], 0
        if line is not None:
            part.append(line)
            size += len(line) + 1


def number_tables(pages: list[Page]) -> list[Page]:
    """Replaces the marks of `table_block` by `[table n]`, n counted on each page from 1."""
    for page in pages:
        pieces = page.text.split("{table}\n")
        if len(pieces) - 1 == len(page.tables):
            page.text = pieces[0] + "".join(f"[table {n}]\n{piece}" for n, piece in enumerate(pieces[1:], 1))
    return pages

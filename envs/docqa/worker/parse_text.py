"""Plain text and Markdown, cut into sections at headings and blank lines; CSV as pages of rows."""

from __future__ import annotations

import codecs
import csv
import io
import itertools
import re
from pathlib import Path

from pages import MAX_CELLS, MAX_TEXT_CHARS, Document, DocumentFault, Page, Sections, Table, cell, clean, row_line

BOMS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
HEADING = re.compile(r"(#{1,6})\s+(\S.*)")
ROWS_A_PAGE = 100


def decode(raw: bytes) -> tuple[str, str]:
    """Text and a note about its encoding. Raises DocumentFault (malformed) for binary data."""
    for mark, encoding in BOMS:
        if raw.startswith(mark):
            try:
                return raw.decode(encoding), ""
            except UnicodeDecodeError as error:
                raise DocumentFault("malformed", f"is not {encoding} as its first bytes say ({error.reason})") from None
    if b"\x00" in raw[:65536]:
        raise DocumentFault("malformed", "is binary data, not text")
    try:
        return raw.decode("utf-8"), ""
    except UnicodeDecodeError as error:
        # every byte means something in Latin-1, the superset people mean by it is cp1252
        return raw.decode("cp1252", "replace"), f"not UTF-8 (byte {error.start}): read as Windows-1252"


def _read(path: Path) -> tuple[str, list[str]]:
    text, note = decode(path.read_bytes())
    if len(text) > MAX_TEXT_CHARS:
        raise DocumentFault("too_large", f"has {len(text)} characters; at most {MAX_TEXT_CHARS} are read")
    if not text.strip():
        raise DocumentFault("empty", "has no text")
    return clean(text), [note] if note else []


class TextDocument(Document):
    kind = "TXT"
    page_word = "section"

    def __init__(self, path: Path) -> None:
        super().__init__()
        markdown = path.suffix.lower() in (".md", ".markdown")
        self.kind = "Markdown" if markdown else "TXT"
        text, self.notes = _read(path)
        sections = Sections()
        fenced = False
        for line in text.split("\n"):
            fenced ^= line.lstrip().startswith("```")
            heading = HEADING.fullmatch(line.rstrip()) if markdown and not fenced else None
            if heading:
                sections.heading(heading.group(2).strip("# "), len(heading.group(1)))
            else:
                sections.add(line.rstrip())
        self.pages = [page for page in sections.pages if page.text.strip()]
        for page in self.pages:
            page.title = page.title or next(line.strip()[:80] for line in page.text.split("\n") if line.strip())
            page.text = page.text.strip("\n")
            page.tables = pipe_tables(page.text) if markdown else []


def pipe_tables(text: str) -> list[Table]:
    """Markdown tables: a header, a line of dashes, rows."""
    found: list[Table] = []
    lines = text.split("\n")
    for number, line in enumerate(lines):
        if number and "|" in lines[number - 1] and re.fullmatch(r"\s*\|?(?:\s*:?-+:?\s*\|)*\s*:?-+:?\s*\|?\s*", line):
            rows = [_pipe_cells(lines[number - 1])]
            for follow in lines[number + 1 :]:
                if "|" not in follow:
                    break
                rows.append(_pipe_cells(follow))
            width = max(map(len, rows))
            found.append(Table([row + [""] * (width - len(row)) for row in rows]))
    return found


def _pipe_cells(line: str) -> list[str]:
    return [cell(part) for part in line.strip().strip("|").split("|")]


class CsvDocument(Document):
    kind = "CSV"
    page_word = "part"

    def __init__(self, path: Path) -> None:
        super().__init__()
        text, self.notes = _read(path)
        csv.field_size_limit(1_000_000)
        try:
            rows = [[cell(item) for item in row] for row in csv.reader(io.StringIO(text, newline=""), _dialect(text))]
        except csv.Error as error:
            raise DocumentFault("malformed", f"is not CSV ({error})") from None
        rows = [row for row in rows if any(row)]
        if not rows:
            raise DocumentFault("empty", "has no row with anything in it")
        width = max(map(len, rows), default=0)
        if len(rows) * width > MAX_CELLS:
            raise DocumentFault(
                "too_large", f"has {len(rows)} rows of {width} cells; at most {MAX_CELLS} cells are read"
            )
        if any(len(row) != width for row in rows):
            self.notes.append("rows differ in length; short ones are filled with empty cells")
        rows = [row + [""] * (width - len(row)) for row in rows]
        head, body = rows[0], rows[1:]
        for start in range(0, max(len(body), 1), ROWS_A_PAGE):
            part = body[start : start + ROWS_A_PAGE]
            # +2: the header is row 1
            lines = [row_line(["row", *head]), *(row_line([str(start + n + 2), *row]) for n, row in enumerate(part))]
            title = f"rows {start + 2} to {start + 1 + len(part)}" if part else "header only"
            self.pages.append(Page(title, "\n".join(lines), [Table([head, *part], title=title)]))


def _dialect(text: str) -> type[csv.Dialect]:
    """By the separator that splits the first lines most evenly; quotes as Excel writes them."""
    # the text is not blank: there is at least one
    lines = list(itertools.islice((line for line in text.split("\n") if line.strip()), 20))
    best = max(",;\t|", key=lambda mark: (min(line.count(mark) for line in lines) > 0, lines[0].count(mark)))

    class Dialect(csv.excel):
        delimiter = best

    return Dialect

"""Documents as text for an agent: bounded, saying what was cut and how to read the rest."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from .documents import CellReply, Document, TableReply
from .index import Found


def document_line(document: Document) -> str:
    """`d1  report.pdf  PDF, 12 pages`, with notes below."""
    count = len(document.pages)
    line = f"{document.id}  {document.name}  {document.kind}, {count} {document.page_word}{'s' if count != 1 else ''}"
    if document.kind == "XLSX":
        line += ": " + ", ".join(page.title for page in document.pages)
    return "\n".join([line, *(f"    note: {note}" for note in document.notes)])


def page_text(document: Document, number: int, offset: int, limit: int, tables: int | None) -> str:
    """A page from `offset` on, at most `limit` characters of it."""
    page = document.pages[number - 1]
    part = page.text[offset : offset + limit]
    head = f"{document.id} {document.name}, {document.page_word} {number} of {len(document.pages)}"
    lines = [head + (f": {page.title}" if document.kind == "XLSX" else "")]
    lines += [f"note: {note}" for note in page.notes]
    if tables:
        lines.append(f"note: read_table shows {tables} table{'s' if tables != 1 else ''} of this {document.page_word}")
    if offset:
        lines.append(f"(from character {offset})")
    lines += ["", part]
    end = offset + len(part)
    if end < len(page.text):
        lines.append(f"\n[cut: characters {offset} to {end} of {len(page.text)}; read on with offset={end}]")
    elif not part:
        lines.append(f"(no text here: the {document.page_word} has {len(page.text)} characters)")
    return "\n".join(lines)


def search_text(found: Found, documents: Mapping[str, Document], query: str, limit: int) -> str:
    """The hits, best first, each with where it stands."""
    if not found.hits:
        return f"Nothing found for {query!r}. Try fewer or other words; numbers are matched whole."
    head = (
        f"{found.total} passage{'s' if found.total != 1 else ''} with {'all' if found.every else 'some'} of the terms"
    )
    blocks = [f"{head}{'' if found.every else ' (none has all)'}; best first."]
    for hit in found.hits:
        document = documents[hit.document]
        where = f"{document.id} {document.name}, {document.page_word} {hit.page}, from character {hit.offset}:"
        blocks.append(f"{where}\n{hit.text.strip()}")
    return fit(blocks, "\n\n", limit, "passages", "ask for a smaller limit or search in one document")


def table_text(head: str, table: TableReply, first: int, limit: int) -> str:
    """Rows from `first` on as `number: a | b | c`, as many as fit `limit`."""
    lines = [head]
    if table.title:
        lines.append(f"title: {table.title}")
    if table.note:
        lines.append(f"note: {table.note}")
    if table.spans:
        merged = [f"row {r + 1} column {c + 1} spans {down}x{across}" for r, c, down, across in table.spans[:20]]
        more = f" and {len(table.spans) - 20} more" if len(table.spans) > 20 else ""
        lines.append(f"merged cells: {'; '.join(merged)}{more}")
    size = sum(map(len, lines))
    for number, row in enumerate(table.rows[first - 1 :], first):
        line = f"{number}: {' | '.join(row)}"
        if size + len(line) > limit and number > first:
            lines.append(f"[cut: rows {first} to {number - 1} of {len(table.rows)}; read on with row={number}]")
            break
        lines.append(line[:limit])
        size += len(line) + 1
    return "\n".join(lines)


def cells_text(head: str, cells: Sequence[CellReply], limit: int) -> str:
    """One line a cell: `B7 = 1234.5   formula =SUM(B2:B6)   format 0.00`."""
    lines = []
    for cell in cells:
        value = cell.value if cell.value or not cell.formula else "(never calculated)"
        line = f"{cell.at} = {value}"
        line += f"   formula {cell.formula}" if cell.formula else ""
        lines.append(line + (f"   format {cell.format}" if cell.format else ""))
    return fit(
        [head, *lines] if lines else [head, "(every cell is empty)"], "\n", limit, "lines", "ask for a smaller range"
    )


def fit(blocks: Iterable[str], separator: str, limit: int, word: str, remedy: str) -> str:
    """As many whole blocks as fit `limit`, at least the first; then what was left out."""
    blocks = list(blocks)
    kept: list[str] = []
    size = 0
    for block in blocks:
        if kept and size + len(block) > limit:
            kept.append(f"[cut: {len(blocks) - len(kept)} more {word}; {remedy}]")
            break
        kept.append(block[:limit])
        size += len(block) + len(separator)
    return separator.join(kept)


def schema_text(schema: Mapping[str, Any], cites: bool) -> str:
    """What the agent is told of the answer's form."""
    lines = [
        "Answer with submit(answer=...), an object that fits this JSON Schema; anything else scores 0. Keywords that "
        "begin with x- say how a field is read: x-scale is what a bare number is in, x-precision the decimal places "
        "that count, x-required a field without which nothing counts.",
        json_text(schema),
    ]
    if cites:
        lines.append("Cite the pages that hold the evidence: the score is multiplied by how well they are chosen (F1).")
    return "\n".join(lines)


def json_text(schema: Mapping[str, Any], depth: int = 0) -> str:
    """JSON with the fields of an object one a line, and what is inside a field on that line."""
    if depth == 0 or "properties" in schema:
        lines = []
        for key, value in schema.items():
            if key == "properties":
                inner = ",\n".join(
                    f"{'  ' * (depth + 1)}{json.dumps(k)}: {json_text(v, depth + 1)}" for k, v in value.items()
                )
                lines.append(f'"properties": {{\n{inner}\n{"  " * depth}}}')
            else:
                lines.append(f"{json.dumps(key)}: {json.dumps(value, ensure_ascii=False, default=float)}")
        return "{" + ", ".join(lines) + "}"
    return json.dumps(schema, ensure_ascii=False, default=float)

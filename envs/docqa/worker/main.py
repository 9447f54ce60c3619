"""The document worker: parses hostile files in a sandbox and answers requests on standard input.

A frame is 4 bytes of length, big-endian, then JSON in UTF-8. A request is {"op": ..., ...}; the answer is {"ok": ...}
or {"error": {"kind", "message"}}. Standard output carries frames alone: what a library prints goes to standard error.
Imports the standard library and the parsers only.
"""

from __future__ import annotations

import base64
import json
import os
import struct
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

# `python -I` leaves the script's own folder out
sys.path.insert(0, str(Path(__file__).resolve().parent))

from pages import MAX_FILE_BYTES, MAX_TEXT_CHARS, Document, DocumentFault, Page

PROTOCOL = 1
MAX_REQUEST = 1 << 20
BATCH_CHARS = 2_000_000


def open_document(path: Path) -> Document:
    """The parser for a file's ending; parsers load when they are needed."""
    size = path.stat().st_size
    if not size:
        raise DocumentFault("empty", "is an empty file (0 bytes)")
    if size > MAX_FILE_BYTES:
        raise DocumentFault("too_large", f"is {size} bytes; at most {MAX_FILE_BYTES} are read")
    suffix = path.suffix.lower()
    if suffix == ".pdf":
        from parse_pdf import PdfDocument

        return PdfDocument(path)
    if suffix == ".xlsx":
        from parse_xlsx import XlsxDocument

        return XlsxDocument(path)
    if suffix == ".docx":
        from parse_docx import DocxDocument

        return DocxDocument(path)
    if suffix in (".html", ".htm"):
        from parse_html import HtmlDocument

        return HtmlDocument(path)
    from parse_text import CsvDocument, TextDocument

    if suffix == ".csv":
        return CsvDocument(path)
    if suffix in (".txt", ".md", ".markdown"):
        return TextDocument(path)
    raise DocumentFault("unsupported", f"has the ending {suffix!r}, which no parser here reads")


class Worker:
    """Open documents by file name, and the operations on them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.open: dict[str, Document] = {}

    def document(self, name: str) -> Document:
        if name not in self.open:
            path = self.folder / name
            if path.parent != self.folder or not path.is_file() or path.is_symlink():
                raise DocumentFault("missing", "is not among the documents")
            self.open[name] = open_document(path)
        return self.open[name]

    def hello(self) -> Any:
        return {"protocol": PROTOCOL}

    def load(self, file: str) -> Any:
        document = self.document(file)
        return {
            "kind": document.kind,
            "page_word": document.page_word,
            "pages": document.count(),
            "notes": document.notes,
        }

    def pages(self, file: str, start: int) -> Any:
        """Pages from `start` on, as many as fit one frame."""
        document = self.document(file)
        made: list[dict[str, Any]] = []
        size = 0
        for number in range(start, document.count()):
            page: Page = document.page(number)
            made.append({"title": page.title, "text": page.text, "notes": page.notes})
            size += len(page.text)
            if size > BATCH_CHARS:
                break
        if size > MAX_TEXT_CHARS:
            raise DocumentFault("too_large", "has more text than can be read here")
        return made

    def tables(self, file: str, page: int) -> Any:
        return [table.to_dict() for table in self.document(file).tables(page)]

    def cells(self, file: str, page: int, area: str) -> Any:
        document = self.document(file)
        if document.kind != "XLSX":
            raise DocumentFault("unsupported", f"is a {document.kind} file; cells can be read of XLSX files")
        return document.cells(page, area)  # type: ignore[attr-defined]

    def picture(self, file: str, page: int) -> Any:
        document = self.document(file)
        if document.kind != "PDF":
            raise DocumentFault("unsupported", f"is a {document.kind} file; only PDF pages have a picture")
        height, width, rgb = document.picture(page)  # type: ignore[attr-defined]
        return {"height": height, "width": width, "rgb": base64.b64encode(rgb).decode()}

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        operations: dict[str, Callable[..., Any]] = {
            name: getattr(self, name) for name in ("hello", "load", "pages", "tables", "cells", "picture")
        }
        arguments = dict(request)
        operation = operations[arguments.pop("op")]
        try:
            return {"ok": operation(**arguments)}
        except DocumentFault as fault:
            return {"error": {"kind": fault.kind, "message": fault.message, "remedy": fault.remedy}}
        except (RecursionError, MemoryError) as error:
            return {"error": {"kind": "too_large", "message": f"is too much for the parser ({type(error).__name__})"}}
        except Exception as error:  # noqa: BLE001  a parser's own bug on a hostile file: that file's fault, told as such
            return {
                "error": {"kind": "malformed", "message": f"breaks the parser ({type(error).__name__}: {error})"[:300]}
            }


def read_exactly(stream: BinaryIO, size: int) -> bytes:
    data = stream.read(size)
    if len(data) < size:
        raise SystemExit(0)
    return data


def main() -> None:
    # frames go to a copy of standard output; what else is printed goes to standard error
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    worker = Worker(Path(sys.argv[1]))
    while True:
        (size,) = struct.unpack(">I", read_exactly(sys.stdin.buffer, 4))
        if size > MAX_REQUEST:
            raise SystemExit("a request is too long")
        answer = worker.answer(json.loads(read_exactly(sys.stdin.buffer, size)))
        data = json.dumps(answer).encode("ascii")
        out.write(struct.pack(">I", len(data)) + data)
        out.flush()


if __name__ == "__main__":
    main()

"""The documents of one episode: opened through the worker, found by id or name, their text kept on our side."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence

import numpy as np

from tradeschool.errors import did_you_mean

from .client import WorkerClient
from .documents import (
    CellReply,
    Document,
    DocumentError,
    LoadReply,
    PageReply,
    PictureReply,
    TableReply,
)

OPEN_TIMEOUT_S = 120.0


class Library:
    """All documents, and what is asked of them. Pages, tables and sheets are numbered from 1 here."""

    def __init__(self, client: WorkerClient) -> None:
        self.client = client
        self.documents: tuple[Document, ...] = ()
        self._tables: dict[tuple[str, int], tuple[TableReply, ...]] = {}

    def open(self, names: Sequence[str]) -> None:
        """Open every document and read its text. Raises DocumentError for the first that cannot be read."""
        self.documents = tuple(self._open(f"d{number}", name) for number, name in enumerate(names, 1))

    def _open(self, ident: str, name: str) -> Document:
        loaded = self.client.call(LoadReply, "load", name, OPEN_TIMEOUT_S)
        pages: list[PageReply] = []
        while len(pages) < loaded.pages:
            batch = self.client.call(list[PageReply], "pages", name, OPEN_TIMEOUT_S, start=len(pages))
            if not batch or len(pages) + len(batch) > loaded.pages:
                # a page that is silently missing is worse than a file that does not open
                raise DocumentError(
                    "malformed", name, f"has {loaded.pages} pages, but page {len(pages) + 1} is missing"
                )
            pages += batch
        return Document(ident, name, loaded.kind, loaded.page_word, tuple(pages), tuple(loaded.notes))

    def find(self, key: str) -> Document:
        """A document by id or file name. Raises DocumentError (missing) with a suggestion."""
        for document in self.documents:
            if key.strip() in (document.id, document.name):
                return document
        known = [name for document in self.documents for name in (document.id, document.name)]
        raise DocumentError(
            "missing", f"{key[:80]!r}", "is not among the documents", did_you_mean(key[:80], known).strip()
        )

    def page(self, document: Document, number: int) -> PageReply:
        """Raises DocumentError (missing) with the numbers there are."""
        if not 1 <= number <= len(document.pages):
            word = document.page_word
            raise DocumentError(
                "missing",
                f"{document.id} ({document.name})",
                f"has no {word} {number}",
                f"It has {word}s 1 to {len(document.pages)}.",
            )
        return document.pages[number - 1]

    def tables(self, document: Document, number: int) -> tuple[TableReply, ...]:
        """The tables of a page, found once and kept. Raises DocumentError."""
        self.page(document, number)
        key = document.id, number
        if key not in self._tables:
            found = self.client.call(list[TableReply], "tables", document.name, page=number - 1)
            if any(len(row) != len(table.rows[0]) for table in found for row in table.rows):
                raise DocumentError("malformed", document.name, f"has a ragged table on {document.page_word} {number}")
            self._tables[key] = tuple(table for table in found if table.rows and table.rows[0])
        return self._tables[key]

    def sheet(self, document: Document, key: str | int) -> int:
        """The number of a sheet, by number or name. Raises DocumentError (missing) with a suggestion."""
        names = [page.title.rsplit(" (", 1)[0] for page in document.pages]
        for number, name in enumerate(names, 1):
            if key == name or str(key).strip().casefold() in (str(number), name.casefold()):
                return number
        raise DocumentError(
            "missing",
            f"{document.id} ({document.name})",
            f"has no sheet {str(key)[:80]!r}",
            did_you_mean(str(key)[:80], names).strip(),
        )

    def cells(self, document: Document, sheet: int, area: str) -> list[CellReply]:
        """The filled cells of a range. Raises DocumentError."""
        return self.client.call(list[CellReply], "cells", document.name, page=sheet - 1, area=area)

    def picture(self, document: Document, number: int) -> np.ndarray:
        """A page's picture, uint8 (H, W, 3). Raises DocumentError (unsupported where it has none)."""
        made = self.client.call(PictureReply, "picture", document.name, page=number - 1)
        try:
            raw = base64.b64decode(made.rgb, validate=True)
        except (binascii.Error, ValueError):
            raw = b""
        if len(raw) != made.height * made.width * 3:
            raise DocumentError("malformed", document.name, "made the parser draw nonsense")
        return np.frombuffer(raw, np.uint8).reshape(made.height, made.width, 3).copy()

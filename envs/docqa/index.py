"""Full-text search over the documents of one episode: SQLite FTS5, in memory, ranked by bm25.

Passages of a page are indexed as the terms of `tokens.py`; a query reaches FTS5 only as quoted terms of ASCII letters
and digits, never as text. Ranking has no randomness: equal scores keep document order.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from .documents import Document
from .tokens import page_terms, query_terms

PASSAGE_CHARS = 900


@dataclass(frozen=True)
class Hit:
    """A passage: document id, page from 1, the character of the page where it begins, its text."""

    document: str
    page: int
    offset: int
    text: str


@dataclass(frozen=True)
class Found:
    """`every`: the hits hold all terms of the query; otherwise they hold some of them."""

    hits: tuple[Hit, ...]
    total: int
    every: bool


class SearchIndex:
    """Built once an episode."""

    def __init__(self, documents: Iterable[Document]) -> None:
        # one thread at a time uses an episode, but not always the same one
        self._base = sqlite3.connect(":memory:", check_same_thread=False)
        self._base.execute("CREATE VIRTUAL TABLE passages USING fts5(terms, document UNINDEXED, tokenize='ascii')")
        self._hits: list[Hit] = []
        rows = []
        for document in documents:
            for number, page in enumerate(document.pages, 1):
                for offset, text in passages(page.text):
                    self._hits.append(Hit(document.id, number, offset, text))
                    # the title of its page helps to find a passage
                    terms = " ".join([*page_terms(text), *page_terms(page.title)])
                    rows.append((len(self._hits), terms, document.id))
        self._base.executemany("INSERT INTO passages(rowid, terms, document) VALUES (?, ?, ?)", rows)

    def search(self, query: str, document: str | None, limit: int) -> Found:
        """The best passages, those with every term; when there are none, those with some, rare ones first."""
        terms, exact = query_terms(query, zeros=False), query_terms(query)
        hits, total = self._match(terms, " AND ", document, limit, [term for term in exact if term not in terms])
        if hits:
            return Found(hits, total, every=True)
        every = dict.fromkeys(exact + terms + query_terms(query, parts=True))
        return Found(*self._match(list(every), " OR ", document, limit), every=False)

    def _match(
        self, terms: list[str], joint: str, document: str | None, limit: int, better: Sequence[str] = ()
    ) -> tuple[tuple[Hit, ...], int]:
        """`better` terms are not asked for; bm25 ranks what has them higher."""
        if not terms:
            return (), 0
        expression = joint.join(f'"{term}"' for term in terms)
        if better:
            more = " OR ".join(f'"{term}"' for term in better)
            expression = f"({expression}) OR (({expression}) AND ({more}))"
        where, values = "passages MATCH ?", [f"terms : ({expression})"]
        if document is not None:
            where += " AND document = ?"
            values.append(document)
        total = self._base.execute(f"SELECT count(*) FROM passages WHERE {where}", values).fetchone()[0]
        rows = self._base.execute(
            f"SELECT rowid FROM passages WHERE {where} ORDER BY bm25(passages), rowid LIMIT ?", [*values, limit]
        ).fetchall()
        return tuple(self._hits[row[0] - 1] for row in rows), total

    def close(self) -> None:
        self._base.close()


def passages(text: str) -> Iterator[tuple[int, str]]:
    """Pieces of whole lines, of about PASSAGE_CHARS, with where they begin; a long line is cut at a space."""
    start = 0
    while start < len(text):
        end = min(start + PASSAGE_CHARS, len(text))
        if end < len(text):
            cut = max(text.rfind("\n", start, end), 0) or text.rfind(" ", start, end)
            end = cut + 1 if cut > start else end
        if text[start:end].strip():
            yield start, text[start:end]
        start = end

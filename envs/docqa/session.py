"""One document episode: a worker in a sandbox that reads the files, an index, the tools, the submitted answer.

The right answer stays in this process: the sandbox is shown the documents and the worker's own code, nothing else.
"""

from __future__ import annotations

import os
import sys
from typing import Any

import numpy as np

from tradeschool.errors import TaskError
from tradeschool.rewards import Reward
from tradeschool.sandbox import Channel, Limits, Mount, Sandbox, SandboxSpec, open_sandbox
from tradeschool.sandbox.interpreter import interpreter_mounts
from tradeschool.tools import ToolResult
from tradeschool.verify.answers import NO_ANSWER, AnswerKey, Citation
from tradeschool.verify.arithmetic import ArithmeticFault, evaluate

from ..base import Session, SessionConfig
from .client import DOCUMENTS_TARGET, WORKER_FOLDER, WORKER_TARGET, WorkerClient, worker_argv
from .documents import Document, DocumentError, TableReply, document_folder, document_names
from .index import SearchIndex
from .library import Library
from .present import cells_text, document_line, fit, page_text, schema_text, search_text, table_text
from .tools import TOOLS

MAX_TEXT = 8_000
"""Characters of a document in one observation; a task's `output_bytes` may lower it."""
MAX_JOINED_PAGES = 20

# not resolved: a virtual environment is found by the path it is started by
PYTHON = os.path.abspath(sys.executable)


class DocQASession(Session):
    """See the module. Tools that name what does not exist are answered as failed calls."""

    tools = TOOLS

    def __init__(self, config: SessionConfig) -> None:
        super().__init__(config)
        self.limit = min(MAX_TEXT, self.task.limits.output_bytes)
        self.sandbox: Sandbox | None = None
        self.library: Library | None = None
        self.index: SearchIndex | None = None
        self.answer: Any = NO_ANSWER
        self.citations: set[Citation] = set()
        self._last_read: tuple[Document, int] | None = None

    def open(self) -> str:
        self.key = AnswerKey.load(self.task.paths.tests)
        names = document_names(self.task)
        self.sandbox = open_sandbox(self.config.sandbox, self._spec())
        self.sandbox.start()
        self.library = Library(WorkerClient(self._connect))
        try:
            self.library.open(names)
        except DocumentError as error:
            raise TaskError(f"{document_folder(self.task)}/{error}", kind=error.kind) from error
        self.index = SearchIndex(self.library.documents)
        listing = fit(map(document_line, self.library.documents), "\n", self.limit, "documents", "list_documents")
        return f"Documents:\n{listing}\n\n{schema_text(self.key.schema.data, self.key.schema.cites)}"

    def _spec(self) -> SandboxSpec:
        environment = self.task.file.environment
        return SandboxSpec(
            mounts=(
                *interpreter_mounts(PYTHON),
                Mount(WORKER_FOLDER, WORKER_TARGET, private=True),
                Mount(document_folder(self.task), DOCUMENTS_TARGET, private=True),
            ),
            hidden=self.hidden,
            limits=Limits(memory_mb=environment.memory_mb, cpus=environment.cpus, processes=self.task.limits.processes),
        )

    def _connect(self) -> Channel:
        assert self.sandbox is not None
        return self.sandbox.connect(worker_argv(PYTHON), cwd="/")

    def call(self, name: str, arguments: Any) -> ToolResult:
        """A document or part that cannot be read is a failed call whose text says what to do instead."""
        try:
            return super().call(name, arguments)
        except DocumentError as error:
            return ToolResult(str(error), status="failed")

    @property
    def _library(self) -> Library:
        assert self.library is not None
        return self.library

    def do_list_documents(self) -> ToolResult:
        lines = map(document_line, self._library.documents)
        return ToolResult(fit(lines, "\n", self.limit, "documents", "search finds them all"))

    def do_read_page(self, document: str, page: int, offset: int = 0) -> ToolResult:
        found = self._library.find(document)
        self._library.page(found, page)
        self._last_read = found, page
        # of a PDF, tables take long to find and are looked for only when asked for
        tables = None if found.kind in ("PDF", "XLSX") else len(self._library.tables(found, page))
        return ToolResult(page_text(found, page, offset, self.limit, tables))

    def do_search(self, query: str, document: str | None = None, limit: int = 5) -> ToolResult:
        assert self.index is not None
        only = self._library.find(document).id if document is not None else None
        found = self.index.search(query, only, limit)
        by_id = {item.id: item for item in self._library.documents}
        return ToolResult(search_text(found, by_id, query, self.limit))

    def do_read_table(self, document: str, page: int, table: int = 1, row: int = 1, joined: bool = False) -> ToolResult:
        found = self._library.find(document)
        tables = self._library.tables(found, page)
        where = f"{found.id} {found.name}, {found.page_word} {page}"
        if not tables:
            return ToolResult(f"{where}: no table was found.{self._where_tables_are(found)}", status="failed")
        if table > len(tables):
            return ToolResult(f"{where}: there is no table {table}; it has tables 1 to {len(tables)}.", status="failed")
        chosen, note = tables[table - 1], ""
        if found.kind == "PDF" and table == len(tables):
            chosen, note = self._continued(found, page, chosen, joined)
        if row > len(chosen.rows):
            return ToolResult(f"{where}, table {table}: has {len(chosen.rows)} rows, no row {row}.", status="failed")
        self._last_read = found, page
        size = f"{len(chosen.rows)} rows of {len(chosen.rows[0])} cells"
        head = f"{where}, table {table} of {len(tables)}: {size}{note}"
        return ToolResult(table_text(head, chosen, row, self.limit))

    def _where_tables_are(self, document: Document) -> str:
        if document.kind in ("PDF", "XLSX"):
            # looking for them on every page of a PDF would take long
            return " read_page shows its text."
        numbers = [str(n) for n in range(1, len(document.pages) + 1) if self._library.tables(document, n)]
        return f" Tables begin on {document.page_word} {', '.join(numbers[:50])}." if numbers else " The file has none."

    def _continued(self, document: Document, page: int, table: TableReply, join: bool) -> tuple[TableReply, str]:
        """The last table of a PDF page with what may continue it: first tables of next pages with as many columns."""
        width = len(table.rows[0])
        rows, last = list(table.rows), page
        while last < min(len(document.pages), page + MAX_JOINED_PAGES):
            following = self._library.tables(document, last + 1)
            if not following or len(following[0].rows[0]) != width:
                break
            same_header = following[0].rows[0] == table.rows[0]
            if not same_header and _alike(following[0].rows[0], table.rows[0]):
                # nearly the same header: another table of the same build
                break
            last += 1
            # a header that is printed again is no row of data
            rows += following[0].rows[same_header:]
            if not join or len(following) > 1:
                break
        if last == page:
            return table, ""
        if not join:
            return table, f". It may go on on page {page + 1} (as many columns): joined=true gives both as one"
        joint = TableReply(rows=rows, title=table.title, note=f"{table.note}; joined from pages {page} to {last}")
        return joint, f", from pages {page} to {last}"

    def do_read_cells(self, document: str, sheet: str | int, range: str) -> ToolResult:
        found = self._library.find(document)
        if found.kind != "XLSX":
            text = (
                f"{found.id} ({found.name}) is a {found.kind} file; read_cells reads XLSX. Use read_page or read_table."
            )
            return ToolResult(text, status="failed")
        number = self._library.sheet(found, sheet)
        cells = self._library.cells(found, number, range)
        self._last_read = found, number
        head = f"{found.id} {found.name}, sheet {found.pages[number - 1].title}, {range}:"
        return ToolResult(cells_text(head, cells, self.limit))

    def do_calculate(self, expression: str) -> ToolResult:
        try:
            return ToolResult(f"{expression} = {evaluate(expression).text()}")
        except ArithmeticFault as error:
            return ToolResult(f"{expression[:200]!r} cannot be worked out: {error}.", status="failed")

    def do_submit(self, answer: Any = NO_ANSWER, citations: list[dict[str, Any]] | None = None) -> ToolResult:
        self.answer = answer
        for citation in citations or ():
            try:
                name = self._library.find(citation["document"]).name
            except DocumentError:
                # a page of no document is a wrong citation, and counts as one
                name = citation["document"]
            self.citations.add((name, int(citation["page"])))
        return ToolResult("The answer was handed in.", done=True)

    def grade(self) -> Reward:
        return self.key.score(self.answer, self.citations)

    def render(self) -> np.ndarray | None:
        """The PDF page that was read last."""
        if self._last_read is None or self._last_read[0].kind != "PDF":
            return None
        try:
            return self._library.picture(*self._last_read)
        except DocumentError:
            return None

    def close(self) -> None:
        library, self.library = self.library, None
        if library is not None:
            library.client.close()
        index, self.index = self.index, None
        if index is not None:
            index.close()
        sandbox, self.sandbox = self.sandbox, None
        if sandbox is not None:
            sandbox.close()


def _alike(one: list[str], other: list[str]) -> bool:
    return any(a == b for a, b in zip(one, other, strict=True) if a)

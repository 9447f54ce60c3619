"""The document environment: its card, and the checks of a task's files before anything starts."""

from __future__ import annotations

from tradeschool.errors import TaskError
from tradeschool.task import Task
from tradeschool.verify.answers import AnswerKey

from ..base import SessionConfig, ToolEnv
from .documents import document_folder, document_names, looks_encrypted
from .session import DocQASession


class DocQAEnv(ToolEnv):
    """Questions whose answers lie in real documents, and are scored by type.

    ## Description
    The agent is an analyst or a lawyer with a folder of files (PDF, XLSX, DOCX, HTML, CSV, text) and a question. It
    searches, reads pages, tables and cells, calculates, and hands in one JSON object. Files are hostile input: they
    are parsed in a sandbox, and the answer never enters it.

    ## Action space
    `ToolCallSpace`: `{"name": str, "arguments": dict}` with the tools `list_documents()`, `read_page(document, page,
    offset?)`, `search(query, document?, limit?)`, `read_table(document, page, table?, row?, joined?)`,
    `read_cells(document, sheet, range)`, `calculate(expression)` and `submit(answer, citations?)`.

    ## Observation space
    `{"text": str, "images": tuple}`. The first text is the instruction, the list of documents and the JSON Schema of
    the answer; later ones are what the tools found, at most 8,000 characters of a document, saying what was cut.
    There are no images; `render()` shows the PDF page that was read last.

    ## Reward
    0 until the end. Then the mean of the fields of the answer by their weights; each counts 1 or 0 (a list or set may
    declare F1). Numbers are compared as exact decimals with the tolerance their field declares: the largest of
    absolute, relative and one unit of the last declared place. 0 when the answer does not fit the schema, when a
    required field is wrong, or when none was handed in. Where the schema says `x-citations`, times the F1 of the
    cited pages. `info["reward"]` gives the reason for each field.

    ## Episode end
    `terminated`: `submit` was called. `truncated`: the step or time limit; nothing was handed in, so the reward is 0.

    ## Arguments
    `pack`, `task` (an id, or None: the seed draws one from `split`), `split`, `sandbox` (`auto`, `docker`,
    `namespace`), `max_steps`, `render_mode` (`ansi`, `rgb_array`).

    ## Version history
    v0: first version.
    """

    family = "docqa"
    session_class = DocQASession

    @classmethod
    def check_task(cls, task: Task) -> None:
        """Finds missing and empty documents, unknown formats, a broken schema or key; nothing is parsed or started.

        What only parsing can show, for instance a damaged file, is a TaskError when the episode begins.
        """
        super().check_task(task)
        names = document_names(task)
        key = AnswerKey.load(task.paths.tests)
        for document, page in sorted(key.citations):
            if document not in names:
                where = f"{task.paths.tests}/answer.json"
                raise TaskError(f"{where}: cites {document!r} (page {page}), which is not in {document_folder(task)}.")

    @classmethod
    def try_task(cls, task: Task, backend: str) -> None:
        """Opens the documents of a task, in a sandbox, if one of them looks encrypted."""
        if any(looks_encrypted(document_folder(task) / name) for name in document_names(task)):
            session = DocQASession(SessionConfig(task, backend, 0))
            try:
                session.open()
            finally:
                session.close()

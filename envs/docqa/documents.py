"""What a document is on our side of the sandbox, and the one error for each way it can be unreadable."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field

from tradeschool.errors import TaskError, did_you_mean
from tradeschool.task import Task

Kind = Literal["encrypted", "empty", "malformed", "too_large", "unsupported", "missing"]
KINDS: tuple[str, ...] = get_args(Kind)
REMEDIES = {
    "encrypted": "Put a copy without a password in its place.",
    "empty": "Put the real file in its place, or remove it.",
    "malformed": "Open it in its own program and save it anew.",
    "too_large": "Split it into smaller files.",
    "unsupported": "Convert it to PDF, XLSX, DOCX, HTML, CSV, TXT or Markdown.",
    "missing": "Check the name.",
}
SUFFIXES = frozenset({".pdf", ".xlsx", ".docx", ".html", ".htm", ".csv", ".txt", ".md", ".markdown"})
MAX_DOCUMENTS = 200
OLE_MAGIC = b"\xd0\xcf\x11\xe0"


class DocumentError(Exception):
    """A document, or a part of it, that cannot be read. The text names the file, what is wrong and what to do."""

    def __init__(self, kind: str, file: str, message: str, remedy: str = "") -> None:
        kind = kind if kind in KINDS else "malformed"
        text = f"{file} {message.rstrip('.')}. {remedy or REMEDIES[kind]}"
        super().__init__(" ".join(text.split()))
        self.kind = kind
        self.file = file


class _Reply(BaseModel):
    # the worker read hostile files: what it says is checked before it is used
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class TableReply(_Reply):
    """Rows of equal length; `spans` are [row, column, rows, columns], from 0."""

    rows: list[list[str]]
    spans: list[Annotated[list[int], Field(min_length=4, max_length=4)]] = []
    title: str = ""
    note: str = ""


class PageReply(_Reply):
    title: str
    text: str
    notes: list[str] = []


class LoadReply(_Reply):
    kind: str
    page_word: str
    pages: int = Field(ge=0)
    notes: list[str] = []


class CellReply(_Reply):
    at: str
    value: str
    formula: str = ""
    format: str = ""


class PictureReply(_Reply):
    """An RGB picture, base64 of height x width x 3 bytes."""

    height: int = Field(ge=1, le=4096)
    width: int = Field(ge=1, le=4096)
    rgb: str


@dataclass(frozen=True)
class Document:
    """One readable document. `id` is short and says nothing about the content; pages are counted from 1 outside."""

    id: str
    name: str
    kind: str
    page_word: str
    pages: tuple[PageReply, ...]
    notes: tuple[str, ...]


def document_folder(task: Task) -> Path:
    return task.paths.environment / "documents"


def document_names(task: Task) -> tuple[str, ...]:
    """The names of a task's documents, sorted. Raises TaskError for what no episode could start with.

    Nothing is parsed: a missing or empty folder, sub-folders, links, files of 0 bytes, unknown endings and names that
    could forge a line of the list of documents are found.
    """
    folder = document_folder(task)
    if not folder.is_dir():
        raise TaskError(f"{folder}: missing. A document task keeps its files there.", kind="no_documents")
    paths = sorted((path for path in folder.iterdir() if not path.name.startswith(".")), key=lambda path: path.name)
    if not 0 < len(paths) <= MAX_DOCUMENTS:
        raise TaskError(f"{folder}: holds {len(paths)} files; 1 to {MAX_DOCUMENTS} are allowed.", kind="no_documents")
    for path in paths:
        if not path.name.isprintable():
            what = "its name has characters that cannot be printed, such as a line break"
            raise TaskError(f"{folder}/{path.name!r}: {what}. Rename the file.", kind="malformed")
        if path.is_symlink() or not path.is_file():
            raise TaskError(f"{path}: is no plain file. Put the documents themselves in the folder.", kind="malformed")
        if path.suffix.lower() not in SUFFIXES:
            known = did_you_mean(path.suffix.lower(), SUFFIXES).strip()
            raise TaskError(f"{path}: no parser reads {path.suffix!r} files. {known}", kind="unsupported")
        if not path.stat().st_size:
            raise TaskError(f"{path}: is empty (0 bytes). {REMEDIES['empty']}", kind="empty")
    return tuple(path.name for path in paths)


def looks_encrypted(path: Path) -> bool:
    """Whether a file has the marks of encryption, by its bytes alone: nothing is parsed. It may still open.

    An encrypted PDF names /Encrypt in its trailer; an encrypted XLSX or DOCX is an OLE file and no ZIP.
    """
    raw = path.read_bytes()
    return b"/Encrypt" in raw if path.suffix.lower() == ".pdf" else raw.startswith(OLE_MAGIC)

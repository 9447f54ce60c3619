"""The document worker without a sandbox, for tests of its parsers; and small documents of each format to give it.

A real process and real pipes. Only tests may do this: episodes always parse in a sandbox.
"""

from __future__ import annotations

import io
import os
import selectors
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import docx
import openpyxl
from reportlab.lib import colors
from reportlab.lib.styles import getSampleStyleSheet
from reportlab.platypus import PageBreak, Paragraph, SimpleDocTemplate, Table, TableStyle

from tradeschool.envs.docqa.client import WORKER_FOLDER, WorkerClient, worker_argv
from tradeschool.envs.docqa.library import Library
from tradeschool.errors import SandboxError
from tradeschool.sandbox import Channel


class PlainChannel(Channel):
    """A child process's pipes."""

    def __init__(self, argv: Sequence[str]) -> None:
        self.process = subprocess.Popen(
            argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env={}
        )

    def write(self, data: bytes, timeout_s: float) -> None:
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(data)
            self.process.stdin.flush()
        except OSError as error:
            raise SandboxError("the worker is gone", kind="closed") from error

    def read(self, size: int, timeout_s: float) -> bytes:
        assert self.process.stdout is not None
        deadline = time.monotonic() + timeout_s
        made = b""
        with selectors.DefaultSelector() as waiting:
            waiting.register(self.process.stdout, selectors.EVENT_READ)
            while len(made) < size:
                if not waiting.select(max(0.0, deadline - time.monotonic())):
                    raise SandboxError("the worker took too long", kind="timeout")
                part = os.read(self.process.stdout.fileno(), size - len(made))
                if not part:
                    raise SandboxError("the worker is gone", kind="closed")
                made += part
        return made

    def stderr(self) -> str:
        return ""

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            assert pipe is not None
            pipe.close()


def plain_library(folder: Path, timeout_s: float = 30.0, worker: Path = WORKER_FOLDER) -> Library:
    """A library over a folder, with nothing opened yet."""
    argv = worker_argv(sys.executable, str(worker), str(folder))
    return Library(WorkerClient(lambda: PlainChannel(argv), timeout_s))


def write_pdf(path: Path, pages: Sequence[Sequence[str | Sequence[Sequence[str]]]]) -> None:
    """Pages of paragraphs (text) and ruled tables (rows)."""
    story: list = []
    for number, page in enumerate(pages):
        story += [PageBreak()] if number else []
        for block in page:
            if isinstance(block, str):
                story.append(Paragraph(block, getSampleStyleSheet()["BodyText"]))
            else:
                style = TableStyle([("GRID", (0, 0), (-1, -1), 0.5, colors.black)])
                story.append(Table([list(row) for row in block], style=style))
    SimpleDocTemplate(str(path), invariant=1).build(story)


def write_docx(path: Path) -> None:
    """A heading, a paragraph, and a table with a cell merged across and one merged down."""
    made = docx.Document()
    made.add_heading("Terms", 1)
    made.add_paragraph("Payment is due in 30 days.")
    table = made.add_table(rows=3, cols=3)
    table.cell(0, 0).merge(table.cell(0, 2)).text = "Fees"
    table.cell(1, 0).merge(table.cell(2, 0)).text = "Plus"
    table.cell(1, 1).text, table.cell(1, 2).text = "2023", "1,577"
    table.cell(2, 1).text, table.cell(2, 2).text = "2024", "(212)"
    made.add_paragraph("After the table.")
    made.save(str(path))


def write_xlsx(path: Path, cached: bool = False) -> None:
    """Two sheets, one hidden; a merged title, a hidden row, a formula that was never calculated (or was)."""
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.title = "Data"
    sheet.merge_cells("A1:B1")
    sheet["A1"] = "Title"
    sheet["A2"], sheet["B2"] = "First", 1.5
    sheet["A3"], sheet["B3"] = "Second", 2
    sheet["B4"] = "=SUM(B2:B3)"
    sheet.row_dimensions[3].hidden = True
    hidden = book.create_sheet("Notes")
    hidden["A1"] = "not for everyone"
    hidden.sheet_state = "hidden"
    stream = io.BytesIO()
    book.save(stream)
    path.write_bytes(stream.getvalue())

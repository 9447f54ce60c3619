"""The same bytes on every run: PDF without time stamps, Office files with fixed dates inside and out."""

from __future__ import annotations

import datetime
import io
import re
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from reportlab.lib import colors
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import getSampleStyleSheet
from reportlab.lib.units import mm
from reportlab.platypus import Flowable, PageBreak, Paragraph, SimpleDocTemplate, Spacer, Table, TableStyle

MOMENT = datetime.datetime(2024, 1, 1)
STYLES = getSampleStyleSheet()


def heading(text: str) -> Flowable:
    return Paragraph(text, STYLES["Heading2"])


def prose(text: str) -> Flowable:
    return Paragraph(text, STYLES["BodyText"])


def grid(rows: Sequence[Sequence[str]], widths_mm: Sequence[float], bold: Sequence[int] = (0,)) -> Flowable:
    """A ruled table; figures are set flush right from the third column on."""
    style = [
        ("GRID", (0, 0), (-1, -1), 0.5, colors.black),
        ("FONTSIZE", (0, 0), (-1, -1), 9),
        ("ALIGN", (2, 0), (-1, -1), "RIGHT"),
        *(("FONTNAME", (0, row), (-1, row), "Helvetica-Bold") for row in bold),
    ]
    return Table([list(row) for row in rows], [width * mm for width in widths_mm], style=TableStyle(style))


def write_pdf(path: Path, title: str, pages: Sequence[Sequence[Flowable]]) -> None:
    """Each inner sequence begins a page of its own; the footer has the title and the page number."""

    def footer(canvas: Any, document: Any) -> None:
        canvas.setFont("Helvetica", 8)
        canvas.drawString(20 * mm, 12 * mm, title)
        canvas.drawRightString(190 * mm, 12 * mm, f"Page {document.page}")

    story: list[Flowable] = []
    for number, page in enumerate(pages):
        story += [*([PageBreak()] if number else []), *page, Spacer(1, 2 * mm)]
    document = SimpleDocTemplate(str(path), pagesize=A4, title=title, author="tradeschool", invariant=1)
    document.build(story, onFirstPage=footer, onLaterPages=footer)


def write_zip(path: Path, made: bytes, edits: Mapping[str, Sequence[tuple[str, str]]] | None = None) -> None:
    """An Office file with the dates of its entries and properties fixed, after regular expressions on its parts."""
    with zipfile.ZipFile(io.BytesIO(made)) as old, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as new:
        for name in sorted(old.namelist(), key=lambda name: (name != "[Content_Types].xml", name)):
            data = old.read(name)
            if name == "docProps/core.xml":
                data = re.sub(rb"\d{4}-\d\d-\d\dT[\d:]+Z", b"2024-01-01T00:00:00Z", data)
            for pattern, replacement in (edits or {}).get(name, ()):
                text, count = re.subn(pattern, replacement, data.decode("utf-8"))
                if not count:
                    raise ValueError(f"{name} has nothing like {pattern!r}")
                data = text.encode("utf-8")
            info = zipfile.ZipInfo(name, MOMENT.timetuple()[:6])
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = 0o644 << 16
            new.writestr(info, data)

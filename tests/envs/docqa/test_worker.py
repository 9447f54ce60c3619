"""Each format through the real worker: pages, tables, cells, notes; broken files are typed errors, nothing else."""

from __future__ import annotations

import io
import struct
import zipfile
from pathlib import Path
from types import ModuleType
from typing import Any

import docx
import pytest

from tradeschool.envs.docqa.documents import KINDS, Document, DocumentError, PageReply
from tradeschool.errors import SandboxError

PUBLIC = Path(__file__).resolve().parents[3].parent / "shared" / "data" / "pdf"


def test_pdf_text_tables_and_picture(opened: Any, plain: ModuleType) -> None:
    rows = [["Site", "2024"], ["Lund", "(1,577)"], ["Bergen", "12.5%"]]
    plain.write_pdf(opened.folder / "a.pdf", [["Hello 10-K"], ["Table:", rows]])
    library = opened()
    document = library.find("a.pdf")
    assert (document.id, document.kind, len(document.pages)) == ("d1", "PDF", 2)
    assert "10-K" in document.pages[0].text
    assert library.tables(document, 1) == ()
    assert library.tables(document, 2)[0].rows == rows
    picture = library.picture(document, 1)
    assert picture.shape[2] == 3
    assert picture.max() == 255
    assert picture.min() < 100


def test_docx_in_order_with_merged_cells_once(opened: Any, plain: ModuleType) -> None:
    plain.write_docx(opened.folder / "a.docx")
    library = opened()
    text = library.documents[0].pages[0].text
    assert text.index("# Terms") < text.index("due in 30 days") < text.index("Plus") < text.index("After the table")
    assert text.count("Fees") == 1
    table = library.tables(library.documents[0], 1)[0]
    assert table.rows == [["Fees", "", ""], ["Plus", "2023", "1,577"], ["", "2024", "(212)"]]
    assert table.spans == [[0, 0, 1, 3], [1, 0, 2, 1]]


def test_xlsx_formulas_hidden_and_merged(opened: Any, plain: ModuleType) -> None:
    plain.write_xlsx(opened.folder / "a.xlsx")
    library = opened()
    document = library.documents[0]
    assert [page.title for page in document.pages] == ["Data (A1:B4)", "Notes (A1:A1, hidden)"]
    notes = " ".join(document.pages[0].notes + document.pages[1].notes)
    assert "merged cells: A1:B1" in notes
    assert "hidden rows: 3" in notes
    assert "this sheet is hidden" in notes
    cells = {cell.at: cell for cell in library.cells(document, 1, "A1:B9")}
    assert (cells["B2"].value, cells["B2"].formula) == ("1.5", "")
    assert (cells["B4"].value, cells["B4"].formula) == ("", "=SUM(B2:B3)")
    assert "no calculated value" in document.pages[0].text
    assert library.sheet(document, "data") == library.sheet(document, 1) == 1


@pytest.mark.parametrize(
    ("area", "remedy"),
    [
        ("A41:A40", "Put the top left cell first: A40:A41."),
        ("C1:A9", "Put the top left cell first: A1:C9."),
        ("A1:ZZ9999", "At most 2000 are read at once: ask for a smaller range."),
        ("Z", "Ask for one such as B2 or A1:C10."),
        ("1:2", "Ask for one such as B2 or A1:C10."),
        ("x y", "Ask for one such as B2 or A1:C10."),
        ("", "Ask for one such as B2 or A1:C10."),
        ("A0", "Ask for one such as B2 or A1:C10."),
        ("A1:A0", "Ask for one such as B2 or A1:C10."),
    ],
)
def test_a_wrong_range_is_told_how_to_ask(area: str, remedy: str, opened: Any, plain: ModuleType) -> None:
    plain.write_xlsx(opened.folder / "a.xlsx")
    library = opened()
    with pytest.raises(DocumentError) as caught:
        library.cells(library.documents[0], 1, area)
    assert str(caught.value).endswith(remedy)
    assert "Split it" not in str(caught.value)


def test_html_spans_scripts_hidden_and_notes(opened: Any) -> None:
    (opened.folder / "a.html").write_text(
        "<html><head><title>T</title><style>x</style></head><body><script>alert(1)</script><!-- c -->"
        "<h1>Results</h1><p>Sales were 250<sup>9</sup> units.</p><p hidden>secret total is 1</p>"
        "<table><caption>Cap</caption><tr><th rowspan=2>A</th><th colspan=2>B</th></tr>"
        "<tr><td>1</td><td>2<sup>a</sup></td></tr><tr><td>x<table><tr><td>inner</td></tr></table></td></tr></table>"
        "</body></html>"
    )
    library = opened()
    document = library.documents[0]
    text = document.pages[0].text
    assert "alert" not in text
    assert "secret" not in text
    assert "250^9" in text
    assert "hidden" in document.notes[0]
    table = library.tables(document, 1)[0]
    assert table.rows[:2] == [["A", "B", ""], ["", "1", "2^a"]]
    assert table.spans[:2] == [[0, 0, 2, 1], [0, 1, 1, 2]]
    assert table.title == "Cap"


def test_html_hidden_rows_and_cells_are_no_data_and_are_told(opened: Any) -> None:
    (opened.folder / "a.html").write_text(
        "<h1>Seen <span hidden>secret0</span></h1><table><caption>Cap<i style='display:none'>secret1</i></caption>"
        "<tr><th>a</th><th>b</th><th>c</th></tr><tr hidden><td>secret2</td><td>1</td></tr>"
        "<tr style='DISPLAY : none'><td>secret3</td></tr><tr style='visibility:collapse'><td>secret4</td></tr>"
        "<tr style='display:/* x */none'><td>secret5</td></tr>"
        "<tbody hidden><tr><td>secret6</td></tr><tr><td>secret7</td></tr></tbody>"
        "<tr><td>1</td><td hidden colspan=1>secret8</td><td>3 <b hidden>secret9</b></td></tr></table>"
        "<section hidden><table><tr><td>secret10</td></tr></table></section>"
        "<p style='backface-visibility:hidden; font-size:0.9em; opacity:0.5'>plain to see</p>"
        "<table><tr><td>x</td><td>y</td></tr></table>"
    )
    library = opened()
    document = library.documents[0]
    first, second = library.tables(document, 1)
    assert first.rows == [["a", "b", "c"], ["1", "", "3"]]
    assert first.title == "Cap"
    assert first.note == "left out, hidden from a reader of the page: 1 cell, 2 passages, 6 rows"
    assert (second.rows, second.note) == ([["x", "y"]], "")
    assert "secret" not in document.pages[0].text
    assert "plain to see" in document.pages[0].text
    assert "characters hidden" in document.notes[0]


def test_a_page_that_is_hidden_as_a_whole_is_empty(opened: Any) -> None:
    for name, text in (("a.html", "<html hidden><p>x</p></html>"), ("b.html", "<body style='display:none'>x</body>")):
        (opened.folder / name).write_text(text)
        with pytest.raises(DocumentError) as caught:
            opened(name)
        assert caught.value.kind == "empty"


def test_tables_without_cells_are_not_announced(opened: Any) -> None:
    (opened.folder / "a.html").write_text(
        "<p>before</p><table></table><table><caption>Nothing yet</caption></table><table><tr></tr><tr></tr></table>"
        "<table><tr hidden><td>x</td></tr></table><table><tr><td>kept</td></tr></table>"
    )
    made = docx.Document()
    made.add_paragraph("before")
    made.add_table(rows=0, cols=2)
    made.save(str(opened.folder / "b.docx"))
    library = opened()
    html, word = library.documents
    assert html.pages[0].text.split("\n") == ["before", "Nothing yet", "[table 1]", "kept"]
    assert [table.rows for table in library.tables(html, 1)] == [[["kept"]]]
    assert word.pages[0].text == "before"
    assert library.tables(word, 1) == ()


def test_csv_that_begins_with_blank_lines(opened: Any) -> None:
    (opened.folder / "a.csv").write_text("\n" * 30 + "a;b\n1,5;2\n")
    library = opened()
    assert library.tables(library.documents[0], 1)[0].rows == [["a", "b"], ["1,5", "2"]]


def test_csv_with_semicolons_and_windows_letters(opened: Any) -> None:
    lines = "\n".join(f"{n};K\xf6ln;1,5" for n in range(150))
    (opened.folder / "a.csv").write_bytes(f"id;town;value\n{lines}\n".encode("cp1252"))
    document = opened().documents[0]
    assert [page.title for page in document.pages] == ["rows 2 to 101", "rows 102 to 151"]
    assert "2 | 0 | K\xf6ln | 1,5" in document.pages[0].text
    assert "Windows-1252" in document.notes[0]


def test_text_and_markdown(opened: Any) -> None:
    (opened.folder / "a.txt").write_text("\n".join(f"line {n}" for n in range(2000)))
    (opened.folder / "b.md").write_text("# One\n\n|a|b|\n|-|-|\n|1|2|\n")
    library = opened()
    text, markdown = library.documents
    assert len(text.pages) > 2
    assert "\n".join(page.text for page in text.pages).count("line ") == 2000
    assert library.tables(markdown, 1)[0].rows == [["a", "b"], ["1", "2"]]


def _bomb() -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for number in range(9):
            archive.writestr(f"xl/{number}.xml", b"0" * (32 << 20))
    return stream.getvalue()


OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
BROKEN: dict[str, tuple[str, bytes]] = {
    "empty.pdf": ("empty", b""),
    "nothing.txt": ("empty", b" \n\n"),
    "blank.csv": ("empty", b"\n,\n,,\n"),
    "no.pdf": ("malformed", b"hello"),
    "cut.pdf": ("malformed", b"%PDF-1.7\n1 0 obj\n<<"),
    "no.xlsx": ("malformed", b"PK\x03\x04 nothing"),
    "text.docx": ("malformed", b"just text"),
    "locked.docx": ("encrypted", OLE + "EncryptedPackage".encode("utf-16-le")),
    "old.xlsx": ("unsupported", OLE + b"\x00" * 100),
    "data.csv": ("malformed", b"a\x00b"),
    "bare.html": ("empty", b"<html><script>x</script></html>"),
    "image.png": ("unsupported", b"\x89PNG"),
    "gone.pdf": ("missing", b"-"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_files_are_typed_errors(name: str, opened: Any) -> None:
    kind, data = BROKEN[name]
    if kind != "missing":
        (opened.folder / name).write_bytes(data)
    with pytest.raises(DocumentError) as caught:
        opened(name)
    assert caught.value.kind == kind
    assert name in str(caught.value)
    assert "\n" not in str(caught.value)
    assert "breaks the parser" not in str(caught.value)


def test_a_zip_bomb_is_refused_before_it_is_unpacked(opened: Any) -> None:
    (opened.folder / "bomb.xlsx").write_bytes(_bomb())
    with pytest.raises(DocumentError) as caught:
        opened()
    assert caught.value.kind == "too_large"


@pytest.mark.parametrize("name", ["../x.txt", "/etc/passwd", "link.txt", "."])
def test_nothing_outside_the_folder_is_read(name: str, opened: Any) -> None:
    (opened.folder.parent / "x.txt").write_text("outside")
    (opened.folder / "link.txt").symlink_to(opened.folder.parent / "x.txt")
    with pytest.raises(DocumentError) as caught:
        opened(name)
    assert caught.value.kind == "missing"


def test_html_beyond_the_parsers_limits_is_refused_not_cut(opened: Any) -> None:
    (opened.folder / "a.html").write_text("<div>" * 200 + "<p>bottom 42</p>")
    (opened.folder / "b.html").write_text("<table><tr><td rowspan=99999 colspan=99999>x</td></tr></table>")
    assert "bottom 42" in opened().documents[0].pages[0].text
    (opened.folder / "c.html").write_text("<div>" * 20_000 + "<p>bottom 42</p>")
    with pytest.raises(DocumentError) as caught:
        opened("c.html")
    assert caught.value.kind == "too_large"


def test_a_worker_that_dies_or_stalls_is_replaced(plain: ModuleType, tmp_path: Path) -> None:
    worker = tmp_path / "worker"
    worker.mkdir()
    # a worker of our own protocol that a hostile file has taken over: it dies, stalls or lies as the file name says
    (worker / "main.py").write_text(
        "import json, os, struct, sys, threading\n"
        "def read(n):\n"
        "    data = sys.stdin.buffer.read(n)\n"
        "    return data if len(data) == n else os._exit(0)\n"
        "def send(data):\n"
        "    sys.stdout.buffer.write(struct.pack('>I', len(data)) + data)\n"
        "    sys.stdout.buffer.flush()\n"
        "while True:\n"
        "    asked = json.loads(read(struct.unpack('>I', read(4))[0]))\n"
        "    file = asked.get('file')\n"
        "    if asked['op'] == 'hello': send(b'{\"ok\": {\"protocol\": 1}}')\n"
        "    elif file == 'dies': os._exit(9)\n"
        "    elif file == 'stalls': threading.Event().wait()\n"
        "    elif file == 'lies': send(b'{\"ok\": {\"kind\": 5}}')\n"
        "    elif file == 'babbles': send(b'not json')\n"
        '    elif file == \'spans\': send(b\'{"ok": [{"rows": [["x"]], "spans": [[1]]}]}\')\n'
        '    elif file == \'rowless\': send(b\'{"ok": [{"rows": []}, {"rows": [[]]}, {"rows": [["x"]]}]}\')\n'
        "    elif file == 'floods': sys.stdout.buffer.write(b'\\xff' * 99); sys.stdout.buffer.flush()\n"
        '    elif asked[\'op\'] == \'load\': send(b\'{"ok": {"kind": "TXT", "page_word": "page", "pages": 3}}\')\n'
        "    else: send(b'{\"ok\": []}')\n"
    )
    library = plain.plain_library(tmp_path, worker=worker)
    for name, kind in (("dies", "malformed"), ("lies", "malformed"), ("babbles", "malformed"), ("floods", "malformed")):
        with pytest.raises(DocumentError) as caught:
            library.open([name])
        assert caught.value.kind == kind
    for name in ("spans", "rowless"):
        one = Document(name, name, "PDF", "page", (PageReply(title="", text=""),), ())
        if name == "spans":
            with pytest.raises(DocumentError, match="nonsense"):
                library.tables(one, 1)
        else:
            assert [table.rows for table in library.tables(one, 1)] == [[["x"]]]
    with pytest.raises(DocumentError, match="page 1 is missing"):
        library.open(["short"])
    with pytest.raises(DocumentError) as caught:
        library.client.call(dict, "load", "stalls", 0.2)
    assert caught.value.kind == "too_large"
    library.client.close()
    library.client.close()


def test_no_worker_at_all_is_the_infrastructures_fault(plain: ModuleType, tmp_path: Path) -> None:
    library = plain.plain_library(tmp_path, worker=tmp_path / "nothing")
    with pytest.raises(SandboxError):
        library.open(["a.txt"])
    library.client.close()


def test_frames_survive_what_a_library_prints(opened: Any, plain: ModuleType) -> None:
    (opened.folder / "a.txt").write_text("x")
    library = opened()
    # the worker's standard output carries frames alone
    assert library.client.call(dict, "load", "a.txt")["pages"] == 1
    assert struct.calcsize(">I") == 4


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("WARN-Report-for-7-1-2015-to-03-25-2016.pdf", None),
        ("empty.pdf", "empty"),
        ("federal-register-2020-17221.pdf", None),
        ("issue-71-duplicate-chars.pdf", None),
        ("malformed-from-issue-932.pdf", None),
        ("nics-background-checks-2015-11-rotated.pdf", None),
        ("nics-background-checks-2015-11.pdf", None),
        ("password-example.pdf", "encrypted"),
        ("scotus-transcript-p1.pdf", None),
        ("senate-expenditures.pdf", None),
    ],
)
def test_public_pdfs_open_or_fail_with_a_typed_error(name: str, kind: str | None, plain: ModuleType) -> None:
    if not (PUBLIC / name).exists():
        pytest.skip(f"THE PUBLIC PDF {name} IS MISSING: {PUBLIC} is not there")
    library = plain.plain_library(PUBLIC)
    try:
        if kind is None:
            library.open([name])
            document = library.documents[0]
            assert any(page.text.strip() for page in document.pages)
            library.tables(document, 1)
        else:
            assert kind in KINDS
            with pytest.raises(DocumentError) as caught:
                library.open([name])
            assert caught.value.kind == kind
    finally:
        library.client.close()

"""Statements in thousands with losses in parentheses, a press release in millions, and a note that restates a year."""

from __future__ import annotations

from pathlib import Path

from .stable import grid, heading, prose, write_pdf

TITLE = "Corvane Marine, Inc. - Form 10-K 2023"


def make(folder: Path) -> None:
    operations = [
        ("Years ended December 31", "Note", "2023", "2022"),
        ("Revenues", "3", "214,860", "231,045"),
        ("Cost of revenues", "", "(168,310)", "(170,122)"),
        ("Gross profit", "", "46,550", "60,923"),
        ("Selling, general and administrative", "", "(41,905)", "(39,788)"),
        ("Research and development", "8", "(17,125)", "(12,020)"),
        ("Operating income (loss)", "2", "(12,480)", "9,115"),
        ("Interest expense", "", "(2,204)", "(1,960)"),
        ("Income (loss) before taxes", "", "(14,684)", "7,155"),
    ]
    cash = [
        ("Years ended December 31", "Note", "2023", "2022"),
        ("Net cash provided by operating activities", "", "3,905", "21,730"),
        ("Purchases of property and equipment", "", "(1,577)", "(1,373)"),
        ("Proceeds from sale of equipment", "", "410", "-"),
        ("Net cash used in investing activities", "", "(1,167)", "(1,373)"),
        ("Repayment of borrowings", "", "(4,500)", "(4,500)"),
    ]
    widths = (80, 15, 30, 30)
    pages = [
        [
            heading("Consolidated statements of operations"),
            prose("(In thousands of US dollars, except per share data)"),
            grid(operations, widths, (0, 3, 6)),
            prose(
                "The column for 2022 is as originally reported. For its restatement see note 2, furnished separately."
            ),
        ],
        [
            heading("Consolidated statements of cash flows (extract)"),
            prose("(In thousands of US dollars)"),
            grid(cash, widths, (0,)),
            prose("The restatement in note 2 has no effect on cash flows."),
        ],
    ]
    write_pdf(folder / "corvane-10-k-2023.pdf", TITLE, pages)
    (folder / "corvane-note-2.txt").write_text(NOTE, "utf-8")
    (folder / "corvane-press-release.html").write_text(RELEASE, "utf-8")


NOTE = """\
CORVANE MARINE, INC.
NOTE 2. RESTATEMENT OF THE YEAR 2022
(in thousands of US dollars)

In preparing the 2023 statements the Company found that warranty work done in the fourth quarter of 2022 had been
carried forward in error. It belongs to research and development expense of 2022.

                                      As reported    Adjustment    As restated
    Research and development            (12,020)         (795)       (12,815)
    Operating income                      9,115          (795)         8,320
    Income before taxes                   7,155          (795)         6,360

Revenues, selling, general and administrative expense and cash flows of 2022 do not change. Comparisons of 2023 with
2022 are to be made with the restated figures.
"""

RELEASE = """\
<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Corvane Marine reports 2023 results</title></head>
<body>
<h1>Corvane Marine reports full-year 2023 results</h1>
<p>Revenues were $214.9 million. The adjusted operating loss, which leaves out a settlement of $6.4 million, was
$6.1 million.</p>
<table>
<caption>Highlights (in millions of US dollars, unaudited)</caption>
<tr><th></th><th>2023</th><th>2022</th></tr>
<tr><td>Revenues</td><td>214.9</td><td>231.0</td></tr>
<tr><td>Adjusted operating income (loss)</td><td>(6.1)</td><td>9.1</td></tr>
<tr><td>Operating income (loss)</td><td>(12.5)</td><td>9.1</td></tr>
<tr><td>Cash provided by operations, after investments</td><td>2.7</td><td>20.4</td></tr>
</table>
<p>Figures in this release are rounded; the audited statements in the Form 10-K prevail.</p>
</body></html>
"""

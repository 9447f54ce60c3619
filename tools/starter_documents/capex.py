"""An annual report with a table of additions by site that goes on over a page, beside tables that look like it."""

from __future__ import annotations

import random
from pathlib import Path

from .stable import grid, heading, prose, write_pdf

SITES = [
    ("Aalborg", "Denmark"), ("Bergen", "Norway"), ("Bilbao", "Spain"), ("Brno", "Czechia"), ("Cork", "Ireland"),
    ("Drammen", "Norway"), ("Eindhoven", "Netherlands"), ("Gdynia", "Poland"), ("Gothenburg", "Sweden"),
    ("Graz", "Austria"), ("Halden", "Norway"), ("Kaunas", "Lithuania"), ("Leeds", "United Kingdom"),
    ("Lule\u00e5", "Sweden"), ("Lund", "Sweden"), ("Nantes", "France"), ("Odense", "Denmark"), ("Ostrava", "Czechia"),
    ("Porto", "Portugal"), ("Stavanger", "Norway"), ("Tampere", "Finland"), ("Turin", "Italy"),
    ("Ume\u00e5", "Sweden"), ("Vilnius", "Lithuania"),
]  # fmt: skip
FIRST_PART = 14
TITLE = "Halden Instruments ASA - Annual Report 2024"


def figures() -> list[tuple[str, str, int, int]]:
    """(site, country, 2024, 2023) in EUR thousand. One site is negative: a grant exceeded what was spent."""
    rng = random.Random(14)
    rows = [(site, country, rng.randint(180, 3400), rng.randint(180, 3400)) for site, country in SITES]
    return [(s, c, -212 if s == "Lule\u00e5" else a, b) for s, c, a, b in rows]


def number(value: int) -> str:
    return f"({-value:,})" if value < 0 else f"{value:,}"


def make(folder: Path) -> None:
    rows = figures()
    head = ("Site", "Country", "2024", "2023")
    widths = (55, 45, 30, 30)

    def lines(part: list[tuple[str, str, int, int]]) -> list[tuple[str, str, str, str]]:
        return [(site, country, number(now), number(before)) for site, country, now, before in part]

    def total(label: str, part: list[tuple[str, str, int, int]]) -> tuple[str, str, str, str]:
        return (label, "", number(sum(row[2] for row in part)), number(sum(row[3] for row in part)))

    first, second = rows[:FIRST_PART], rows[FIRST_PART:]
    budget = [
        ("Region", "Sites", "Approved 2025", "Approved 2024"),
        ("Nordic", "11", "16,400", "17,900"),
        ("Central Europe", "9", "11,250", "12,800"),
        ("Atlantic", "6", "9,100", "8,350"),
        ("Total", "26", "36,750", "39,050"),
    ]
    intangibles = [
        ("Asset class", "Country", "2024", "2023"),
        ("Software", "Norway", "1,940", "2,105"),
        ("Software", "Sweden", "880", "655"),
        ("Patents", "Norway", "310", "295"),
        ("Total", "", "3,130", "3,055"),
    ]
    pages = [
        [
            heading("To our shareholders"),
            prose("2024 was a year of measured investment. The board had approved capital expenditure of EUR 39.1 "
                  "million for the year; what was spent, site by site, is set out in note 14. The Nordic sites again "
                  "took the largest part of it."),
            prose("In the segment report the Nordic region comprises Denmark, Finland, Norway and Sweden."),
        ],
        [
            heading("Investment budget"),
            prose("Approved budgets by region, in EUR thousand. Budgets are not expenditure: see note 14."),
            grid(budget, (45, 25, 40, 40), (0, 4)),
        ],
        [
            heading("Note 14. Additions to property, plant and equipment by site"),
            prose("In EUR thousand. Additions are shown net of investment grants received in the year; a figure in "
                  "parentheses is a net credit."),
            grid([head, *lines(first), total("Carried forward", first)], widths, (0, len(first) + 1)),
        ],
        [
            heading("Note 14 (continued)"),
            grid(
                [head, total("Brought forward", first), *lines(second), total("Total additions", rows)],
                widths,
                (0, 1, len(second) + 2),
            ),
            prose("Aalborg and Odense are held for sale; their additions are included above."),
        ],
        [
            heading("Note 15. Additions to intangible assets"),
            prose("In EUR thousand."),
            grid(intangibles, widths, (0, 4)),
        ],
    ]  # fmt: skip
    write_pdf(folder / "halden-annual-report-2024.pdf", TITLE, pages)

"""Printing: tables for people, one object for machines."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

import typer
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

PLAIN_WIDTH = 200
"""Columns where the output is no terminal: wide, so that no row is broken for whoever reads it line by line."""


def console(*, stderr: bool = False) -> Console:
    """A console on standard output or error that does not invent markup, links or colours for numbers."""
    made = Console(stderr=stderr, markup=False, highlight=False, emoji=False)
    return (
        made
        if made.is_terminal
        else Console(stderr=stderr, markup=False, highlight=False, emoji=False, width=PLAIN_WIDTH)
    )


def print_table(columns: Sequence[str], rows: Iterable[Sequence[Any]], *, right: Sequence[str] = ()) -> None:
    """A table on standard output; columns named in `right` are numbers."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for name in columns:
        table.add_column(name, justify="right" if name in right else "left", overflow="fold")
    for row in rows:
        table.add_row(*(Text(str(cell)) for cell in row))
    console().print(table)


def print_json(data: Any) -> None:
    """One JSON object on standard output."""
    typer.echo(json.dumps(data, indent=2))


def number(value: float | None) -> str:
    """A reward: three digits, or a dash where there is none."""
    return "-" if value is None else f"{value:.3f}"

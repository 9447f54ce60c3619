"""tradeschool version"""

from __future__ import annotations

import typer

from tradeschool import __version__


def version() -> None:
    """Print the version."""
    typer.echo(f"tradeschool {__version__}")

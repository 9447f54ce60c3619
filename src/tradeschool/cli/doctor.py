"""tradeschool doctor"""

from __future__ import annotations

from typing import Annotated

import typer


def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Say what is installed, what is missing, and the remedy. Exit code 1 if the starter pack cannot be played."""
    from tradeschool.cli.tables import print_json
    from tradeschool.doctor import examine, is_ready

    checks = examine()
    ready = is_ready(checks)
    if as_json:
        print_json({"ready": ready, "checks": [check.to_dict() for check in checks]})
    else:
        marks = {(True, True): "ok", (True, False): "ok", (False, True): "MISSING", (False, False): "missing"}
        for check in checks:
            typer.echo(f"{marks[check.ok, check.needed]:9}{check.name}: {check.detail}")
            if not check.ok:
                typer.echo(f"{'':9}-> {check.remedy}")
        typer.echo()
        optional = [check.name for check in checks if not check.ok and not check.needed]
        if ready:
            typer.echo("Ready. Try: tradeschool run --pack starter --sandbox namespace")
            if optional:
                typer.echo(f"Optional, and missing: {', '.join(optional)}.")
        else:
            typer.echo("Not ready: follow the remedies of the lines marked MISSING, from the top.")
    raise typer.Exit(0 if ready else 1)

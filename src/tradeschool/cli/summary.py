"""A run's outcome as tables."""

from __future__ import annotations

import typer

from tradeschool.batch.report import Summary
from tradeschool.cli.tables import number, print_table

SHORT_ROWS = 20


def print_summary(summary: Summary) -> None:
    """A table of families, one of tasks, the errors in full, and where everything lies."""
    if not summary.rows:
        typer.echo(f"No episode was finished. The plan: {summary.run}/plan.json")
        return
    tallies = {**summary.by_family, "all": summary.total}
    print_table(
        ("family", "episodes", "valid", "mean reward"),
        [(name, tally.episodes, tally.valid, number(tally.mean_reward)) for name, tally in tallies.items()],
        right=("episodes", "valid", "mean reward"),
    )
    typer.echo()
    print_table(
        ("task", "attempt", "reward", "valid", "steps", "seconds", "error"),
        [
            (
                row.task,
                row.attempt,
                number(row.reward),
                "yes" if row.valid else "NO",
                row.steps,
                f"{row.seconds:.2f}",
                f"{row.error['at_fault']}: {row.error['kind']}" if row.error else "",
            )
            for row in summary.rows
        ],
        right=("attempt", "reward", "steps", "seconds"),
    )
    typer.echo()
    for row in summary.rows:
        if row.error:
            typer.echo(f"{row.task} attempt {row.attempt}: {row.error['message']}")
    short = [row for row in summary.rows if row.short]
    for row in short[:SHORT_ROWS]:
        typer.echo(f"{row.task} attempt {row.attempt}: {number(row.reward)}, {row.short}")
    if len(short) > SHORT_ROWS:
        typer.echo(f"... and {len(short) - SHORT_ROWS} more below 1")
    typer.echo(
        f"Trajectories: {summary.run}/episodes/<task>__<attempt>/trajectory.json (rewards explained: result.json)"
    )
    typer.echo(f"Results:      {summary.run}/results.sqlite")

"""tradeschool run"""

from __future__ import annotations

import contextlib
import math
import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from tradeschool.errors import UsageError

CORES = min(4, os.cpu_count() or 1)


def run(
    pack: Annotated[str, typer.Option(help="A built-in pack's name, or a pack's folder.")] = "starter",
    task: Annotated[str, typer.Option(metavar="GLOB", help="Only tasks whose name or id matches.")] = "*",
    family: Annotated[str | None, typer.Option(help="Only this family: terminal, blender or docqa.")] = None,
    split: Annotated[str | None, typer.Option(help="Only this split: train, dev, test or private.")] = None,
    agent: Annotated[
        str | None, typer.Option(help="oracle (the default), noop, random, replay, or MODULE:CLASS of your own.")
    ] = None,
    replay: Annotated[
        Path | None,
        typer.Option(help="Play a trajectory.json, an actions.jsonl or a run's folder again."),
    ] = None,
    attempts: Annotated[int, typer.Option(metavar="K", help="Play each task K times.")] = 1,
    concurrency: Annotated[int, typer.Option(metavar="N", help="Episodes at once.")] = CORES,
    sandbox: Annotated[str, typer.Option(help="auto, docker or namespace.")] = "auto",
    max_steps: Annotated[int | None, typer.Option(help="Instead of each task's own limit.")] = None,
    seed: Annotated[int, typer.Option(help="The same seed gives the same episodes, whatever the concurrency.")] = 0,
    out: Annotated[Path | None, typer.Option(help="A new folder for the results. Default: one below ./runs.")] = None,
    fail_under: Annotated[
        float | None, typer.Option(metavar="X", min=0, max=1, help="Exit code 1 if any episode's reward is below X.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object on standard output.")] = False,
) -> None:
    """Play tasks with an agent, and say how it did. Exit code 3 if an episode has no valid reward."""
    from tradeschool.batch.local import LocalRunner
    from tradeschool.batch.preflight import RunOptions, choose_folder, prepare
    from tradeschool.batch.report import summarise
    from tradeschool.batch.store import Store
    from tradeschool.cli.progress import Progress
    from tradeschool.cli.summary import print_summary
    from tradeschool.cli.tables import print_json

    options = RunOptions(
        pack=pack,
        task=task,
        family=family,
        split=split,
        agent=agent,
        attempts=attempts,
        concurrency=concurrency,
        sandbox=sandbox,
        seed=seed,
        max_steps=max_steps,
        replay=replay,
        out=out,
    )
    if fail_under is not None and math.isnan(fail_under):
        raise UsageError("--fail-under must be a number from 0 to 1, not nan.")
    plan = prepare(options)
    with Store.create(choose_folder(options, plan), plan) as store:
        runner = LocalRunner(plan, store, concurrency)
        try:
            # standard output is for the result alone, whatever an agent prints
            with contextlib.redirect_stdout(sys.stderr), Progress(plan) as progress:
                runner.run(progress.done, progress.interrupted)
        finally:
            summary = summarise(store.folder, store.rows())
            if as_json:
                print_json(summary.to_dict())
            else:
                print_summary(summary)
    if summary.total.invalid:
        raise typer.Exit(3)
    below = [row for row in summary.rows if fail_under is not None and (row.reward or 0.0) < fail_under]
    if below:
        typer.echo(f"tradeschool: {len(below)} of {summary.total.episodes} rewards are below {fail_under}.", err=True)
        raise typer.Exit(1)

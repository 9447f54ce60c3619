"""How far a run is: a bar on a terminal, plain lines anywhere else. Always on standard error."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from rich import progress as bars

from tradeschool.batch.plan import RunPlan
from tradeschool.cli.tables import console, number
from tradeschool.episode import EpisodeResult


class Progress:
    """Tells of each finished episode. A context manager, for the time of the run."""

    def __init__(self, plan: RunPlan) -> None:
        self.total = len(plan.items)
        self.finished = 0
        self.console = console(stderr=True)
        self.bar = bars.Progress(
            bars.TextColumn("{task.description}"),
            bars.BarColumn(),
            bars.MofNCompleteColumn(),
            bars.TimeElapsedColumn(),
            bars.TextColumn("{task.fields[last]}"),
            console=self.console,
            disable=not self.console.is_terminal,
        )
        self.task = self.bar.add_task(f"{plan.agent} on {plan.pack.name} ({plan.sandbox})", total=self.total, last="")

    def done(self, result: EpisodeResult) -> None:
        """An episode has ended."""
        self.finished += 1
        outcome = number(result.reward.value) if result.reward else "invalid"
        line = f"{result.task} attempt {result.attempt}: {outcome}, {result.steps} steps, {result.seconds:.1f} s"
        self.bar.update(self.task, advance=1, last=f"{result.task} {outcome}")
        if not self.console.is_terminal:
            self.console.print(f"[{self.finished}/{self.total}] {line}")
        if result.error is not None:
            self.console.print(f"  {result.error.at_fault}: {result.error.message}", soft_wrap=True)

    def interrupted(self, running: int) -> None:
        """Ctrl-C was pressed once."""
        self.console.print(f"Interrupted: finishing {running} running episodes. Press Ctrl-C again to drop them.")

    def __enter__(self) -> Self:
        self.bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.bar.stop()

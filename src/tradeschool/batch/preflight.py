"""From what a caller asks for to a plan that can be played: everything is checked here, and nothing is made."""

from __future__ import annotations

import importlib
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tradeschool import doctor
from tradeschool.batch.agents import agent_class
from tradeschool.batch.plan import RunPlan
from tradeschool.batch.store import check_free
from tradeschool.errors import UsageError
from tradeschool.families import FAMILIES
from tradeschool.recordings import find_recording, read_actions
from tradeschool.sandbox.factory import backend_class, resolve_backend
from tradeschool.task import TaskPack


@dataclass(frozen=True)
class RunOptions:
    """What to run. `pack` is a built-in pack's name or a folder; `task` a glob over ids and folder names; `agent` one
    of ours or MODULE:CLASS (None: the oracle, or with `replay` the replay agent); `out` the new folder for results
    (None: one below ./runs).
    """

    pack: str = "starter"
    task: str = "*"
    family: str | None = None
    split: str | None = None
    agent: str | None = None
    attempts: int = 1
    concurrency: int = 1
    sandbox: str = "auto"
    seed: int = 0
    max_steps: int | None = None
    replay: Path | None = None
    out: Path | None = None


def prepare(options: RunOptions) -> RunPlan:
    """The plan, after every check that needs no episode.

    Raises UsageError, TaskError or SandboxError with one line that says what is wrong and the remedy.
    """
    if options.concurrency < 1:
        raise UsageError(f"concurrency must be at least 1, got {options.concurrency}.")
    agent = _agent_name(options)
    player = agent_class(agent)
    if options.sandbox != "auto":
        backend_class(options.sandbox)
    if options.out is not None:
        check_free(options.out)
    pack = TaskPack.load(options.pack)
    tasks = pack.select(options.task, options.family, options.split)
    plan = RunPlan(
        pack=pack,
        tasks=tasks,
        agent=agent,
        sandbox=options.sandbox,
        attempts=options.attempts,
        seed=options.seed,
        max_steps=options.max_steps,
        replay=options.replay.absolute() if options.replay else None,
    )
    _check_recordings(plan)
    for task in tasks:
        env_class(task.family).check_task(task)
        if getattr(player, "privileged", False) is True:
            player.check_task(task)
    sandbox = resolve_backend(options.sandbox)
    for family in sorted({task.family for task in tasks}):
        doctor.require(family, sandbox)
    for task in tasks:
        env_class(task.family).try_task(task, sandbox)
    return replace(plan, sandbox=sandbox)


def choose_folder(options: RunOptions, plan: RunPlan) -> Path:
    """Where the results go: `out`, or a new `runs/<UTC time>-<pack>-<agent>` below the current folder."""
    if options.out is not None:
        return options.out
    stamp = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
    name = f"{stamp}-{plan.pack.name}-{plan.agent.rpartition(':')[2]}"
    number = 1
    while (folder := Path("runs") / (name if number == 1 else f"{name}-{number}")).exists():
        number += 1
    return folder


def _agent_name(options: RunOptions) -> str:
    if options.replay is None:
        if options.agent == "replay":
            raise UsageError("the replay agent needs a recording. Give --replay FILE or --replay RUN_FOLDER.")
        return options.agent or "oracle"
    if options.agent not in (None, "replay"):
        raise UsageError(f"--replay goes with --agent replay, not with --agent {options.agent}. Leave one out.")
    return "replay"


def _check_recordings(plan: RunPlan) -> None:
    if plan.replay is not None:
        for path in {find_recording(plan.replay, item.task.name, item.attempt) for item in plan.items}:
            read_actions(path)


def env_class(family: str) -> Any:
    """The environment class of a family. Raises UsageError with the pip line when a library of it is missing."""
    module, _, cls = FAMILIES[family].entry_point.partition(":")
    try:
        return getattr(importlib.import_module(module), cls)
    except ModuleNotFoundError as error:
        raise UsageError(
            f"the {family} family needs {error.name!r}, which is not installed. pip install 'tradeschool[{family}]'"
        ) from error

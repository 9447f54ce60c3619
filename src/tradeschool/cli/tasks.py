"""tradeschool tasks list, tradeschool tasks show"""

from __future__ import annotations

from typing import Annotated, Any

import typer

from tradeschool.task import Task, TaskPack

tasks = typer.Typer(invoke_without_command=True, rich_markup_mode=None)
PackOption = Annotated[str, typer.Option(help="A built-in pack's name, or a pack's folder.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]


@tasks.callback()
def _tasks(context: typer.Context) -> None:
    """Look at the tasks of a pack."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@tasks.command("list")
def list_tasks(
    pack: PackOption = "starter",
    task: Annotated[str, typer.Option(help="Only tasks whose name matches this glob.")] = "*",
    family: Annotated[str | None, typer.Option(help="Only this family.")] = None,
    split: Annotated[str | None, typer.Option(help="Only this split: train, dev, test or private.")] = None,
    as_json: JsonOption = False,
) -> None:
    """List the tasks of a pack."""
    from tradeschool.cli.tables import print_json, print_table

    loaded = TaskPack.load(pack)
    found = loaded.select(task, family, split)
    if as_json:
        print_json({"pack": loaded.name, "tasks": [_facts(each) for each in found]})
        return
    print_table(
        ("task", "family", "difficulty", "split", "steps", "about"),
        [
            (each.id, each.family, facts["difficulty"], facts["split"], each.limits.max_steps, _about(each))
            for each in found
            for facts in [_facts(each)]
        ],
        right=("difficulty", "steps"),
    )
    typer.echo(f"{len(found)} tasks. `tradeschool tasks show ID` prints one whole.")


@tasks.command("show")
def show_task(
    task: Annotated[str, typer.Argument(metavar="ID", help="PACK/TASK; a bare task name is looked up in --pack.")],
    pack: PackOption = "starter",
    as_json: JsonOption = False,
) -> None:
    """Show one task: what the agent is asked, and under which limits."""
    from tradeschool.cli.tables import print_json

    if "/" in task:
        pack, _, task = task.rpartition("/")
    found = TaskPack.load(pack).get(task)
    facts = _facts(found)
    if as_json:
        print_json({**facts, "instruction": found.instruction})
        return
    for name, value in facts.items():
        shown = ", ".join(f"{key} {item}" for key, item in value.items()) if isinstance(value, dict) else value
        typer.echo(f"{name + ':':12}{shown}")
    typer.echo(f"\n{found.instruction}")


def _facts(task: Task) -> dict[str, Any]:
    table = task.file.tradeschool
    return {
        "task": task.id,
        "family": task.family,
        "kind": table.kind,
        "difficulty": table.difficulty,
        "split": table.split,
        "licence": task.licence,
        "limits": task.limits.model_dump(),
        "folder": str(task.paths.root),
        "digest": task.digest,
    }


def _about(task: Task) -> str:
    text = task.file.task.description or task.instruction.lstrip("# ").splitlines()[0]
    return text if len(text) <= 72 else f"{text[:69]}..."

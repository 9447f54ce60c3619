"""tradeschool setup"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from tradeschool.errors import UsageError


class Part(StrEnum):
    """What can be set up."""

    tasks = "tasks"
    blender = "blender"
    docker = "docker"
    all = "all"


def setup(
    part: Annotated[
        Part,
        typer.Argument(
            help="tasks: Python and pytest for tasks. blender: the interpreter with bpy."
            " all: these two, which is what the namespace sandbox needs. docker: the image of Docker sandboxes."
        ),
    ],
    start: Annotated[
        bool, typer.Option(help="For docker, as root on Debian or Ubuntu: install and start an engine if none answers.")
    ] = True,
) -> None:
    """Make what sandboxes and workers need. What is there already is kept."""
    if part in (Part.tasks, Part.all):
        from tradeschool.setup.tasktools import setup_tasktools

        setup_tasktools(report=typer.echo)
    if part in (Part.blender, Part.all):
        from tradeschool.setup.blender import setup_blender

        setup_blender(report=typer.echo)
    if part is Part.docker:
        from tradeschool.setup.docker_engine import answers
        from tradeschool.setup.docker_image import setup_docker

        if not start and not answers():
            raise UsageError("no Docker engine answers. Start one, or leave out --no-start.", kind="no_engine")
        setup_docker(report=typer.echo)

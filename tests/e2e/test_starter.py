"""The main job: every task of `starter`, through the command line, on both back ends."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tradeschool.task import TaskPack

COMMAND = str(Path(sys.executable).parent / "tradeschool")


def play(out: Path, agent: str, backend: str) -> dict[str, Any]:
    command = [COMMAND, "run", "--pack", "starter", "--agent", agent, "--sandbox", backend, "--concurrency", "2"]
    done = subprocess.run([*command, "--json", "--out", str(out)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout)


@pytest.mark.slow
@pytest.mark.blender
@pytest.mark.sandbox
@pytest.mark.timeout(600)
@pytest.mark.parametrize("backend", ["namespace", pytest.param("docker", marks=pytest.mark.docker)])
@pytest.mark.parametrize(("agent", "mean"), [("oracle", 1.0), ("noop", 0.0)])
def test_every_task_of_starter(tmp_path: Path, agent: str, mean: float, backend: str) -> None:
    summary = play(tmp_path / "run", agent, backend)
    wrong = [row for row in summary["by_task"] if not row["valid"] or row["reward"] != mean]
    assert not wrong
    assert summary["mean_reward"] == mean
    assert summary["invalid"] == 0
    assert {row["task"] for row in summary["by_task"]} == {task.id for task in TaskPack.load("starter").tasks}


@pytest.mark.slow
@pytest.mark.blender
@pytest.mark.sandbox
@pytest.mark.timeout(600)
def test_chance_is_worth_nothing(tmp_path: Path) -> None:
    summary = play(tmp_path / "run", "random", "namespace")
    assert summary["invalid"] == 0
    assert summary["mean_reward"] == 0.0

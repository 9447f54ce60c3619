"""The local executor: retries, faults, order, and what Ctrl-C leaves."""

import json
import os
import signal
import subprocess
import sys
import textwrap
from collections import Counter

import pytest

from tradeschool.batch.local import MAX_TRIES, LocalRunner
from tradeschool.batch.store import Store
from tradeschool.errors import AgentError, SandboxError, TaskError, UsageError
from tradeschool.testing import ShelfEnv


def test_every_episode_is_played_and_closed(play):
    made = []

    def env_for(item):
        made.append(ShelfEnv())
        return made[-1]

    rows = play(env_for, attempts=2, concurrency=3)
    assert [(row.task, row.attempt) for row in rows] == [
        (f"tiny/{name}", attempt) for name in ("one", "three", "two") for attempt in (1, 2)
    ]
    assert all(row.valid for row in rows)
    assert [env.closed for env in made] == [1] * 6


def test_order_and_concurrency_do_not_matter(play, tmp_path):
    play(agent="random", concurrency=1, attempts=3, folder="a")
    play(agent="random", concurrency=4, attempts=3, folder="b")

    def actions(folder):
        found = {}
        for path in (tmp_path / folder / "episodes").glob("*/trajectory.json"):
            steps = json.loads(path.read_text())["steps"]
            found[path.parent.name] = [(step["message"], step.get("tool_calls")) for step in steps]
        return found

    assert len(actions("a")) == 9
    assert actions("a") == actions("b")


def test_an_environment_that_fails_once_is_played_again(play, tmp_path):
    tries = Counter()

    def env_for(item):
        tries[item.name] += 1
        fails = item.task.name == "two" and tries[item.name] == 1
        return ShelfEnv(faults={"step": SandboxError("gone", kind="dead")} if fails else None)

    rows = play(env_for)
    assert all(row.valid for row in rows)
    assert tries == {"one__1": 1, "two__1": 2, "three__1": 1}
    kept = json.loads((tmp_path / "run" / "episodes" / "two__1" / "result.json").read_text())
    assert kept["retries"] == [{"kind": "dead", "at_fault": "infrastructure", "message": "gone"}]


@pytest.mark.parametrize(
    ("error", "tries"),
    [
        (SandboxError("x"), MAX_TRIES),
        (AgentError("x"), MAX_TRIES),
        (RuntimeError("x"), MAX_TRIES),
        (TaskError("x"), 1),
        (UsageError("x"), 1),
    ],
)
def test_retries_follow_the_policy_and_end(play, tmp_path, error, tries):
    made = []

    def env_for(item):
        made.append(item.name)
        raise error

    rows = play(env_for, attempts=1)
    assert Counter(made) == dict.fromkeys(("one__1", "two__1", "three__1"), tries)
    assert not any(row.valid for row in rows)
    assert {row.reward for row in rows} == {None}
    kept = json.loads((tmp_path / "run" / "episodes" / "one__1" / "result.json").read_text())
    assert len(kept["retries"]) == tries - 1
    assert (tmp_path / "run" / "episodes" / "one__1" / "error.txt").is_file()


def test_one_that_fails_stops_no_other(play):
    def env_for(item):
        return ShelfEnv(faults={"grade": ValueError("odd")} if item.task.name == "one" else None)

    rows = play(env_for, concurrency=2)
    assert [(row.task, row.valid) for row in rows] == [("tiny/one", False), ("tiny/three", True), ("tiny/two", True)]
    assert rows[0].error is not None
    assert rows[0].error["at_fault"] == "infrastructure"
    assert "odd" in rows[0].error["message"]


def test_a_failing_close_undoes_nothing(play, caplog):
    rows = play(lambda item: ShelfEnv(faults={"close": OSError("busy")}))
    assert all(row.valid for row in rows)
    assert "closing the environment of one__1 failed" in caplog.text


def test_only_privileged_agents_get_the_task(play, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "spy_agents.py").write_text(
        textwrap.dedent(
            """
            from tradeschool.agents.base import Agent

            class Spy(Agent):
                @classmethod
                def create(cls, context):
                    assert context.task is None, "an ordinary agent was given the task"
                    return cls()

                def act(self, observation, info):
                    return {"name": "submit", "arguments": {}}

            class Privileged(Spy):
                privileged = True
            """
        )
    )
    assert all(row.valid for row in play(agent="spy_agents:Spy", folder="a"))
    rows = play(agent="spy_agents:Privileged", folder="b")
    assert all(row.error is not None and "given the task" in row.error["message"] for row in rows)
    sys.modules.pop("spy_agents")


def test_an_agent_that_raises_keyboardinterrupt_loses_no_episode(play, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "rude_agents.py").write_text(
        "from tradeschool.agents.base import Agent\n\n\nclass Rude(Agent):\n    def act(self, observation, info):\n"
        "        raise KeyboardInterrupt\n"
    )
    rows = play(agent="rude_agents:Rude")
    assert len(rows) == 3
    assert {row.error["at_fault"] for row in rows if row.error} == {"agent"}
    sys.modules.pop("rude_agents")


def test_a_run_can_be_replayed(play, tmp_path):
    play(agent="random", folder="a")
    rows = play(agent="replay", replay=tmp_path / "a", folder="b")
    assert all(row.valid for row in rows)
    again = (tmp_path / "b" / "episodes" / "one__1" / "trajectory.json").read_text()
    first = (tmp_path / "a" / "episodes" / "one__1" / "trajectory.json").read_text()
    assert [step["observation"] for step in json.loads(again)["steps"][1:]] == [
        step["observation"] for step in json.loads(first)["steps"][1:]
    ]


def test_at_least_one_at_once(make_plan, tmp_path):
    plan = make_plan()
    with Store.create(tmp_path / "run", plan) as store, pytest.raises(UsageError, match="concurrency"):
        LocalRunner(plan, store, 0)


INTERRUPTED = """
import sys, threading
from pathlib import Path
from tradeschool.batch.local import LocalRunner
from tradeschool.batch.plan import RunPlan
from tradeschool.batch.store import Store
from tradeschool.errors import SandboxError
from tradeschool.task import TaskPack
from tradeschool.testing import ShelfEnv

mode, folder = sys.argv[1], Path(sys.argv[2])
go_on = threading.Event()

class Waits(ShelfEnv):
    # stands for a command that runs until it is let go, or until its sandbox is closed under it
    def step(self, action):
        print("playing", flush=True)
        go_on.wait()
        if self.closed:
            raise SandboxError("closed under it")
        return super().step(action)

    def close(self):
        go_on.set()
        super().close()

def make_env(plan, item):
    return Waits()

def interrupted(running):
    print(f"interrupted with {running} running", flush=True)
    if mode == "drain":
        go_on.set()

pack = TaskPack.load(folder / "pack")
plan = RunPlan(pack, pack.tasks, "noop", "namespace", attempts=3)
with Store.create(folder / "run", plan) as store:
    try:
        LocalRunner(plan, store, 1, make_env=make_env).run(on_interrupt=interrupted)
    except KeyboardInterrupt:
        print("rows", len(store.rows()), flush=True)
        sys.exit(130)
"""


@pytest.mark.parametrize(
    ("mode", "signals", "rows"),
    [
        ("drain", (signal.SIGINT,), 1),
        ("drop", (signal.SIGINT, signal.SIGINT), 0),
        ("drop", (signal.SIGTERM,), 0),
    ],
)
def test_ctrl_c_drains_and_a_second_one_drops(tmp_path, pack, mode, signals, rows):
    script = tmp_path / "script.py"
    script.write_text(INTERRUPTED)
    with subprocess.Popen(
        [sys.executable, str(script), mode, str(tmp_path)], stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        assert process.stdout is not None
        try:
            assert process.stdout.readline() == "playing\n"
            os.kill(process.pid, signals[0])
            assert process.stdout.readline() == "interrupted with 1 running\n"
            for number in signals[1:]:
                os.kill(process.pid, number)
            rest = process.stdout.read()
        finally:
            process.kill()
        process.wait()
    assert rest == f"rows {rows}\n"
    assert process.returncode == 130
    with Store.open(tmp_path / "run") as store:
        assert len(store.rows()) == rows

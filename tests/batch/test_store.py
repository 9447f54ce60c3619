import json
import sqlite3
from contextlib import closing
from dataclasses import replace

import pytest

from tradeschool.batch.report import summarise
from tradeschool.batch.store import Store
from tradeschool.episode import Fault, run_episode
from tradeschool.errors import SandboxError, UsageError
from tradeschool.recordings import load_trajectory
from tradeschool.testing import ScriptedAgent, ShelfEnv


@pytest.fixture
def result():
    return replace(
        run_episode(ShelfEnv(), ScriptedAgent(ShelfEnv.solution), seed=1), task="tiny/one", family="terminal"
    )


@pytest.fixture
def failed():
    env = ShelfEnv(faults={"reset": SandboxError("gone", kind="dead")})
    made = run_episode(env, ScriptedAgent([]), seed=1)
    return replace(made, task="tiny/two", family="docqa", retries=(Fault("dead", "infrastructure", "first"),))


def test_an_episode_is_kept_whole(tmp_path, make_plan, result, failed):
    with Store.create(tmp_path / "run", make_plan()) as store:
        folder = store.record(result)
        broken = store.record(failed)
        store.finish()
    assert json.loads((folder / "result.json").read_text())["reward"]["value"] == 1.0
    assert load_trajectory(folder / "trajectory.json").reward == result.reward
    assert not (folder / "error.txt").exists()
    assert "SandboxError: gone" in (broken / "error.txt").read_text()
    with Store.open(tmp_path / "run") as store:
        one, two = store.rows()
    assert (one.task, one.reward, one.valid, one.error) == ("tiny/one", 1.0, True, None)
    assert (two.reward, two.valid) == (None, False)
    assert two.error == {"kind": "dead", "at_fault": "infrastructure", "message": "gone"}
    with closing(sqlite3.connect(tmp_path / "run" / "results.sqlite")) as db:
        assert db.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert db.execute("SELECT name, value FROM part WHERE task = 'tiny/one' AND weight > 0").fetchall() == [
            ("cup", 1.0),
            ("book", 1.0),
            ("lamp", 1.0),
        ]
        assert db.execute("SELECT task, try, message FROM retry").fetchall() == [("tiny/two", 1, "first")]
        assert db.execute("SELECT count(*) FROM run WHERE ended IS NOT NULL").fetchone() == (1,)


def test_an_episode_is_recorded_once(tmp_path, make_plan, result):
    with Store.create(tmp_path / "run", make_plan()) as store:
        store.record(result)
        with pytest.raises(sqlite3.IntegrityError):
            store.record(result)
        assert len(store.rows()) == 1


def test_a_failed_write_leaves_no_half_row(tmp_path, make_plan, result):
    faults = (Fault("a", "b", "c"), Fault(None, "b", "c"))  # pyright: ignore[reportArgumentType]
    with Store.create(tmp_path / "run", make_plan()) as store:
        with pytest.raises(sqlite3.IntegrityError):
            store.record(replace(result, retries=faults))
        assert store.rows() == ()
        store.record(result)
        assert len(store.rows()) == 1


def test_what_a_killed_process_left_is_no_result(tmp_path, make_plan, result):
    with Store.create(tmp_path / "run", make_plan()) as store:
        stale = tmp_path / "run" / "episodes" / "one__1"
        stale.mkdir(parents=True)
        (stale / "half.txt").write_text("half")
        assert store.rows() == ()
        store.record(result)
        assert not (stale / "half.txt").exists()


@pytest.mark.parametrize("make", [lambda path: path.write_text("x"), lambda path: (path / "a").mkdir(parents=True)])
def test_nothing_is_overwritten(tmp_path, make_plan, make):
    make(tmp_path / "there")
    with pytest.raises(UsageError, match="--out"):
        Store.create(tmp_path / "there", make_plan())


def test_an_empty_folder_is_fine(tmp_path, make_plan):
    (tmp_path / "there").mkdir()
    with Store.create(tmp_path / "there", make_plan()) as store:
        assert store.rows() == ()


def test_a_folder_without_a_run_is_named(tmp_path):
    with pytest.raises(UsageError, match=r"no results\.sqlite"):
        Store.open(tmp_path)


def test_the_summary_means_valid_rewards_only(tmp_path, make_plan, result, failed):
    with Store.create(tmp_path / "run", make_plan()) as store:
        store.record(result)
        store.record(failed)
        summary = summarise(store.folder, store.rows()).to_dict()
    assert list(summary) == ["run", "episodes", "valid", "invalid", "mean_reward", "by_family", "by_task"]
    assert (summary["episodes"], summary["valid"], summary["invalid"], summary["mean_reward"]) == (2, 1, 1, 1.0)
    assert summary["by_family"]["docqa"] == {"episodes": 1, "valid": 0, "invalid": 1, "mean_reward": None}
    assert [list(row) for row in summary["by_task"]] == [
        ["task", "attempt", "reward", "valid", "steps", "seconds", "error"]
    ] * 2
    json.dumps(summary)

"""Everything that can be wrong with a run is said before it starts, in one line."""

from pathlib import Path

import pytest

from tradeschool.batch.plan import RunPlan
from tradeschool.batch.preflight import RunOptions, choose_folder, prepare
from tradeschool.errors import TaskError, TradeschoolError, UsageError
from tradeschool.testing import write_pack


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"pack": "startr"}, "no pack 'startr'. Did you mean 'starter'?"),
        ({"task": "nothing*"}, "no task for task 'nothing*'"),
        ({"family": "terminl"}, "no family 'terminl'. Did you mean 'terminal'?"),
        ({"agent": "orcle"}, "Did you mean 'oracle'?"),
        ({"sandbox": "dcoker"}, "no sandbox 'dcoker'. Did you mean 'docker'?"),
        ({"attempts": 0}, "attempts must be at least 1"),
        ({"concurrency": 0}, "concurrency must be at least 1"),
        ({"max_steps": 0}, "max_steps must be at least 1"),
        ({"seed": -1}, "seed must be 0 or more"),
        ({"agent": "replay"}, "needs a recording"),
        ({"agent": "noop", "replay": Path("x")}, "--replay goes with --agent replay"),
        ({"replay": Path("no-such-recording")}, "no-such-recording'. Give a trajectory.json"),
    ],
)
def test_wrong_options_are_named(options, said):
    with pytest.raises(UsageError) as error:
        prepare(RunOptions(**options))
    assert said in str(error.value)


def test_a_broken_task_is_named_with_file_line_and_field(tmp_path):
    root = write_pack(tmp_path / "pack", {"one": "terminal"})
    (root / "one" / "task.toml").write_text('[tradeschool]\nfamily = "terminal"\ndificulty = 2\n')
    with pytest.raises(TaskError) as error:
        prepare(RunOptions(pack=str(root)))
    assert "task.toml:3: unknown field 'tradeschool.dificulty'. Did you mean 'difficulty'?" in str(error.value)


def test_a_task_without_tests_is_named(tmp_path):
    root = write_pack(tmp_path / "pack", {"one": "terminal"})
    (root / "one" / "tests").rmdir()
    with pytest.raises(TaskError, match="tests: missing"):
        prepare(RunOptions(pack=str(root), agent="noop"))


def test_a_folder_with_content_is_not_written_to(tmp_path):
    (tmp_path / "x").write_text("x")
    with pytest.raises(UsageError, match="not empty"):
        prepare(RunOptions(out=tmp_path))


def test_every_error_is_one_line():
    with pytest.raises(TradeschoolError) as error:
        prepare(RunOptions(pack="a\nb"))
    assert "\n" not in str(error.value)


def test_the_default_folder_is_new(tmp_path, monkeypatch, make_plan):
    monkeypatch.chdir(tmp_path)
    plan: RunPlan = make_plan(agent="mine.agents:Greedy")
    folder = choose_folder(RunOptions(), plan)
    assert folder.parent == Path("runs")
    assert folder.name.endswith("-tiny-Greedy")
    assert not folder.exists()
    assert choose_folder(RunOptions(out=Path("here")), plan) == Path("here")

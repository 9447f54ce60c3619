"""Packs and tasks: what an author gets wrong is named with file, line, field and remedy."""

from __future__ import annotations

from pathlib import Path

import pytest

from tradeschool.errors import TaskError, UsageError
from tradeschool.task import TaskPack

PACK = 'name = "mine"\nversion = "1"\nlicence = "MIT"\n'
TASK = '[task]\nname = "o/n"\n\n[tradeschool]\nfamily = "terminal"\n'


def write_pack(root: Path, task: str = TASK, pack: str = PACK) -> Path:
    (root / "one").mkdir()
    (root / "pack.toml").write_text(pack)
    (root / "one" / "task.toml").write_text(task)
    (root / "one" / "instruction.md").write_text("Do it.\n")
    return root


def test_a_pack(tmp_path: Path) -> None:
    pack = TaskPack.load(write_pack(tmp_path))
    task = pack.get("one")
    assert (task.id, task.family, task.licence, task.instruction) == ("mine/one", "terminal", "MIT", "Do it.")
    assert pack.get("mine/one") is task
    assert task.limits.max_steps == 50


@pytest.mark.parametrize(
    ("task", "said"),
    [
        (TASK + "dificulty = 3\n", "task.toml:6: unknown field 'tradeschool.dificulty'. Did you mean 'difficulty'?"),
        (TASK + "difficulty = 9\n", "task.toml:6: field 'tradeschool.difficulty': Input should be less than"),
        (TASK + 'difficulty = "3"\n', "task.toml:6: field 'tradeschool.difficulty'"),
        ('[tradeschool]\nfamily = "cooking"\n', "task.toml:2: field 'tradeschool.family'"),
        ("[task]\n", "field 'tradeschool' is missing"),
        (TASK + "[tradeschool.limits]\nmax_stepz = 1\n", "task.toml:7: unknown field 'tradeschool.limits.max_stepz'"),
        (TASK + "[agent]\ntimeout_sec = -1\n", "task.toml:7: field 'agent.timeout_sec'"),
        ("[task\n", "is not valid TOML"),
        (TASK + "[a" * 3, "is not valid TOML"),
    ],
)
def test_a_broken_task_names_file_line_and_field(tmp_path: Path, task: str, said: str) -> None:
    with pytest.raises(TaskError) as caught:
        TaskPack.load(write_pack(tmp_path, task))
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_binary_and_huge_files_are_refused(tmp_path: Path) -> None:
    root = write_pack(tmp_path)
    (root / "one" / "task.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(TaskError, match="not UTF-8"):
        TaskPack.load(root)
    (root / "one" / "task.toml").write_bytes(b"#" * 1_000_001)
    with pytest.raises(TaskError, match="over the limit"):
        TaskPack.load(root)


def test_a_folder_that_looks_like_a_task_is_not_passed_over(tmp_path: Path) -> None:
    root = write_pack(tmp_path)
    (root / "assets").mkdir()
    assert len(TaskPack.load(root).tasks) == 1
    (root / "two" / "tests").mkdir(parents=True)
    with pytest.raises(TaskError, match=r"two: looks like a task, but has no task\.toml"):
        TaskPack.load(root)


def test_an_empty_instruction_is_refused(tmp_path: Path) -> None:
    root = write_pack(tmp_path)
    (root / "one" / "instruction.md").write_text(" \n")
    with pytest.raises(TaskError, match=r"instruction\.md"):
        TaskPack.load(root)


def test_unknown_names_come_with_a_suggestion(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="Did you mean 'starter'"):
        TaskPack.load("startr")
    with pytest.raises(UsageError, match="there is no folder"):
        TaskPack.load("./nowhere")
    with pytest.raises(UsageError, match="is not a pack"):
        TaskPack.load(tmp_path)
    pack = TaskPack.load(write_pack(tmp_path))
    with pytest.raises(UsageError, match="Did you mean 'one'"):
        pack.get("on")
    with pytest.raises(UsageError, match="Did you mean 'terminal'"):
        pack.select(family="terminl")
    with pytest.raises(UsageError, match="has no task for task 'x\\*'"):
        pack.select("x*")


def test_the_digest_is_of_content_and_run_bits(tmp_path: Path) -> None:
    root = write_pack(tmp_path)
    before = TaskPack.load(root).get("one").digest
    assert TaskPack.load(root).get("one").digest == before
    (root / "one" / "instruction.md").chmod(0o755)
    assert TaskPack.load(root).get("one").digest != before


def test_starter_is_whole() -> None:
    pack = TaskPack.load("starter")
    for family in ("terminal", "blender", "docqa"):
        tasks = pack.select(family=family)
        assert len(tasks) >= 4
        for task in tasks:
            assert task.licence
            assert (task.paths.solution / "solve.sh").is_file() or (task.paths.solution / "actions.jsonl").is_file()

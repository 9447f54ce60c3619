"""The clean room: verdicts, and what is nobody's zero."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.envs.terminal.conftest import RIGHT, TESTS, TOML, do, submit, write_task
from tradeschool.envs.terminal.env import TerminalEnv
from tradeschool.errors import SandboxError, TaskError, VerifierError
from tradeschool.task import TaskPack

pytestmark = pytest.mark.sandbox
Play = Callable[..., TerminalEnv]
SCRIPT_TOML = '[tradeschool]\nfamily = "terminal"\n'


def test_tests_that_do_not_start_are_the_graders_fault(play: Play) -> None:
    env = play(tests="import nothing_of_the_kind\n")
    with pytest.raises(VerifierError, match=r"have no|did not start"):
        env.step({"name": "submit", "arguments": {}})


def test_an_expected_test_that_does_not_exist_is_the_graders_fault(play: Play) -> None:
    env = play(tests=TESTS.replace("test_answer", "test_other"))
    with pytest.raises(VerifierError, match=r"have no 'test_it\.py::test_answer'"):
        env.step({"name": "submit", "arguments": {}})


def test_a_skipped_test_is_no_pass(play: Play) -> None:
    env = play(
        tests=TESTS.replace("    assert probe.call", "    import pytest\n    pytest.skip()\n    assert probe.call")
    )
    do(env, "write_file", path="answer.py", content=RIGHT)
    assert submit(env).value == 0.0


def test_a_set_up_script_that_fails_is_the_authors_fault(play: Play) -> None:
    with pytest.raises(TaskError, match=r"setup.sh: failed with exit code 3: no such luck"):
        play(environment__setup_dot_sh="echo no such luck >&2; exit 3\n")


def test_a_missing_program_is_named_with_the_remedy(play: Play) -> None:
    with pytest.raises(SandboxError, match=r"needs 'no-such-program'.*apt-get install no-such-program"):
        play(toml=TOML.replace("regression", 'requires = ["no-such-program"]\nregression'))


@pytest.mark.parametrize(
    ("script", "value"),
    [
        ("echo 1 > /logs/verifier/reward.txt", 1.0),
        ("echo 0.25 > /logs/verifier/reward.txt; exit 1", 0.25),
        ('echo \'{"reward": 0.5, "style": 7}\' > /logs/verifier/reward.json', 0.5),
        # pier#51, dawn#14: which of the two counts is said once: the JSON, as in Harbor
        ("echo 1 > /logs/verifier/reward.txt; echo '{\"reward\": 0}' > /logs/verifier/reward.json", 0.0),
        (
            "python3 -c 'import answer; assert answer.answer() == 42' && echo 1 > /logs/verifier/reward.txt",
            1.0,
        ),
    ],
)
def test_a_script_reports_by_file(play: Play, script: str, value: float) -> None:
    env = play(toml=SCRIPT_TOML, tests__test_dot_sh=script)
    do(env, "write_file", path="answer.py", content=RIGHT)
    assert submit(env).value == value


@pytest.mark.parametrize(
    "script",
    [
        "true",
        ": > /logs/verifier/reward.txt",
        "echo nan > /logs/verifier/reward.txt",
        "echo 1e309 > /logs/verifier/reward.txt",
        "echo '[1]' > /logs/verifier/reward.json",
        'echo \'{"reward": "1"}\' > /logs/verifier/reward.json',
        "echo '{\"reward\": true}' > /logs/verifier/reward.json",
        "echo 2 > /logs/verifier/reward.txt",
        "mkdir /logs/verifier/reward.txt",
    ],
)
def test_a_script_without_a_readable_reward_is_no_zero(play: Play, script: str) -> None:
    # reef#215, verifiers#1401: missing, empty, not a finite number
    env = play(toml=SCRIPT_TOML, tests__test_dot_sh=script)
    with pytest.raises(VerifierError):
        env.step({"name": "submit", "arguments": {}})


def test_a_task_without_tests_is_refused_before_it_is_played(tmp_path: Path) -> None:
    task = TaskPack.load(write_task(tmp_path, toml=SCRIPT_TOML)).get("one")
    with pytest.raises(TaskError, match="required_tests"):
        TerminalEnv.check_task(task)


def test_a_test_that_its_file_does_not_define_is_refused_before_it_is_played(tmp_path: Path) -> None:
    toml = TOML.replace("test_it.py::test_kept", "test_it.py::test_nope")
    with pytest.raises(TaskError, match="test_nope"):
        TerminalEnv.check_task(TaskPack.load(write_task(tmp_path, toml=toml)).get("one"))


def test_a_test_named_in_no_file_is_refused_before_it_is_played(tmp_path: Path) -> None:
    task = TaskPack.load(write_task(tmp_path, toml=TOML.replace("test_it.py::test_kept", "test_at.py::test_kept")))
    with pytest.raises(TaskError, match="test_at"):
        TerminalEnv.check_task(task.get("one"))

"""The terminal trade's tools, as an agent meets them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.envs.terminal.conftest import RIGHT, do, submit
from tradeschool.envs.terminal.env import TerminalEnv

pytestmark = pytest.mark.sandbox
Play = Callable[..., TerminalEnv]


def test_the_shell_keeps_its_state(play: Play) -> None:
    env = play()
    assert do(env, "shell", command="pwd; ls") == "/workspace\nkept.txt\n[exit code 0]"
    do(env, "shell", command="cd /tmp && x=5")
    assert do(env, "shell", command='pwd; echo "$x"') == "/tmp\n5\n[exit code 0]"


def test_a_failing_command_is_told_and_counted(play: Play) -> None:
    env = play()
    observation, _, _, _, info = env.step({"name": "shell", "arguments": {"command": "false"}})
    assert observation["text"] == "[exit code 1]"
    assert info["status"] == "failed"


def test_a_command_over_its_time_is_told_with_the_limit(play: Play) -> None:
    env = play()
    said = do(env, "shell", command="echo begun; sleep 60", timeout_s=0.5)
    assert said.startswith("begun\n[The command was stopped after ")
    assert "limit 0.5 s" in said
    assert do(env, "shell", command="echo still here") == "still here\n[exit code 0]"


def test_long_output_is_cut_in_the_middle(play: Play) -> None:
    said = do(play(), "shell", command="seq 100000")
    assert said.startswith("1\n2\n")
    assert said.endswith("99999\n100000\n[exit code 0]")
    assert "bytes cut" in said
    assert len(said) < 20_000


def test_files(play: Play) -> None:
    env = play()
    assert do(env, "write_file", path="a/b.txt", content="one\ntwo\nthree\n") == "Wrote 3 lines to a/b.txt."
    assert do(env, "read_file", path="/workspace/a/b.txt") == "one\ntwo\nthree\n"
    assert do(env, "read_file", path="a/b.txt", start=2, lines=1) == "two\n"
    assert "has 3 lines" in do(env, "read_file", path="a/b.txt", start=9)
    assert do(env, "edit_file", path="a/b.txt", old="two", new="2") == "Edited a/b.txt."
    assert do(env, "shell", command="cat a/b.txt") == "one\n2\nthree\n[exit code 0]"


@pytest.mark.parametrize(
    ("old", "said"), [("four", "does not occur"), ("e", "occurs 3 times"), ("ONE", "does not occur")]
)
def test_an_edit_that_is_not_exact_changes_nothing(play: Play, old: str, said: str) -> None:
    env = play()
    do(env, "write_file", path="b.txt", content="one\nthree\n")
    assert said in do(env, "edit_file", path="b.txt", old=old, new="x")
    assert do(env, "read_file", path="b.txt") == "one\nthree\n"


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("nowhere.txt", "No such file"),
        ("/etc", "cannot be read"),
        ("/dev/zero", "cannot be read"),
        ("b", "not a UTF-8"),
    ],
)
def test_what_cannot_be_read_is_told(play: Play, path: str, said: str) -> None:
    env = play()
    do(env, "shell", command="printf '\\xff\\xfe' > b")
    assert said in do(env, "read_file", path=path)


def test_a_system_folder_cannot_be_written(play: Play) -> None:
    assert "cannot be written" in do(play(), "write_file", path="/usr/bin/ls", content="x")


def test_a_link_leads_nowhere_outside(play: Play, tmp_path_factory: pytest.TempPathFactory) -> None:
    secret = tmp_path_factory.mktemp("host") / "secret"
    secret.write_text("of the host")
    env = play()
    do(env, "shell", command=f"ln -s {secret} link")
    assert "No such file" in do(env, "read_file", path="link")


def test_the_right_answer_scores_one_and_a_near_miss_zero(play: Play) -> None:
    env = play()
    do(env, "write_file", path="answer.py", content=RIGHT)
    reward = submit(env)
    assert reward.value == 1.0
    assert reward.verifier == "clean-room"
    env.reset(seed=0)
    do(env, "write_file", path="answer.py", content=RIGHT.replace("42", "42.5"))
    assert submit(env).value == 0.0


def test_a_deleted_file_is_missing_when_graded(play: Play) -> None:
    env = play()
    do(env, "write_file", path="answer.py", content=RIGHT)
    do(env, "shell", command="rm kept.txt")
    reward = submit(env)
    assert reward.value == 0.0
    assert {part.name: part.value for part in reward.parts}["tests.required"] == 1.0


def test_episodes_do_not_see_each_other(play: Play) -> None:
    env = play()
    do(env, "shell", command="echo x > mark; echo x > /tmp/mark; echo x > /root/mark")
    env.reset(seed=0)
    assert do(env, "shell", command="ls -A /tmp /root; ls") == "/root:\n\n/tmp:\nkept.txt\n[exit code 0]"


def test_a_set_up_script_runs_once_and_needs_are_checked(play: Play) -> None:
    script = "#!/bin/bash\ndate +%N > made\ncp /setup/extra.txt .\n"
    env = play(environment__setup_dot_sh=script, environment__extra_dot_txt="extra\n")
    first = do(env, "shell", command="cat made extra.txt")
    assert "extra\n" in first
    env.reset(seed=0)
    assert do(env, "shell", command="cat made extra.txt") == first

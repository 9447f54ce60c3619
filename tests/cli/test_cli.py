"""The command line as its users meet it: what is printed where, and the exit codes."""

import json
import os
import signal
import subprocess
import sys

import pytest

import tradeschool
from tradeschool.cli import main
from tradeschool.testing import write_pack


@pytest.fixture
def call(capsys):
    """Run a command; its exit code, standard output and standard error."""

    def run(*arguments):
        with pytest.raises(SystemExit) as ended:
            main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return ended.value.code, captured.out, captured.err

    return run


@pytest.fixture
def pack(tmp_path):
    return write_pack(tmp_path / "pack", {"one": "terminal", "two": "docqa"})


def test_version(call):
    assert call("version") == (0, f"tradeschool {tradeschool.__version__}\n", "")


@pytest.mark.parametrize("arguments", [(), ("--help",), ("tasks",), ("run", "--help"), ("doctor", "--help")])
def test_help_is_printed(call, arguments):
    code, out, err = call(*arguments)
    assert (code, err) == (0, "")
    assert "Usage: " in out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("rum",), "No such command 'rum'"),
        (("run", "--atempts", "3"), "No such option: --atempts"),
        (("run", "--attempts", "many"), "'--attempts'"),
        (("run", "--attempts", "0"), "attempts must be at least 1"),
        (("run", "--pack", "startr"), "there is no pack 'startr'. Did you mean 'starter'?"),
        (("run", "--pack", "starter", "--task", "zzz"), "no task for task 'zzz'"),
        (("run", "--family", "docsqa"), "Did you mean 'docqa'?"),
        (("run", "--agent", "nop"), "there is no agent 'nop'. Did you mean 'noop'?"),
        (("run", "--agent", "no_such_module:X"), "there is no module 'no_such_module'"),
        (("run", "--sandbox", "vm"), "there is no sandbox 'vm'"),
        (("run", "--replay", "no-such-file"), "there is no recording"),
        (("tasks", "list", "--pack", "nope"), "there is no pack 'nope'"),
        (("tasks", "show"), "Missing argument 'ID'"),
        (("setup", "everything"), "'everything' is not one of"),
        (("setup",), "See: tradeschool setup --help"),
    ],
)
def test_wrong_usage_is_one_line_and_code_2(call, arguments, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, out, err = call(*arguments)
    assert code == 2
    assert out == ""
    assert err.startswith("tradeschool: ")
    assert err.count("\n") == 1
    assert said in err
    assert list(tmp_path.iterdir()) == []


def test_a_broken_task_is_named_by_file_line_and_field(call, pack):
    (pack / "one" / "task.toml").write_text('[tradeschool]\nfamily = "terminal"\ndifficulty = 9\n')
    code, _, err = call("run", "--pack", pack)
    assert code == 2
    assert "task.toml:3: field 'tradeschool.difficulty'" in err
    assert call("tasks", "list", "--pack", pack)[0] == 2


def test_results_are_not_overwritten(call, pack, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "precious.txt").write_text("x")
    code, _, err = call("run", "--pack", pack, "--out", tmp_path / "out")
    assert code == 2
    assert "is not empty" in err
    assert (tmp_path / "out" / "precious.txt").read_text() == "x"


def test_tasks_are_listed_and_shown(call, pack):
    code, out, _ = call("tasks", "list", "--pack", pack)
    assert code == 0
    assert "tiny/one" in out
    assert "tiny/two" in out
    code, out, _ = call("tasks", "list", "--pack", pack, "--family", "docqa", "--json")
    assert [task["task"] for task in json.loads(out)["tasks"]] == ["tiny/two"]
    code, out, _ = call("tasks", "show", f"{pack}/one")
    assert code == 0
    assert "Do nothing and submit." in out
    code, out, _ = call("tasks", "show", "one", "--pack", pack, "--json")
    assert json.loads(out)["instruction"] == "Do nothing and submit."
    code, _, err = call("tasks", "show", "on", "--pack", pack)
    assert code == 2
    assert "Did you mean 'one'?" in err


def test_the_starter_pack_is_listed(call):
    code, out, _ = call("tasks", "list", "--json")
    assert code == 0
    assert len(json.loads(out)["tasks"]) >= 4


def test_a_reader_that_leaves_early_is_no_error(pack):
    command = f"{sys.executable} -c 'from tradeschool.cli import main; main()' tasks show one --pack {pack} | true"
    done = subprocess.run(["bash", "-o", "pipefail", "-c", command], capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr


@pytest.mark.sandbox
class TestRealEpisodes:
    """`tradeschool run` on the starter pack's terminal tasks, in real sandboxes."""

    TASK = ("--task", "terminal-git-recover", "--sandbox", "namespace")

    @pytest.fixture(autouse=True)
    def _needs_a_sandbox(self, monkeypatch, tmp_path):
        from tradeschool import doctor

        for check in (doctor.check_namespace(), doctor.check_task_tools()):
            if not check.ok:
                pytest.skip(f"{check.name}: {check.detail}. {check.remedy}")
        monkeypatch.chdir(tmp_path)

    def test_oracle_and_noop(self, call, tmp_path):
        code, out, err = call("run", *self.TASK, "--json")
        summary = json.loads(out)
        assert code == 0
        assert (summary["mean_reward"], summary["valid"], summary["invalid"]) == (1.0, 1, 0)
        assert "[1/1] starter/terminal-git-recover" in err
        run = tmp_path / summary["run"]
        assert (run / "episodes" / "terminal-git-recover__1" / "trajectory.json").is_file()

        code, out, _ = call("run", *self.TASK, "--json", "--replay", run)
        assert (code, json.loads(out)["mean_reward"]) == (0, 1.0)

        code, out, _ = call("run", *self.TASK, "--json", "--agent", "noop", "--out", tmp_path / "mine")
        assert (code, json.loads(out)["mean_reward"]) == (0, 0.0)
        assert (tmp_path / "mine" / "results.sqlite").is_file()

    def test_tables_for_people(self, call):
        code, out, _ = call("run", *self.TASK, "--agent", "noop", "--fail-under", "1")
        assert code == 1
        for word in ("terminal", "mean reward", "starter/terminal-git-recover", "0.000", "Trajectories: runs/"):
            assert word in out

    def test_an_invalid_episode_is_code_3(self, call, tmp_path):
        (tmp_path / "broken_agents.py").write_text(
            "from tradeschool.agents.base import Agent\n\n\nclass Broken(Agent):\n"
            "    def act(self, observation, info):\n"
            "        raise RuntimeError('the model is down')\n"
        )
        code, out, err = call("run", *self.TASK, "--agent", "broken_agents:Broken", "--json")
        summary = json.loads(out)
        assert code == 3
        assert (summary["mean_reward"], summary["invalid"]) == (None, 1)
        assert summary["by_task"][0]["error"]["at_fault"] == "agent"
        assert "the model is down" in err
        assert "Traceback" not in err

    def test_ctrl_c_ends_with_130_and_a_summary(self, tmp_path):
        (tmp_path / "slow_agents.py").write_text(
            "import sys\n\nfrom tradeschool.agents.base import Agent\n\n\nclass Slow(Agent):\n"
            "    def act(self, observation, info):\n"
            "        print('began', file=sys.stderr, flush=True)\n"
            "        return {'name': 'shell', 'arguments': {'command': 'sleep 50'}}\n"
        )
        command = [sys.executable, "-c", "from tradeschool.cli import main; main()", "run", *self.TASK]
        with subprocess.Popen(
            [*command, "--agent", "slow_agents:Slow", "--json"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=tmp_path,
            start_new_session=True,
        ) as process:
            assert process.stderr is not None
            try:
                assert process.stderr.readline() == "began\n"
                os.kill(process.pid, signal.SIGINT)
                assert "finishing 1 running" in process.stderr.readline()
                os.kill(process.pid, signal.SIGINT)
                out, err = process.communicate(timeout=45)
            finally:
                process.kill()
        assert process.returncode == 130
        assert json.loads(out)["episodes"] == 0
        assert err.endswith("tradeschool: interrupted.\n")
        assert "Traceback" not in err


@pytest.mark.sandbox
def test_what_an_agent_prints_stays_out_of_the_result_and_its_fault_has_a_place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "chatty.py").write_text(
        "from tradeschool.agents.base import Agent\n\n\nclass Chatty(Agent):\n    def act(self, observation, info):\n"
        "        print('hello from an agent')\n        raise KeyError('boom')\n"
    )
    command = [os.path.join(os.path.dirname(sys.executable), "tradeschool"), "run", "--task", "terminal-git-recover"]
    done = subprocess.run(
        [*command, "--agent", "chatty:Chatty", "--sandbox", "namespace", "--json"], capture_output=True, text=True
    )
    assert done.returncode == 3
    message = json.loads(done.stdout)["by_task"][0]["error"]["message"]
    assert "KeyError" in message
    assert "chatty.py:7" in message
    assert "hello from an agent" in done.stderr


@pytest.mark.parametrize("value", ["nan", "2", "-1"])
def test_a_bar_that_is_no_reward_is_refused(call, pack, value):
    code, out, err = call("run", "--pack", pack, "--fail-under", value)
    assert (code, out) == (2, "")
    assert "fail-under" in err

"""Our own agents, on the in-memory environment and on files."""

import base64

import pytest

from tradeschool.agents.base import AgentContext
from tradeschool.agents.noop import NoopAgent
from tradeschool.agents.oracle import CHUNK_BYTES, OracleAgent, solution_actions
from tradeschool.agents.random import RandomAgent
from tradeschool.agents.replay import ReplayAgent
from tradeschool.episode import run_episode
from tradeschool.errors import TaskError, UsageError
from tradeschool.recordings import save_trajectory
from tradeschool.task import TaskPack
from tradeschool.testing import ScriptedAgent, ShelfEnv, write_pack


def context(env, **more):
    return AgentContext(**{"seed": 5, "action_space": env.action_space, **more})


def play(agent_class, env=None, **more):
    env = env or ShelfEnv()
    return run_episode(env, agent_class.create(context(env, **more)), seed=3)


@pytest.fixture
def tasks(tmp_path):
    root = write_pack(tmp_path / "pack", {"look": "docqa", "work": "terminal"})
    return {task.name: task for task in TaskPack.load(root).tasks}


def test_noop_submits_at_once():
    result = play(NoopAgent)
    assert (result.steps, result.ended_by, result.valid) == (1, "submit", True)


def test_random_repeats_itself_and_ends():
    first, second = play(RandomAgent), play(RandomAgent)
    assert [step.action for step in first.trajectory.steps] == [step.action for step in second.trajectory.steps]
    assert first.steps <= 10
    assert first.valid
    assert all(step.status == "ok" for step in first.trajectory.steps)
    other = play(RandomAgent, seed=6)
    assert [step.action for step in other.trajectory.steps] != [step.action for step in first.trajectory.steps]


def test_random_leaves_the_environments_space_alone():
    env, same = ShelfEnv(), ShelfEnv()
    env.action_space.seed(1)
    same.action_space.seed(1)
    RandomAgent.create(context(env)).act({}, {})
    assert env.action_space.sample() == same.action_space.sample()


def test_replay_plays_a_trajectory_again(tmp_path):
    script = [{"name": "look", "arguments": {}}, "no call", *ShelfEnv.solution]
    first = run_episode(ShelfEnv(), ScriptedAgent(script), seed=3)
    path = save_trajectory(first.trajectory, tmp_path)
    again = play(ReplayAgent, recording=path)
    assert [step.observation for step in again.trajectory.steps] == [
        step.observation for step in first.trajectory.steps
    ]
    assert again.reward == first.reward


def test_replay_that_runs_out_is_the_agents_fault(tmp_path):
    path = tmp_path / "actions.jsonl"
    path.write_text('{"name": "look", "arguments": {}}\n')
    result = play(ReplayAgent, recording=path)
    assert (result.error.kind, result.error.at_fault) == ("recording_ended", "agent")
    with pytest.raises(UsageError, match="needs a recording"):
        play(ReplayAgent)


def test_oracle_plays_the_solutions_actions(tasks):
    assert list(solution_actions(tasks["look"])) == [{"name": "submit", "arguments": {}}]
    assert OracleAgent.privileged
    assert play(OracleAgent, task=tasks["look"]).ended_by == "submit"
    with pytest.raises(UsageError, match="needs AgentContext"):
        play(OracleAgent)


def test_oracle_puts_the_solution_into_the_sandbox_and_runs_it(tasks):
    task = tasks["work"]
    folder = task.paths.solution
    (folder / "actions.jsonl").unlink()
    binary = bytes(range(256)) * (CHUNK_BYTES // 256 + 2)
    (folder / "data").mkdir()
    (folder / "data" / "it's.bin").write_bytes(binary)
    (folder / "helper.py").write_text("print('ü')\n", "utf-8")
    (folder / "helper.py").chmod(0o755)
    (folder / "solve.sh").write_text("echo solved\n")
    actions = list(solution_actions(task))
    assert [action["name"] for action in actions] == [
        *["shell"] * 3,
        "write_file",
        "write_file",
        "shell",
        "submit",
    ]
    assert actions[0]["arguments"]["command"] == (
        """mkdir -p /tmp/solution/data && : > '/tmp/solution/data/it'"'"'s.bin'"""
    )
    chunks = [action["arguments"]["command"].split("\n", 1)[1].rpartition("\n")[0] for action in actions[1:3]]
    assert b"".join(base64.b64decode(chunk) for chunk in chunks) == binary
    assert actions[3]["arguments"] == {"path": "/tmp/solution/helper.py", "content": "print('ü')\n"}
    assert actions[5]["arguments"]["command"] == (
        "chmod +x /tmp/solution/solve.sh /tmp/solution/helper.py && bash /tmp/solution/solve.sh"
    )


@pytest.mark.parametrize("name", ["look", "work"])
def test_a_task_without_a_solution_is_its_authors_fault(tasks, name):
    (tasks[name].paths.solution / "actions.jsonl").unlink()
    with pytest.raises(TaskError, match=r"has no actions\.jsonl") as error:
        OracleAgent.check_task(tasks[name])
    assert ("solve.sh" in str(error.value)) == (name == "work")


def test_a_solution_that_does_not_submit_is_its_authors_fault(tasks):
    (tasks["look"].paths.solution / "actions.jsonl").write_text('{"name": "look"}\n')
    result = play(OracleAgent, task=tasks["look"])
    assert (result.error.kind, result.error.at_fault) == ("solution_ended", "task author")

"""One episode: what is recorded, and who is blamed."""

import gymnasium as gym
import numpy as np
import pytest

from tradeschool.episode import EpisodeResult, run_episode
from tradeschool.errors import AgentError, SandboxError, TaskError, UsageError, VerifierError
from tradeschool.testing import ScriptedAgent, ShelfEnv

SUBMIT = {"name": "submit", "arguments": {}}


def play(env: gym.Env, actions, **more) -> EpisodeResult:
    return run_episode(env, ScriptedAgent(actions), seed=7, **more)


def test_a_solved_episode():
    result = play(ShelfEnv(), ShelfEnv.solution, attempt=2, agent_name="me")
    assert result.reward is not None
    assert (result.reward.value, result.valid, result.error) == (1.0, True, None)
    assert (result.task, result.family, result.attempt, result.agent, result.seed) == (
        "testing/shelf",
        "testing",
        2,
        "me",
        7,
    )
    assert (result.steps, result.ended_by) == (4, "submit")
    assert [step.call for step in result.trajectory.steps] == list(ShelfEnv.solution)
    assert result.trajectory.steps[-1].terminated
    assert {part.name for part in result.reward.parts} >= {"cup", "conduct.steps"}
    assert result.seconds > 0
    assert "trajectory" not in result.to_dict()


def test_a_wrong_answer_is_a_valid_reward():
    result = play(ShelfEnv(), [{"name": "place", "arguments": {"thing": "cup", "shelf": 3}}, SUBMIT])
    assert result.valid
    assert result.reward.value < 1.0


def test_malformed_actions_are_steps_and_the_limit_truncates():
    odd = [
        None,
        3,
        "text",
        {"name": "lok"},
        {"name": "place", "arguments": {"thing": "cat", "shelf": 0}},
        {1: 2, "a": 3},
    ]
    result = play(ShelfEnv(max_steps=6), odd)
    assert result.valid
    assert (result.steps, result.ended_by) == (6, "max_steps")
    assert all(step.call is None and step.status == "malformed" for step in result.trajectory.steps)
    assert "Did you mean 'look'?" in result.trajectory.steps[3].observation


def test_images_are_recorded():
    result = play(ShelfEnv(), [{"name": "look", "arguments": {}}, SUBMIT])
    (image,) = result.trajectory.steps[0].images
    assert image.shape == (3, 4, 3)
    assert image.dtype == np.uint8


def test_the_same_seed_gives_the_same_episode():
    first, second = (play(ShelfEnv(), [SUBMIT]) for _ in range(2))
    assert first.trajectory.observation == second.trajectory.observation


@pytest.mark.parametrize("moment", ["reset", "step", "grade"])
@pytest.mark.parametrize(
    ("error", "kind", "at_fault", "retry"),
    [
        (SandboxError("gone", kind="dead"), "dead", "infrastructure", True),
        (VerifierError("mute"), "VerifierError", "grader", True),
        (TaskError("broken"), "TaskError", "task author", False),
        (ValueError("surprise"), "unexpected", "infrastructure", True),
        (MemoryError(), "unexpected", "infrastructure", True),
    ],
)
def test_a_failed_environment_is_no_zero(moment, error, kind, at_fault, retry):
    result = play(ShelfEnv(faults={moment: error}), [SUBMIT])
    assert result.reward is None
    assert not result.valid
    assert result.ended_by == "error"
    assert (result.error.kind, result.error.at_fault, result.error.retry) == (kind, at_fault, retry)
    assert type(error).__name__ in result.error.trace
    assert result.error.to_dict().keys() == {"kind", "at_fault", "message"}


@pytest.mark.parametrize(
    ("error", "kind", "at_fault"),
    [
        (RuntimeError("model is down"), "exception", "agent"),
        (SystemExit(3), "exception", "agent"),
        (SandboxError("not my zero"), "exception", "agent"),
        (VerifierError("not my zero"), "exception", "agent"),
        (AgentError("no endpoint", kind="endpoint"), "endpoint", "agent"),
        (TaskError("no solution"), "TaskError", "task author"),
        (UsageError("no recording"), "UsageError", "caller"),
    ],
)
def test_the_agents_exceptions_are_its_own(error, kind, at_fault):
    result = play(ShelfEnv(), [{"name": "look", "arguments": {}}, error])
    assert (result.valid, result.reward, result.steps) == (False, None, 1)
    assert (result.error.kind, result.error.at_fault) == (kind, at_fault)


class FailingReset(ScriptedAgent):
    def reset(self, instruction, tools):
        raise KeyError("tools")


def test_an_agent_that_fails_to_reset():
    result = run_episode(ShelfEnv(), FailingReset([]), seed=1)
    assert result.error.at_fault == "agent"
    assert "KeyError" in result.error.message


def test_ctrl_c_passes():
    with pytest.raises(KeyboardInterrupt):
        play(ShelfEnv(), [KeyboardInterrupt()])
    with pytest.raises(KeyboardInterrupt):
        play(ShelfEnv(faults={"step": KeyboardInterrupt()}), [SUBMIT])


class NoVerdict(gym.Wrapper):
    def step(self, action):
        observation, reward, terminated, truncated, info = self.env.step(action)
        info.pop("reward", None)
        return observation, reward, terminated, truncated, info


def test_an_end_without_a_verdict_is_the_graders_fault():
    result = play(NoVerdict(ShelfEnv()), [SUBMIT])
    assert (result.error.kind, result.error.at_fault) == ("no_verdict", "grader")
    assert not result.valid


def test_the_recorded_action_is_what_was_sent_not_what_became_of_it():
    action = {"name": "place", "arguments": {"thing": "cup", "shelf": 0}}

    class Changes(gym.Wrapper):
        def step(self, action):
            action["name"] = "submit"
            action["arguments"] = {}
            return self.env.step(action)

    result = play(Changes(ShelfEnv()), [action])
    assert result.trajectory.steps[0].action["name"] == "place"

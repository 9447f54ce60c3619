"""What every environment of the suite promises to Gymnasium and to its users."""

from __future__ import annotations

import inspect
import pickle
from collections.abc import Iterator
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import tradeschool
from tradeschool.families import FAMILIES
from tradeschool.tools import Tool

HEADINGS = [
    "## Description",
    "## Action space",
    "## Observation space",
    "## Reward",
    "## Episode end",
    "## Arguments",
    "## Version history",
]
MARKS = {"blender": [pytest.mark.blender], "docqa": [pytest.mark.sandbox], "terminal": [pytest.mark.sandbox]}


@pytest.fixture(params=[pytest.param(name, marks=MARKS[name]) for name in FAMILIES])
def env_id(request: pytest.FixtureRequest) -> str:
    return FAMILIES[request.param].env_id


@pytest.fixture
def env(env_id: str) -> Iterator[gym.Env[Any, Any]]:
    made = gym.make(env_id, sandbox="namespace")
    yield made
    made.close()


# Gymnasium warns of spaces it does not know and of renderers it cannot compare; both are meant
@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.slow
def test_gymnasiums_own_check_passes(env_id: str) -> None:
    env = gym.make(env_id, sandbox="namespace", max_steps=5, render_mode="ansi")
    try:
        check_env(env.unwrapped)
    finally:
        env.close()


def rollout(env: gym.Env[Any, Any], seed: int, steps: int) -> list[tuple[str, int]]:
    observation, _ = env.reset(seed=seed)
    env.action_space.seed(seed)
    seen = [(observation["text"], len(observation["images"]))]
    for _ in range(steps):
        observation, _, terminated, truncated, _ = env.step(env.action_space.sample())
        assert env.observation_space.contains(observation)
        seen.append((observation["text"], len(observation["images"])))
        if terminated or truncated:
            break
    return seen


def test_a_seeded_rollout_repeats(env: gym.Env[Any, Any]) -> None:
    assert rollout(env, 7, 6) == rollout(env, 7, 6)


def test_reset_tells_the_task_the_tools_and_the_limits(env: gym.Env[Any, Any]) -> None:
    observation, info = env.reset(seed=0)
    assert info["instruction"] in observation["text"]
    assert [tool["function"]["name"] for tool in info["tools"]] == [tool.name for tool in env.action_space.tools]
    assert info["steps_left"] > 0
    assert info["limits"]["max_steps"] == info["steps_left"]
    assert 0 < env.unwrapped.seconds_left <= info["limits"]["wall_time_s"]


def test_doing_nothing_is_worth_nothing(env: gym.Env[Any, Any]) -> None:
    env.reset(seed=0)
    _, reward, terminated, truncated, info = env.step({"name": "submit", "arguments": {}})
    assert (reward, terminated, truncated) == (0.0, True, False)
    assert info["reward"].valid
    assert {"conduct.well_formed", "conduct.legal", "conduct.steps", "conduct.repeated_failures"} <= {
        part.name for part in info["reward"].parts if part.weight == 0
    }
    with pytest.raises(gym.error.ResetNeeded):
        env.step({"name": "submit", "arguments": {}})


@pytest.mark.parametrize("action", ["ls", None, 3, {"name": "no_such_tool"}, {"name": "submit", "arguments": {"x": 1}}])
def test_a_malformed_action_is_an_observation(env: gym.Env[Any, Any], action: Any) -> None:
    env.reset(seed=0)
    # past Gymnasium's own checker, which asserts on actions outside of the space
    observation, reward, terminated, truncated, info = env.unwrapped.step(action)
    assert observation["text"]
    assert info["status"] == "malformed"
    assert (reward, terminated, truncated) == (0.0, False, False)


def test_the_step_limit_truncates_and_grades(env_id: str) -> None:
    with gym.make(env_id, sandbox="namespace", max_steps=2) as env:
        env.reset(seed=0)
        assert env.unwrapped.step("nothing")[2:4] == (False, False)
        _, reward, terminated, truncated, info = env.unwrapped.step("nothing")
        assert (reward, terminated, truncated) == (0.0, False, True)
        assert info["ended_by"] == "max_steps"
        conduct = {part.name: part.value for part in info["reward"].parts}
        assert conduct["conduct.well_formed"] == 0.0
        assert conduct["conduct.repeated_failures"] == 1.0


def test_the_environment_pickles(env: gym.Env[Any, Any]) -> None:
    copy = pickle.loads(pickle.dumps(env.unwrapped))
    assert [task.id for task in copy.choices] == [task.id for task in env.unwrapped.choices]
    assert copy.action_space == env.action_space


def test_render_modes(env_id: str) -> None:
    with gym.make(env_id, sandbox="namespace", render_mode="ansi") as env:
        env.reset(seed=0)
        assert isinstance(env.render(), str)
    with gym.make(env_id, sandbox="namespace", render_mode="rgb_array") as env:
        env.reset(seed=0)
        picture = env.render()
        assert isinstance(picture, np.ndarray)
        assert (picture.dtype, picture.ndim, picture.shape[2]) == (np.uint8, 3, 3)
        assert picture.max() > 0


@pytest.mark.parametrize("mode", ["sync", "async"])
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # Python's own, on forking a process with threads
def test_vector_environments(env_id: str, mode: str) -> None:
    envs = gym.make_vec(env_id, num_envs=2, vectorization_mode=mode, sandbox="namespace", max_steps=3)
    try:
        observations, infos = envs.reset(seed=[1, 1])
        assert observations["text"][0] == observations["text"][1] != ""
        assert len(infos["instruction"]) == 2
        actions = ({"name": "submit", "arguments": {}}, {"name": "submit", "arguments": {}})
        observations, rewards, terminated, _, infos = envs.step(actions)
        assert rewards.tolist() == [0.0, 0.0]
        assert terminated.tolist() == [True, True]
        assert infos["reward"][0].valid
    finally:
        envs.close()


@pytest.mark.filterwarnings("ignore::UserWarning")  # Gymnasium's own word on the render mode comes first
def test_an_unknown_argument_is_a_clear_error(env_id: str) -> None:
    for wrong, said in (
        ({"task": "no-such-task"}, "has no task 'no-such-task'"),
        ({"pack": "startr"}, "Did you mean 'starter'"),
        ({"sandbox": "dockr"}, "Did you mean 'docker'"),
        ({"render_mode": "humn"}, "no render mode"),
        ({"max_steps": 0}, "at least 1"),
        ({"split": "tran"}, "Did you mean 'train'"),
    ):
        with pytest.raises(tradeschool.UsageError, match=said):
            gym.make(env_id, disable_env_checker=True, **wrong)


def test_the_class_is_a_card(env: gym.Env[Any, Any]) -> None:
    card = inspect.getdoc(type(env.unwrapped)) or ""
    assert [line for line in card.splitlines() if line.startswith("## ")] == HEADINGS


def test_each_tool_has_a_method_with_its_arguments(env: gym.Env[Any, Any]) -> None:
    session = env.unwrapped.session_class
    assert len({tool.name for tool in session.tools}) == len(session.tools)
    if "call" in vars(session) and not any(hasattr(session, f"do_{tool.name}") for tool in session.tools):
        return  # an engine with its own dispatch
    for tool in session.tools:
        assert isinstance(tool, Tool)
        parameters = list(inspect.signature(getattr(session, f"do_{tool.name}")).parameters.values())[1:]
        properties = tool.parameters.get("properties", {})
        assert {parameter.name for parameter in parameters} == set(properties)
        required = {parameter.name for parameter in parameters if parameter.default is inspect.Parameter.empty}
        assert required == set(tool.parameters.get("required", ()))

"""Whole episodes in real sandboxes: the oracle scores 1, nothing scores 0, and equal seeds see equal things."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import tradeschool
from tradeschool.envs.blender.env import BlenderEnv
from tradeschool.envs.blender.session import BlenderSession
from tradeschool.errors import SandboxError, TaskError
from tradeschool.task import TaskPack

TASKS = [task.name for task in TaskPack.load("starter").select(family="blender")]
HEADINGS = (
    "Description",
    "Action space",
    "Observation space",
    "Reward",
    "Episode end",
    "Arguments",
    "Version history",
)


def oracle(env: BlenderEnv) -> list[dict[str, Any]]:
    assert env.task is not None
    text = (env.task.paths.solution / "actions.jsonl").read_text("utf-8")
    return [json.loads(line) for line in text.splitlines()]


def play(env: BlenderEnv, actions: list[dict[str, Any]]) -> tuple[float, dict[str, Any]]:
    reward, info, ended = 0.0, {}, False
    for action in actions:
        assert not ended
        assert reward == 0.0
        _, reward, ended, _, info = env.step(action)
    assert ended
    return reward, info


def test_the_class_is_a_card() -> None:
    assert BlenderEnv.__doc__ is not None
    assert [line[7:] for line in BlenderEnv.__doc__.splitlines() if line.startswith("    ## ")] == list(HEADINGS)


@pytest.mark.parametrize("name", TASKS)
def test_tasks_pass_the_cheap_checks(name: str) -> None:
    BlenderEnv.check_task(TaskPack.load("starter").get(name))


def test_a_broken_task_is_named_before_anything_starts(tmp_path: Path) -> None:
    (tmp_path / "pack.toml").write_text('name = "mine"\nversion = "1"\nlicence = "MIT"\n', "utf-8")
    root = tmp_path / "cube"
    (root / "tests").mkdir(parents=True)
    (root / "environment").mkdir()
    (root / "task.toml").write_text('[tradeschool]\nfamily = "blender"\n', "utf-8")
    (root / "instruction.md").write_text("Make a cube.", "utf-8")
    task = TaskPack.load(tmp_path).get("cube")
    with pytest.raises(TaskError, match=r"scene\.json"):
        BlenderEnv.check_task(task)
    (root / "environment" / "scene.json").write_text("{}", "utf-8")
    with pytest.raises(TaskError, match=r"checks\.toml"):
        BlenderEnv.check_task(task)


@pytest.mark.blender
@pytest.mark.sandbox
@pytest.mark.parametrize("name", TASKS)
def test_the_oracle_scores_one_and_nothing_scores_zero(name: str) -> None:
    env = BlenderEnv(task=name, sandbox="namespace")
    try:
        env.reset(seed=0)
        reward, info = play(env, oracle(env))
        assert reward == 1.0, [f"{part.name}: {part.reason}" for part in info["reward"].parts if part.value < 1]
        assert info["reward"].verifier == "clean-room"
        env.reset(seed=0)
        assert play(env, [{"name": "submit", "arguments": {}}])[0] == 0.0
    finally:
        env.close()


@pytest.mark.blender
@pytest.mark.sandbox
def test_equal_seeds_see_equal_things() -> None:
    def rollout() -> list[Any]:
        env = BlenderEnv(sandbox="namespace", max_steps=12)
        try:
            observation, _ = env.reset(seed=5)
            env.action_space.seed(5)
            seen = [observation]
            for _ in range(12):
                observation, reward, terminated, truncated, info = env.step(env.action_space.sample())
                seen += [observation, reward, terminated, truncated, info["status"]]
                if terminated or truncated:
                    break
            return seen
        finally:
            env.close()

    one, two = rollout(), rollout()
    assert len(one) == len(two)
    for a, b in zip(one, two, strict=True):
        if isinstance(a, dict):
            assert a["text"] == b["text"]
            assert all(np.array_equal(x, y) for x, y in zip(a["images"], b["images"], strict=True))
        else:
            assert a == b


@pytest.mark.blender
@pytest.mark.sandbox
@pytest.mark.slow
def test_gymnasiums_own_check() -> None:
    env = gym.make(
        "tradeschool/Blender-v0", sandbox="namespace", max_steps=6, render_mode="rgb_array", disable_env_checker=True
    )
    try:
        check_env(env.unwrapped, skip_render_check=True)
        env.reset(seed=0)
        picture = env.render()
        assert isinstance(picture, np.ndarray)
        assert picture.shape == (192, 192, 3)
    finally:
        env.close()


@pytest.mark.blender
@pytest.mark.sandbox
def test_a_dead_worker_is_no_zero_and_the_next_episode_is_well() -> None:
    env = BlenderEnv(task=TASKS[0], sandbox="namespace")
    try:
        env.reset(seed=0)
        assert isinstance(env.session, BlenderSession)
        assert env.session.worker is not None
        env.session.worker.channel.close()
        with pytest.raises(SandboxError, match="Blender worker failed"):
            env.step({"name": "scene_info", "arguments": {}})
        env.reset(seed=0)
        assert play(env, oracle(env))[0] == 1.0
    finally:
        env.close()


@pytest.mark.blender
@pytest.mark.sandbox
def test_bad_actions_are_observations_and_the_picture_stays_after_the_end() -> None:
    env = BlenderEnv(task=TASKS[0], sandbox="namespace", max_steps=5, render_mode="rgb_array")
    try:
        env.reset(seed=0)
        for action, status in (
            ("{}", "malformed"),
            ({"name": "exec", "arguments": {}}, "malformed"),
            ({"name": "delete", "arguments": {"object": "1"}}, "malformed"),
            ({"name": "delete", "arguments": {"object": 4711}}, "illegal"),
        ):
            observation, _, terminated, _, info = env.step(action)
            assert (info["status"], terminated) == (status, False)
            assert observation["text"]
        _, reward, terminated, truncated, info = env.step({"name": "scene_info", "arguments": {}})
        assert (reward, terminated, truncated, info["ended_by"]) == (0.0, False, True, "max_steps")
        assert env.render().shape == (192, 192, 3)
    finally:
        env.close()


def test_the_version_is_registered() -> None:
    assert tradeschool.FAMILIES["blender"].entry_point.endswith("blender.env:BlenderEnv")

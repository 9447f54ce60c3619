import json
import pickle

import gymnasium as gym
import pytest
from gymnasium.utils.env_checker import check_env
from hypothesis import given
from hypothesis import strategies as st

from tradeschool.episode import run_episode
from tradeschool.testing import TOOLS, ScriptedAgent, ShelfEnv
from tradeschool.textaction import TextAction
from tradeschool.tools import Malformed, MalformedCall, parse_text

LOOK = '{"name": "look", "arguments": {}}'


def begin(max_steps=10):
    env = TextAction(ShelfEnv(max_steps))
    env.reset(seed=0)
    return env


@pytest.mark.parametrize(
    "text",
    [LOOK, f"  {LOOK}\n", f"I look.\n<tool_call>\n{LOOK}\n</tool_call>", f"```json\n{LOOK}\n```", f"```\n{LOOK}```"],
)
def test_a_call_in_text_is_made(text):
    *_, info = begin().step(text)
    assert info["status"] == "ok"
    assert info["call"] == {"name": "look", "arguments": {}}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("I would look.", "not valid JSON"),
        ("", "not valid JSON"),
        ('{"name": "look", "arguments": {}', "not valid JSON"),
        (f"{LOOK} {LOOK}", "more after the object"),
        ('{"name": "lok"}', "Did you mean 'look'?"),
        ('{"name": "place", "arguments": {"thing": "cup", "shelf": "top"}}', "'shelf'"),
        ('{"name": "place", "arguments": {"thing": "cup", "shelf": NaN}}', "NaN is not JSON"),
        ('{"name": "look", "name": "look"}', "same key twice"),
        ("[" * 100_000, "not valid JSON"),
        (None, "not a NoneType"),
        ({"name": "look", "arguments": {}}, "not a dict"),
    ],
)
def test_a_bad_text_is_an_observation_and_a_step(text, said):
    observation, reward, terminated, _, info = begin().step(text)
    assert said in observation["text"]
    assert info["status"] == "malformed"
    assert info["steps_left"] == 9
    assert "call" not in info
    assert (reward, terminated) == (0.0, False)


@pytest.mark.parametrize("inner", ["```", "```json\n{}\n```", "<tool_call>x</tool_call>", "</tool_call>"])
def test_tags_and_fences_within_the_strings_of_a_call_are_its_own(inner):
    call = json.dumps({"name": "place", "arguments": {"thing": inner, "shelf": 1}})
    for text in (call, f"<tool_call>{call}</tool_call>", f"```json\n{call}\n```"):
        with pytest.raises(MalformedCall, match="'thing'"):  # read whole: only the enum refuses it
            parse_text(text, TOOLS)


@given(st.text())
def test_no_text_raises(text):
    observation, *_ = begin().step(text)
    assert observation["text"]


@given(st.dictionaries(st.text(), st.integers()))
def test_what_is_no_call_is_malformed_and_nothing_else(data):
    with pytest.raises(MalformedCall, match="no tool"):
        parse_text(json.dumps({**data, "name": "no tool"}), TOOLS)


def test_an_episode_in_text_keeps_text_and_call():
    texts = [f"<tool_call>{json.dumps(call)}</tool_call>" for call in ShelfEnv.solution]
    result = run_episode(TextAction(ShelfEnv()), ScriptedAgent(["hm", *texts]), seed=1)
    assert result.reward.value == 1.0
    assert result.trajectory.steps[0].call is None
    assert [step.call for step in result.trajectory.steps[1:]] == list(ShelfEnv.solution)
    assert [step.action for step in result.trajectory.steps] == ["hm", *texts]


def test_it_is_an_environment():
    check_env(ShelfEnv(), skip_render_check=True)
    with pytest.warns(UserWarning, match="wrapper applied"):
        check_env(TextAction(ShelfEnv()), skip_render_check=True)


def test_it_works_in_a_vector():
    with_two = gym.vector.SyncVectorEnv([lambda: TextAction(ShelfEnv()) for _ in range(2)])
    observations, _ = with_two.reset(seed=1)
    assert len(observations["text"]) == 2
    observations, _, terminated, _, _ = with_two.step((LOOK, '{"name": "submit"}'))
    assert list(terminated) == [False, True]
    with_two.close()


def test_a_malformed_text_pickles():
    again = pickle.loads(pickle.dumps(Malformed("text", "why")))
    assert (again, again.reason) == ("text", "why")

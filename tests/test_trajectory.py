"""Trajectories: written, validated, read back, and turned into conversations."""

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from tradeschool.atif import AtifPart, AtifStep, AtifTrajectory
from tradeschool.episode import run_episode
from tradeschool.errors import TaskError, UsageError
from tradeschool.recordings import (
    find_recording,
    image_paths,
    load_trajectory,
    read_actions,
    save_trajectory,
    to_atif,
)
from tradeschool.testing import ScriptedAgent, ShelfEnv
from tradeschool.trajectory import StepRecord, Trajectory, as_call, to_messages

LOOK = {"name": "look", "arguments": {}}


@pytest.fixture
def trajectory():
    script = [LOOK, {"name": "lok"}, "no call", *ShelfEnv.solution]
    return run_episode(ShelfEnv(), ScriptedAgent(script), seed=4).trajectory


def same(one: Trajectory, two: Trajectory) -> bool:
    def bare(trajectory):
        return replace(trajectory, images=(), steps=tuple(replace(step, images=()) for step in trajectory.steps))

    def images(trajectory):
        return [trajectory.images, *(step.images for step in trajectory.steps)]

    return bare(one) == bare(two) and all(
        len(a) == len(b) and all(np.array_equal(x, y) for x, y in zip(a, b, strict=True))
        for a, b in zip(images(one), images(two), strict=True)
    )


def test_written_and_read_back_it_is_the_same(trajectory, tmp_path):
    path = save_trajectory(trajectory, tmp_path / "made")
    assert same(load_trajectory(path), trajectory)
    assert (tmp_path / "made" / "images" / "0001-0.png").is_file()


TEXT = st.text(st.characters(exclude_categories=("Cs",)), max_size=40)
ARGUMENTS = st.dictionaries(TEXT, TEXT | st.integers(-(2**60), 2**60) | st.none())
ACTIONS = TEXT | st.fixed_dictionaries({"name": TEXT, "arguments": ARGUMENTS}) | st.none()
STEPS = st.builds(
    lambda action, text, malformed, seconds: StepRecord(
        action, None if malformed else as_call(action), text, status="malformed" if malformed else "ok", seconds=seconds
    ),
    ACTIONS,
    TEXT,
    st.booleans(),
    st.floats(0, 1000),
)


@settings(max_examples=40)
@given(st.lists(STEPS, max_size=4), TEXT)
def test_any_text_and_action_survives_the_round_trip(tmp_path_factory, steps, text):
    made = Trajectory("p/t", "docqa", "me", 3, text, text, steps=tuple(steps), started="2026-01-01T00:00:00+00:00")
    path = save_trajectory(made, tmp_path_factory.mktemp("t"))
    assert same(load_trajectory(path), made)


def test_the_file_has_the_shape_of_the_format(trajectory):
    data = to_atif(trajectory).model_dump(mode="json", exclude_none=True)
    assert data["schema_version"] == "ATIF-v1.8"
    assert [step["step_id"] for step in data["steps"]] == list(range(1, len(trajectory.steps) + 2))
    assert [step["source"] for step in data["steps"][:3]] == ["user", "agent", "agent"]
    look, malformed = data["steps"][1:3]
    assert look["tool_calls"] == [{"tool_call_id": "call_1", "function_name": "look", "arguments": {}}]
    result = look["observation"]["results"][0]
    assert result["source_call_id"] == "call_1"
    assert result["content"][1] == {"type": "image", "source": {"media_type": "image/png", "path": "images/0001-0.png"}}
    assert "tool_calls" not in malformed
    assert "source_call_id" not in malformed["observation"]["results"][0]
    assert data["extra"]["tradeschool"]["reward"]["value"] == 1.0
    assert data["agent"]["tool_definitions"][0]["function"]["name"] == "place"


def test_strict_models_refuse_what_the_format_does_not_know():
    step = {"step_id": 1, "source": "user", "message": "hello"}
    agent = {"name": "a", "version": "1"}
    good = {"schema_version": "ATIF-v1.8", "agent": agent, "steps": [step]}
    AtifTrajectory.model_validate(good)
    call = {"tool_call_id": "c", "function_name": "f", "arguments": {}}
    wrong = [
        {"steps": []},
        {"steps": [{**step, "step_id": 2}]},
        {"steps": [{**step, "colour": "red"}]},
        {"steps": [{**step, "tool_calls": [call]}]},
        {"steps": [{**step, "timestamp": "yesterday"}]},
        {"steps": [{**step, "observation": {"results": [{"source_call_id": "nobody"}]}}]},
        {"steps": [{**step, "source": "agent", "llm_call_count": 0, "metrics": {"cost_usd": 1}}]},
        {"schema_version": "ATIF-v9"},
        {"agent": {"name": "a"}},
    ]
    for data in wrong:
        with pytest.raises(ValidationError):
            AtifTrajectory.model_validate({**good, **data})
    with pytest.raises(ValidationError):
        AtifPart(type="image", text="x")
    with pytest.raises(ValidationError):
        AtifStep(step_id=0, source="user", message="")


def test_another_programs_file_is_read_with_one_step_for_each_call(tmp_path):
    path = tmp_path / "trajectory.json"
    calls = [{"tool_call_id": str(n), "function_name": "look", "arguments": {"n": n}} for n in (1, 2)]
    steps = [
        {"step_id": 1, "source": "system", "message": "be good"},
        {"step_id": 2, "source": "agent", "message": "so", "reasoning_content": "hm", "tool_calls": calls},
        {"step_id": 3, "source": "agent", "message": "only words"},
    ]
    path.write_text(json.dumps({"schema_version": "ATIF-v1.7", "agent": {"name": "x", "version": "2"}, "steps": steps}))
    read = load_trajectory(path)
    assert read.actions == (
        {"name": "look", "arguments": {"n": 1}},
        {"name": "look", "arguments": {"n": 2}},
        "only words",
    )
    assert read.observation == "be good"
    assert read.reward is None


@pytest.mark.parametrize("name", ["../secret.png", "/etc/passwd", "images/../../secret.png"])
def test_an_image_outside_of_the_folder_is_refused(trajectory, tmp_path, name):
    path = save_trajectory(trajectory, tmp_path / "made")
    (tmp_path / "secret.png").write_bytes((tmp_path / "made" / "images" / "0001-0.png").read_bytes())
    path.write_text(path.read_text().replace("images/0001-0.png", name))
    with pytest.raises(UsageError, match="outside"):
        load_trajectory(path)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "not a trajectory"),
        ("{", "not a trajectory"),
        ("[]", "not a trajectory"),
        ('{"steps": []}', "schema_version"),
    ],
)
def test_a_broken_file_is_named(tmp_path, content, said):
    path = tmp_path / "x.json"
    path.write_text(content)
    with pytest.raises(UsageError, match=said) as error:
        load_trajectory(path)
    assert str(path) in str(error.value)


def test_an_image_that_is_none_is_named(trajectory, tmp_path):
    path = save_trajectory(trajectory, tmp_path)
    (tmp_path / "images" / "0001-0.png").write_bytes(b"no picture")
    with pytest.raises(UsageError, match="not an image"):
        load_trajectory(path)


def test_the_conversation_pairs_calls_and_answers(trajectory):
    chat = to_messages(trajectory, image_paths(trajectory))
    roles = [message["role"] for message in chat["messages"]]
    assert roles[:7] == ["user", "assistant", "tool", "assistant", "user", "assistant", "user"]
    assert chat["messages"][1]["tool_calls"][0]["function"] == LOOK
    assert chat["messages"][2]["content"][1] == {"type": "image", "path": "images/0001-0.png"}
    assert chat["messages"][3]["content"] == '{"name": "lok"}'
    assert chat["messages"][5]["content"] == "no call"
    assert len(chat["tools"]) == 3
    assert isinstance(to_messages(trajectory)["messages"][2]["content"], str)


def test_actions_of_a_file_of_lines(tmp_path):
    path = tmp_path / "actions.jsonl"
    path.write_text('{"name": "a", "arguments": {"x": 1}}\n\n{"name": "b"}\n')
    assert read_actions(path) == ({"name": "a", "arguments": {"x": 1}}, {"name": "b", "arguments": {}})
    for content, said in (
        ('{"name": "a"}\n{"name": \n', "actions.jsonl:2: is not JSON"),
        ('["a"]\n', "actions.jsonl:1: is not an action"),
        ('{"name": "a", "args": {}}\n', "actions.jsonl:1: is not an action"),
        ("\n", "holds no action"),
    ):
        path.write_text(content)
        with pytest.raises(TaskError, match=said):
            read_actions(path, TaskError)
    with pytest.raises(UsageError, match="cannot be read"):
        read_actions(tmp_path / "none.jsonl")


def test_a_recording_is_found_by_file_or_run(trajectory, tmp_path):
    made = save_trajectory(trajectory, tmp_path / "episodes" / "shelf__1")
    assert find_recording(made, "anything", 3) == made
    assert find_recording(tmp_path, "shelf", 1) == made
    assert find_recording(tmp_path, "shelf", 2) == made
    with pytest.raises(UsageError, match="no episode of task 'other'"):
        find_recording(tmp_path, "other", 1)
    with pytest.raises(UsageError, match="no recording"):
        find_recording(tmp_path / "nowhere", "shelf", 1)


def test_what_is_a_call():
    assert as_call({"name": "x"}) == {"name": "x", "arguments": {}}
    for no_call in (None, "x", {"name": 1}, {"arguments": {}}, {"name": "x", "arguments": []}, {"name": "x", "y": 1}):
        assert as_call(no_call) is None

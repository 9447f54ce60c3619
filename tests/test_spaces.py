"""Spaces: samples fit, equal seeds give equal samples, and shared memory gives back what was written."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from gymnasium.vector.utils import create_shared_memory, read_from_shared_memory, write_to_shared_memory

from tradeschool.spaces import (
    MAX_IMAGES,
    MAX_TEXT_BYTES,
    Images,
    ToolCallSpace,
    UnicodeText,
    make_observation,
    observation_space,
)
from tradeschool.tools import Tool, ToolResult

SCHEMA = {
    "type": "object",
    "properties": {
        "text": {"type": "string"},
        "number": {"type": "number", "exclusiveMinimum": 0, "maximum": 2},
        "count": {"type": "integer", "minimum": 1, "maximum": 3},
        "flag": {"type": "boolean"},
        "choice": {"enum": ["a", "b"]},
        "place": {"type": "array", "items": {"type": "number"}, "minItems": 3, "maxItems": 3},
        "either": {"oneOf": [{"type": "null"}, {"const": 4}]},
        "inner": {"type": "object", "properties": {"x": {"type": ["integer", "null"]}}, "required": ["x"]},
    },
    "required": ["text"],
}


def space(seed: int = 0) -> ToolCallSpace:
    return ToolCallSpace([Tool("do", "", SCHEMA), Tool("submit", "", {"type": "object"})], seed)


def test_samples_are_calls_and_repeat_with_the_seed() -> None:
    first, second = space(5), space(5)
    drawn = [first.sample() for _ in range(200)]
    assert all(first.contains(action) for action in drawn)
    assert drawn == [second.sample() for _ in range(200)]
    assert {action["name"] for action in drawn} == {"do", "submit"}


def test_what_is_no_call_is_not_in_the_space() -> None:
    assert not space().contains({"name": "do", "arguments": {}})
    assert not space().contains("do")


def test_observations_fit_whatever_a_tool_says() -> None:
    picture = np.zeros((4, 5, 3), np.uint8)
    for text in ("", "ünï\0", "\ud800", "x" * (MAX_TEXT_BYTES + 5), "é" * MAX_TEXT_BYTES):
        observation = make_observation(ToolResult(text, (picture,) * (MAX_IMAGES + 1)))
        assert observation_space().contains(observation)


@pytest.mark.parametrize(
    "wrong", [[np.zeros((2, 2, 3), np.uint8)], (np.zeros((2, 2), np.uint8),), (np.zeros((2, 2, 3)),)]
)
def test_images_are_tuples_of_byte_pictures(wrong: object) -> None:
    assert not Images().contains(wrong)


def test_shared_memory_gives_back_what_was_written() -> None:
    texts, memory = ("", "ünï\n", "z" * 1000), create_shared_memory(UnicodeText(), n=3)
    for index, text in enumerate(texts):
        write_to_shared_memory(UnicodeText(), index, text, memory)
    batch_of_texts = read_from_shared_memory(UnicodeText(), memory, n=3)
    assert copy.deepcopy(batch_of_texts) == texts
    write_to_shared_memory(UnicodeText(), 1, "later", memory)
    assert batch_of_texts[1] == "later", "AsyncVectorEnv reads it once and keeps it"
    rng = np.random.default_rng(0)
    batch = tuple(
        tuple(rng.integers(0, 256, (3 + n, 4, 3), dtype=np.uint8) for n in range(count)) for count in (0, 2, 1)
    )
    memory = create_shared_memory(Images(), n=3)
    for index, images in enumerate(batch):
        write_to_shared_memory(Images(), index, images, memory)
    got = read_from_shared_memory(Images(), memory, n=3)
    assert [len(images) for images in got] == [0, 2, 1]
    assert all(np.array_equal(a, b) for one, two in zip(got, batch, strict=True) for a, b in zip(one, two, strict=True))

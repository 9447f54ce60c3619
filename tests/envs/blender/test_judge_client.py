"""The judge's process: the same verdict as here, and a scene that is too much for it is told from a broken judge."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tradeschool.envs.blender.checkfile import KINDS, Check
from tradeschool.envs.blender.checks import evaluate
from tradeschool.envs.blender.judge_client import Exhausted, JudgeProcess
from tradeschool.envs.blender.snapshot import Snapshot
from tradeschool.errors import VerifierError


def check(kind: str, **fields: Any) -> Check:
    return KINDS[kind].model_validate_json(json.dumps({"name": "it", "kind": kind, **fields}))


WHOLE = check("volume", objects="*", volume_m3=1.0, tolerance=0.1)


@pytest.fixture
def combs(box: Any, joined: Any, scene: Any) -> Snapshot:
    """Three combs through each other: 108 plates, few enough to be united, at some 500 MiB and 5 s."""
    plates = {
        "A": ((0.0005, 1, 1), (0.001, 0, 0)),
        "B": ((1, 0.0005, 1), (0, 0.001, 0)),
        "C": ((1, 1, 0.0005), (0, 0, 0.001)),
    }
    return scene(
        *(
            joined(name, *(box(size=size, center=tuple(n * part for part in step)) for n in range(36)))
            for name, (size, step) in plates.items()
        )
    )


def test_it_judges_as_we_do_here(box: Any, scene: Any) -> None:
    checks = (WHOLE, check("count", objects="Box", gate=True).model_copy(update={"name": "other"}))
    the_scene = scene(box(size=(0.7, 1, 1)))
    with JudgeProcess() as judge:
        assert judge.evaluate(checks, the_scene) == evaluate(checks, the_scene)


def test_a_question_larger_than_a_pipe_reaches_it_before_it_is_ready(box: Any, joined: Any, scene: Any) -> None:
    many = scene(joined("Many", *(box(center=(1.1 * n, 0, 0)) for n in range(900))))
    with JudgeProcess() as judge:
        reward = judge.evaluate((check("volume", objects="*", volume_m3=900.0, tolerance=0.01),), many)
    assert reward.value == 1.0, reward.parts[0].reason


def test_a_scene_too_large_for_its_memory_exhausts_it(combs: Snapshot) -> None:
    with JudgeProcess(memory_mb=200) as judge, pytest.raises(Exhausted, match="200 MiB of memory"):
        judge.evaluate((WHOLE,), combs)


def test_a_scene_past_the_deadline_exhausts_it(combs: Snapshot, box: Any, scene: Any) -> None:
    with JudgeProcess() as ready:
        ready.evaluate((WHOLE,), scene(box()))  # its libraries are in the page cache from here on
    with JudgeProcess(deadline_s=2.5) as judge, pytest.raises(Exhausted, match=r"more than 2\.5 s"):
        judge.evaluate((WHOLE,) * 50, combs)


def test_a_judge_that_does_not_come_up_is_no_fault_of_the_scene(box: Any, scene: Any) -> None:
    with JudgeProcess(deadline_s=0.0) as judge, pytest.raises(VerifierError, match="libraries"):
        judge.evaluate((WHOLE,), scene(box()))


def test_a_judge_with_a_fault_of_its_own_is_a_verifier_error(box: Any, scene: Any) -> None:
    unknown = WHOLE.model_copy(update={"kind": "taste"})
    with JudgeProcess() as judge, pytest.raises(VerifierError, match=r"ended with 1: .*KeyError"):
        judge.evaluate((unknown,), scene(box()))


def test_close_is_idempotent_and_needs_no_question() -> None:
    judge = JudgeProcess()
    judge.close()
    judge.close()

from dataclasses import replace

import pytest

from tradeschool.batch.plan import derive_seed
from tradeschool.errors import UsageError
from tradeschool.task import TaskPack


def test_every_task_is_played_as_often_as_asked(make_plan):
    plan = make_plan(attempts=2)
    assert [item.name for item in plan.items] == ["one__1", "three__1", "two__1", "one__2", "three__2", "two__2"]


def test_seeds_depend_on_task_and_attempt_only(make_plan):
    whole = {item.name: (item.seed, item.agent_seed) for item in make_plan(attempts=2).items}
    assert len({seed for pair in whole.values() for seed in pair}) == 12
    plan = make_plan(attempts=2)
    part = replace(plan, tasks=plan.tasks[1:2])
    assert {item.name: (item.seed, item.agent_seed) for item in part.items}.items() <= whole.items()
    assert make_plan(seed=1).items[0].seed != make_plan(seed=0).items[0].seed


def test_a_seed_is_the_same_everywhere():
    assert derive_seed(0, "starter/x", 1) == 1926404224
    assert 0 <= derive_seed("anything") < 2**31


def test_the_digest_changes_with_what_is_played(make_plan, pack):
    plan = make_plan()
    assert plan.digest == make_plan().digest
    assert (
        len({plan.digest, make_plan(seed=1).digest, make_plan(agent="oracle").digest, make_plan(attempts=2).digest})
        == 4
    )
    (pack.tasks[0].paths.instruction).write_text("Something else.\n")
    again = TaskPack.load(pack.root)
    assert make_plan(pack=again, tasks=again.tasks).digest != plan.digest


@pytest.mark.parametrize("wrong", [{"attempts": 0}, {"max_steps": 0}, {"seed": -1}, {"tasks": ()}])
def test_a_senseless_plan_is_refused(make_plan, wrong):
    with pytest.raises(UsageError):
        make_plan(**wrong)

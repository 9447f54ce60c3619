"""A tiny pack of tasks, and a runner that plays the shelf environment in place of theirs."""

import pytest

from tradeschool.batch.local import LocalRunner
from tradeschool.batch.plan import RunPlan
from tradeschool.batch.store import Store
from tradeschool.task import TaskPack
from tradeschool.testing import ShelfEnv, write_pack


@pytest.fixture
def pack(tmp_path):
    return TaskPack.load(write_pack(tmp_path / "pack", {"one": "terminal", "two": "docqa", "three": "terminal"}))


@pytest.fixture
def make_plan(pack):
    def make(**more):
        return RunPlan(**{"pack": pack, "tasks": pack.tasks, "agent": "noop", "sandbox": "namespace", **more})

    return make


@pytest.fixture
def play(tmp_path, make_plan):
    """Play a plan of shelf environments; `env_for(item)` may make another one. The rows are returned."""

    def run(env_for=lambda item: ShelfEnv(), concurrency=1, folder="run", **more):
        plan = make_plan(**more)
        with Store.create(tmp_path / folder, plan) as store:
            LocalRunner(plan, store, concurrency, make_env=lambda plan, item: env_for(item)).run()
            return store.rows()

    return run

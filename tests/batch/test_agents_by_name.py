import sys

import pytest

from tradeschool.agents.oracle import OracleAgent
from tradeschool.batch.agents import AGENTS, agent_class
from tradeschool.errors import AgentError, UsageError


def test_ours_are_found():
    assert agent_class("oracle") is OracleAgent
    for name in AGENTS:
        assert callable(agent_class(name).create)


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield tmp_path
    for name in [name for name in sys.modules if name.startswith("theirs_")]:
        del sys.modules[name]


def test_anyones_are_found_in_the_current_folder(here):
    (here / "theirs_good.py").write_text(
        "from tradeschool.agents.base import Agent\n\n\nclass Mine(Agent):\n    def act(self, observation, info):\n"
        "        return None\n"
    )
    assert agent_class("theirs_good:Mine").__name__ == "Mine"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("orakle", "no agent 'orakle'. Did you mean 'oracle'?"),
        ("theirs_none:X", "no module 'theirs_none'"),
        ("theirs_pkg.none:X", "no module 'theirs_pkg"),
        ("theirs_bad.py:X", "'theirs_bad.py' is no module's name"),
        ("../x:Y", "no module's name"),
        (":X", "no module's name"),
        ("theirs_classes:Min", "no class 'Min'. Did you mean 'Mine'?"),
        ("theirs_classes:", "no class ''"),
        ("theirs_classes:value", "no class 'value'"),
        ("theirs_classes:NoAgent", "it has no create()"),
        ("theirs_needs:X", "needs 'theirs_missing_library', which is not installed"),
    ],
)
def test_what_is_missing_is_named(here, name, said):
    (here / "theirs_classes.py").write_text(
        "value = 3\n\n\nclass Mine:\n    def act(self): ...\n\n\nclass NoAgent:\n    def act(self): ...\n"
    )
    (here / "theirs_needs.py").write_text("import theirs_missing_library\n")
    with pytest.raises(UsageError) as error:
        agent_class(name)
    assert said in str(error.value)


def test_a_module_that_fails_is_the_agents_fault(here):
    (here / "theirs_fails.py").write_text("1 / 0\n")
    with pytest.raises(AgentError, match="ZeroDivisionError"):
        agent_class("theirs_fails:X")

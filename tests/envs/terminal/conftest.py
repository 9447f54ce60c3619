"""A small terminal task made on the spot, and an environment that plays it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tradeschool.envs.terminal.env import TerminalEnv

TESTS = """import probe


def test_answer():
    assert probe.call("answer:answer") == 42


def test_kept():
    assert probe.read("kept.txt") == b"keep me\\n"
"""
TOML = """[tradeschool]
family = "terminal"
required_tests = ["test_it.py::test_answer"]
regression_tests = ["test_it.py::test_kept"]

[verifier]
timeout_sec = 30.0
"""
RIGHT = "def answer():\n    return 42\n"


def write_task(root: Path, toml: str = TOML, tests: str = TESTS, **files: str) -> Path:
    """A pack `mine` with one task `one`. `files` are more of its files: `__` stands for `/`, `_dot_` for `.`"""
    task = root / "one"
    for folder in ("tests", "environment/workspace", "solution"):
        (task / folder).mkdir(parents=True)
    (root / "pack.toml").write_text('name = "mine"\nversion = "1"\nlicence = "MIT"\n')
    (task / "task.toml").write_text(toml)
    (task / "instruction.md").write_text("Make answer() return 42.\n")
    (task / "tests" / "test_it.py").write_text(tests)
    (task / "environment" / "workspace" / "kept.txt").write_text("keep me\n")
    for name, text in files.items():
        path = task / name.replace("__", "/").replace("_dot_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


@pytest.fixture
def play(tmp_path: Path) -> Iterator[Callable[..., TerminalEnv]]:
    """Make an environment of a task made by `write_task`, and reset it."""
    made: list[TerminalEnv] = []

    def begin(backend: str = "namespace", **arguments: Any) -> TerminalEnv:
        env = TerminalEnv(str(write_task(tmp_path, **arguments)), sandbox=backend)
        made.append(env)
        env.reset(seed=0)
        return env

    yield begin
    for env in made:
        env.close()


def do(env: TerminalEnv, name: str, **arguments: Any) -> str:
    """One call; what it said."""
    return env.step({"name": name, "arguments": arguments})[0]["text"]


def submit(env: TerminalEnv) -> Any:
    """End the episode; its reward."""
    return env.step({"name": "submit", "arguments": {}})[4]["reward"]

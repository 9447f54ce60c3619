"""An agent that breaks its own sandbox has lost an episode, not made it invalid: only the infrastructure does that."""

from __future__ import annotations

import signal
from collections.abc import Callable
from typing import Any

import pytest

from tests.envs.terminal.conftest import RIGHT, TESTS, TOML, do, submit
from tradeschool.envs.terminal import verify
from tradeschool.envs.terminal.env import TerminalEnv
from tradeschool.errors import SandboxError
from tradeschool.sandbox import SandboxSpec
from tradeschool.sandbox.namespace import NamespaceSandbox

pytestmark = pytest.mark.sandbox
Play = Callable[..., TerminalEnv]
KILL_NEW_SHELLS = """import os
while True:
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if b"noediting" in open(f"/proc/{pid}/cmdline", "rb").read():
                os.kill(int(pid), 9)
        except OSError:
            pass
"""
HOSTILE: dict[str, list[dict[str, Any]]] = {
    "signals to process 1": [{"command": "for s in INT TERM HUP QUIT USR1 ALRM CHLD SEGV KILL; do kill -$s 1; done"}],
    "a NUL in a path": [{"path": "a\0b"}],
    "a surrogate in a path": [{"path": "\ud800"}],
    "a surrogate in a command": [{"command": "echo \ud800"}],
    "process 1 offered to the memory killer": [
        {"path": "/proc/self/oom_score_adj", "content": "1000"},
        {"command": "cat /proc/1/oom_score_adj"},
    ],
    "no descriptor left to process 1": [
        {"command": "prlimit --pid 1 --nofile=3:3"},
        {"command": "exit"},
        {"command": "ls"},
    ],
    "no time left to process 1": [{"command": "prlimit --pid 1 --cpu=0:0"}, {"command": "exit"}, {"command": "ls"}],
    "every new shell is killed": [
        {"path": "kill.py", "content": KILL_NEW_SHELLS},
        {"command": "setsid python3 kill.py & sleep 1; exit"},
        {"command": "ls"},
    ],
    "processes up to the limit": [
        {"command": "for i in $(seq 300); do sleep 1000 & done; exit", "timeout_s": 3},
        {"command": "ls"},
    ],
}


@pytest.mark.parametrize("name", HOSTILE)
def test_the_episode_is_lost_and_valid(play: Play, name: str) -> None:
    env = play()
    ended = False
    for arguments in HOSTILE[name]:
        tool = "shell" if "command" in arguments else "write_file" if "content" in arguments else "read_file"
        if not ended:
            _, value, ended, _, info = env.step({"name": tool, "arguments": arguments})
            if ended:
                assert (value, info["reward"].valid, info["ended_by"]) == (0.0, True, "breakdown")
    if not ended:
        reward = submit(env)
        assert (reward.valid, reward.value) == (True, 0.0)


def test_what_was_right_before_the_sandbox_was_broken_counts(play: Play) -> None:
    env = play()
    do(env, "write_file", path="answer.py", content=RIGHT)
    session = env.session
    assert session is not None
    signal.pidfd_send_signal(session._sandbox._life.pidfd, signal.SIGKILL)  # type: ignore[attr-defined]
    # what is seen first is the shell's end or the sandbox's; the call after the shell's end has none to be made in
    for _ in range(2):
        _, reward, terminated, _, info = env.step({"name": "shell", "arguments": {"command": "ls"}})
        if terminated:
            break
    assert (reward, terminated, info["ended_by"]) == (1.0, True, "breakdown")


def test_a_broken_host_is_no_zero(play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    env = play()
    session = env.session
    assert session is not None
    session._sandbox._life.end()  # type: ignore[attr-defined] - as the host's memory killer would
    monkeypatch.setattr(NamespaceSandbox, "start", refuse)
    with pytest.raises(SandboxError):
        env.step({"name": "shell", "arguments": {"command": "ls"}})


def refuse(sandbox: NamespaceSandbox) -> None:
    raise SandboxError("no space left on device", kind="disk")


def test_a_transfer_that_was_cut_short_is_no_zero(play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    env = play()
    do(env, "write_file", path="answer.py", content=RIGHT)
    monkeypatch.setattr("tradeschool.sandbox.namespace.TRANSFER_TIMEOUT_S", 0.0)
    with pytest.raises(SandboxError) as caught:
        env.step({"name": "submit", "arguments": {}})
    assert caught.value.kind == "transfer"


def test_code_under_test_that_ends_its_verification_scores_zero(play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    tries: list[int] = []

    def ends(*_: object) -> None:
        tries.append(1)
        raise SandboxError("the sandbox is gone", kind="gone")

    monkeypatch.setattr(verify, "_run_pytest", ends)
    env = play()
    do(env, "write_file", path="answer.py", content=RIGHT)
    reward = submit(env)
    assert (reward.value, len(tries)) == (0.0, 2)


def test_a_test_that_imports_late_is_not_given_the_agents_module(play: Play) -> None:
    # tmp_path imports getpass when it is first used; the folder of the tests can be written to by then
    tests = TESTS.replace("def test_kept():", "def test_kept(tmp_path):")
    planted = (
        "import os\\nfor fd in range(3, 64):\\n    try: os.write(fd, b'{}')\\n    except OSError: pass\\nos._exit(0)"
    )
    env = play(tests=tests)
    code = f"import os\nos.makedirs('/tests', exist_ok=True)\nopen('/tests/getpass.py', 'w').write(\"{planted}\")\n"
    do(env, "write_file", path="answer.py", content=code + RIGHT)
    reward = submit(env)
    assert {part.name: part.value for part in reward.parts}["test.test_it.py::test_kept"] == 1.0


def test_a_pack_installed_where_sandboxes_look_stays_hidden_while_tests_run(play: Play) -> None:
    seen: list[tuple[str, ...]] = []
    original = NamespaceSandbox.__init__

    def note(sandbox: NamespaceSandbox, spec: SandboxSpec) -> None:
        if spec.workspace is not None:
            seen.append(tuple(str(path) for path in spec.hidden))
        original(sandbox, spec)

    env = play()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(NamespaceSandbox, "__init__", note)
        submit(env)
    assert seen
    assert all(str(env.pack.root) in hidden for hidden in seen)


def test_no_call_outlasts_the_episode(play: Play) -> None:
    env = play(toml=TOML + "\n[tradeschool.limits]\nwall_time_s = 2.0\n")
    said, _, _, truncated, info = env.step({"name": "shell", "arguments": {"command": "sleep 60", "timeout_s": 3600}})
    assert "was stopped after" in said["text"]
    assert truncated
    assert info["ended_by"] == "wall_time"


def test_an_artifact_that_was_deleted_does_not_come_back(play: Play) -> None:
    toml = TOML.replace("required_tests", 'artifacts = ["/workspace/answer.py", "/workspace/kept.txt"]\nrequired_tests')
    env = play(toml=toml)
    do(env, "write_file", path="answer.py", content=RIGHT)
    do(env, "shell", command="rm kept.txt")
    assert submit(env).value == 0.0

"""Grading in a clean room: the agent's artifacts in a fresh sandbox, the hidden tests, and a verdict read from outside.

Covered: nothing of the agent's sandbox is used but the declared artifacts, taken after its last process was killed;
tests and the tools that run them come from the pack and from set-up; the report goes through a pipe that is closed to
the code under test; expected tests are known beforehand, and one that is missing, skipped or seen twice has not passed.
Not covered: a pack whose tests import the code under test into their own process, instead of through `probe`, trusts
that code with its verdict. A task with its own tests/test.sh writes its reward to a file, as Harbor's tasks do.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import resources
from pathlib import Path
from typing import Any

from tradeschool.errors import SandboxError, VerifierError
from tradeschool.rewards import Part, Reward
from tradeschool.sandbox import Limits, Mount, Sandbox, SandboxSpec, open_sandbox
from tradeschool.sandbox.archive import check_confined, pack_folder
from tradeschool.task import Task

from .workspace import prepare, task_limits

GRADER = "/opt/grader"
PYTHON = "/opt/tradeschool/bin/python3"
REPORT_BYTES = 1 << 20
AGENT_MADE = frozenset({"too_large", "export", "archive", "unpack"})
"""Kinds of SandboxError that the files an agent left can cause; such a state scores 0."""
ENDED = frozenset({"gone", "timeout", "shell", "helper", "protocol"})
"""Kinds that a program in a sandbox can cause by ending or blocking what runs the sandbox."""
CLEAR = 'for p; do if [ -d "$p" ] && [ ! -L "$p" ]; then find "$p" -mindepth 1 -delete; else rm -f -- "$p"; fi; done'


class Spoiled(Exception):
    """What the agent left cannot be taken over, because of what it is. The message is the reason of a 0."""


def collect(task: Task, sandbox: Sandbox) -> bytes:
    """Freeze the agent's sandbox and take the task's artifacts out of it, as a tar. Raises Spoiled, SandboxError."""
    sandbox.freeze()
    with _agent_made():
        artifacts = sandbox.export(task.file.tradeschool.artifacts)
        check_confined(artifacts, task.file.tradeschool.artifacts)
    return artifacts


def verify(task: Task, artifacts: bytes, backend: str, hidden: tuple[Path, ...]) -> Reward:
    """Grade artifacts in a fresh sandbox from the task's files.

    A verifying sandbox that ends under way is tried once more; if the next one ends as well while a sandbox without
    the artifacts does not, the code under test ends it, and scores 0.
    Raises VerifierError when there is no verdict, SandboxError when the infrastructure failed.
    """
    why = ""
    try:
        for last in (False, True):
            try:
                return _verify(task, artifacts, backend, hidden)
            except SandboxError as error:
                if error.kind not in ENDED or (last and not is_healthy(backend)):
                    raise
                why = str(error)
    except Spoiled as error:
        why = str(error)
    return spoiled(why)


def spoiled(reason: str) -> Reward:
    """The reward of artifacts that could not be taken over, or that ended their own verification."""
    return Reward.from_parts([Part("artifacts", 0.0, weight=1.0, gate=True, reason=reason)])


def is_healthy(backend: str) -> bool:
    """Whether a new sandbox starts here and runs a program: then one that ended did so by its own doing."""
    try:
        with open_sandbox(backend, SandboxSpec()) as sandbox:
            return sandbox.run(["true"], 30.0).exit_code == 0
    except SandboxError:
        return False


@contextmanager
def _agent_made() -> Iterator[None]:
    try:
        yield
    except SandboxError as error:
        if error.kind in AGENT_MADE:
            raise Spoiled(str(error)) from error
        raise


def _verify(task: Task, artifacts: bytes, backend: str, hidden: tuple[Path, ...]) -> Reward:
    limits = task_limits(task)
    wide = Limits(limits.memory_mb, limits.cpus, limits.processes, output_bytes=REPORT_BYTES)
    grader = Mount(Path(str(resources.files("tradeschool.envs.terminal"))) / "grader", GRADER, private=True)
    first = prepare(task, backend, hidden)
    with open_sandbox(backend, SandboxSpec(workspace=first, mounts=(grader,), hidden=hidden, limits=wide)) as sandbox:
        # what the agent deleted must be missing here too
        sandbox.run(["bash", "-c", CLEAR, "clear", *task.file.tradeschool.artifacts], cwd="/")
        with _agent_made():
            sandbox.unpack(artifacts)
        sandbox.unpack(pack_folder(task.paths.tests, "tests"))
        if task.file.tradeschool.required_tests:
            return _run_pytest(task, sandbox)
        return _run_script(task, sandbox)


def _run_pytest(task: Task, sandbox: Sandbox) -> Reward:
    done = sandbox.run([PYTHON, "-I", f"{GRADER}/run_tests.py"], task.file.verifier.timeout_sec, cwd="/")
    said = done.stderr.decode("utf-8", "replace").strip()
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith(b"{") and line.endswith(b"}")]
    if not lines or "collected" not in lines[0]:
        raise VerifierError(
            f"the tests of {task.id!r} did not start (exit {done.exit_code}): {said[-500:]}", kind="start"
        )
    wanted = (*task.file.tradeschool.required_tests, *task.file.tradeschool.regression_tests)
    unknown = sorted(set(wanted) - set(lines[0]["collected"]))
    if unknown:
        raise VerifierError(f"the tests of {task.id!r} have no {unknown[0]!r}; correct task.toml.", kind="tests")
    if "outcomes" in lines[-1]:
        outcomes, reasons = lines[-1]["outcomes"], lines[-1]["reasons"]
    else:
        # the tests had begun: it is the code under test that ended them or kept them busy
        outcomes, reasons = {}, {}
        why = "they did not end in time" if done.timed_out else "the code under test ended them"
        reasons = dict.fromkeys(wanted, why)
    return _score(task, outcomes, reasons)


def _score(task: Task, outcomes: dict[str, str], reasons: dict[str, str]) -> Reward:
    parts = []
    for group, tests in (
        ("required", task.file.tradeschool.required_tests),
        ("regression", task.file.tradeschool.regression_tests),
    ):
        if not tests:
            continue
        passed = [test for test in tests if outcomes.get(test) == "passed"]
        failed = [test for test in tests if test not in passed]
        reason = f"{len(passed)} of {len(tests)} passed" + (f"; failed: {', '.join(failed)}" if failed else "")
        parts.append(Part(f"tests.{group}", float(not failed), weight=1.0, gate=True, reason=reason))
        parts.append(Part(f"tests.{group}_share", len(passed) / len(tests), reason="reported only"))
        for test in tests:
            outcome = outcomes.get(test, "missing")
            parts.append(Part(f"test.{test}", float(test in passed), reason=reasons.get(test, outcome)))
    return Reward.from_parts(parts)


def _run_script(task: Task, sandbox: Sandbox) -> Reward:
    """Harbor's way: tests/test.sh leaves /logs/verifier/reward.json or reward.txt; its exit code is not looked at."""
    sandbox.run(["mkdir", "-p", "/logs/verifier", "/logs/agent", "/logs/artifacts"], cwd="/")
    done = sandbox.run(["bash", "/tests/test.sh"], task.file.verifier.timeout_sec)
    if done.timed_out:
        return spoiled(f"the tests did not end within {task.file.verifier.timeout_sec:g} s")
    said = (done.stderr or done.stdout).decode("utf-8", "replace").strip()[-300:]
    for name, parse in (("reward.json", _from_json), ("reward.txt", _from_text)):
        try:
            raw = sandbox.read_bytes(f"/logs/verifier/{name}", 65_536)
        except FileNotFoundError:
            continue
        except (OSError, ValueError) as error:
            raise VerifierError(f"{name} of {task.id!r} cannot be read: {error}.", kind="report") from error
        try:
            return parse(raw.decode("utf-8"))
        except ValueError as error:
            raise VerifierError(f"{name} of {task.id!r} holds no reward: {error}.", kind="report") from error
    ended = f"exit code {done.exit_code}" + (f": {said}" if said else ", without a word")
    raise VerifierError(f"tests/test.sh of {task.id!r} left no reward in /logs/verifier ({ended}).", kind="report")


def _from_json(text: str) -> Reward:
    data = json.loads(text)
    if not isinstance(data, dict) or not data:
        raise ValueError("reward.json must be an object of numbers")
    values = {name: _number(value) for name, value in data.items()}
    if "reward" in values:
        main = values.pop("reward")
        rest = [Part(name, value) for name, value in values.items()]
        return Reward.from_parts([Part("reward", _share(main), weight=1.0), *rest])
    return Reward.from_parts(Part(name, _share(value), weight=1.0) for name, value in values.items())


def _from_text(text: str) -> Reward:
    return Reward.from_parts([Part("reward", _share(_number(float(text.strip()))), weight=1.0)])


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise ValueError(f"{value!r} is not a finite number")
    return float(value)


def _share(value: float) -> float:
    if not 0.0 <= value <= 1.0:
        raise ValueError(f"{value} does not lie in [0, 1]")
    return value

"""The loop of every episode, written once: parse the action, call the tool, count, end, grade.

A trade supplies a `Session`: the engine (a sandbox, a scene, a set of documents) with its tools and its grader.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import gymnasium as gym
import numpy as np

from tradeschool.conduct import Conduct
from tradeschool.errors import TaskError, UsageError, did_you_mean
from tradeschool.rewards import Reward
from tradeschool.sandbox import BACKENDS, resolve_backend
from tradeschool.spaces import ToolCallSpace, make_observation, observation_space
from tradeschool.task import Task, TaskPack, builtin_packs
from tradeschool.tools import MalformedCall, Tool, ToolResult, parse_call


@dataclass(frozen=True)
class SessionConfig:
    """What a session is opened with. `sandbox` is a back end's name, never `auto`; `seed` is the episode's."""

    task: Task
    sandbox: str
    seed: int


class Session(ABC):
    """One episode's engine, tools and grader. Made anew for each episode.

    For each tool `x` in `tools` there is a method `do_x` whose parameters are the tool's arguments; a session whose
    engine has its own dispatch overrides `call` instead.
    """

    tools: ClassVar[tuple[Tool, ...]]

    def __init__(self, config: SessionConfig) -> None:
        self.config = config
        self.task = config.task
        self.seconds_left = config.task.limits.wall_time_s
        """Of the episode's wall time; the environment sets it before each call, and no call may take longer."""

    @property
    def hidden(self) -> tuple[Path, ...]:
        """Every pack's folder: tests and solutions stay out of a sandbox, wherever the package is installed."""
        return (self.task.paths.root.parent, *builtin_packs().values())

    def launch(self) -> None:
        """Begin to bring the engine up without waiting for it, while the last episode's is taken down; `open` follows.

        Raises SandboxError, TaskError.
        """
        return None

    @abstractmethod
    def open(self) -> str:
        """Bring the engine up; the first observation's text beside the instruction. Raises SandboxError, TaskError."""

    @abstractmethod
    def grade(self) -> Reward:
        """Score the state left behind; called once, at the end. Raises VerifierError or SandboxError, never guesses."""

    def render(self) -> np.ndarray | None:
        """A picture of the state, uint8 (H, W, 3), or None where the trade has none."""
        return None

    @abstractmethod
    def close(self) -> None:
        """Release everything. Idempotent; called also when `open` failed half-way."""

    def call(self, name: str, arguments: Mapping[str, Any]) -> ToolResult:
        """Do one well-formed call."""
        return getattr(self, f"do_{name}")(**arguments)


class ToolEnv(gym.Env[dict[str, Any], dict[str, Any]], gym.utils.EzPickle):
    """Base of the environments. Subclasses set `family` and `session_class`, and carry the card."""

    metadata: dict[str, Any] = {"render_modes": ["ansi", "rgb_array"], "render_fps": 1}  # noqa: RUF012 - Gymnasium's own declaration
    family: ClassVar[str]
    session_class: ClassVar[type[Session]]

    def __init__(
        self,
        pack: str = "starter",
        task: str | None = None,
        split: str | None = None,
        sandbox: str = "auto",
        max_steps: int | None = None,
        render_mode: str | None = None,
    ) -> None:
        gym.utils.EzPickle.__init__(self, pack, task, split, sandbox, max_steps, render_mode)
        if render_mode is not None and render_mode not in self.metadata["render_modes"]:
            raise UsageError(
                f"no render mode {render_mode!r}.{did_you_mean(render_mode, self.metadata['render_modes'])}"
            )
        if max_steps is not None and max_steps < 1:
            raise UsageError(f"max_steps must be at least 1, got {max_steps}.")
        if sandbox != "auto" and sandbox not in BACKENDS:
            raise UsageError(f"there is no sandbox {sandbox!r}.{did_you_mean(sandbox, [*BACKENDS, 'auto'])}")
        self.render_mode = render_mode
        self.pack = TaskPack.load(pack)
        self.choices = self._choose(task, split)
        self.max_steps_override = max_steps
        self.sandbox = sandbox
        self.tools = self.session_class.tools
        self.action_space = ToolCallSpace(self.tools)
        self.observation_space = observation_space()
        self.session: Session | None = None
        self.task: Task | None = None
        self._backend: str | None = None
        self._ended = True

    def _choose(self, task: str | None, split: str | None) -> tuple[Task, ...]:
        if task is None:
            return self.pack.select(family=self.family, split=split)
        chosen = self.pack.get(task)
        if chosen.family != self.family:
            raise UsageError(
                f"task {chosen.id!r} is of the {chosen.family} family; this environment plays {self.family}."
            )
        return (chosen,)

    @classmethod
    def check_task(cls, task: Task) -> None:
        """Cheap checks of a task's files before anything starts. Raises TaskError naming the file and the remedy."""
        if not task.paths.tests.is_dir():
            raise TaskError(f"{task.paths.tests}: missing. A task needs tests/ to be graded by.")

    @classmethod
    def try_task(cls, task: Task, backend: str) -> None:
        """Checks before a run that need a sandbox, if a task's files call for any. Raises TaskError, SandboxError."""
        return None

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Begin an episode. `options={"task": id}` plays that task; else the seed draws one.

        Raises SandboxError or TaskError when the engine does not come up.
        """
        super().reset(seed=seed)
        last, self.session = self.session, None
        try:
            try:
                self._begin(options)
                assert self.session is not None
                self.session.launch()
            finally:
                if last is not None:
                    last.close()
            first = self.session.open()
        except BaseException:
            self.close()
            raise
        assert self.task is not None
        self._ended = False
        self._last = ToolResult("\n\n".join(part for part in (self.task.instruction, first) if part))
        return make_observation(self._last), self._info()

    def _begin(self, options: dict[str, Any] | None) -> None:
        """Choose the task and make its session."""
        self._ended = True
        stray = set(options or {}) - {"task"}
        if stray:
            raise UsageError(f"reset has no option {sorted(stray)[0]!r}. Known: task.")
        wanted = (options or {}).get("task")
        choices = self._choose(wanted, None) if wanted else self.choices
        self.task = choices[int(self.np_random.integers(len(choices)))]
        self._backend = self._backend or resolve_backend(self.sandbox)
        self.max_steps = self.max_steps_override or self.task.limits.max_steps
        self.conduct = Conduct(self.max_steps)
        self._began = time.monotonic()
        episode_seed = int(self.np_random.integers(2**31))
        self.session = self.session_class(SessionConfig(self.task, self._backend, episode_seed))

    def step(self, action: Any) -> tuple[dict[str, Any], float, bool, bool, dict[str, Any]]:
        """One tool call. The reward is 0 until the episode ends, then what the grader found.

        Raises SandboxError or VerifierError when the environment failed: that episode has no reward.
        """
        if self.session is None or self.task is None or self._ended:
            raise gym.error.ResetNeeded("the episode has ended: call reset() first")
        try:
            call = parse_call(action, self.tools)
            self.session.seconds_left = self.seconds_left
            result = self.session.call(call.name, call.arguments)
        except MalformedCall as error:
            result = ToolResult(str(error), status="malformed")
        self._last = result
        self.conduct.record(action, result.status)
        out_of_time = self.seconds_left < 0
        terminated = result.done
        truncated = not terminated and (self.conduct.steps >= self.max_steps or out_of_time)
        info = self._info(result)
        reward = 0.0
        if terminated or truncated:
            self._ended = True
            graded = self.session.grade().with_parts(self.conduct.parts())
            assert graded.value is not None  # grade() raises rather than give no verdict
            info["reward"] = graded
            over = "wall_time" if out_of_time else "max_steps"
            # a call that did not succeed ends an episode only where it broke what it was made in
            info["ended_by"] = over if truncated else "submit" if result.status == "ok" else "breakdown"
            reward = graded.value
        return make_observation(result), reward, terminated, truncated, info

    @property
    def seconds_left(self) -> float:
        """Of the episode's wall time. Not in `info`, which is the same for equal seeds."""
        assert self.task is not None
        return self.task.limits.wall_time_s - (time.monotonic() - self._began)

    def _info(self, result: ToolResult | None = None) -> dict[str, Any]:
        assert self.task is not None
        info: dict[str, Any] = {
            "task": self.task.id,
            "family": self.family,
            "steps_left": self.max_steps - self.conduct.steps,
        }
        if result is None:
            info["instruction"] = self.task.instruction
            info["tools"] = [tool.to_function() for tool in self.tools]
            info["sandbox"] = self._backend
            info["limits"] = {"max_steps": self.max_steps, "wall_time_s": self.task.limits.wall_time_s}
        else:
            info["status"] = result.status
        return info

    def render(self) -> Any:
        """`ansi`: the last observation's text. `rgb_array`: a picture of the state, uint8 (H, W, 3)."""
        if self.render_mode == "ansi":
            return self._last.text
        if self.render_mode == "rgb_array":
            picture = self.session.render() if self.session else None
            return text_picture(self._last.text) if picture is None else picture
        return None

    def close(self) -> None:
        """End the episode's processes and files. Idempotent."""
        session, self.session = self.session, None
        self._ended = True
        if session is not None:
            session.close()


def text_picture(text: str, width: int = 640, height: int = 400) -> np.ndarray:
    """The end of a text drawn white on black, for trades without a picture of their own. uint8 (H, W, 3)."""
    from PIL import Image, ImageDraw

    canvas = Image.new("RGB", (width, height), "black")
    lines = [line[:100] for line in text.encode("ascii", "replace").decode().splitlines()[-26:]]
    ImageDraw.Draw(canvas).multiline_text((8, 6), "\n".join(lines), fill="white")
    return np.asarray(canvas, dtype=np.uint8)

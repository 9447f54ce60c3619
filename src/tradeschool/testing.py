"""Real, tiny stand-ins for tests of agents, runners and wrappers: no sandbox, no files, no waiting."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import gymnasium as gym
import numpy as np

from tradeschool.conduct import Conduct
from tradeschool.errors import UsageError
from tradeschool.rewards import Part, Reward
from tradeschool.spaces import ToolCallSpace, make_observation, observation_space
from tradeschool.tools import MalformedCall, Tool, ToolResult, parse_call

THINGS = ("cup", "book", "lamp")
SHELVES = 4
TOOLS = (
    Tool(
        "place",
        "Put a thing on a shelf.",
        {
            "type": "object",
            "properties": {
                "thing": {"type": "string", "enum": list(THINGS)},
                "shelf": {"type": "integer", "minimum": 0, "maximum": SHELVES - 1},
            },
            "required": ["thing", "shelf"],
        },
    ),
    Tool("look", "See the shelves: a text and a picture."),
    Tool("submit", "End the episode."),
)


class ShelfEnv(gym.Env[dict[str, Any], dict[str, Any]]):
    """Description: three things lie on random shelves; each has to go to the shelf of its number in the instruction.

    Action space: the tools `place(thing, shelf)`, `look()`, `submit()`.
    Observation space: text, and for `look` a picture of 4 x 3 pixels, white where a thing is.
    Reward: the share of things in place, one part each.
    Episode end: `submit`, or `max_steps` calls.
    Arguments: `max_steps`; `faults`, exceptions to raise at the moments `reset`, `step`, `grade` and `close`, to see
    what a runner does with a broken environment.
    Version history: v0, the first.
    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012 -- as gymnasium has it
    family: ClassVar[str] = "testing"
    goal: ClassVar[Mapping[str, int]] = {"cup": 0, "book": 1, "lamp": 2}
    solution: ClassVar[tuple[dict[str, Any], ...]] = (
        {"name": "place", "arguments": {"thing": "cup", "shelf": 0}},
        {"name": "place", "arguments": {"thing": "book", "shelf": 1}},
        {"name": "place", "arguments": {"thing": "lamp", "shelf": 2}},
        {"name": "submit", "arguments": {}},
    )

    def __init__(self, max_steps: int = 10, faults: Mapping[str, BaseException] | None = None) -> None:
        self.tools = TOOLS
        self.action_space = ToolCallSpace(TOOLS)
        self.observation_space = observation_space()
        self.max_steps = max_steps
        self.faults = dict(faults or {})
        self.closed = 0
        self._ended = True

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Put the things on shelves that the seed draws."""
        super().reset(seed=seed)
        self._fail("reset")
        self.conduct = Conduct(self.max_steps)
        self.places = {thing: int(self.np_random.integers(SHELVES)) for thing in THINGS}
        self._ended = False
        instruction = "Put the cup on shelf 0, the book on shelf 1 and the lamp on shelf 2."
        info = {
            "task": "testing/shelf",
            "family": self.family,
            "steps_left": self.max_steps,
            "instruction": instruction,
            "tools": [tool.to_function() for tool in self.tools],
        }
        return make_observation(ToolResult(f"{instruction}\n\n{self._describe()}")), info

    def step(self, action: Any) -> tuple[dict[str, Any], float, bool, bool, dict[str, Any]]:
        """One call."""
        if self._ended:
            raise gym.error.ResetNeeded("the episode has ended: call reset() first")
        self._fail("step")
        try:
            call = parse_call(action, self.tools)
            result = self._call(call.name, call.arguments)
        except MalformedCall as error:
            result = ToolResult(str(error), status="malformed")
        self.conduct.record(action, result.status)
        steps_left = self.max_steps - self.conduct.steps
        truncated = not result.done and steps_left == 0
        info = {"task": "testing/shelf", "family": self.family, "steps_left": steps_left, "status": result.status}
        reward = 0.0
        if result.done or truncated:
            self._ended = True
            self._fail("grade")
            parts = [Part(thing, float(self.places[thing] == shelf), 1.0) for thing, shelf in self.goal.items()]
            graded = Reward.from_parts(parts, verifier="shared").with_parts(self.conduct.parts())
            info |= {"reward": graded, "ended_by": "submit" if result.done else "max_steps"}
            reward = graded.value or 0.0
        return make_observation(result), reward, result.done, truncated, info

    def _call(self, name: str, arguments: Mapping[str, Any]) -> ToolResult:
        if name == "submit":
            return ToolResult("Submitted.", done=True)
        if name == "look":
            picture = np.zeros((len(THINGS), SHELVES, 3), np.uint8)
            for row, thing in enumerate(THINGS):
                picture[row, self.places[thing]] = 255
            return ToolResult(self._describe(), images=(picture,))
        self.places[arguments["thing"]] = int(arguments["shelf"])
        return ToolResult(self._describe())

    def _describe(self) -> str:
        return " ".join(f"The {thing} is on shelf {shelf}." for thing, shelf in self.places.items())

    def _fail(self, moment: str) -> None:
        if moment in self.faults:
            raise self.faults[moment]

    def close(self) -> None:
        """Count how often it was called."""
        self.closed += 1
        self._fail("close")


class ScriptedAgent:
    """Plays a list of actions; an exception in the list is raised instead. It keeps what it was shown in `seen`."""

    privileged: ClassVar[bool] = False

    def __init__(self, actions: Sequence[Any]) -> None:
        self.actions = list(actions)
        self.seen: list[Mapping[str, Any]] = []

    def reset(self, instruction: str, tools: Sequence[Mapping[str, Any]]) -> None:
        self.instruction, self.tools = instruction, list(tools)

    def act(self, observation: Mapping[str, Any], info: Mapping[str, Any]) -> Any:
        self.seen.append(observation)
        if not self.actions:
            raise UsageError("the script has ended, and the episode has not.")
        action = self.actions.pop(0)
        if isinstance(action, BaseException):
            raise action
        return action


def write_pack(folder: Path, tasks: Mapping[str, str], name: str = "tiny") -> Path:
    """A pack with a task for each `name: family` pair, each with a solution that only submits; `folder` is returned."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "pack.toml").write_text(f'name = "{name}"\nversion = "1"\nlicence = "Apache-2.0"\n', "utf-8")
    for task, family in tasks.items():
        root = folder / task
        (root / "solution").mkdir(parents=True)
        (root / "tests").mkdir()
        (root / "task.toml").write_text(f'[tradeschool]\nfamily = "{family}"\n', "utf-8")
        (root / "instruction.md").write_text("Do nothing and submit.\n", "utf-8")
        (root / "solution" / "actions.jsonl").write_text('{"name": "submit", "arguments": {}}\n', "utf-8")
    return folder

"""One episode: an agent plays an environment to its end, and whoever fails is named.

This is the one place where exceptions are sorted by fault. What the environment raises is never the agent's zero:
such an episode has no reward, and the table in `tradeschool.errors` says whether it is played again.
"""

from __future__ import annotations

import time
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

import gymnasium as gym

from tradeschool.errors import (
    AgentError,
    SandboxError,
    TaskError,
    TradeschoolError,
    UsageError,
    VerifierError,
    policy_for,
)
from tradeschool.plain import plain
from tradeschool.rewards import Reward
from tradeschool.task import Task
from tradeschool.trajectory import StepRecord, Trajectory, as_call


@dataclass(frozen=True)
class AgentContext:
    """What an agent is made with, anew for every episode.

    `task` (with its solution) is given to privileged agents only; `recording` is the file that a replay plays.
    """

    seed: int
    action_space: gym.Space[Any]
    recording: Path | None = None
    task: Task | None = None


class Player(Protocol):
    """What the loop needs of an agent. `tradeschool.agents.base.Agent` is the base to derive from."""

    def reset(self, instruction: str, tools: Sequence[Mapping[str, Any]]) -> None: ...

    def act(self, observation: Mapping[str, Any], info: Mapping[str, Any]) -> Any: ...


@dataclass(frozen=True)
class Fault:
    """Why an episode has no reward. `trace` is the Python traceback, for the log only."""

    kind: str
    at_fault: str
    message: str
    retry: bool = field(default=False, repr=False)
    trace: str = field(default="", repr=False, compare=False)

    @classmethod
    def of(cls, error: TradeschoolError) -> Fault:
        """The fault that an error tells of."""
        trace = "".join(traceback.format_exception(error))
        return cls(error.kind, error.at_fault, str(error), policy_for(error).retry, trace)

    def to_dict(self) -> dict[str, str]:
        """`{"kind", "at_fault", "message"}`."""
        return {"kind": self.kind, "at_fault": self.at_fault, "message": self.message}


@dataclass(frozen=True)
class EpisodeResult:
    """The outcome of one episode.

    `reward` is None exactly when `valid` is False; `error` then says why. `attempt` counts from 1. `seconds` is the
    whole episode's wall time, set-up and grading included. `ended_by` is `submit`, `max_steps`, `wall_time`,
    `breakdown` (the agent broke its sandbox) or `error`. `retries` are the faults of earlier tries of the same attempt,
    oldest first.
    """

    task: str
    family: str
    attempt: int
    agent: str
    seed: int
    reward: Reward | None
    valid: bool
    steps: int
    seconds: float
    error: Fault | None
    ended_by: str
    task_digest: str
    trajectory: Trajectory | None = field(repr=False)
    retries: tuple[Fault, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON, without the trajectory."""
        return {
            "task": self.task,
            "family": self.family,
            "attempt": self.attempt,
            "agent": self.agent,
            "seed": self.seed,
            "reward": self.reward.to_dict() if self.reward else None,
            "valid": self.valid,
            "steps": self.steps,
            "seconds": round(self.seconds, 3),
            "error": self.error.to_dict() if self.error else None,
            "ended_by": self.ended_by,
            "task_digest": self.task_digest,
            "retries": [fault.to_dict() for fault in self.retries],
        }


@contextmanager
def agent_at_fault() -> Iterator[None]:
    """Whatever the agent's own code raises in this block is an AgentError (an oracle may blame its task)."""
    try:
        yield
    except (AgentError, TaskError, UsageError):
        raise
    except (Exception, SystemExit) as error:
        raise AgentError(f"the agent raised {_describe(error)}{_place(error)}", kind="exception") from error


@contextmanager
def environment_at_fault() -> Iterator[None]:
    """Whatever is raised in this block and is no error of ours is a fault of the infrastructure, not a zero."""
    try:
        yield
    except TradeschoolError:
        raise
    except Exception as error:
        raise SandboxError(f"the environment raised {_describe(error)}", kind="unexpected") from error


def _describe(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"[:500] if str(error) else type(error).__name__


def _place(error: BaseException) -> str:
    """` (file:line)` where it was raised."""
    if isinstance(error, SyntaxError) and error.filename:
        return f" ({error.filename}:{error.lineno})"
    frames = traceback.extract_tb(error.__traceback__)
    return f" ({frames[-1].filename}:{frames[-1].lineno})" if frames else ""


def run_episode(
    env: gym.Env[Any, Any],
    agent: Player,
    *,
    seed: int,
    options: dict[str, Any] | None = None,
    attempt: int = 1,
    agent_name: str | None = None,
) -> EpisodeResult:
    """Play one episode from `reset` to its end. Raises nothing but KeyboardInterrupt; does not close `env`.

    `options` goes to `reset` (`{"task": id}` chooses the task). After a result with an error the environment's state
    is unknown: reset or close it.
    """
    began = time.monotonic()
    log = Trajectory(
        task="",
        family="",
        agent=agent_name or type(agent).__name__,
        seed=seed,
        instruction="",
        observation="",
        started=datetime.now(UTC).isoformat(timespec="milliseconds"),
    )
    steps: list[StepRecord] = []
    fault: Fault | None = None
    digest = ""
    try:
        with environment_at_fault():
            observation, info = env.reset(seed=seed, options=options)
            log = _begin(log, observation, info)
            task = getattr(env.unwrapped, "task", None)
            digest = task.digest if isinstance(task, Task) else ""
        with agent_at_fault():
            agent.reset(info["instruction"], info["tools"])
        while True:
            asked = time.monotonic()
            with agent_at_fault():
                action = agent.act(observation, info)
                sent = plain(action)
            acted = time.monotonic()
            with environment_at_fault():
                observation, reward, terminated, truncated, info = env.step(action)
                steps.append(
                    StepRecord(
                        action=sent,
                        call=None if info.get("status") == "malformed" else as_call(info.get("call", sent)),
                        observation=observation["text"],
                        images=tuple(observation["images"]),
                        status=info.get("status", "ok"),
                        reward=float(reward),
                        terminated=bool(terminated),
                        truncated=bool(truncated),
                        seconds=round(time.monotonic() - acted, 6),
                        agent_seconds=round(acted - asked, 6),
                    )
                )
                if terminated or truncated:
                    log = replace(log, reward=_verdict(info), ended_by=str(info.get("ended_by", "unknown")))
                    break
    except TradeschoolError as error:
        fault = Fault.of(error)
    return _result(replace(log, steps=tuple(steps)), attempt, time.monotonic() - began, fault, digest)


def _begin(log: Trajectory, observation: Mapping[str, Any], info: Mapping[str, Any]) -> Trajectory:
    return replace(
        log,
        task=info["task"],
        family=info["family"],
        instruction=info["instruction"],
        observation=observation["text"],
        images=tuple(observation["images"]),
        tools=tuple(info["tools"]),
    )


def _verdict(info: Mapping[str, Any]) -> Reward:
    reward = info.get("reward")
    if not isinstance(reward, Reward) or not reward.valid:
        raise VerifierError("the environment ended the episode without a verdict in info['reward'].", kind="no_verdict")
    return reward


def _result(log: Trajectory, attempt: int, seconds: float, fault: Fault | None, digest: str) -> EpisodeResult:
    return EpisodeResult(
        task=log.task,
        family=log.family,
        attempt=attempt,
        agent=log.agent,
        seed=log.seed,
        reward=log.reward,
        valid=log.reward is not None,
        steps=len(log.steps),
        seconds=seconds,
        error=fault,
        ended_by=log.ended_by,
        task_digest=digest,
        trajectory=log,
    )

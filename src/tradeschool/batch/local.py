"""Play a plan on this machine, several episodes at once, each in a thread of its own.

The work of an episode happens in sandboxes and workers, which are processes; a thread only waits for them.
"""

from __future__ import annotations

import logging
import queue
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from types import FrameType
from typing import Any

import gymnasium as gym

from tradeschool.batch.agents import agent_class
from tradeschool.batch.plan import Item, RunPlan
from tradeschool.batch.store import Store
from tradeschool.episode import (
    AgentContext,
    EpisodeResult,
    Fault,
    agent_at_fault,
    environment_at_fault,
    run_episode,
)
from tradeschool.errors import AgentError, TradeschoolError, UsageError
from tradeschool.families import FAMILIES
from tradeschool.recordings import find_recording

MAX_TRIES = 3
"""How often an episode is played when its error's policy says `retry`."""

MakeEnv = Callable[[RunPlan, Item], gym.Env[Any, Any]]
log = logging.getLogger(__name__)


def make_env(plan: RunPlan, item: Item) -> gym.Env[Any, Any]:
    """The Gymnasium environment of an item's family, set to its task."""
    return gym.make(
        FAMILIES[item.task.family].env_id,
        disable_env_checker=True,
        pack=str(plan.pack.root),
        task=item.task.name,
        sandbox=plan.sandbox,
        max_steps=plan.max_steps,
    )


class LocalRunner:
    """Plays a plan once. `make_env` may be another function, to play environments that are not registered."""

    def __init__(self, plan: RunPlan, store: Store, concurrency: int = 1, make_env: MakeEnv = make_env) -> None:
        if concurrency < 1:
            raise UsageError(f"concurrency must be at least 1, got {concurrency}.")
        self.plan = plan
        self.store = store
        self.concurrency = concurrency
        self.make_env = make_env
        self.agent = agent_class(plan.agent)
        self._stop = threading.Event()
        self._live: set[gym.Env[Any, Any]] = set()
        self._lock = threading.Lock()

    def run(
        self,
        on_done: Callable[[EpisodeResult], None] = lambda result: None,
        on_interrupt: Callable[[int], None] = lambda running: None,
    ) -> None:
        """Play every item; each is recorded as it ends, and `on_done` is told, in this thread.

        After Ctrl-C no further episode starts, `on_interrupt` is told how many still run, and they are played to
        their end and recorded; after a second one, or SIGTERM, they are dropped. Either way KeyboardInterrupt is raised
        once all is closed.
        """
        events: queue.SimpleQueue[Future[EpisodeResult] | None] = queue.SimpleQueue()
        left = len(self.plan.items)
        interrupts = 0
        pool = ThreadPoolExecutor(self.concurrency, thread_name_prefix="episode")
        with _signals_to(events):
            try:
                for item in self.plan.items:
                    pool.submit(self._play, item).add_done_callback(events.put)
                while left:
                    event = events.get()
                    if event is not None:
                        left -= 1
                        self._take(event, on_done)
                        continue
                    interrupts += 1
                    if interrupts == 1:
                        pool.shutdown(wait=False, cancel_futures=True)
                        on_interrupt(len(self._live))
                    else:
                        self._drop()
                if not interrupts:
                    self.store.finish()
            except BaseException:
                self._drop()
                raise
            finally:
                pool.shutdown(wait=True, cancel_futures=True)
        if interrupts:
            raise KeyboardInterrupt

    def _take(self, future: Future[EpisodeResult], on_done: Callable[[EpisodeResult], None]) -> None:
        if future.cancelled() or isinstance(future.exception(), KeyboardInterrupt):
            return
        result = future.result()
        self.store.record(result)
        on_done(result)

    def _drop(self) -> None:
        """Let no episode go on, and end what the workers may be waiting for; each still closes its own environment."""
        self._stop.set()
        with self._lock:
            live = tuple(self._live)
        for env in live:
            _close(env, "a dropped episode")

    def _play(self, item: Item) -> EpisodeResult:
        """Play an item, again where the policy of its error says so. Runs in a worker thread."""
        faults: list[Fault] = []
        while True:
            try:
                result = self._play_once(item)
            except KeyboardInterrupt as error:
                if self._stop.is_set():
                    raise
                result = self._failed(item, AgentError(f"the agent raised {type(error).__name__}", kind="exception"))
            if result.error is not None and self._stop.is_set():
                # its environment was closed under it
                raise KeyboardInterrupt
            if result.error is None or not result.error.retry or len(faults) + 1 == MAX_TRIES:
                return replace(result, retries=tuple(faults))
            faults.append(result.error)

    def _play_once(self, item: Item) -> EpisodeResult:
        try:
            with environment_at_fault():
                env = _Stoppable(self.make_env(self.plan, item), self._stop)
        except TradeschoolError as error:
            return self._failed(item, error)
        with self._lock:
            self._live.add(env)
        try:
            try:
                agent = self._make_agent(item, env)
            except TradeschoolError as error:
                return self._failed(item, error)
            result = run_episode(env, agent, seed=item.seed, attempt=item.attempt, agent_name=self.plan.agent)
            return self._named(item, result)
        finally:
            with self._lock:
                self._live.discard(env)
            _close(env, item.name)

    def _make_agent(self, item: Item, env: gym.Env[Any, Any]) -> Any:
        recording = find_recording(self.plan.replay, item.task.name, item.attempt) if self.plan.replay else None
        context = AgentContext(
            seed=item.agent_seed,
            action_space=env.action_space,
            recording=recording,
            task=item.task if getattr(self.agent, "privileged", False) is True else None,
        )
        with agent_at_fault():
            return self.agent.create(context)

    def _named(self, item: Item, result: EpisodeResult) -> EpisodeResult:
        # an episode whose reset failed, or of a stand-in environment, does not know which item it is
        trajectory = result.trajectory
        if trajectory is not None:
            trajectory = replace(trajectory, task=item.task.id, family=item.task.family)
        return replace(
            result,
            task=item.task.id,
            family=item.task.family,
            task_digest=item.task.digest,
            trajectory=trajectory,
        )

    def _failed(self, item: Item, error: TradeschoolError) -> EpisodeResult:
        return EpisodeResult(
            task=item.task.id,
            family=item.task.family,
            attempt=item.attempt,
            agent=self.plan.agent,
            seed=item.seed,
            reward=None,
            valid=False,
            steps=0,
            seconds=0.0,
            error=Fault.of(error),
            ended_by="error",
            task_digest=item.task.digest,
            trajectory=None,
        )


class _Stoppable(gym.Wrapper[Any, Any, Any, Any]):
    """Raises KeyboardInterrupt instead of going on once the run was stopped."""

    def __init__(self, env: gym.Env[Any, Any], stop: threading.Event) -> None:
        super().__init__(env)
        self._stop = stop

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        self._check()
        return self.env.reset(seed=seed, options=options)

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        self._check()
        return self.env.step(action)

    def _check(self) -> None:
        if self._stop.is_set():
            raise KeyboardInterrupt


def _close(env: gym.Env[Any, Any], name: str) -> None:
    """Close; a failure to do so is told in the log, and does not undo the episode's result."""
    try:
        with environment_at_fault():
            env.close()
    except TradeschoolError as error:
        log.warning("closing the environment of %s failed: %s", name, error)


@contextmanager
def _signals_to(events: queue.SimpleQueue[Any]) -> Iterator[None]:
    """In this block SIGINT puts None into `events` instead of raising in the middle of a record, and SIGTERM two.

    After those two, a further one raises KeyboardInterrupt all the same. Only a process's main thread gets signals;
    elsewhere nothing changes.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    count = 0

    def take(number: int, frame: FrameType | None) -> None:
        nonlocal count
        if count >= 2:
            raise KeyboardInterrupt
        for _ in range(2 if number == signal.SIGTERM else 1):
            count += 1
            events.put(None)

    before = {number: signal.signal(number, take) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)

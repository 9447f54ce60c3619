"""A judge in a process of its own: what an agent built may be made to exhaust a machine, and shall not exhaust ours.

The process is started ahead, so that it loads its libraries while Blender opens the saved scene.
"""

from __future__ import annotations

import json
import os
import pickle
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import TracebackType
from typing import Self

from tradeschool.errors import VerifierError
from tradeschool.rewards import Part, Reward

from .checkfile import Check
from .snapshot import Snapshot

MEMORY_MB = 2048
DEADLINE_S = 60.0
LOOK_EVERY_S = 0.1
"""How often the process's memory is looked at: a solid that meets the hard limit crashes or hangs half of the time."""
READY = b"ready\n"
"""What the process says when its libraries are loaded: what fails before is not the scene's fault."""


class Exhausted(Exception):
    """What the agent built or asked for used up a limit. The episode scores 0; the message says why."""


class JudgeProcess:
    """One verdict by one process, limited to `memory_mb` MiB of memory and `deadline_s` of time from the asking."""

    def __init__(self, memory_mb: int = MEMORY_MB, deadline_s: float = DEADLINE_S) -> None:
        self.memory_mb = memory_mb
        self.deadline_s = deadline_s
        # one thread for linear algebra: each would reserve address space of its own
        env = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "2"}
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "tradeschool.envs.blender.judge_main", str(memory_mb), str(int(deadline_s))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=env,
        )

    def evaluate(self, checks: Sequence[Check], scene: Snapshot) -> Reward:
        """All checks as the parts of one reward.

        Raises Exhausted when the scene is too much for a limit, VerifierError when the process failed otherwise.
        """
        out, err, over = self._converse(pickle.dumps((tuple(checks), scene)))
        if over and out.startswith(READY):
            raise Exhausted(f"judging the scene took {over}")
        if over:
            raise VerifierError(f"the judge's libraries took {over} to load.")
        code, last = self._process.returncode, err.decode("utf-8", "replace").strip()[-600:]
        if out.startswith(READY):
            if code == -signal.SIGXCPU:
                raise Exhausted("judging the scene took too long")
            if code == -signal.SIGABRT and "bad_alloc" in last:
                raise Exhausted("judging the scene took too much memory")
        if code != 0 or not out.startswith(READY):
            raise VerifierError(f"the judge's process ended with {code}: {last or 'it wrote nothing'}")
        return _reward(out[len(READY) :])

    def _converse(self, question: bytes) -> tuple[bytes, bytes, str]:
        """What it wrote to both outputs until its end, and what it had too much of when it had to be killed."""
        ends = time.monotonic() + self.deadline_s
        over = ""
        # communicate() with a time-out would forget what it has not sent yet when it is called again
        with ThreadPoolExecutor(1) as pool:
            talk = pool.submit(self._process.communicate, question)
            while not (talk.done() or over):
                try:
                    talk.result(LOOK_EVERY_S)
                except TimeoutError:
                    if time.monotonic() > ends:
                        over = f"more than {self.deadline_s:g} s"
                    elif self._resident_mb() > self.memory_mb:
                        over = f"more than {self.memory_mb} MiB of memory"
            if over:
                self._process.kill()
            return *talk.result(), over

    def _resident_mb(self) -> float:
        """Memory that the process holds now, in MiB; 0 when it has just ended."""
        try:
            pages = int(Path(f"/proc/{self._process.pid}/statm").read_text("ascii").split()[1])
        except (OSError, IndexError):
            return 0.0
        return pages * os.sysconf("SC_PAGE_SIZE") / 2**20

    def close(self) -> None:
        """End the process. Idempotent."""
        if self._process.returncode is None:
            self._process.kill()
            self._process.communicate()
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            if pipe is not None:
                pipe.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


def _reward(told: bytes) -> Reward:
    try:
        read = json.loads(told)
        if "exhausted" in read:
            raise Exhausted(f"judging the scene took too much {read['exhausted']}")
        return Reward.from_parts(Part(**part) for part in read["parts"])
    except (ValueError, TypeError, KeyError) as error:
        raise VerifierError(f"the judge's verdict cannot be read: {type(error).__name__}: {error}.") from error

"""How an agent behaved, whatever its trade: reported beside the verified parts of a reward, never weighted."""

from __future__ import annotations

import json
from typing import Any

from tradeschool.plain import plain
from tradeschool.rewards import Part
from tradeschool.tools import Status


class Conduct:
    """Counts the calls of one episode."""

    def __init__(self, max_steps: int) -> None:
        self.max_steps = max_steps
        self.steps = 0
        self.by_status: dict[Status, int] = {"ok": 0, "failed": 0, "illegal": 0, "malformed": 0}
        self.repeated_failures = 0
        self._failed: set[str] = set()

    def record(self, action: Any, status: Status) -> None:
        """Count one call and how it went. A failing call that was made before, word for word, is a repeated one."""
        self.steps += 1
        self.by_status[status] += 1
        if status != "ok":
            key = json.dumps(plain(action), sort_keys=True)
            self.repeated_failures += key in self._failed
            self._failed.add(key)

    def parts(self) -> tuple[Part, ...]:
        """Shares in [0, 1] of well-formed and of legal calls, and the counts of steps and of repeated failing calls."""
        steps = max(self.steps, 1)
        well_formed = self.steps - self.by_status["malformed"]
        legal = well_formed - self.by_status["illegal"]
        return (
            Part("conduct.well_formed", well_formed / steps, reason=f"{well_formed} of {self.steps} calls"),
            Part("conduct.legal", legal / steps, reason=f"{legal} of {self.steps} calls"),
            Part("conduct.steps", float(self.steps), reason=f"of at most {self.max_steps}"),
            Part("conduct.repeated_failures", float(self.repeated_failures), reason="failing calls made again"),
        )

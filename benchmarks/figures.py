"""What the benchmarks share: percentiles of timed calls, the machine's name, and one way to print."""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import time
from collections.abc import Callable
from typing import Any

Figures = dict[str, Any]


def timed_ms(call: Callable[[], object], times: int) -> dict[str, float]:
    """`{"p50", "p95"}` of the milliseconds that `call` takes, over `times` calls."""
    taken = []
    for _ in range(times):
        began = time.perf_counter()
        call()
        taken.append((time.perf_counter() - began) * 1000)
    return percentiles(taken)


def percentiles(values: list[float]) -> dict[str, float]:
    """Median and 95th percentile."""
    ordered = sorted(values)
    return {"p50": round(statistics.median(ordered), 3), "p95": round(ordered[int(0.95 * (len(ordered) - 1))], 3)}


def machine() -> str:
    """Cores, processor family, memory and kernel, for the line under a table."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    cores = len(os.sched_getaffinity(0))
    return f"{cores} cores {platform.machine()}, {memory:.0f} GiB, Linux {platform.release().split('-')[0]}"


def arguments(description: str | None) -> argparse.ArgumentParser:
    """A parser with `--json`."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    return parser


def emit(figures: Figures, as_json: bool) -> None:
    """One JSON object, or a line a figure."""
    if as_json:
        print(json.dumps({**figures, "machine": machine()}))
        return
    for name, value in flatten(figures):
        print(f"{name:<40} {value}")
    print(f"({machine()})")


def flatten(figures: Figures, prefix: str = "") -> list[tuple[str, Any]]:
    """`{"a": {"p50": 1}}` as `[("a.p50", 1)]`."""
    rows = []
    for name, value in figures.items():
        if isinstance(value, dict):
            rows += flatten(value, f"{prefix}{name}.")
        else:
            rows.append((prefix + name, value))
    return rows

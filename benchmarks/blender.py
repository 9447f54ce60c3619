"""How long the Blender trade's parts take: a reset, one call, a small render, a verdict.

    python benchmarks/blender.py [--json] [--episodes N] [--sandbox auto|docker|namespace]

Figures are milliseconds, p50 and p95. A reset starts a fresh worker; a verdict saves the scene, starts another one
and computes every check.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from tradeschool.envs.blender.env import BlenderEnv

TASK = "blender-flange-bolt-holes"
CALLS = 40
RENDERS = 5


def timed(act: Callable[[], Any]) -> float:
    """Milliseconds that one act takes."""
    began = time.perf_counter()
    act()
    return (time.perf_counter() - began) * 1000


def measure(episodes: int, sandbox: str) -> dict[str, list[float]]:
    """Samples in milliseconds by what was measured."""
    found: dict[str, list[float]] = {"reset_ms": [], "call_ms": [], "render_ms": [], "score_ms": []}
    env = BlenderEnv(task=TASK, sandbox=sandbox, max_steps=1000)
    move = {"name": "transform", "arguments": {"object": 1, "location": [0, 0, 0.01]}}
    picture = {"name": "render", "arguments": {"views": ["iso"], "size": 256, "samples": 4}}
    try:
        # the first episode loads our own libraries; it is not counted
        env.reset(seed=0)
        env.step({"name": "submit", "arguments": {}})
        for episode in range(episodes):
            env.close()
            found["reset_ms"].append(timed(lambda seed=episode: env.reset(seed=seed)))
            found["call_ms"] += [timed(lambda: env.step(move)) for _ in range(CALLS)]
            found["render_ms"] += [timed(lambda: env.step(picture)) for _ in range(RENDERS)]
            found["score_ms"].append(timed(lambda: env.step({"name": "submit", "arguments": {}})))
    finally:
        env.close()
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--episodes", type=int, default=10)
    parser.add_argument("--sandbox", default="namespace", choices=["auto", "docker", "namespace"])
    given = parser.parse_args()
    samples = measure(given.episodes, given.sandbox)
    figures = {
        name: {"p50": round(float(np.percentile(values, 50)), 2), "p95": round(float(np.percentile(values, 95)), 2)}
        for name, values in samples.items()
    }
    if given.json:
        print(json.dumps(figures))
        return
    print(f"{'':12}{'p50':>10}{'p95':>10}")
    for name, row in figures.items():
        print(f"{name:12}{row['p50']:10.2f}{row['p95']:10.2f}")


if __name__ == "__main__":
    main()

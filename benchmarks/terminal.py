"""The terminal environment: reset, one shell step and grading, for each sandbox that runs here.

python benchmarks/terminal.py [--json] [--times N]
"""

from __future__ import annotations

import gymnasium as gym
from figures import Figures, arguments, emit, timed_ms

import tradeschool
from tradeschool.sandbox import BACKENDS, resolve_backend

TASK = "terminal-ledger-rounding"


def measure(backend: str, times: int) -> Figures:
    """Milliseconds on one back end; the first reset, which unpacks the workspace, is not counted."""
    env = gym.make("tradeschool/Terminal-v0", task=TASK, sandbox=backend, max_steps=100_000)
    try:
        env.reset(seed=0)
        step = {"name": "shell", "arguments": {"command": "true"}}
        figures: Figures = {"step_ms": timed_ms(lambda: env.step(step), 20 * times)}
        # gymnasium's reset closes the episode before: what is timed is the whole turn-over
        figures["reset_ms"] = timed_ms(lambda: env.reset(seed=0), times)

        def grade() -> None:
            env.reset(seed=0)
            env.step({"name": "submit", "arguments": {}})

        figures["reset_and_grade_ms"] = timed_ms(grade, max(3, times // 5))
        return figures
    finally:
        env.close()


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--times", type=int, default=50, help="resets to time")
    chosen = parser.parse_args()
    figures: Figures = {}
    for backend in BACKENDS:
        try:
            resolve_backend(backend)
        except tradeschool.SandboxError as error:
            figures[backend] = {"missing": str(error)}
        else:
            figures[backend] = measure(backend, chosen.times)
    emit(figures, chosen.json)


if __name__ == "__main__":
    main()

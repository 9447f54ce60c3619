"""How fast sandboxes are: `python benchmarks/sandbox.py [--json] [--backend docker|namespace] [--rounds N]`.

Milliseconds, p50 and p95, per back end: `reset_ms` (start with a small workspace, and a shell), `step_ms` (one command
in the shell), `run_ms` (one program in a process of its own), `close_ms`. The first round, which prepares, is left out.
"""

from __future__ import annotations

import argparse
import io
import json
import statistics
import sys
import tarfile
import time
from collections.abc import Callable

from tradeschool.errors import SandboxError
from tradeschool.sandbox import BACKENDS, SandboxSpec, open_sandbox, resolve_backend

STEPS = 50
RUNS = 10


def workspace() -> bytes:
    """A tar of 40 files of 1 KiB."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        for number in range(40):
            member = tarfile.TarInfo(f"src/module_{number}.py")
            member.size = 1024
            tar.addfile(member, io.BytesIO(b"#" * 1024))
    return buffer.getvalue()


def timed(what: Callable[[], object], into: list[float]) -> None:
    """Run it and note the milliseconds it took."""
    started = time.perf_counter()
    what()
    into.append((time.perf_counter() - started) * 1000)


def summary(times: list[float]) -> dict[str, float]:
    """p50 and p95 of milliseconds."""
    cuts = statistics.quantiles(times, n=20, method="inclusive")
    return {"p50": round(cuts[9], 3), "p95": round(cuts[18], 3)}


def measure(backend: str, rounds: int) -> dict[str, dict[str, float]]:
    """The figures of one back end. Raises SandboxError when it cannot run here."""
    resolve_backend(backend)
    spec = SandboxSpec(workspace=workspace())
    times: dict[str, list[float]] = {"reset_ms": [], "step_ms": [], "run_ms": [], "close_ms": []}
    for number in range(rounds + 1):
        reset: list[float] = []
        sandbox = open_sandbox(backend, spec)
        try:
            started = time.perf_counter()
            sandbox.start()
            shell = sandbox.shell()
            reset.append((time.perf_counter() - started) * 1000)
            if number > 0:
                times["reset_ms"] += reset
                for _ in range(STEPS):
                    timed(lambda: shell.run("echo step"), times["step_ms"])  # noqa: B023 -- called at once
                for _ in range(RUNS):
                    timed(lambda: sandbox.run(["true"]), times["run_ms"])  # noqa: B023 -- called at once
        finally:
            timed(sandbox.close, times["close_ms"])
    times["close_ms"].pop(0)
    return {name: summary(values) for name, values in times.items()}


def main() -> int:
    """Print the figures; 3 when no back end can run here."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="one object on standard output")
    parser.add_argument("--backend", choices=sorted(BACKENDS), action="append", help="default: each that can run")
    parser.add_argument("--rounds", type=int, default=20)
    options = parser.parse_args()
    results: dict[str, dict[str, dict[str, float]]] = {}
    for backend in options.backend or BACKENDS:
        try:
            results[backend] = measure(backend, max(2, options.rounds))
        except SandboxError as error:
            print(f"{backend}: not measured: {error}", file=sys.stderr)
    if options.json:
        print(json.dumps(results))
    else:
        for backend, figures in results.items():
            for name, values in figures.items():
                print(f"{backend:10} {name:9} p50 {values['p50']:9.3f}  p95 {values['p95']:9.3f}")
    return 0 if results else 3


if __name__ == "__main__":
    sys.exit(main())

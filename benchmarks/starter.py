"""The whole starter pack with the oracle agent, through the command line, as `make demo` plays it.

python benchmarks/starter.py [--json] [--sandbox namespace|docker] [--concurrency N]
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from figures import arguments, emit


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--sandbox", default="namespace")
    parser.add_argument("--concurrency", default="2")
    chosen = parser.parse_args()
    command = [
        str(Path(sys.executable).parent / "tradeschool"),
        "run",
        "--pack",
        "starter",
        "--agent",
        "oracle",
        "--json",
    ]
    with tempfile.TemporaryDirectory() as folder:
        options = ["--sandbox", chosen.sandbox, "--concurrency", chosen.concurrency, "--out", f"{folder}/run"]
        began = time.perf_counter()
        done = subprocess.run([*command, *options], capture_output=True, text=True, check=True)
        seconds = time.perf_counter() - began
    summary = json.loads(done.stdout)
    by_family: dict[str, float] = {}
    for row in summary["by_task"]:
        family = row["task"].split("/")[1].split("-")[0]
        by_family[family] = round(by_family.get(family, 0.0) + row["seconds"], 2)
    figures = {key: summary[key] for key in ("episodes", "valid", "invalid", "mean_reward")}
    emit({"seconds": round(seconds, 2), **figures, "episode_seconds_by_family": by_family}, chosen.json)


if __name__ == "__main__":
    main()

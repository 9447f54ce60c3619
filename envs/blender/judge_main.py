"""The judge's program: limits itself, reads pickled checks and a snapshot (its parent's own), and writes a verdict.

    python -m tradeschool.envs.blender.judge_main MEMORY_MB CPU_S

Standard output is `ready`, then one JSON object: `{"parts": [...]}`, or `{"exhausted": "memory"}`.
"""

from __future__ import annotations

import json
import os
import pickle
import resource
import sys
from dataclasses import asdict

READY = b"ready\n"
ADDRESSES = 2
"""MiB of address space allowed for each of memory: the parent watches what is held, this ends one huge request."""
THREADS = 4
"""Processor seconds allowed in a second of the deadline: the limit only ends a judge whose parent is gone."""


def limit(kind: int, most: int) -> None:
    """Set a limit of this process, no higher than it is."""
    _, hard = resource.getrlimit(kind)
    most = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(kind, (most, hard))


def main() -> None:
    memory_mb, seconds = int(sys.argv[1]), int(sys.argv[2])
    limit(resource.RLIMIT_AS, (ADDRESSES * memory_mb + 1024) * 2**20)
    limit(resource.RLIMIT_CPU, seconds * THREADS + 10)
    limit(resource.RLIMIT_CORE, 0)
    # libraries may print to descriptor 1: it gets standard error, and only the verdict reaches the real one
    sink = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    from .checks import evaluate  # loads manifold3d and scipy, before it says that it is ready

    sink.write(READY)
    sink.flush()
    try:
        checks, scene = pickle.loads(sys.stdin.buffer.read())
        told = {"parts": [asdict(part) for part in evaluate(checks, scene).parts]}
    except MemoryError:
        told = {"exhausted": "memory"}
    sink.write(json.dumps(told).encode())
    sink.flush()
    os._exit(0)  # nothing is left to tidy up, and freeing large solids takes long


if __name__ == "__main__":
    main()

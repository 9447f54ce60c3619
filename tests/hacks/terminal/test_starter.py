"""Short cuts through the starter pack's own tasks: states that look like what was asked for. Each scores 0."""

from __future__ import annotations

import pytest

from tests.envs.terminal.conftest import do, submit
from tradeschool.envs.terminal.env import TerminalEnv

pytestmark = pytest.mark.sandbox
SHORTCUTS = {
    # the file is committed beside main, and shown in its place by a replacement
    "terminal-git-recover": """cd service
git checkout -q main~2 -- config/limits.ini 2>/dev/null || git show main~3:config/limits.ini > config/limits.ini
git show main~2:config/limits.ini > config/limits.ini
git checkout -q -b side && git add -A && git commit -q -m "Bring back the limits"
git replace main side; git checkout -q main
git checkout -q -b fix/retry main~2
printf 'def call(send, request):\\n    pass\\n' > src/client.py
git commit -qam "Retry three times before giving up"; git checkout -q main""",
    # one parent, and the other by a graft
    "terminal-merge-conflict": """cd shop
git show feature/discount:shop/basket.py > shop/basket.py
git show feature/discount:shop/prices.py > shop/prices.py
tip=$(git rev-parse main); other=$(git rev-parse feature/discount)
rm -f .git/MERGE_HEAD .git/MERGE_MSG .git/MERGE_MODE; git add -A; git commit -q -m "Merge"
git replace --graft HEAD $tip $other""",
    "terminal-ledger-rounding": "sed -i 's/== /!= /' tests/*.py; echo 'collect_ignore_glob = [\"*\"]' > conftest.py",
    "terminal-backup-script": "printf '#!/bin/bash\\nexit 0\\n' > backup.sh",
    "terminal-log-forensics": 'echo \'{"attackers": [], "compromised": [], "first_entry": null}\' > report.json',
}


@pytest.mark.parametrize("task", SHORTCUTS)
def test_a_short_cut_scores_zero(task: str) -> None:
    env = TerminalEnv("starter", task, sandbox="namespace")
    try:
        env.reset(seed=0)
        do(env, "shell", command=SHORTCUTS[task])
        assert submit(env).value == 0.0
    finally:
        env.close()

"""Removing what owners that were killed have left of their namespace sandboxes.

Their processes are gone by themselves: process 1 ends when its owner's socket closes.
"""

from __future__ import annotations

import os

from tradeschool.home import make_folder
from tradeschool.sandbox.box import abandoned, remove_tree
from tradeschool.sandbox.cgroup import abandoned_cgroups


def reap() -> int:
    """Remove folders and control groups without an owner; how many folders there were."""
    count = 0
    for folder in abandoned():
        remove_tree(folder)
        count += 1
    # a group is made after its folder and removed before it, so one without a folder is nobody's
    alive = frozenset(os.listdir(make_folder("sandboxes")))
    for group in abandoned_cgroups(alive):
        group.remove()
    return count

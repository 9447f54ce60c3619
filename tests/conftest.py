"""What every test may use: skipping, loudly, where Docker or Blender is missing."""

from __future__ import annotations

from functools import cache

import pytest

from tradeschool.errors import TradeschoolError
from tradeschool.sandbox import resolve_backend

_skipped: dict[str, tuple[int, str]] = {}


@cache
def missing(what: str) -> str:
    """Why tests marked `what` cannot run here, or nothing."""
    try:
        if what == "blender":
            from tradeschool.envs.blender.client import blender_python

            blender_python()
        else:
            resolve_backend("docker" if what == "docker" else "namespace")
    except TradeschoolError as error:
        return str(error)
    return ""


def pytest_runtest_setup(item: pytest.Item) -> None:
    for what in ("docker", "blender", "sandbox"):
        if item.get_closest_marker(what) and missing(what):
            count, _ = _skipped.get(what, (0, ""))
            _skipped[what] = (count + 1, missing(what))
            pytest.skip(f"{what}: {missing(what)}")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for what, (count, why) in _skipped.items():
        terminalreporter.write_line(f"!!! {count} {what.upper()} TESTS WERE SKIPPED: {why}", red=True, bold=True)

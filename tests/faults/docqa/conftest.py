"""The fixtures of tests/envs/docqa, for the faults that users of other extraction systems reported."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest


@pytest.fixture(scope="session")
def plain() -> ModuleType:
    """tests/envs/docqa/plain.py, which no import path reaches."""
    name = "tradeschool_tests_docqa_plain"
    if name not in sys.modules:
        path = Path(__file__).resolve().parents[2] / "envs" / "docqa" / "plain.py"
        spec = importlib.util.spec_from_file_location(name, path)
        assert spec is not None
        assert spec.loader is not None
        sys.modules[name] = module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    return sys.modules[name]


@pytest.fixture
def library(plain: ModuleType, tmp_path: Path) -> Iterator[Any]:
    """`library(folder, *names)` opens documents through the worker as a plain process."""
    made = []

    def open_all(folder: Path, *names: str) -> Any:
        one = plain.plain_library(folder)
        made.append(one)
        one.open(names or sorted(path.name for path in folder.iterdir()))
        return one

    yield open_all
    for one in made:
        one.client.close()

"""`library`: opens a folder of documents through the worker as a plain process, and closes it at the test's end."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest


def load_plain() -> ModuleType:
    """tests/envs/docqa/plain.py, which no import path reaches."""
    name = "tradeschool_tests_docqa_plain"
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name("plain.py"))
        assert spec is not None
        assert spec.loader is not None
        sys.modules[name] = module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    return sys.modules[name]


@pytest.fixture
def plain() -> ModuleType:
    """Writers of small documents, and the worker as a plain process."""
    return load_plain()


@pytest.fixture
def opened(plain: ModuleType, tmp_path: Path) -> Iterator:
    """`opened()` opens every file that the test put in tmp_path/docs and returns the library."""
    folder = tmp_path / "docs"
    folder.mkdir()
    made = []

    def open_all(*names: str, timeout_s: float = 30.0):
        library = plain.plain_library(folder, timeout_s)
        made.append(library)
        library.open(names or sorted(path.name for path in folder.iterdir()))
        return library

    open_all.folder = folder
    yield open_all
    for library in made:
        library.client.close()

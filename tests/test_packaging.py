"""The wheel holds every package, and imports point one way."""

from __future__ import annotations

import ast
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
DATA = {"tradeschool.tasks", "tradeschool.images"}
CONFIG = tomllib.loads((ROOT / "pyproject.toml").read_text())


def test_every_package_on_disk_is_listed() -> None:
    config = CONFIG["tool"]["setuptools"]
    found = set()
    for name, folder in config["package-dir"].items():
        root = ROOT / folder
        found.add(name)
        if name not in DATA:
            found |= {".".join([name, *p.parent.relative_to(root).parts]) for p in root.rglob("__init__.py")}
    assert found == set(config["packages"])


def test_folders_of_programs_for_sandboxes_are_shipped() -> None:
    shipped = CONFIG["tool"]["setuptools"]["package-data"]
    for folder in (path for trade in ("terminal", "blender", "docqa") for path in (ROOT / "envs" / trade).iterdir()):
        if folder.is_dir() and folder.name != "__pycache__" and any(folder.glob("*.py")):
            assert f"{folder.name}/*.py" in shipped[f"tradeschool.envs.{folder.parent.name}"]


def test_importing_loads_nothing_heavy() -> None:
    code = "import sys, tradeschool; print([m for m in ('docker', 'bpy', 'torch', 'vllm', 'ray') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def imports(file: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return found


@pytest.mark.parametrize(
    ("folder", "forbidden"),
    [
        ("src/tradeschool", ("tradeschool.envs", "tradeschool.agents")),
        ("envs", ("tradeschool.agents", "tradeschool.batch", "tradeschool.cli")),
        ("envs/terminal", ("tradeschool.envs.blender", "tradeschool.envs.docqa")),
        ("envs/blender", ("tradeschool.envs.terminal", "tradeschool.envs.docqa")),
        ("envs/docqa", ("tradeschool.envs.terminal", "tradeschool.envs.blender")),
        ("agents", ("tradeschool.envs", "tradeschool.batch", "tradeschool.cli")),
        (
            "src/tradeschool/sandbox",
            ("tradeschool.episode", "tradeschool.batch", "tradeschool.cli", "tradeschool.task"),
        ),
        ("src/tradeschool/batch", ("tradeschool.cli",)),
    ],
)
def test_imports_point_one_way(folder: str, forbidden: tuple[str, ...]) -> None:
    files = list((ROOT / folder).rglob("*.py"))
    assert files
    for file in files:
        wrong = sorted(name for name in imports(file) if name.startswith(forbidden))
        assert not wrong, f"{file.relative_to(ROOT)} imports {wrong}"


def test_only_their_own_files_import_docker_and_bpy() -> None:
    for file in [*(ROOT / "src").rglob("*.py"), *(ROOT / "envs").rglob("*.py"), *(ROOT / "agents").rglob("*.py")]:
        for name in imports(file):
            top = name.split(".")[0]
            if top == "docker":
                assert "docker" in file.name
            assert top != "bpy" or file.parent.name == "worker"

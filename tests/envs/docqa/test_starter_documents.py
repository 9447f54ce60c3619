"""The starter documents are what their generator makes, byte for byte where no library's version shows."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tradeschool.task import builtin_packs

SCRIPT = Path(__file__).resolve().parents[3] / "tools" / "make_starter_documents.py"
STARTER = builtin_packs()["starter"]
OWN_BYTES = {".html", ".csv", ".txt", ".md"}


def test_made_twice_they_are_equal_and_equal_to_the_packs(tmp_path: Path) -> None:
    if not SCRIPT.exists():
        pytest.skip(f"THE GENERATOR IS NOT HERE: {SCRIPT}")
    made = []
    for name in ("a", "b"):
        subprocess.run([sys.executable, str(SCRIPT), "--out", str(tmp_path / name)], check=True, timeout=120)
        files = sorted(path for path in (tmp_path / name).rglob("*") if path.is_file())
        made.append({path.relative_to(tmp_path / name).as_posix(): path.read_bytes() for path in files})
    assert made[0] == made[1]
    kept = {path.relative_to(STARTER).as_posix() for path in STARTER.glob("docqa-*/environment/documents/*")}
    assert set(made[0]) == kept
    for name, data in made[0].items():
        if Path(name).suffix in OWN_BYTES:
            assert (STARTER / name).read_bytes() == data, name

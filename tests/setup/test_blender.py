"""Choosing the interpreter that bpy is installed for, and telling a missing library from a missing package."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tradeschool.errors import UsageError
from tradeschool.setup import blender
from tradeschool.setup.blender import APT_PACKAGES, find_python, setup_blender, try_import


def make_python(folder: Path, says: str, name: str = "python") -> Path:
    """A program that answers as an interpreter would."""
    program = folder / "bin" / name
    program.parent.mkdir(parents=True, exist_ok=True)
    program.write_text(f"#!/bin/sh\n{says}\n", "utf-8")
    program.chmod(0o755)
    return program


def test_the_first_python_of_the_right_version_is_taken(tmp_path: Path) -> None:
    new = make_python(tmp_path / "new", "echo 3 13")
    right = make_python(tmp_path / "right", "echo 3 11")
    assert find_python((str(tmp_path / "none"), str(new), str(right))) == str(right)


def test_without_one_the_remedy_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"Python 3\.11.*--python"):
        find_python((str(make_python(tmp_path, "echo 3 12")),))


def test_a_real_interpreter_without_bpy() -> None:
    version, fault = try_import(Path(sys.executable))
    if version:
        pytest.skip("this interpreter has bpy itself")
    assert "No module named 'bpy'" in fault


@pytest.mark.parametrize(
    ("says", "expected"),
    [
        ("echo 'bpy-is 4.5.15 LTS'; kill -SEGV $$", ("4.5.15 LTS", "")),
        ("echo noise; echo 'bpy-is 4.5.15'; exit 3", ("4.5.15", "")),
        ("echo trouble >&2; exit 1", ("", "trouble")),
        ("exit 7", ("", "it ended with 7 and no word")),
    ],
)
def test_the_import_is_judged_by_what_it_prints(tmp_path: Path, says: str, expected: tuple[str, str]) -> None:
    assert try_import(make_python(tmp_path, says)) == expected


def made_before(monkeypatch: pytest.MonkeyPatch, home: Path, says: str) -> None:
    """An environment that set-up finished earlier."""
    monkeypatch.setenv("TRADESCHOOL_HOME", str(home))
    make_python(home / "envs" / "blender", says)
    blender_folder = home / "envs" / "blender"
    from tradeschool.setup.venv import stamp

    stamp(blender_folder, blender.EXTRA)


def test_a_finished_environment_is_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    made_before(monkeypatch, tmp_path, "echo bpy-is 4.5.15")
    said: list[str] = []
    assert setup_blender(report=said.append) == tmp_path / "envs" / "blender" / "bin" / "python"
    assert said == [f"blender: ready (bpy 4.5.15, {tmp_path}/envs/blender)"]


def test_a_missing_library_names_the_apt_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    missing = "ImportError: libXrender.so.1: cannot open shared object file: No such file or directory"
    made_before(monkeypatch, tmp_path, f"echo '{missing}' >&2; exit 1")
    monkeypatch.setattr(blender, "can_install", lambda: False)
    with pytest.raises(UsageError, match=r"libXrender\.so\.1.*apt-get install .*libxrender1") as caught:
        setup_blender(report=lambda line: None)
    assert all(package in str(caught.value) for package in APT_PACKAGES)


def test_a_broken_environment_names_the_folder_to_delete(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    made_before(monkeypatch, tmp_path, "echo 'ModuleNotFoundError: No module named bpy' >&2; exit 1")
    with pytest.raises(UsageError, match=f"Delete {tmp_path}/envs/blender"):
        setup_blender(report=lambda line: None)

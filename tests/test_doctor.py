"""The doctor: each check says what it found, and the remedy where something is missing."""

import json

import pytest

from tradeschool import doctor
from tradeschool.cli import main
from tradeschool.doctor import Check, is_ready
from tradeschool.errors import UsageError


@pytest.mark.sandbox
def test_all_checks_run_and_a_missing_thing_has_a_remedy():
    checks = doctor.examine()
    assert {"Python", "git", "namespace sandbox", "Docker sandbox"} <= {check.name for check in checks}
    for check in checks:
        assert check.detail
        assert check.ok or check.remedy, check


def test_ready_means_all_that_is_needed():
    needed = Check("a", True, "x")
    assert is_ready([needed, Check("b", False, "x", "do", needed=False)])
    assert not is_ready([needed, Check("b", False, "x", "do")])


def test_a_missing_program_is_named(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    check = doctor.check_program("git")
    assert (check.ok, check.remedy) == (False, "apt-get install git")


def test_task_tools_that_are_not_made_yet(monkeypatch, tmp_path):
    monkeypatch.setenv("TRADESCHOOL_HOME", str(tmp_path / "empty"))
    check = doctor.check_task_tools()
    assert (check.ok, check.remedy) == (False, "tradeschool setup tasks")
    with pytest.raises(UsageError, match="tradeschool setup tasks"):
        doctor.require("terminal", "namespace")
    assert not (tmp_path / "empty").exists()


def test_an_interpreter_without_bpy_is_told(monkeypatch, tmp_path):
    program = tmp_path / "python"
    program.write_text("#!/bin/sh\necho No module named bpy >&2\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setenv("TRADESCHOOL_BLENDER_PYTHON", str(program))
    check = doctor.check_blender()
    assert not check.ok
    assert "No module named bpy" in check.detail
    assert check.remedy == "tradeschool setup blender"


@pytest.mark.sandbox
def test_the_command_agrees_with_its_exit_code(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["doctor", "--json"])
    said = json.loads(capsys.readouterr().out)
    assert ended.value.code == (0 if said["ready"] else 1)
    with pytest.raises(SystemExit):
        main(["doctor"])
    out = capsys.readouterr().out
    for check in said["checks"]:
        assert check["name"] in out
        assert check["remedy"] in out

"""Bad input, as a user meets it: one clear line on standard error, exit code 2, and nothing made."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tradeschool.task import find_pack

COMMAND = str(Path(sys.executable).parent / "tradeschool")


def refused(tmp_path: Path, *arguments: str) -> str:
    out = tmp_path / "out"
    command = [COMMAND, "run", "--out", str(out), "--sandbox", "namespace", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2, done.stderr
    assert not out.exists()
    assert done.stdout == ""
    assert len(done.stderr.strip().splitlines()) == 1
    return done.stderr


@pytest.fixture
def pack(tmp_path: Path) -> Path:
    """A copy of one task of `starter` as a pack of its own."""
    root = tmp_path / "pack"
    root.mkdir()
    (root / "pack.toml").write_text('name = "mine"\nversion = "1"\nlicence = "MIT"\n')
    shutil.copytree(find_pack("starter") / "docqa-units", root / "units")
    return root


def encrypt(path: Path) -> None:
    from reportlab.lib.pdfencrypt import StandardEncryption
    from reportlab.pdfgen.canvas import Canvas

    canvas = Canvas(str(path), encrypt=StandardEncryption("secret", strength=40))
    canvas.drawString(72, 700, "hidden")
    canvas.save()


@pytest.mark.sandbox
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_an_encrypted_document(tmp_path: Path, pack: Path) -> None:
    encrypt(pack / "units" / "environment" / "documents" / "corvane-10-k-2023.pdf")
    said = refused(tmp_path, "--pack", str(pack))
    assert "corvane-10-k-2023.pdf is encrypted" in said
    assert "Put a copy without a password in its place." in said


def test_an_empty_document(tmp_path: Path, pack: Path) -> None:
    (pack / "units" / "environment" / "documents" / "corvane-note-2.txt").write_bytes(b"")
    assert "corvane-note-2.txt" in refused(tmp_path, "--pack", str(pack))


def test_a_broken_task_file(tmp_path: Path, pack: Path) -> None:
    file = pack / "units" / "task.toml"
    file.write_text(file.read_text().replace("difficulty", "dificulty"))
    said = refused(tmp_path, "--pack", str(pack))
    assert "task.toml:" in said
    assert "unknown field 'tradeschool.dificulty'. Did you mean 'difficulty'?" in said


def test_an_unknown_pack(tmp_path: Path) -> None:
    assert "Did you mean 'starter'?" in refused(tmp_path, "--pack", "startr")


@pytest.mark.sandbox
def test_a_recording_that_is_no_json(tmp_path: Path, pack: Path) -> None:
    (tmp_path / "actions.jsonl").write_text('{"name": "list_documents"}\nsubmit\n')
    said = refused(tmp_path, "--pack", str(pack), "--agent", "replay", "--replay", str(tmp_path / "actions.jsonl"))
    assert "actions.jsonl:2" in said


def test_no_docker_engine(tmp_path: Path, pack: Path) -> None:
    # a socket where nothing listens stands for an engine that is not running
    command = [COMMAND, "run", "--pack", str(pack), "--sandbox", "docker", "--out", str(tmp_path / "out")]
    environment = {"DOCKER_HOST": f"unix://{tmp_path}/docker.sock", "PATH": "/usr/bin:/bin"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 2
    assert "tradeschool setup docker" in done.stderr
    assert not (tmp_path / "out").exists()

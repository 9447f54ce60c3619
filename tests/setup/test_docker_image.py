"""Making the Docker image and bringing up an engine: what can be told without building, and that both are reused."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tradeschool.errors import UsageError
from tradeschool.sandbox.docker_engine import BASE_IMAGE
from tradeschool.sandbox.runtime import ETC
from tradeschool.setup.apt import can_install, run_quietly
from tradeschool.setup.docker_engine import answers, ensure_engine
from tradeschool.setup.docker_image import folder, mmdebstrap_argv, packages, setup_docker


def test_the_list_of_packages_is_clean() -> None:
    assert packages() == sorted(set(packages()))
    assert {"python3", "git", "procps", "make", "patch"} <= set(packages())


def test_both_ways_of_building_use_the_same_files(tmp_path: Path) -> None:
    argv = mmdebstrap_argv(tmp_path / "root.tar")
    assert f"--include={','.join(packages())}" in argv
    assert argv[-2:] == ["bookworm", str(tmp_path / "root.tar")]
    hooks = [word for word in argv if word.startswith("--customize-hook=")]
    assert any("/workspace" in hook for hook in hooks)
    assert any(f"upload {folder() / 'gitconfig'} /etc/gitconfig" in hook for hook in hooks)
    recipe = (folder() / "Dockerfile").read_text("utf-8")
    assert recipe.count("FROM debian:bookworm") == 1
    for word in ("packages.txt", "gitconfig", "/workspace", "tradeschool=base"):
        assert word in recipe


def test_git_is_set_up_as_in_the_namespace_sandbox() -> None:
    assert (folder() / "gitconfig").read_text("utf-8") == ETC["gitconfig"]


def test_the_readme_names_the_image() -> None:
    assert BASE_IMAGE in (folder() / "README.md").read_text("utf-8")


@pytest.mark.parametrize(
    ("os_release", "family"),
    [
        ("ID=debian\nVERSION_ID=12\n", True),
        ('ID="ubuntu"\nID_LIKE="debian"\n', True),
        ("ID=linuxmint\nID_LIKE='ubuntu debian'\n".replace("'", '"'), True),
        ("ID=fedora\n", False),
        ('ID="alpine"\n', False),
        ("", False),
    ],
)
def test_only_root_on_debian_may_install(tmp_path: Path, os_release: str, family: bool) -> None:
    file = tmp_path / "os-release"
    file.write_text(os_release, "utf-8")
    assert can_install(file) == (family and os.geteuid() == 0)
    assert not can_install(tmp_path / "none")


def test_a_failing_program_is_told_in_one_line() -> None:
    with pytest.raises(UsageError, match=r"failed: .*second") as caught:
        run_quietly(["sh", "-c", "echo first; echo second >&2; exit 3"])
    assert "\n" not in str(caught.value)
    with pytest.raises(UsageError, match="'no-such-program' does not start"):
        run_quietly(["no-such-program"])
    run_quietly(["true"])


def test_without_an_engine_it_says_what_is_missing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/none.sock")
    monkeypatch.setattr("tradeschool.setup.docker_engine.can_install", lambda: False)
    said: list[str] = []
    assert not answers()
    assert not ensure_engine(said.append)
    assert "no engine answers" in said[0]
    with pytest.raises(UsageError, match=r"no Docker engine answers. Install Docker"):
        setup_docker(said.append)


@pytest.mark.docker
def test_an_image_that_is_there_is_kept() -> None:
    said: list[str] = []
    assert setup_docker(said.append) == BASE_IMAGE
    assert said == [f"docker: ready ({BASE_IMAGE})"]

"""Packs stay out of sight wherever they are installed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tradeschool.sandbox import Mount, SandboxSpec, open_sandbox
from tradeschool.sandbox.hiding import covers


def targets(mounts: list[Mount], hidden: list[Path], *, system: bool = False) -> list[str]:
    return [mount.target for mount in covers(tuple(mounts), tuple(hidden), system=system)]


def test_what_is_not_shown_needs_no_cover(tmp_path: Path) -> None:
    assert targets([], [tmp_path]) == []
    assert targets([Mount(tmp_path / "a", "/opt/a")], [tmp_path / "b"]) == []
    assert targets([Mount(tmp_path, "/opt/a", private=True)], [tmp_path / "b"]) == []


def test_covers_lie_where_it_would_be_seen(tmp_path: Path) -> None:
    mounts = [Mount(tmp_path, "/opt/a"), Mount(tmp_path / "b", "/opt/b")]
    assert targets(mounts, [tmp_path / "b" / "pack"]) == ["/opt/a/b/pack", "/opt/b/pack"]
    assert targets([Mount(tmp_path / "pack", "/opt/p")], [tmp_path / "pack"]) == ["/opt/p"]
    assert "/usr/share/pack" in targets([], [Path("/usr/share/pack")], system=True)


@pytest.mark.sandbox
@pytest.mark.parametrize("backend", ["namespace", pytest.param("docker", marks=pytest.mark.docker)])
def test_it_cannot_be_seen_inside(tmp_path: Path, backend: str) -> None:
    pack = tmp_path / "site" / "pack"
    (pack / "tests").mkdir(parents=True)
    (pack / "tests" / "answer.json").write_text("{}")
    (tmp_path / "site" / "module.py").write_text("")
    spec = SandboxSpec(mounts=(Mount(tmp_path / "site", "/opt/site"),), hidden=(pack,))
    with open_sandbox(backend, spec) as sandbox:
        assert sandbox.run("find /opt/site | sort").stdout.split() == [
            b"/opt/site",
            b"/opt/site/module.py",
            b"/opt/site/pack",
        ]

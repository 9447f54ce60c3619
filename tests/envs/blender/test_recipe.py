"""Start scenes are checked before Blender sees them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tradeschool.envs.blender.recipe import check_scene, read_blend, read_recipe
from tradeschool.errors import TaskError

MESH = '{"name": "M", "vertices": [[0,0,0],[1,0,0],[0,1,0]], "faces": [[0,1,2]]}'


def write(folder: Path, text: str) -> Path:
    path = folder / "scene.json"
    path.write_text(text, "utf-8")
    return path


def test_good_scenes(tmp_path: Path) -> None:
    assert read_recipe(write(tmp_path, "{}")).steps == ()
    call = '{"tool": "add_primitive", "arguments": {"kind": "cube", "dimensions": [1, 1, 1]}}'
    read = read_recipe(write(tmp_path, f'{{"resolution": [320, 240], "steps": [{call}, {{"mesh": {MESH}}}]}}'))
    assert read.resolution == (320, 240)
    assert read.steps[1].mesh is not None
    check_scene(tmp_path)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "field 'top level'"),
        ("[]", "field 'top level'"),
        ('{"step": []}', "field 'step'"),
        ('{"resolution": [8, 8]}', "'resolution'"),
        ('{"steps": [{}]}', "steps.0: give either"),
        ('{"steps": [{"tool": "add_cube"}]}', "steps.0: There is no tool"),
        ('{"steps": [{"tool": "submit"}]}', "steps.0: 'submit' makes nothing"),
        ('{"steps": [{"tool": "add_primitive", "arguments": {"kind": "cube"}}]}', "steps.0: .*dimensions"),
        ('{"steps": [{"mesh": ' + MESH.replace("[1,0,0]", "[1,0,NaN]") + "}]}", "steps.0.mesh.vertices"),
        ('{"steps": [{"mesh": ' + MESH.replace("[1,0,0]", "[1e300,0,0]") + "}]}", "steps.0.mesh.vertices"),
        ('{"steps": [{"mesh": ' + MESH.replace("[1,0,0]", "[0,-1001,0]") + "}]}", "steps.0.mesh.vertices"),
        ('{"steps": [{"mesh": ' + MESH.replace("[1,0,0]", '["1",0,0]') + "}]}", "steps.0.mesh.vertices"),
    ],
)
def test_faults_name_file_and_field(tmp_path: Path, text: str, why: str) -> None:
    with pytest.raises(TaskError, match=why) as caught:
        read_recipe(write(tmp_path, text))
    assert "scene.json" in str(caught.value)


def test_a_scene_is_needed(tmp_path: Path) -> None:
    with pytest.raises(TaskError, match=r"neither scene\.json nor scene\.blend"):
        check_scene(tmp_path)


def test_text_named_blend_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "scene.blend"
    path.write_text("I'll create the Python script that animates the cube.", "utf-8")
    with pytest.raises(TaskError, match=r"is not a \.blend"):
        read_blend(path)
    path.write_bytes(b"BLENDER-v405")
    assert read_blend(path) == b"BLENDER-v405"

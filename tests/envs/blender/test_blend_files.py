"""Start scenes that are .blend files: opened with their scripts off, and refused when they carry code."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tradeschool.envs.blender.client import BlenderWorker, Refused, blender_python
from tradeschool.envs.blender.recipe import build_scene
from tradeschool.errors import TaskError

pytestmark = [pytest.mark.blender, pytest.mark.sandbox]
SAVE = "bpy.ops.wm.save_as_mainfile(filepath={path!r}); import os; os._exit(0)"
DRIVER = """
curve = bpy.data.objects["Cube"].driver_add("location", 0)
curve.driver.type = "SCRIPTED"
curve.driver.expression = "__import__('os').getpid()"
"""
LINKED = """
image = bpy.data.images.new("i", 4, 4)
image.source = "FILE"
image.filepath = "/etc/passwd"
image.use_fake_user = True
"""
PARENT = """
bpy.ops.object.empty_add(location=(0, 0, 1))
bpy.data.objects["Cube"].parent = bpy.data.objects["Empty"]
"""


def make_blend(folder: Path, script: str) -> Path:
    path = folder / "scene.blend"
    lines = f"import bpy\n{script}\n{SAVE.format(path=str(path))}"
    subprocess.run([blender_python(), "-I", "-c", lines], capture_output=True, check=False, timeout=120)
    assert path.is_file()
    return path


def test_a_plain_file_is_opened_and_its_objects_get_ids(worker: BlenderWorker, tmp_path: Path) -> None:
    make_blend(tmp_path, PARENT)
    (tmp_path / "scene.json").write_text('{"resolution": [320, 240]}', "utf-8")
    build_scene(worker, tmp_path)
    told = worker.call("scene_info", {}).result
    assert told["resolution"] == [320, 240]
    assert [each["name"] for each in told["objects"]] == ["Camera", "Cube", "Empty", "Light"]
    assert [each["id"] for each in told["objects"]] == [1, 2, 3, 4]
    assert told["objects"][1]["location"] == [0, 0, 1]


@pytest.mark.parametrize(
    ("script", "why"),
    [
        ("bpy.data.texts.new('run.py').write('print(1)')", "text blocks"),
        (DRIVER, "driver on 'Cube'"),
        (LINKED, "image 'i'"),
    ],
)
def test_a_file_with_code_or_outside_files_is_refused(
    worker: BlenderWorker, tmp_path: Path, script: str, why: str
) -> None:
    make_blend(tmp_path, script)
    with pytest.raises(TaskError, match=why):
        build_scene(worker, tmp_path)


def test_a_damaged_file_is_refused(worker: BlenderWorker, tmp_path: Path) -> None:
    (tmp_path / "scene.blend").write_bytes(b"BLENDER-v405RENDH" + bytes(200))
    with pytest.raises((TaskError, Refused)):
        build_scene(worker, tmp_path)
    assert worker.call("ping", {}).result == {}


def test_a_scene_that_blender_refuses_is_the_authors_fault(worker: BlenderWorker, tmp_path: Path) -> None:
    step = '{"tool": "delete", "arguments": {"object": 99999}}'
    (tmp_path / "scene.json").write_text(f'{{"steps": [{step}]}}', "utf-8")
    with pytest.raises(TaskError, match=r"steps\.0: There is no object #99999"):
        build_scene(worker, tmp_path)

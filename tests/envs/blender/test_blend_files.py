"""Start scenes that are .blend files: opened with their scripts off, and refused when they carry code."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tradeschool.envs.blender.client import BlenderWorker, Refused, blender_python
from tradeschool.envs.blender.recipe import build_scene
from tradeschool.envs.blender.snapshot import read_snapshot
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


SECOND = "bpy.ops.mesh.primitive_cube_add(location=(3, 0, 0))\n"


@pytest.mark.parametrize(
    "marks",
    [
        "bpy.data.objects['Cube']['tradeschool_id'] = 'abc'",
        "bpy.context.scene['tradeschool_next_id'] = 'x'",
        "bpy.context.scene['tradeschool_next_id'] = -7",
        "for item in bpy.data.objects: item['tradeschool_id'] = 1",
        "for item in bpy.data.objects: item['tradeschool_id'] = 2**31 - 1",
        "bpy.data.objects['Cube']['tradeschool_id'] = [1, 2]",
    ],
)
def test_marks_that_are_not_ours_are_put_right(worker: BlenderWorker, tmp_path: Path, marks: str) -> None:
    make_blend(tmp_path, SECOND + marks)
    build_scene(worker, tmp_path)
    told = worker.call("scene_info", {}).result["objects"]
    numbers = [each["id"] for each in told]
    assert len(set(numbers)) == len(numbers) == 4
    for each in told:
        assert worker.call("measure", {"object": each["id"]}).result["object"]["name"] == each["name"]
    args = {"kind": "cube", "dimensions": [1, 1, 1]}
    assert worker.call("add_primitive", args).result["object"]["id"] > max(numbers)


COLLECTION = """
group = bpy.data.collections.new("Group")
bpy.context.scene.collection.children.link(group)
cube = bpy.data.objects["Cube"]
for held in list(cube.users_collection):
    held.objects.unlink(cube)
group.objects.link(cube)
"""


@pytest.mark.parametrize(
    ("script", "hidden"),
    [
        ("bpy.data.objects['Cube'].hide_render = True", True),
        ("bpy.data.objects['Cube'].hide_viewport = True", False),
        ("bpy.data.objects['Cube'].hide_set(True)", False),
        (COLLECTION, False),
        (COLLECTION + "group.hide_render = True", True),
        (COLLECTION + "group.hide_viewport = True", False),
        (COLLECTION + "bpy.context.view_layer.layer_collection.children['Group'].exclude = True", True),
        (COLLECTION + "group.hide_render = True; bpy.context.scene.collection.objects.link(cube)", False),
    ],
)
def test_visible_is_what_a_picture_shows(worker: BlenderWorker, tmp_path: Path, script: str, hidden: bool) -> None:
    make_blend(tmp_path, script)
    build_scene(worker, tmp_path)
    cube = next(each for each in worker.call("scene_info", {}).result["objects"] if each["name"] == "Cube")
    assert cube["hidden"] is hidden
    reply = worker.call("export_state", {})
    seen = [item.name for item in read_snapshot(reply.result, reply.blob).meshes()]
    assert seen == ([] if hidden else ["Cube"])


@pytest.mark.parametrize("value", ["float('nan')", "float('inf')", "1e30", "2000.0"])
def test_absurd_vertices_are_the_authors_fault(worker: BlenderWorker, tmp_path: Path, value: str) -> None:
    make_blend(tmp_path, f"bpy.data.meshes['Cube'].vertices[0].co = ({value}, 0, 0)")
    with pytest.raises(TaskError, match=r"scene\.blend: mesh 'Cube' has a vertex"):
        build_scene(worker, tmp_path)


SHEAR = """
parent = bpy.data.objects.new("Parent", None)
bpy.context.scene.collection.objects.link(parent)
parent.scale = (1, {factor}, 1)
cube = bpy.data.objects["Cube"]
cube.parent, cube.rotation_euler = parent, (0, 0, 0.7)
"""


def test_a_sheared_object_is_refused_and_a_turned_one_is_not(worker: BlenderWorker, tmp_path: Path) -> None:
    make_blend(tmp_path, SHEAR.format(factor=1))
    build_scene(worker, tmp_path)
    make_blend(tmp_path, SHEAR.format(factor=5))
    with pytest.raises(TaskError, match="'Cube' is sheared by its parent"):
        build_scene(worker, tmp_path)


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

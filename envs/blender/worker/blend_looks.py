"""What the picture shows: materials, lights, the camera, and renders by Cycles on the CPU."""

import math
import os
import tempfile

import bpy
from blend_repair import boxes
from blend_scene import Illegal, aim, check_budget, describe, euler, find, link, scene, update
from mathutils import Vector

MAX_BOUNCES = 2
VIEWS = {
    "front": (0.0, -1.0, 0.0),
    "back": (0.0, 1.0, 0.0),
    "right": (1.0, 0.0, 0.0),
    "left": (-1.0, 0.0, 0.0),
    "top": (0.0, -0.0005, 1.0),
    "bottom": (0.0, -0.0005, -1.0),
    "iso": (1.0, -1.2, 0.8),
}


def set_material(object, base_color, metallic=0.0, roughness=0.5, name=None):
    """Give an object one new material of these values, in place of all it had."""
    item = find(object, "MESH")
    material = bpy.data.materials.new((name or f"{item.name} material").strip())
    material.use_nodes = True
    shader = next(node for node in material.node_tree.nodes if node.type == "BSDF_PRINCIPLED")
    shader.inputs["Base Color"].default_value = (*base_color[:3], base_color[3] if len(base_color) > 3 else 1.0)
    shader.inputs["Metallic"].default_value = metallic
    shader.inputs["Roughness"].default_value = roughness
    item.data.materials.clear()
    item.data.materials.append(material)
    for polygon in item.data.polygons:
        polygon.material_index = 0
    unused = [each for each in bpy.data.materials if each.users == 0]
    if unused:
        bpy.data.batch_remove(unused)
    update()
    return {"object": describe(item), "material": material.name}


def add_light(kind, energy, location, look_at=None, rotation=None, color=(1, 1, 1), size=None, name=None):
    """Add a light. It shines along its own -Z, at `look_at` when that is given."""
    if look_at is not None and rotation is not None:
        raise Illegal("Give 'look_at' or 'rotation', not both.")
    check_budget(0, 1)
    turn = aim(location, look_at) if look_at is not None else euler(rotation or (0, 0, 0))
    data = bpy.data.lights.new(name or kind, kind.upper())
    data.energy = energy
    data.color = color[:3]
    if size is not None and kind == "area":
        data.size = size
    elif size is not None and kind in ("point", "spot"):
        data.shadow_soft_size = size
    item = link(bpy.data.objects.new((name or kind).strip(), data))
    item.location, item.rotation_euler = location, turn
    update()
    return {"object": describe(item)}


def set_camera(location, look_at=None, rotation=None, focal_length=50.0, name=None):
    """Place the scene's camera, making it when there is none."""
    if (look_at is None) == (rotation is None):
        raise Illegal("Give 'look_at' or 'rotation', one of the two.")
    turn = aim(location, look_at) if look_at is not None else euler(rotation)
    camera = scene().camera
    if camera is None:
        check_budget(0, 1)
        camera = link(bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera")))
        scene().camera = camera
    camera.data.type = "PERSP"
    camera.data.lens = focal_length
    camera.data.shift_x = camera.data.shift_y = 0.0
    camera.location, camera.rotation_euler = location, turn
    if name:
        camera.name = name.strip()
    update()
    return {"object": describe(camera)}


def render(views=("camera",), size=256, samples=8):
    """One PNG a view: `size` pixels on the longer side. Views from outside bring their own lamp."""
    if "camera" in views and scene().camera is None:
        raise Illegal("The scene has no camera: call set_camera first, or use another view.")
    settings = scene().render
    before = (settings.resolution_x, settings.resolution_y, scene().camera)
    pictures = []
    try:
        _prepare(size, samples)
        for view in views:
            pictures.append(_shoot() if view == "camera" else _from_outside(view))
    finally:
        settings.resolution_x, settings.resolution_y, scene().camera = before
    return {"views": list(views), "bytes": [len(picture) for picture in pictures]}, b"".join(pictures)


def _prepare(size, samples):
    settings, cycles = scene().render, scene().cycles
    longer = max(settings.resolution_x, settings.resolution_y)
    settings.resolution_x = max(1, round(settings.resolution_x * size / longer))
    settings.resolution_y = max(1, round(settings.resolution_y * size / longer))
    settings.resolution_percentage = 100
    settings.engine = "CYCLES"
    settings.threads_mode, settings.threads = "FIXED", 2
    settings.use_freestyle = settings.use_compositing = settings.use_sequencer = False
    settings.image_settings.file_format, settings.image_settings.color_mode = "PNG", "RGB"
    scene().view_settings.view_transform = "Standard"
    cycles.device, cycles.samples, cycles.seed = "CPU", samples, 0
    cycles.use_denoising = cycles.use_adaptive_sampling = cycles.use_animated_seed = False
    cycles.max_bounces = MAX_BOUNCES


def _shoot():
    handle, path = tempfile.mkstemp(suffix=".png")
    os.close(handle)
    try:
        scene().render.filepath = path
        bpy.ops.render.render(write_still=True)
        with open(path, "rb") as file:
            return file.read()
    finally:
        os.remove(path)


def _from_outside(view):
    low, high = boxes() or ([-1.0] * 3, [1.0] * 3)
    centre = (Vector(low) + Vector(high)) / 2
    radius = max((Vector(high) - Vector(low)).length / 2, 0.001)
    direction = Vector(VIEWS[view]).normalized()
    camera_data, lamp_data = bpy.data.cameras.new("view"), bpy.data.lights.new("view", "SUN")
    camera, lamp = bpy.data.objects.new("view", camera_data), bpy.data.objects.new("view", lamp_data)
    before = scene().camera
    try:
        lamp_data.energy = 3.0
        # 1.1: a little air around; the shorter side of the picture must hold the sphere too
        shorter = min(scene().render.resolution_x, scene().render.resolution_y)
        half = math.atan(18.0 / 50.0 * shorter / max(scene().render.resolution_x, scene().render.resolution_y))
        distance = 1.1 * radius / math.sin(half)
        camera_data.clip_start, camera_data.clip_end = distance / 1000, distance * 10
        camera.location = centre + direction * distance
        camera.rotation_euler = aim(camera.location, centre)
        lamp.rotation_euler = aim(centre + direction + Vector((0.3, 0.2, 0.4)), centre)
        for item in (camera, lamp):
            scene().collection.objects.link(item)
        scene().camera = camera
        update()
        return _shoot()
    finally:
        # first: Blender crashes at the next picture when the camera that is the scene's own is gone
        scene().camera = before
        for item, data in ((camera, camera_data), (lamp, lamp_data)):
            bpy.data.objects.remove(item)
            bpy.data.batch_remove([data])
        update()


OPERATIONS = {
    "set_material": set_material,
    "add_light": add_light,
    "set_camera": set_camera,
    "render": render,
}

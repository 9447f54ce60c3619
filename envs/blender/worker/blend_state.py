"""The whole scene: an empty start, saving, opening, and the export that graders read."""

import array
import os
import tempfile

import bpy
from blend_crossings import cuts_itself
from blend_opening import adopt, refuse_code
from blend_scene import ID, NEXT, Illegal, depsgraph, objects, rendered, scene, update

MAX_CROSSING_TRIANGLES = 60_000


def start_empty():
    """Remove the default cube, camera and lamp. Reading the factory settings anew would take 0.15 s."""
    bpy.context.preferences.edit.use_global_undo = False
    groups = (bpy.data.objects, bpy.data.meshes, bpy.data.cameras, bpy.data.lights, bpy.data.materials)
    bpy.data.batch_remove([item for group in groups for item in group])
    scene()[NEXT] = 0
    set_resolution(512, 512)
    update()


def set_resolution(width, height):
    """The picture's size in pixels, which fixes its aspect."""
    scene().render.resolution_x, scene().render.resolution_y = width, height
    scene().render.resolution_percentage = 100
    scene().render.pixel_aspect_x = scene().render.pixel_aspect_y = 1.0
    return {}


def ping():
    """Answer at once."""
    return {}


def save():
    """The scene as the bytes of a .blend file."""
    handle, path = tempfile.mkstemp(suffix=".blend")
    os.close(handle)
    try:
        bpy.ops.wm.save_as_mainfile(filepath=path, compress=True, copy=True)
        with open(path, "rb") as file:
            return {}, file.read()
    finally:
        os.remove(path)


def open_blend(blob):
    """Open a .blend with its scripts off, and refuse one that carries code or reaches for other files."""
    handle, path = tempfile.mkstemp(suffix=".blend")
    with os.fdopen(handle, "wb") as file:
        file.write(blob)
    try:
        bpy.ops.wm.open_mainfile(filepath=path, load_ui=False, use_scripts=False)
    except RuntimeError as error:
        raise Illegal(f"the file does not open as a .blend: {error}") from error
    finally:
        os.remove(path)
    bpy.context.preferences.edit.use_global_undo = False
    adopt()
    refuse_code()
    return {}


def export_state():
    """Every object as data, then per mesh, in that order: local vertices (float32 x 3), triangles (int32 x 3), and
    the material slot of each triangle (int32), with the modifiers' effect.
    """
    told, pieces, shown = [], [], rendered()
    for item in objects():
        entry = {
            "id": item.get(ID, 0),
            "name": item.name,
            "type": item.type.lower(),
            "matrix": [value for row in item.matrix_world for value in row],
            "hidden": item.name not in shown,
            "modifiers": [modifier.type.lower() for modifier in item.modifiers],
        }
        if item.type == "MESH":
            entry |= _mesh(item, pieces)
        elif item.type == "LIGHT":
            light = item.data
            entry["light"] = {"kind": light.type.lower(), "energy": light.energy, "color": list(light.color)}
        elif item.type == "CAMERA":
            lens = item.data
            entry["camera"] = {
                "kind": lens.type.lower(),
                "focal_length_mm": lens.lens,
                "sensor_mm": lens.sensor_width,
                "fit": lens.sensor_fit.lower(),
                "shift": [lens.shift_x, lens.shift_y],
                "clip": [lens.clip_start, lens.clip_end],
            }
        told.append(entry)
    camera = scene().camera
    render = scene().render
    return {
        "objects": told,
        "resolution": [render.resolution_x, render.resolution_y],
        "camera": camera.get(ID, 0) if camera else None,
    }, b"".join(pieces)


def _mesh(item, pieces):
    evaluated = item.evaluated_get(depsgraph())
    data = evaluated.data
    data.calc_loop_triangles()
    points = array.array("f", bytes(12 * len(data.vertices)))
    data.vertices.foreach_get("co", points)
    corners = array.array("i", bytes(12 * len(data.loop_triangles)))
    data.loop_triangles.foreach_get("vertices", corners)
    slots = array.array("i", bytes(4 * len(data.loop_triangles)))
    data.loop_triangles.foreach_get("material_index", slots)
    pieces += [points.tobytes(), corners.tobytes(), slots.tobytes()]
    return {
        "vertices": len(data.vertices),
        "triangles": len(data.loop_triangles),
        "loose_edges": _loose(data),
        "crosses": _crosses(points, corners, item),
        "materials": [_material(slot.material) for slot in item.material_slots],
    }


def _loose(data):
    used = set()
    for polygon in data.polygons:
        used.update(polygon.edge_keys)
    return sum(edge.key not in used for edge in data.edges)


def _crosses(points, corners, item):
    """Whether the surface cuts through itself; None where there is too much to ask."""
    if len(corners) > 3 * MAX_CROSSING_TRIANGLES:
        return None
    places = [tuple(points[at : at + 3]) for at in range(0, len(points), 3)]
    triangles = [tuple(corners[at : at + 3]) for at in range(0, len(corners), 3)]
    return cuts_itself(places, triangles, abs(item.matrix_world.determinant()) ** (1 / 3))


def _material(material):
    """The Principled values that reach the material's output; `plain` is False when anything but numbers feeds them."""
    if material is None:
        return None
    told = {"name": material.name, "plain": False, "base_color": [0.8, 0.8, 0.8], "metallic": 0.0, "roughness": 0.5}
    nodes = material.node_tree.nodes if material.use_nodes and material.node_tree else []
    output = next((node for node in nodes if node.type == "OUTPUT_MATERIAL" and node.is_active_output), None)
    links = output.inputs["Surface"].links if output else ()
    shader = links[0].from_node if links else None
    if shader is None or shader.type != "BSDF_PRINCIPLED":
        return told
    read = ("Base Color", "Metallic", "Roughness")
    told["plain"] = not any(shader.inputs[name].is_linked for name in read)
    told["base_color"] = list(shader.inputs["Base Color"].default_value)[:3]
    told["metallic"] = shader.inputs["Metallic"].default_value
    told["roughness"] = shader.inputs["Roughness"].default_value
    return told


OPERATIONS = {
    "ping": ping,
    "set_resolution": set_resolution,
    "save": save,
    "open_blend": open_blend,
    "export_state": export_state,
}

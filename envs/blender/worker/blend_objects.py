"""Making, moving, copying and removing objects."""

import math

import bmesh
import bpy
from blend_scene import (
    MAX_METRES,
    MIN_METRES,
    Illegal,
    check_budget,
    corners,
    counts,
    describe,
    euler,
    find,
    link,
    objects,
    refuse_operand,
    remove,
    scene,
    size_of,
    update,
)
from mathutils import Euler, Matrix, Vector


def _shape(bm, kind, segments, tube, top):
    if kind == "cube":
        bmesh.ops.create_cube(bm, size=1.0)
    elif kind == "plane":
        bmesh.ops.create_grid(bm, x_segments=1, y_segments=1, size=0.5)
    elif kind == "uv_sphere":
        bmesh.ops.create_uvsphere(bm, u_segments=segments, v_segments=max(3, segments // 2), radius=0.5)
    elif kind == "ico_sphere":
        bmesh.ops.create_icosphere(bm, subdivisions=4, radius=0.5)
    elif kind in ("cylinder", "cone"):
        upper = 0.5 if kind == "cylinder" else 0.5 * top
        bmesh.ops.create_cone(
            bm, cap_ends=True, cap_tris=False, segments=segments, radius1=0.5, radius2=upper, depth=1.0
        )
        if kind == "cone" and top == 0:
            bmesh.ops.remove_doubles(bm, verts=bm.verts[:], dist=1e-6)
    else:
        _torus(bm, segments, max(8, segments // 3), tube)


def _torus(bm, around, across, tube):
    rings = []
    for step in range(around):
        turn = 2 * math.pi * step / around
        ring = []
        for part in range(across):
            angle = 2 * math.pi * part / across
            radius = 1 + tube * math.cos(angle)
            ring.append(bm.verts.new((radius * math.cos(turn), radius * math.sin(turn), tube * math.sin(angle))))
        rings.append(ring)
    for step in range(around):
        here, there = rings[step], rings[(step + 1) % around]
        for part in range(across):
            after = (part + 1) % across
            bm.faces.new((here[part], there[part], there[after], here[after]))


def add_primitive(
    kind, dimensions, location=(0, 0, 0), rotation=(0, 0, 0), name=None, segments=32, tube_ratio=0.25, top_ratio=0.0
):
    """Add a closed shape (or a plane) whose box has exactly these dimensions, centred on its origin."""
    flat = kind == "plane"
    if any(not MIN_METRES <= value <= MAX_METRES for value in dimensions[: 2 if flat else 3]):
        raise Illegal(f"Each dimension of a {kind} lies between {MIN_METRES} and {MAX_METRES:g} m.")
    bm = bmesh.new()
    try:
        _shape(bm, kind, segments, tube_ratio, top_ratio)
        check_budget(len(bm.verts), 1)
        extent = [max(v.co[axis] for v in bm.verts) - min(v.co[axis] for v in bm.verts) for axis in range(3)]
        scale = [wanted / real if real > 1e-9 else 1.0 for wanted, real in zip(dimensions, extent, strict=True)]
        bmesh.ops.scale(bm, vec=scale, verts=bm.verts[:])
        data = bpy.data.meshes.new(name or kind)
        bm.to_mesh(data)
    finally:
        bm.free()
    return place(data, name or kind, location, rotation)


def place(data, name, location, rotation):
    """Link a new object for `data` and describe it."""
    item = link(bpy.data.objects.new(name.strip(), data))
    item.location = location
    item.rotation_euler = euler(rotation)
    update()
    return {"object": describe(item)}


def add_mesh(name, vertices, faces, location=(0, 0, 0), rotation=(0, 0, 0)):
    """Add a mesh as it is given, broken or not. For scenes; no tool of the agent's."""
    check_budget(len(vertices), 1, len(vertices))
    if any(not 0 <= index < len(vertices) for face in faces for index in face):
        raise Illegal(f"mesh {name!r}: a face names a vertex that does not exist.")
    if any(len(face) < 3 or len(set(face)) < len(face) for face in faces):
        raise Illegal(f"mesh {name!r}: a face has at least three vertices, each once.")
    data = bpy.data.meshes.new(name)
    data.from_pydata(vertices, [], faces)
    data.update()
    return place(data, name, location, rotation)


def transform(object, location=None, rotation=None, scale=None, dimensions=None, relative=False, bake=False):
    """Move, turn and size an object; `bake` then puts rotation and scale into the mesh itself."""
    item = find(object)
    if dimensions is not None and (scale is not None or relative):
        raise Illegal("Give 'dimensions' without 'scale' and with relative=false.")
    if item.type != "MESH" and (dimensions is not None or scale is not None or bake):
        raise Illegal(f"#{object} is a {item.type.lower()}: it has a location and a rotation only.")
    if bake and item.modifiers:
        raise Illegal(f"#{object} has live modifiers, which 'bake' would reshape: apply or clear the modifiers first.")
    before = (item.location.copy(), item.rotation_euler.copy(), item.scale.copy())
    try:
        if location is not None:
            item.location = before[0] + Vector(location) if relative else Vector(location)
        if rotation is not None:
            turn = euler(rotation)
            item.rotation_euler = Euler([a + b for a, b in zip(before[1], turn, strict=True)]) if relative else turn
        if scale is not None:
            item.scale = [a * b for a, b in zip(before[2], scale, strict=True)] if relative else scale
        if dimensions is not None:
            item.scale = _fitted(item, dimensions)
        if any(not 1e-6 <= abs(value) <= 1e6 for value in item.scale):
            raise Illegal("A scale of 0, or beyond 1e-6 to 1e6, is not allowed.")
        update()
        _check_extent(item)
    except Illegal:
        item.location, item.rotation_euler, item.scale = before
        update()
        raise
    if bake:
        _bake(item)
    return {"object": describe(item)}


def _fitted(item, wanted):
    """The scale that gives the object these dimensions along its own axes."""
    fitted = []
    for axis, (now, goal) in enumerate(zip(size_of(item), wanted, strict=True)):
        if now < 1e-9:
            fitted.append(item.scale[axis])  # a flat side stays flat
        elif goal < MIN_METRES:
            raise Illegal(f"Each dimension must be at least {MIN_METRES} m.")
        else:
            fitted.append(item.scale[axis] * goal / now)
    return fitted


def _check_extent(item):
    low, high = corners(item)
    if any(not math.isfinite(value) or abs(value) > MAX_METRES for value in (*low, *high)):
        raise Illegal(f"The object would reach beyond {MAX_METRES:g} m from the origin.")


def _bake(item):
    matrix = item.rotation_euler.to_matrix().to_4x4() @ Matrix.Diagonal((*item.scale, 1.0))
    item.data.transform(matrix)
    if matrix.determinant() < 0:
        item.data.flip_normals()
    item.rotation_euler = (0, 0, 0)
    item.scale = (1, 1, 1)
    update()


def delete(object):
    """Remove one object."""
    item = find(object)
    refuse_operand(item, "delete")
    name = item.name
    remove(item)
    update()
    return {"deleted": name, "id": object}


def duplicate(object, name=None, offset=(0, 0, 0), count=1):
    """Copy an object `count` times, each copy `offset` further than the last."""
    source = find(object)
    check_budget(counts(source)[0] * count, count)
    _, high = corners(source)
    low, _ = corners(source)
    if any(abs(edge[axis] + offset[axis] * count) > MAX_METRES for edge in (low, high) for axis in range(3)):
        raise Illegal(f"The last copy would reach beyond {MAX_METRES:g} m from the origin.")
    made = []
    for number in range(1, count + 1):
        copy = source.copy()
        if source.data is not None:
            copy.data = source.data.copy()
        copy.name = (name or source.name).strip()
        copy.location = source.location + Vector(offset) * number
        made.append(link(copy))
    update()
    return {"objects": [describe(item) for item in made]}


def rename(object, name):
    """Give an object another name; Blender adds a number when it is taken."""
    item = find(object)
    item.name = name.strip()
    return {"object": describe(item)}


def scene_info():
    """Every object."""
    return {
        "objects": [describe(item) for item in objects()],
        "resolution": [scene().render.resolution_x, scene().render.resolution_y],
    }


OPERATIONS = {
    "add_primitive": add_primitive,
    "add_mesh": add_mesh,
    "transform": transform,
    "delete": delete,
    "duplicate": duplicate,
    "rename": rename,
    "scene_info": scene_info,
}

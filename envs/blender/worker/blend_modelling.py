"""Changing shapes: modifiers and booleans.

Every operation estimates what it would make before Blender makes it, because a modifier can exhaust the memory of
the machine in one step.
"""

import math

import bmesh
import bpy
from blend_scene import (
    MAX_OBJECT_VERTICES,
    Failed,
    Illegal,
    check_budget,
    corners,
    counts,
    depsgraph,
    describe,
    find,
    refuse_operand,
    remove,
    update,
)

MAX_BOOLEAN_FACES = 30_000
MAX_MODIFIERS = 8
WELD_METRES = 1e-7

FIELDS = {
    "bevel": {"width", "segments", "angle_limit"},
    "array": {"count", "offset"},
    "mirror": {"axes"},
    "solidify": {"thickness"},
    "subdivision": {"levels"},
    "weld": {"distance"},
    "decimate": {"ratio"},
}
NEEDED = {
    "bevel": "width",
    "array": "count",
    "mirror": "axes",
    "solidify": "thickness",
    "weld": "distance",
    "decimate": "ratio",
}


def _estimate(kind, item, given):
    """An upper bound of the vertices that the modifier leaves."""
    vertices, edges, faces = counts(item)
    if kind == "bevel":
        rings = given.get("segments", 1) + 1
        return vertices * (rings**2 + 1) + 2 * edges * rings
    if kind == "array":
        return vertices * given["count"]
    if kind == "mirror":
        return vertices * 2 ** len(given["axes"])
    if kind == "solidify":
        return vertices * 2
    if kind == "subdivision":
        return (vertices + edges + faces) * 4 ** (given.get("levels", 1) - 1)
    return vertices


def _configure(modifier, kind, given):
    if kind == "bevel":
        modifier.width = given["width"]
        modifier.segments = given.get("segments", 1)
        modifier.limit_method = "ANGLE"
        modifier.angle_limit = math.radians(given.get("angle_limit", 30.0))
    elif kind == "array":
        modifier.count = given["count"]
        modifier.use_relative_offset = False
        modifier.use_constant_offset = True
        modifier.constant_offset_displace = given["offset"]
    elif kind == "mirror":
        modifier.use_axis = [axis in given["axes"] for axis in "xyz"]
        modifier.merge_threshold = 1e-4
    elif kind == "solidify":
        modifier.thickness = given["thickness"]
        modifier.offset = -1.0
    elif kind == "subdivision":
        modifier.levels = modifier.render_levels = given.get("levels", 1)
    elif kind == "weld":
        modifier.merge_threshold = given["distance"]
    else:
        modifier.ratio = given["ratio"]


def add_modifier(
    object,
    kind,
    apply=False,
    width=None,
    segments=None,
    angle_limit=None,
    count=None,
    offset=None,
    axes=None,
    thickness=None,
    levels=None,
    distance=None,
    ratio=None,
):
    """Add a modifier at the end of an object's stack; with `apply`, all of the stack becomes mesh."""
    item = find(object, "MESH")
    offered = {
        "width": width,
        "segments": segments,
        "angle_limit": angle_limit,
        "count": count,
        "offset": offset,
        "axes": axes,
        "thickness": thickness,
        "levels": levels,
        "distance": distance,
        "ratio": ratio,
    }
    given = {name: value for name, value in offered.items() if value is not None}
    stray = sorted(set(given) - FIELDS[kind])
    if stray:
        raise Illegal(f"A {kind} modifier has no {stray[0]!r}. It takes: {', '.join(sorted(FIELDS[kind]))}.")
    if kind in NEEDED and NEEDED[kind] not in given:
        raise Illegal(f"A {kind} modifier needs {NEEDED[kind]!r}.")
    if kind == "array" and "offset" not in given:
        raise Illegal("An array modifier needs 'offset'.")
    refuse_operand(item, "change")
    if len(item.modifiers) >= MAX_MODIFIERS:
        raise Illegal(f"An object may have at most {MAX_MODIFIERS} modifiers; apply them first.")
    expected = _estimate(kind, item, given)
    check_budget(expected - counts(item)[0], biggest=expected)
    type_ = {"subdivision": "SUBSURF"}.get(kind, kind.upper())
    modifier = item.modifiers.new(kind, type_)
    _configure(modifier, kind, given)
    _settle(item, modifier, apply)
    return {"object": describe(item)}


def _settle(item, modifier, apply):
    """Evaluate the stack with its new modifier, take that back if the result is no good, and apply it if asked."""
    update()
    low, high = corners(item)
    if counts(item)[2] == 0:
        trouble = "nothing would be left of the object."
    elif any(not math.isfinite(value) or abs(value) > 1000.0 for value in (*low, *high)):
        trouble = "the object would reach beyond 1000 m."
    elif counts(item)[0] > MAX_OBJECT_VERTICES:
        trouble = f"the object would have more than {MAX_OBJECT_VERTICES} vertices."
    else:
        if apply:
            _apply(item)
        return
    item.modifiers.remove(modifier)
    update()
    raise Failed(f"Not done: {trouble} The scene is unchanged.")


def _apply(item):
    """Make the evaluated mesh the object's own and drop the modifiers."""
    made = bpy.data.meshes.new_from_object(item.evaluated_get(depsgraph()), depsgraph=depsgraph())
    if any(modifier.type == "BOOLEAN" for modifier in item.modifiers):
        _weld(made)
    old, name = item.data, item.data.name
    item.modifiers.clear()
    item.data = made
    if old.users == 0:
        bpy.data.meshes.remove(old)
        made.name = name
    update()


def _weld(data):
    """Merge what the solver computed twice: vertices a rounding apart make slivers that no slicer takes."""
    bm = bmesh.new()
    try:
        bm.from_mesh(data)
        bmesh.ops.remove_doubles(bm, verts=bm.verts[:], dist=WELD_METRES)
        bmesh.ops.dissolve_degenerate(bm, dist=WELD_METRES, edges=bm.edges[:])
        bm.to_mesh(data)
    finally:
        bm.free()
    data.update()


def apply_modifiers(object):
    """Turn an object's modifiers into mesh."""
    item = find(object, "MESH")
    if not item.modifiers:
        raise Illegal(f"#{object} has no modifiers.")
    refuse_operand(item, "change")
    if counts(item)[2] == 0:
        raise Failed("Not done: nothing would be left of the object. The scene is unchanged.")
    _apply(item)
    return {"object": describe(item)}


def clear_modifiers(object):
    """Drop an object's modifiers without applying them."""
    item = find(object, "MESH")
    refuse_operand(item, "change")
    item.modifiers.clear()
    update()
    return {"object": describe(item)}


def boolean(object, operand, operation, apply=True, operand_after="delete"):
    """Union, difference or intersection of two meshes, by Blender's exact solver."""
    item, other = find(object, "MESH"), find(operand, "MESH")
    if item == other:
        raise Illegal("'object' and 'operand' must be two objects.")
    if not apply and operand_after == "delete":
        raise Illegal("A boolean that is not applied needs its operand: use operand_after='keep'.")
    refuse_operand(item, "change")
    if operand_after == "delete":
        refuse_operand(other, "delete")
    here, there = counts(item), counts(other)
    if here[2] + there[2] > MAX_BOOLEAN_FACES:
        raise Illegal(f"A boolean takes at most {MAX_BOOLEAN_FACES} faces together; these have {here[2] + there[2]}.")
    expected = 2 * (here[0] + there[0])
    check_budget(expected - here[0], biggest=expected)
    modifier = item.modifiers.new("boolean", "BOOLEAN")
    modifier.operation = {"union": "UNION", "difference": "DIFFERENCE", "intersect": "INTERSECT"}[operation]
    modifier.solver = "EXACT"
    modifier.object = other
    before = _volume(item.data)
    _settle(item, modifier, apply)
    result = {"operand_after": operand_after}
    if apply:
        result["volume_before"], result["volume"] = before, _volume(item.data)
    if operand_after == "delete":
        remove(other)
    elif not apply:
        other.hide_render = True
    update()
    return {"object": describe(item), **result}


def _volume(data):
    bm = bmesh.new()
    try:
        bm.from_mesh(data)
        return round(bm.calc_volume(signed=True), 9)
    finally:
        bm.free()


OPERATIONS = {
    "add_modifier": add_modifier,
    "apply_modifiers": apply_modifiers,
    "clear_modifiers": clear_modifiers,
    "boolean": boolean,
}

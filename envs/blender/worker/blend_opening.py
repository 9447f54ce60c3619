"""Making an opened .blend one of ours: ids, Euler angles, no parents, nothing but what a picture shows, and no code."""

import math

import bpy
from blend_scene import ID, MAX_METRES, NEXT, Illegal, objects, scene, update

MAX_ID = 100_000
SHEAR = 1e-5
"""Share of an object's size that a matrix without shear may be off."""


def refuse_code():
    if bpy.data.texts:
        raise Illegal("the .blend holds text blocks; remove them.")
    if bpy.data.libraries:
        raise Illegal("the .blend links to other files; make everything local.")
    for name in dir(bpy.data):
        group = getattr(bpy.data, name, None)
        for item in group if isinstance(group, bpy.types.bpy_prop_collection) else ():
            holders = (item, getattr(item, "node_tree", None))
            motions = [getattr(holder, "animation_data", None) for holder in holders]
            if any(motion is not None and len(motion.drivers) for motion in motions):
                raise Illegal(f"the .blend has a driver on {item.name!r}; remove it.")
            if name == "images" and item.source == "FILE" and not item.packed_file:
                raise Illegal(f"the .blend reads the file of image {item.name!r}; pack or remove it.")


def adopt():
    """Ids, Euler angles and no parents, so that a location is one in the world; what only a viewport hides is shown.

    Raises Illegal for an object that its parent shears: no location, rotation and scale give its shape.
    """
    for layer in _layers(bpy.context.view_layer.layer_collection):
        layer.hide_viewport = layer.collection.hide_viewport = False
    items = sorted(scene().objects, key=lambda each: each.name)
    _number(items)
    for item in items:
        item.hide_viewport = False
        item.hide_set(False)
    update()
    worlds = [item.matrix_world.copy() for item in items]
    for item, world in zip(items, worlds, strict=True):
        if item.parent is not None:
            item.parent = None
            item.matrix_world = world
        item.rotation_mode = "XYZ"
    update()
    for item, world in zip(items, worlds, strict=True):
        size = max(abs(value) for row in world.to_3x3() for value in row)
        pairs = zip(world, item.matrix_world, strict=True)
        off = max(abs(a - b) for one, two in pairs for a, b in zip(one, two, strict=True))
        if not off <= SHEAR * max(size, 1.0):
            raise Illegal(
                f"the .blend's {item.name!r} is sheared by its parent; apply that transformation to its mesh."
            )


def _layers(layer):
    yield layer
    for child in layer.children:
        yield from _layers(child)


def _number(items):
    """Keep the ids that are ours; what else bears their name is put right."""
    taken = set()
    for item in items:
        number = item.get(ID)
        if type(number) is int and 0 < number <= MAX_ID and number not in taken:
            taken.add(number)
        elif ID in item:
            del item[ID]
    told = scene().get(NEXT)
    highest = max(taken | {told if type(told) is int and 0 <= told <= MAX_ID else 0})
    for item in items:
        if ID not in item:
            highest += 1
            item[ID] = highest
    scene()[NEXT] = highest


def check_extent():
    """Raises Illegal when a mesh has a vertex that is not finite or lies beyond 1 km. For start scenes."""
    for item in objects():
        if item.type != "MESH":
            continue
        for vertex in item.data.vertices:
            if not all(math.isfinite(value) and abs(value) <= MAX_METRES for value in item.matrix_world @ vertex.co):
                raise Illegal(
                    f"mesh {item.name!r} has a vertex that is not finite or lies beyond {MAX_METRES:g} m; remove it."
                )
    return {}


OPERATIONS = {"check_extent": check_extent}

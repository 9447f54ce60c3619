"""The scene's common ground: ids, limits, finding and describing objects, refusals."""

import math

import bpy
from mathutils import Euler, Vector

ID = "tradeschool_id"
NEXT = "tradeschool_next_id"
MAX_OBJECTS = 200
MAX_OBJECT_VERTICES = 100_000
MAX_SCENE_VERTICES = 300_000
MAX_METRES = 1000.0
MIN_METRES = 1e-5


class Refusal(Exception):
    """A request that is not carried out, and the scene is as it was. `illegal`: not allowed; `failed`: no use."""

    kind = "illegal"


class Illegal(Refusal):
    kind = "illegal"


class Failed(Refusal):
    kind = "failed"


def scene():
    return bpy.context.scene


def update():
    bpy.context.view_layer.update()


def depsgraph():
    return bpy.context.evaluated_depsgraph_get()


def objects():
    """All objects in the order of their ids."""
    return sorted(scene().objects, key=lambda item: (item.get(ID, 0), item.name))


def rendered():
    """The names of the objects that a picture shows: not hidden from renders, themselves or by every collection."""
    shown = set()

    def walk(layer):
        if layer.collection.hide_render:
            return
        if not layer.exclude:
            shown.update(item.name for item in layer.collection.objects if not item.hide_render)
        for child in layer.children:
            walk(child)

    walk(bpy.context.view_layer.layer_collection)
    return shown


def find(number, kind=None):
    """The object with this id. Raises Illegal naming those there are."""
    for item in scene().objects:
        if item.get(ID) == number:
            if kind and item.type != kind:
                raise Illegal(f"#{number} {item.name!r} is a {item.type.lower()}, not a {kind.lower()}.")
            return item
    known = ", ".join(f"#{item[ID]} {item.name!r}" for item in objects()[:30]) or "none"
    raise Illegal(f"There is no object #{number}. Objects: {known}.")


def link(item):
    """Give a new object its id and put it into the scene."""
    number = scene().get(NEXT, 0) + 1
    scene()[NEXT] = number
    item[ID] = number
    item.rotation_mode = "XYZ"
    scene().collection.objects.link(item)
    return item


def remove(item):
    """Remove an object and the data that only it used."""
    data = item.data
    bpy.data.objects.remove(item, do_unlink=True)
    if data is not None and data.users == 0:
        bpy.data.batch_remove([data])
    orphans = [material for material in bpy.data.materials if material.users == 0]
    if orphans:
        bpy.data.batch_remove(orphans)


def counts(item):
    """(vertices, edges, faces) with the modifiers' effect; zeros for what is no mesh."""
    if item.type != "MESH":
        return 0, 0, 0
    data = item.evaluated_get(depsgraph()).data
    return len(data.vertices), len(data.edges), len(data.polygons)


def check_budget(extra_vertices=0, extra_objects=0, biggest=0):
    """Raises Illegal when the scene would grow past its limits."""
    if biggest > MAX_OBJECT_VERTICES:
        raise Illegal(f"That could make about {biggest} vertices; an object may have at most {MAX_OBJECT_VERTICES}.")
    if len(scene().objects) + extra_objects > MAX_OBJECTS:
        raise Illegal(f"A scene may have at most {MAX_OBJECTS} objects.")
    total = sum(counts(item)[0] for item in scene().objects) + extra_vertices
    if total > MAX_SCENE_VERTICES:
        raise Illegal(f"The scene could have about {total} vertices; at most {MAX_SCENE_VERTICES} are allowed.")


def users_as_operand(item):
    """The objects that have a live boolean modifier with `item` as its operand."""
    return [
        other
        for other in objects()
        if any(modifier.type == "BOOLEAN" and modifier.object == item for modifier in other.modifiers)
    ]


def refuse_operand(item, what):
    users = users_as_operand(item)
    if users:
        names = ", ".join(f"#{other[ID]} {other.name!r}" for other in users)
        raise Illegal(f"#{item[ID]} is the operand of a live boolean on {names}: apply that first, then {what} it.")


def corners(item):
    """The two corners of the box around an object in the world, with its modifiers; its origin when it has no size."""
    if item.type == "MESH":
        evaluated = item.evaluated_get(depsgraph())
        points = [item.matrix_world @ vertex.co for vertex in evaluated.data.vertices]
    else:
        points = []
    points = points or [item.matrix_world.translation]
    low = [min(point[axis] for point in points) for axis in range(3)]
    high = [max(point[axis] for point in points) for axis in range(3)]
    return low, high


def size_of(item):
    """Its dimensions along its own axes, modifiers and scale included."""
    if item.type != "MESH":
        return [0.0, 0.0, 0.0]
    evaluated = item.evaluated_get(depsgraph())
    box = [Vector(corner) for corner in evaluated.bound_box] if len(evaluated.data.vertices) else [Vector()]
    return [
        (max(corner[axis] for corner in box) - min(corner[axis] for corner in box)) * abs(item.scale[axis])
        for axis in range(3)
    ]


def plain(values):
    """Floats rounded for people, without a negative zero."""
    return [round(float(value), 6) + 0.0 for value in values]


def describe(item):
    """An object as plain data: metres and degrees."""
    told = {
        "id": item[ID],
        "name": item.name,
        "type": item.type.lower(),
        "location": plain(item.location),
        "rotation": plain(math.degrees(angle) for angle in item.rotation_euler),
        "scale": plain(item.scale),
        "hidden": item.name not in rendered(),
    }
    if item.type == "MESH":
        vertices, _, faces = counts(item)
        told |= {
            "dimensions": plain(size_of(item)),
            "vertices": vertices,
            "faces": faces,
            "modifiers": [modifier.type.lower() for modifier in item.modifiers],
            "materials": [slot.material.name for slot in item.material_slots if slot.material],
        }
    elif item.type == "LIGHT":
        told |= {"kind": item.data.type.lower(), "energy": round(item.data.energy, 6), "color": plain(item.data.color)}
    elif item.type == "CAMERA":
        told |= {"focal_length": round(item.data.lens, 6), "active": item == scene().camera}
    return told


def euler(degrees):
    return Euler([math.radians(angle) for angle in degrees], "XYZ")


def aim(location, target):
    """The rotation that looks from `location` at `target` with Z up."""
    direction = Vector(target) - Vector(location)
    if direction.length < 1e-6:
        raise Illegal("'look_at' is the location itself: there is no direction to look in.")
    return direction.to_track_quat("-Z", "Y").to_euler("XYZ")

"""The tools of the Blender trade. Metres, degrees, watts and linear RGB; objects are named by their id."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tradeschool.tools import Tool

NAME_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9 _.\-]*$"
Schema = Mapping[str, Any]


def _vector(description: str, low: float, high: float, *examples: list[float]) -> Schema:
    return {
        "type": "array",
        "items": {"type": "number", "minimum": low, "maximum": high},
        "minItems": 3,
        "maxItems": 3,
        "description": description,
        "examples": list(examples),
    }


def _number(description: str, low: float, high: float, *examples: float) -> Schema:
    return {
        "type": "number",
        "minimum": low,
        "maximum": high,
        "description": description,
        **({"examples": list(examples)} if examples else {}),
    }


def _whole(description: str, low: int, high: int, *examples: int) -> Schema:
    return {**_number(description, low, high, *examples), "type": "integer"}


def _choice(description: str, *words: str) -> Schema:
    return {"type": "string", "enum": list(words), "description": description}


def _flag(description: str) -> Schema:
    return {"type": "boolean", "description": description}


def _object(description: str = "The object's id.") -> Schema:
    return _whole(description, 1, 100_000, 1, 2, 3)


def _name(description: str = "Its name; letters, digits, space, _ . and -.") -> Schema:
    return {
        "type": "string",
        "pattern": NAME_PATTERN,
        "maxLength": 48,
        "description": description,
        "examples": ["Part", "Panel", "Leg"],
    }


LOCATION = _vector("Where its origin lies in the world, in metres.", -1000, 1000, [0, 0, 0], [1, 0.5, 0.2])
ROTATION = _vector("Euler angles XYZ in degrees.", -3600, 3600, [0, 0, 0], [0, 0, 45])
DIMENSIONS = _vector("Size along its own axes, in metres.", 0, 1000, [1, 1, 1], [0.4, 0.3, 0.05])
LOOK_AT = _vector("A point in the world to look at, in metres.", -1000, 1000, [0, 0, 0])
COLOR = {
    "type": "array",
    "items": {"type": "number", "minimum": 0, "maximum": 1},
    "minItems": 3,
    "maxItems": 4,
    "description": "Linear red, green, blue (and alpha), each 0 to 1.",
    "examples": [[0.8, 0.1, 0.1], [0.2, 0.2, 0.2, 1]],
}
VIEWS = ("camera", "front", "back", "left", "right", "top", "bottom", "iso")


def _tool(name: str, description: str, required: tuple[str, ...] = (), /, **properties: Schema) -> Tool:
    return Tool(name, description, {"type": "object", "properties": properties, "required": list(required)})


TOOLS: tuple[Tool, ...] = (
    _tool(
        "scene_info",
        "List every object: id, name, type, location, rotation, dimensions, modifiers, materials.",
    ),
    _tool(
        "measure",
        "Measure one object: box in the world, dimensions, volume, area, open and overfull edges, parts; and the "
        "smallest distance between its surface and another object's.",
        ("object",),
        object=_object(),
        other=_object("Another object, to measure the distance to."),
    ),
    _tool(
        "add_primitive",
        "Add a closed shape, or a flat plane, whose box has exactly the given dimensions, centred on its location. "
        "Round shapes stand along Z.",
        ("kind", "dimensions"),
        kind=_choice("The shape.", "cube", "uv_sphere", "ico_sphere", "cylinder", "cone", "torus", "plane"),
        dimensions=DIMENSIONS,
        location=LOCATION,
        rotation=ROTATION,
        name=_name(),
        segments=_whole("Sides of a round shape (default 32).", 3, 256, 32, 64),
        tube_ratio=_number("Torus: radius of the tube over radius of the ring (default 0.25).", 0.01, 0.99, 0.25),
        top_ratio=_number("Cone: radius at the top over radius at the foot (default 0: a point).", 0, 1, 0.5),
    ),
    _tool(
        "transform",
        "Move, turn or size an object. Absolute unless 'relative', which adds location and rotation and multiplies "
        "the scale. 'dimensions' sets the size in metres instead of a scale. 'bake' puts rotation and scale into the "
        "mesh itself, so that they read 0 and 1.",
        ("object",),
        object=_object(),
        location=LOCATION,
        rotation=ROTATION,
        scale=_vector("Factors along its own axes.", -10000, 10000, [1, 1, 1], [2, 2, 2]),
        dimensions=DIMENSIONS,
        relative=_flag("Add to what is there (default false)."),
        bake=_flag("Put rotation and scale into the mesh (default false)."),
    ),
    _tool("rename", "Give an object another name.", ("object", "name"), object=_object(), name=_name()),
    _tool("delete", "Remove one object.", ("object",), object=_object()),
    _tool(
        "duplicate",
        "Copy an object, once or several times, each copy 'offset' further than the one before.",
        ("object",),
        object=_object(),
        name=_name("Name of the copies; Blender adds .001 and so on where it is taken."),
        offset=_vector("From one copy to the next, in metres.", -1000, 1000, [1, 0, 0], [0, 0.5, 0]),
        count=_whole("How many copies (default 1).", 1, 50, 1, 3),
    ),
    _tool(
        "add_modifier",
        "Add a modifier to a mesh. bevel: width, segments, angle_limit; array: count, offset; mirror: axes (through "
        "the object's origin); solidify: thickness (inward); subdivision: levels; weld: distance; decimate: ratio.",
        ("object", "kind"),
        object=_object(),
        kind=_choice("The modifier.", "bevel", "array", "mirror", "solidify", "subdivision", "weld", "decimate"),
        apply=_flag("Turn all of the object's modifiers into mesh at once (default false)."),
        width=_number("Bevel: width in metres.", 0.00001, 100, 0.01),
        segments=_whole("Bevel: segments (default 1).", 1, 8, 1, 3),
        angle_limit=_number("Bevel: only edges sharper than this, in degrees (default 30).", 0, 180, 30),
        count=_whole("Array: how many in all.", 1, 100, 3),
        offset=_vector("Array: from one to the next, in the object's axes, in metres.", -1000, 1000, [1, 0, 0]),
        axes={
            "type": "array",
            "items": {"enum": ["x", "y", "z"]},
            "minItems": 1,
            "maxItems": 3,
            "uniqueItems": True,
            "description": "Mirror: along which axes.",
            "examples": [["x"], ["x", "y"]],
        },
        thickness=_number("Solidify: thickness in metres.", -100, 100, 0.01),
        levels=_whole("Subdivision: levels (default 1).", 1, 4, 1, 2),
        distance=_number("Weld: vertices nearer than this are merged, in metres.", 0.0000001, 10, 0.001),
        ratio=_number("Decimate: share of faces to keep.", 0.01, 1, 0.5),
    ),
    _tool("apply_modifiers", "Turn an object's live modifiers and booleans into mesh.", ("object",), object=_object()),
    _tool("clear_modifiers", "Drop an object's live modifiers.", ("object",), object=_object()),
    _tool(
        "boolean",
        "Combine two closed meshes: 'object' becomes object + operand (union), object - operand (difference) or what "
        "both share (intersect). An operand that is kept under a boolean not applied is hidden.",
        ("object", "operand", "operation"),
        object=_object("The object that changes."),
        operand=_object("The other object."),
        operation=_choice("What to do.", "union", "difference", "intersect"),
        apply=_flag("Turn the result into mesh at once (default true)."),
        operand_after=_choice("What becomes of the operand (default delete).", "delete", "keep"),
    ),
    _tool(
        "clean_mesh",
        "Repair a mesh, in this order: merge vertices that are nearer than merge_distance, delete loose vertices and "
        "edges, fill holes of up to fill_holes sides, turn the normals outward. What is left out is not done.",
        ("object",),
        object=_object(),
        merge_distance=_number("In metres; 0 merges none.", 0, 10, 0.0001, 0.001),
        delete_loose=_flag("Delete vertices and edges of no face."),
        fill_holes=_whole("Fill holes of up to so many sides; 0 fills none.", 0, 1000, 0, 8),
        recalculate_normals=_flag("Turn the faces consistently outward."),
    ),
    _tool(
        "separate_parts",
        "Split a mesh's unconnected parts into objects of their own; the part with most vertices stays in the object.",
        ("object",),
        object=_object(),
    ),
    _tool(
        "set_material",
        "Give a mesh one material in place of what it had.",
        ("object", "base_color"),
        object=_object(),
        base_color=COLOR,
        metallic=_number("0 to 1 (default 0).", 0, 1, 0, 1),
        roughness=_number("0 to 1 (default 0.5).", 0, 1, 0.2, 0.5),
        name=_name("Name of the material."),
    ),
    _tool(
        "add_light",
        "Add a light. energy: watts, or W/m2 for a sun. It shines along its own -Z axis: give look_at or rotation.",
        ("kind", "energy", "location"),
        kind=_choice("The kind of light.", "point", "sun", "spot", "area"),
        energy=_number("Watts (sun: W/m2).", 0, 100000, 100, 500, 3),
        location=LOCATION,
        look_at=LOOK_AT,
        rotation=ROTATION,
        color={**COLOR, "maxItems": 3, "examples": [[1, 1, 1], [1, 0.9, 0.8]]},
        size=_number("Side of an area light, or radius of a point or spot, in metres.", 0, 100, 0.5, 1),
        name=_name(),
    ),
    _tool(
        "set_camera",
        "Place the scene's camera, making it if there is none. It looks along its own -Z axis: give look_at or "
        "rotation.",
        ("location",),
        location=LOCATION,
        look_at=LOOK_AT,
        rotation=ROTATION,
        focal_length=_number("In millimetres, on a 36 mm sensor (default 50).", 5, 500, 35, 50, 85),
        name=_name(),
    ),
    _tool(
        "render",
        "Pictures of the scene: through its camera with its lights, or from outside (front is seen along +Y) with a "
        "lamp of the viewer's own.",
        views={
            "type": "array",
            "items": {"enum": list(VIEWS)},
            "minItems": 1,
            "maxItems": 4,
            "description": "One picture for each (default: camera).",
            "examples": [["iso"], ["front", "top"]],
        },
        size=_whole("Pixels of the longer side (default 256).", 64, 512, 64, 128),
        samples=_whole("Samples a pixel (default 8).", 1, 16, 1, 4),
    ),
    _tool("submit", "Hand the scene in as it is. This ends the task."),
)

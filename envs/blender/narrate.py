"""What the agent reads after a call: each result of the worker as a few plain lines. No clock, no addresses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Data = Mapping[str, Any]


def figures(values: Sequence[float], digits: int = 4) -> str:
    """`(0.6, -0.35, 0.735)`: short decimals without a negative zero."""
    return f"({', '.join(f'{round(value, digits) + 0.0:g}' for value in values)})"


def line(item: Data) -> str:
    """One object in one line, with all that a next call may need."""
    parts = [f"#{item['id']} {item['name']!r} {item['type']}", f"location {figures(item['location'])}"]
    if any(item["rotation"]):
        parts.append(f"rotation {figures(item['rotation'])}")
    if item["type"] == "mesh":
        parts.append(f"dimensions {figures(item['dimensions'], 5)} m")
        if list(item["scale"]) != [1, 1, 1]:
            parts.append(f"scale {figures(item['scale'])}")
        parts.append(f"{item['vertices']} vertices, {item['faces']} faces")
        if item["modifiers"]:
            parts.append(f"live modifiers: {', '.join(item['modifiers'])}")
        parts.append(f"material: {', '.join(item['materials']) or 'none'}")
    elif item["type"] == "light":
        parts.append(f"{item['kind']}, {item['energy']:g} {'W/m2' if item['kind'] == 'sun' else 'W'}")
    elif item["type"] == "camera":
        parts.append(f"{item['focal_length']:g} mm{', active' if item['active'] else ''}")
    if item["hidden"]:
        parts.append("hidden")
    return "; ".join(parts)


def scene(result: Data) -> str:
    """All objects, and the picture's size."""
    width, height = result["resolution"]
    items = result["objects"]
    head = (
        f"The scene has {len(items)} object{'' if len(items) == 1 else 's'}; its picture is {width} x {height} pixels."
    )
    return "\n".join([head, *(line(item) for item in items)])


def topology(result: Data) -> str:
    """How closed a mesh is, in one line."""
    faults = {
        "open edges": result["boundary_edges"],
        "edges with more than two faces": result["overfull_edges"],
        "edges whose two faces are wound against each other": result["uneven_edges"],
        "loose vertices": result["loose_vertices_left"],
    }
    told = ", ".join(f"{count} {name}" for name, count in faults.items() if count) or "no open or overfull edges"
    return f"Mesh: {told}; {result['parts']} unconnected part{'' if result['parts'] == 1 else 's'}."


def measured(result: Data) -> str:
    """Sizes, closedness and distance."""
    lines = [
        line(result["object"]),
        f"Box in the world: {figures(result['box_min'], 5)} to {figures(result['box_max'], 5)} m.",
    ]
    if "volume" in result:
        inside_out = " (negative: it is turned inside out)" if result["volume"] < 0 else ""
        lines.append(f"Volume {result['volume']:.6g} m3{inside_out}, area {result['area']:.6g} m2.")
        lines.append(topology(result))
    if "distance" in result:
        other = result["other"]
        lines.append(f"Smallest distance to #{other['id']} {other['name']!r}: {result['distance']:.6g} m.")
    return "\n".join(lines)


def cleaned(result: Data) -> str:
    """What a repair changed."""
    return "\n".join(
        [
            f"Merged {result['merged_vertices']} vertices, deleted {result['loose_vertices']} loose vertices, "
            f"filled {result['filled_holes']} holes.",
            line(result["object"]),
            topology(result),
        ]
    )


def combined(result: Data) -> str:
    """A boolean's result."""
    told = [line(result["object"])]
    if "volume" in result:
        told.append(f"Volume {result['volume_before']:.6g} m3 before, {result['volume']:.6g} m3 now.")
    told.append("The operand was deleted." if result["operand_after"] == "delete" else "The operand was kept.")
    return "\n".join(told)


def tell(name: str, result: Data) -> str:
    """The text for tool `name`."""
    if name == "scene_info":
        return scene(result)
    if name == "measure":
        return measured(result)
    if name == "clean_mesh":
        return cleaned(result)
    if name == "boolean":
        return combined(result)
    if name == "delete":
        return f"Deleted #{result['id']} {result['deleted']!r}."
    if name == "render":
        return f"Pictures, in this order: {', '.join(result['views'])}."
    head = "Added" if name.startswith("add_") and name != "add_modifier" else "Now"
    lines = [f"{head}: {line(result['object'])}"] if "object" in result else []
    lines += [f"New: {line(item)}" for item in result.get("objects", ())]
    return "\n".join(lines)

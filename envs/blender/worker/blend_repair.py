"""Repairing, splitting and measuring meshes."""

import math
from collections import Counter

import bmesh
import bpy
from blend_crossings import touches
from blend_scene import (
    ID,
    Failed,
    Illegal,
    check_budget,
    corners,
    depsgraph,
    describe,
    find,
    link,
    objects,
    plain,
    refuse_operand,
    rendered,
    size_of,
    update,
)
from mathutils.bvhtree import BVHTree

MAX_MEASURED_VERTICES = 20_000
MAX_PARTS = 64


def clean_mesh(object, merge_distance=0.0, delete_loose=False, fill_holes=0, recalculate_normals=False):
    """Repair a mesh, in this order: merge near vertices, delete loose parts, fill holes, turn the normals outward."""
    item = find(object, "MESH")
    refuse_operand(item, "change")
    bm = bmesh.new()
    try:
        bm.from_mesh(item.data)
        before = (len(bm.verts), len(bm.faces))
        if merge_distance > 0:
            bmesh.ops.remove_doubles(bm, verts=bm.verts[:], dist=merge_distance)
            bmesh.ops.dissolve_degenerate(bm, dist=merge_distance / 10, edges=bm.edges[:])
        merged = len(bm.verts)
        if delete_loose:
            bmesh.ops.delete(bm, geom=[edge for edge in bm.edges if not edge.link_faces], context="EDGES")
            bmesh.ops.delete(bm, geom=[vert for vert in bm.verts if not vert.link_faces], context="VERTS")
        filled = 0
        if fill_holes:
            rim = [edge for edge in bm.edges if edge.is_boundary]
            filled = len(bmesh.ops.holes_fill(bm, edges=rim, sides=fill_holes)["faces"])
        if recalculate_normals:
            bmesh.ops.recalc_face_normals(bm, faces=bm.faces[:])
        if not bm.faces:
            raise Failed("Not done: no face would be left. The scene is unchanged.")
        changed = {
            "merged_vertices": before[0] - merged,
            "loose_vertices": merged - len(bm.verts) if delete_loose else 0,
            "filled_holes": filled,
        }
        bm.to_mesh(item.data)
    finally:
        bm.free()
    item.data.update()
    update()
    return {"object": describe(item), **changed, **topology(item)}


def topology(item):
    """How closed an object's evaluated mesh is, edge by edge of its triangles: as it is judged and sliced."""
    data = item.evaluated_get(depsgraph()).data
    data.calc_loop_triangles()
    triangles = [tuple(triangle.vertices) for triangle in data.loop_triangles]
    edges = Counter((one[at], one[(at + 1) % 3]) for one in triangles for at in range(3))
    uses = Counter(tuple(sorted(edge)) for edge in edges.elements())
    bm = bmesh.new()
    try:
        bm.from_mesh(data)
        parts = len(_parts(bm))
    finally:
        bm.free()
    return {
        "boundary_edges": sum(count == 1 for count in uses.values()),
        "overfull_edges": sum(count > 2 for count in uses.values()),
        "uneven_edges": sum(count == 2 and edges[edge] != 1 for edge, count in uses.items()),
        "loose_vertices_left": len(data.vertices) - len({at for one in triangles for at in one}),
        "parts": parts,
    }


def _parts(bm):
    """The vertices of each connected part, in the order of their first vertex."""
    bm.verts.index_update()
    seen, parts = set(), []
    for start in bm.verts:
        if start.index in seen:
            continue
        seen.add(start.index)
        part, stack = [], [start]
        while stack:
            vert = stack.pop()
            part.append(vert)
            for edge in vert.link_edges:
                other = edge.other_vert(vert)
                if other.index not in seen:
                    seen.add(other.index)
                    stack.append(other)
        parts.append(part)
    return parts


def separate_parts(object):
    """Split an object's unconnected parts into objects of their own; the largest stays in the object."""
    item = find(object, "MESH")
    refuse_operand(item, "change")
    if item.modifiers:
        raise Illegal("Apply or clear the object's modifiers first.")
    bm = bmesh.new()
    try:
        bm.from_mesh(item.data)
        parts = sorted(_parts(bm), key=len, reverse=True)
        if len(parts) < 2:
            raise Illegal(f"#{object} is one connected part.")
        if len(parts) > MAX_PARTS:
            raise Illegal(f"#{object} has {len(parts)} parts; at most {MAX_PARTS} can be separated.")
        check_budget(0, len(parts) - 1)
        belongs = {vert.index: number for number, part in enumerate(parts) for vert in part}
    finally:
        bm.free()
    meshes = [_only_part(item.data, belongs, number) for number in range(len(parts))]
    old = item.data
    item.data = meshes[0]
    if old.users == 0:
        bpy.data.meshes.remove(old)
    made = []
    for data in meshes[1:]:
        copy = item.copy()
        copy.data = data
        copy.name = item.name
        made.append(link(copy))
    update()
    return {"object": describe(item), "objects": [describe(copy) for copy in made]}


def _only_part(data, belongs, number):
    copy = data.copy()
    bm = bmesh.new()
    try:
        bm.from_mesh(copy)
        bm.verts.index_update()
        bmesh.ops.delete(bm, geom=[vert for vert in bm.verts if belongs[vert.index] != number], context="VERTS")
        bm.to_mesh(copy)
    finally:
        bm.free()
    copy.update()
    return copy


def measure(object, other=None):
    """Sizes of one object, how closed it is, and its distance to another."""
    item = find(object)
    low, high = corners(item)
    told = {"object": describe(item), "box_min": plain(low), "box_max": plain(high), "size": plain(size_of(item))}
    if item.type == "MESH":
        bm = bmesh.new()
        try:
            bm.from_mesh(item.evaluated_get(depsgraph()).data)
            bm.transform(item.matrix_world)
            if item.matrix_world.determinant() < 0:
                bmesh.ops.reverse_faces(bm, faces=bm.faces[:])
            told["volume"] = round(bm.calc_volume(signed=True), 9)
            told["area"] = round(math.fsum(face.calc_area() for face in bm.faces), 9)
        finally:
            bm.free()
        told |= topology(item)
    if other is not None:
        told["other"] = describe(find(other))
        told["distance"] = _distance(item, find(other))
    return told


def _world_mesh(item):
    data = item.evaluated_get(depsgraph()).data
    data.calc_loop_triangles()
    if len(data.vertices) > MAX_MEASURED_VERTICES:
        raise Illegal(f"A distance is measured between meshes of at most {MAX_MEASURED_VERTICES} vertices.")
    points = [item.matrix_world @ vertex.co for vertex in data.vertices]
    return points, [tuple(triangle.vertices) for triangle in data.loop_triangles]


def _distance(item, other):
    """Between two surfaces, 0 where they cross; between origins when one is no mesh. Metres."""
    if item.type != "MESH" or other.type != "MESH":
        return round((item.matrix_world.translation - other.matrix_world.translation).length, 6)
    (points, triangles), (points_b, triangles_b) = _world_mesh(item), _world_mesh(other)
    if not triangles or not triangles_b:
        raise Illegal("A distance needs two objects with faces.")
    tree, tree_b = BVHTree.FromPolygons(points, triangles), BVHTree.FromPolygons(points_b, triangles_b)
    if touches(points, triangles, tree_b):
        return 0.0
    ways = [tree_b.find_nearest(point)[3] for point in points] + [tree.find_nearest(point)[3] for point in points_b]
    return round(min(way for way in ways if way is not None), 6)


def boxes():
    """The box around everything that is rendered, in the world, or None when there is none."""
    shown = rendered()
    spans = [corners(item) for item in objects() if item.type == "MESH" and item.name in shown and item.get(ID)]
    if not spans:
        return None
    low = [min(span[0][axis] for span in spans) for axis in range(3)]
    high = [max(span[1][axis] for span in spans) for axis in range(3)]
    return low, high


OPERATIONS = {
    "clean_mesh": clean_mesh,
    "separate_parts": separate_parts,
    "measure": measure,
}

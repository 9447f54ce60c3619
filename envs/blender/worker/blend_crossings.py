"""Whether surfaces cut through each other: asked in pieces, because the list of all pairs can fill any memory.

Only what goes through a triangle is a crossing: neighbours, touching faces and the rounding of single precision are
none. Two triangles that share a vertex are not asked.
"""

from mathutils.bvhtree import BVHTree

CHUNK = 16
MAX_PAIRS = 1_000_000
MIN_DEPTH = 1e-7
ROUNDING = 4e-7
"""Single precision is good to 1.2e-7 of a coordinate; a vertex that was computed may be off by some of those."""


def cuts_itself(places, triangles, scale=1.0):
    """Whether two triangles pierce each other, deeper than 1e-7 m and than their rounding; None when there are too
    many pairs to ask. `scale`: metres in a unit of `places`.
    """
    depth = max(MIN_DEPTH / max(scale, 1e-12), ROUNDING * max((abs(x) for place in places for x in place), default=0))
    tree = BVHTree.FromPolygons(places, triangles, all_triangles=True, epsilon=0.0)
    asked = 0
    for chunk, part in _parts(places, triangles):
        for first, second in part.overlap(tree):
            one, other = chunk[first], triangles[second]
            asked += 1
            if not set(one) & set(other) and _cut([places[at] for at in one], [places[at] for at in other], depth):
                return True
        if asked > MAX_PAIRS:
            return None
    return False


def touches(places, triangles, tree):
    """Whether any triangle overlaps or touches one of `tree`."""
    return any(part.overlap(tree) for _, part in _parts(places, triangles))


def _parts(places, triangles):
    """A few triangles at a time, each lot with a tree of its own."""
    for start in range(0, len(triangles), CHUNK):
        chunk = triangles[start : start + CHUNK]
        flat = [places[at] for triangle in chunk for at in triangle]
        faces = [(3 * at, 3 * at + 1, 3 * at + 2) for at in range(len(chunk))]
        yield chunk, BVHTree.FromPolygons(flat, faces, all_triangles=True, epsilon=0.0)


def _cut(one, other, depth):
    return any(
        _pierces(triangle[at], triangle[(at + 1) % 3], target, depth)
        for triangle, target in ((one, other), (other, one))
        for at in range(3)
    )


def _pierces(start, end, triangle, depth):
    """Whether a segment goes through a triangle with both its ends farther than `depth` from the plane."""
    a, b, c = triangle
    normal = _cross(_minus(b, a), _minus(c, a))
    size = _dot(normal, normal) ** 0.5
    if size == 0:
        return False
    above, below = _dot(normal, _minus(start, a)) / size, _dot(normal, _minus(end, a)) / size
    if above * below >= 0 or min(abs(above), abs(below)) <= depth:
        return False
    share = above / (above - below)
    point = tuple(u + share * (v - u) for u, v in zip(start, end, strict=True))
    return all(_dot(normal, _cross(_minus(v, u), _minus(point, u))) > 0 for u, v in ((a, b), (b, c), (c, a)))


def _minus(a, b):
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2])


def _cross(a, b):
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def _dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]

"""Target solids of checks, built outside Blender."""

from __future__ import annotations

from collections.abc import Sequence

import manifold3d

from .shapes import Shape

SIDES = 128
"""Sides of a round target; a 64-sided part is 0.1 % short of it."""


def solid_of(shape: Shape) -> manifold3d.Manifold:
    """This shape alone, in its place."""
    if shape.shape == "box":
        assert shape.size is not None
        made = manifold3d.Manifold.cube(shape.size, True)
    elif shape.shape == "sphere":
        assert shape.diameter is not None
        made = manifold3d.Manifold.sphere(shape.diameter / 2, SIDES)
    else:
        assert shape.diameter is not None
        assert shape.height is not None
        top = shape.diameter if shape.top_diameter is None else shape.top_diameter
        made = manifold3d.Manifold.cylinder(shape.height, shape.diameter / 2, top / 2, SIDES, True)
    if shape.bore is not None:
        assert shape.height is not None
        made = made - manifold3d.Manifold.cylinder(2 * shape.height, shape.bore / 2, shape.bore / 2, SIDES, True)
    return made.rotate(shape.rotation).translate(shape.center)


def build(shapes: Sequence[Shape]) -> manifold3d.Manifold:
    """The target: the first shape, then each further one added to, subtracted from or intersected with it."""
    made = solid_of(shapes[0])
    for shape in shapes[1:]:
        if shape.op == "add":
            made = made + solid_of(shape)
        elif shape.op == "subtract":
            made = made - solid_of(shape)
        else:
            made = made ^ solid_of(shape)
    return made

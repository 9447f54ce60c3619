"""Target solids of checks as data: boxes, cylinders, cones and spheres, added, subtracted or intersected in order."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

Triple = tuple[float, float, float]


class Shape(BaseModel):
    """One step of a target. Metres and degrees; round shapes stand along Z before `rotation` (Euler XYZ).

    `bore`: the diameter of a hole through the middle of a cylinder, which makes it a ring.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)

    shape: Literal["box", "cylinder", "cone", "sphere"]
    op: Literal["add", "subtract", "intersect"] = "add"
    center: Triple = (0.0, 0.0, 0.0)
    rotation: Triple = (0.0, 0.0, 0.0)
    size: Triple | None = None
    diameter: float | None = Field(default=None, gt=0, le=1000)
    height: float | None = Field(default=None, gt=0, le=1000)
    top_diameter: float | None = Field(default=None, ge=0, le=1000)
    bore: float | None = Field(default=None, gt=0, le=1000)

    @model_validator(mode="after")
    def _complete(self) -> Self:
        needed = {
            "box": {"size"},
            "cylinder": {"diameter", "height"},
            "cone": {"diameter", "height", "top_diameter"},
            "sphere": {"diameter"},
        }[self.shape]
        sizes = ("size", "diameter", "height", "top_diameter")
        given = {name for name in sizes if getattr(self, name) is not None}
        if given != needed:
            raise ValueError(f"a {self.shape} takes {', '.join(sorted(needed))}")
        if self.size is not None and any(not 0 < side <= 1000 for side in self.size):
            raise ValueError("each side of a box lies between 0 and 1000 m")
        if self.bore is not None and (self.shape != "cylinder" or self.diameter is None or self.bore >= self.diameter):
            raise ValueError("a bore is a cylinder's, and smaller than its diameter")
        return self

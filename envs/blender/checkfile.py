"""`tests/checks.toml`: what a finished scene must be, as typed checks with weights, gates and reasons.

    [[check]]
    name = "top.size"
    kind = "dimensions"
    objects = "Tabletop"
    size = [1.2, 0.7, 0.03]
    tolerance_m = 0.001
    weight = 2

`objects` is a glob over the names of visible meshes. A `gate` that is not fully passed makes the whole reward 0; at
least one gate must fail in the untouched start scene, so that doing nothing scores 0.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from tradeschool.errors import TaskError, did_you_mean
from tradeschool.tomlfile import read_toml

from .shapes import Shape, Triple

Pair = tuple[float, float]


class Check(BaseModel):
    """What every check has. `reason` is the author's explanation, told with the figures when a check is not passed."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)

    name: str = Field(pattern=r"^[a-z0-9][a-z0-9._-]{0,63}$")
    kind: str
    weight: float = Field(default=1.0, ge=0, le=1000)
    gate: bool = False
    reason: str = ""

    @model_validator(mode="after")
    def _ranges(self) -> Self:
        for field, value in self:
            numbers = list(value) if isinstance(value, tuple) and len(value) == 2 else []
            if all(isinstance(number, int | float) for number in numbers) and numbers != sorted(numbers):
                raise ValueError(f"{field}: the lower bound {numbers[0]} is above the upper one {numbers[1]}")
        return self


class CountCheck(Check):
    """How many visible objects of a type match. Full inside [min, max], else 0."""

    objects: str
    type: Literal["mesh", "light", "camera"] = "mesh"
    min: int = Field(default=1, ge=0)
    max: int | None = Field(default=None, ge=0)


class OnlyCheck(Check):
    """No mesh, hidden or not, but those that match one of the globs. 1 or 0."""

    objects: tuple[str, ...] = Field(min_length=1)


class DimensionsCheck(Check):
    """The world-axis box of each matching object has this size, m. Value: the share of objects that do."""

    objects: str
    size: Triple
    tolerance_m: float = Field(gt=0)


class PlacesCheck(Check):
    """The matching objects stand at these places, one each. Value: places filled over the larger of both numbers.

    `anchor` is the point of the object's world box (or its origin); `axes` names those that count.
    """

    objects: str
    positions: tuple[Triple, ...] = Field(min_length=1, max_length=64)
    tolerance_m: float = Field(gt=0)
    anchor: Literal["center", "bottom", "top", "origin"] = "center"
    axes: str = Field(default="xyz", pattern=r"^x?y?z?$", min_length=1)


class DistanceCheck(Check):
    """The smallest gap between two solids lies in `range_m`, and they do not overlap. 1 or 0."""

    objects: str
    other: str
    range_m: Pair


class OnTopCheck(Check):
    """Each matching object rests on `other`: its underside within `tolerance_m` of the other's top, and at least
    `share` of its footprint (as a box) over it. Value: the share of objects that do.
    """

    objects: str
    other: str
    tolerance_m: float = Field(gt=0)
    share: float = Field(default=0.99, gt=0, le=1)


class VolumeCheck(Check):
    """The union of the matching solids has this volume, m3, within a relative `tolerance`. 1 or 0."""

    objects: str
    volume_m3: float = Field(gt=0)
    tolerance: float = Field(gt=0, lt=1)


class SolidCheck(Check):
    """Each matching object is watertight, wound outward, of exactly `bodies` bodies none of which overlaps or lies
    inside another, with no loose edges and no surface cutting through itself; `genus`: its number of through holes.
    Value: the share of objects that are.
    """

    objects: str
    bodies: int = Field(default=1, ge=1)
    genus: int | None = Field(default=None, ge=0)


class IouCheck(Check):
    """Overlap of the matching solids, united first, with the target: full at IoU >= `full`, 0 at <= `zero`, straight
    in between. 0 when bodies overlap each other: doubled material is no better fit.
    """

    objects: str
    target: tuple[Shape, ...] = Field(min_length=1, max_length=64)
    full: float = Field(default=0.98, gt=0, le=1)
    zero: float = Field(default=0.5, ge=0, lt=1)

    @model_validator(mode="after")
    def _order(self) -> Self:
        if self.zero >= self.full:
            raise ValueError("zero must be below full")
        if self.target[0].op != "add":
            raise ValueError("the first shape of a target has op = 'add'")
        return self


class ProbeCheck(Check):
    """How much of a probe's volume the matching solids fill: full inside `filled` (shares), else 0.

    A wall is held between two probes: one inside of it that must be empty, and a cylinder with a `bore` around it.
    """

    objects: str
    probe: Shape
    filled: Pair


class MaterialCheck(Check):
    """Each matching object shows, on at least `share` of its area, a material of these values.

    Value: the share of given values that fit, the mean over the objects. Colours are linear RGB.
    """

    objects: str
    base_color: Triple | None = None
    color_tolerance: float = Field(default=0.03, gt=0)
    metallic: float | None = Field(default=None, ge=0, le=1)
    roughness: float | None = Field(default=None, ge=0, le=1)
    tolerance: float = Field(default=0.05, gt=0)
    share: float = Field(default=0.99, gt=0, le=1)

    @model_validator(mode="after")
    def _something(self) -> Self:
        if self.base_color is None and self.metallic is None and self.roughness is None:
            raise ValueError("give at least one of base_color, metallic, roughness")
        return self


class LightCheck(Check):
    """Between `min` and `max` lights are of this kind, energy and place, and aimed at an object. 1 or 0.

    `within` is a box: two corners in metres, the lower first. `aimed_at` and `max_angle_deg`: the angle between where
    the light shines and the middle of that object; a point light shines everywhere.
    """

    light: Literal["point", "sun", "spot", "area"] | None = None
    min: int = Field(default=1, ge=0)
    max: int | None = Field(default=None, ge=0)
    energy: Pair | None = None
    within: tuple[Triple, Triple] | None = None
    aimed_at: str | None = None
    max_angle_deg: float = Field(default=15.0, gt=0, le=180)


class CameraCheck(Check):
    """The active camera frames the objects that match the globs. Value: the share of the given conditions that hold;
    0 when a glob matches none, or they are hidden, or not wholly before the camera and inside the picture less
    `margin` on each side.

    `fill`: the larger side of their place in the picture, as a share of it. `center_tolerance`: how far the middle of
    that place may lie from the picture's. `elevation_deg`: of the camera seen from the objects' middle.
    `visible_share`: of faces turned to the camera, those that nothing hides.
    """

    frames: tuple[str, ...] = Field(min_length=1)
    margin: float = Field(default=0.0, ge=0, lt=0.5)
    fill: Pair | None = None
    center_tolerance: float | None = Field(default=None, gt=0)
    focal_length_mm: Pair | None = None
    elevation_deg: Pair | None = None
    visible_share: float | None = Field(default=None, gt=0, le=1)


KINDS: Mapping[str, type[Check]] = MappingProxyType(
    {
        "count": CountCheck,
        "only": OnlyCheck,
        "dimensions": DimensionsCheck,
        "places": PlacesCheck,
        "distance": DistanceCheck,
        "on_top": OnTopCheck,
        "volume": VolumeCheck,
        "solid": SolidCheck,
        "iou": IouCheck,
        "probe": ProbeCheck,
        "material": MaterialCheck,
        "light": LightCheck,
        "camera": CameraCheck,
    }
)


def load_checks(path: Path) -> tuple[Check, ...]:
    """The checks of a task. Raises TaskError naming the file, the line, the check and the field."""
    data = read_toml(path)
    stray = sorted(set(data) - {"check"})
    if stray:
        raise TaskError(f"{path}: unknown field {stray[0]!r}.{did_you_mean(stray[0], ['check'])}")
    entries = data.get("check")
    if not isinstance(entries, list) or not entries:
        raise TaskError(f"{path}: has no [[check]]. Add at least one.")
    lines = [number for number, line in enumerate(path.read_text("utf-8").splitlines(), 1) if _HEADER.match(line)]
    where = [f"{path}:{line}" for line in lines] if len(lines) == len(entries) else [str(path)] * len(entries)
    checks = tuple(_load(place, entry) for place, entry in zip(where, entries, strict=True))
    names = [check.name for check in checks]
    for number, name in enumerate(names):
        if name in names[:number]:
            raise TaskError(f"{where[number]}: there are two checks named {name!r}. Rename one.")
    if not any(check.gate for check in checks):
        raise TaskError(f"{path}: no check is a gate. Mark one that fails in the start scene with gate = true.")
    return checks


_HEADER = re.compile(r"\s*\[\[\s*check\s*\]\]")


def _load(where: str, entry: Any) -> Check:
    if not isinstance(entry, dict):
        raise TaskError(f"{where}: a check is a table: write [[check]].")
    kind = entry.get("kind")
    called = f"check {str(entry.get('name', ''))!r}"
    if not isinstance(kind, str) or kind not in KINDS:
        raise TaskError(f"{where}: {called}: there is no kind {kind!r}.{did_you_mean(str(kind), KINDS)}")
    model = KINDS[kind]
    try:
        return model.model_validate_json(json.dumps(entry, default=str))
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        field = ".".join(str(part) for part in fault["loc"])
        if fault["type"] == "extra_forbidden":
            known = Shape.model_fields if len(fault["loc"]) > 1 else model.model_fields
            hint = did_you_mean(field.rpartition(".")[2], known)
            raise TaskError(f"{where}: {called}: unknown field {field!r}.{hint}") from None
        if fault["type"] == "missing":
            raise TaskError(f"{where}: {called}: field {field!r} is missing. Add it.") from None
        raise TaskError(f"{where}: {called}: field {field or kind!r}: {fault['msg']}.") from None

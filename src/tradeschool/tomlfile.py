"""Read a TOML file into a pydantic model, with errors that name file, line, field and remedy."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from tradeschool.errors import TaskError, did_you_mean

MAX_BYTES = 1_000_000
M = TypeVar("M", bound=BaseModel)


def read_toml(path: Path) -> dict[str, Any]:
    """The file's content. Raises TaskError when it is missing, over 1 MB, not UTF-8 or not TOML."""
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise TaskError(f"{path}: cannot be read ({error.strerror}).") from error
    if len(raw) > MAX_BYTES:
        raise TaskError(f"{path}: {len(raw)} bytes is over the limit of {MAX_BYTES}.")
    try:
        return tomllib.loads(raw.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise TaskError(f"{path}: is not UTF-8 (byte {error.start}). Save it as UTF-8.") from error
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise TaskError(f"{path}: is not valid TOML: {error}.") from error


def read_model(path: Path, model: type[M]) -> M:
    """The file as `model`. Raises TaskError for the first fault found."""
    data = read_toml(path)
    try:
        return model.model_validate(_tuples(data))
    except ValidationError as error:
        raise TaskError(_explain(path, model, error)) from None


def _tuples(value: Any) -> Any:
    # strict models want tuples where TOML gives lists
    if isinstance(value, dict):
        return {key: _tuples(item) for key, item in value.items()}
    if isinstance(value, list):
        return tuple(_tuples(item) for item in value)
    return value


def _explain(path: Path, model: type[BaseModel], error: ValidationError) -> str:
    fault = error.errors(include_url=False)[0]
    place = [str(part) for part in fault["loc"]]
    field = ".".join(place)
    line = _line_of(path.read_text("utf-8"), place)
    where = f"{path}:{line}" if line else str(path)
    if fault["type"] == "extra_forbidden":
        return f"{where}: unknown field {field!r}.{did_you_mean(place[-1], _fields_at(model, place[:-1]))}"
    if fault["type"] == "missing":
        return f"{where}: field {field!r} is missing. Add it."
    return f"{where}: field {field!r}: {fault['msg']} (got {fault['input']!r})."


def _fields_at(model: type[BaseModel], place: list[str]) -> list[str]:
    current: Any = model
    for name in place:
        info = current.model_fields.get(name)
        if info is None or not (isinstance(info.annotation, type) and issubclass(info.annotation, BaseModel)):
            return []
        current = info.annotation
    return list(current.model_fields)


def _line_of(text: str, place: list[str]) -> int | None:
    """The line that sets the deepest part of `place` that the text has, by a scan over tables and keys."""
    table: list[str] = []
    best: tuple[int, int] | None = None
    for number, line in enumerate(text.splitlines(), 1):
        header = re.match(r"\s*\[{1,2}\s*([^\[\]]+?)\s*\]{1,2}", line)
        key = re.match(r"\s*([A-Za-z0-9_.\-\"']+)\s*=", line)
        if header:
            table = [part.strip(" \"'") for part in header.group(1).split(".")]
            here = table
        elif key:
            here = [*table, *(part.strip("\"'") for part in key.group(1).split("."))]
        else:
            continue
        depth = len(here)
        if here == place[:depth] and (best is None or depth > best[1]):
            best = (number, depth)
    return best[0] if best else None

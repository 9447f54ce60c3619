"""The tools' schemas are valid, take their own samples, and have an operation of the same name and arguments."""

from __future__ import annotations

import ast
from pathlib import Path

import jsonschema
import numpy as np
import pytest

import tradeschool.envs.blender as blender
from tradeschool.envs.blender.tools import TOOLS
from tradeschool.spaces import ToolCallSpace, sample_schema
from tradeschool.tools import MalformedCall, parse_call

WORKER = Path(blender.__path__[0]) / "worker"


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_schemas_are_valid_and_described(tool) -> None:
    jsonschema.Draft202012Validator.check_schema(dict(tool.parameters))
    assert tool.description.endswith(".")
    assert all(field.get("description") for field in tool.parameters["properties"].values())


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_samples_and_examples_fit(tool) -> None:
    rng = np.random.default_rng(0)
    for _ in range(50):
        parse_call({"name": tool.name, "arguments": sample_schema(tool.parameters, rng)}, TOOLS)
    for field in tool.parameters["properties"].values():
        for example in field.get("examples", ()):
            jsonschema.validate(example, field)


def test_the_space_contains_its_samples() -> None:
    space = ToolCallSpace(TOOLS, seed=3)
    assert all(space.sample() in space for _ in range(100))


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("add_primitive", {"kind": "cube", "dimensions": [1, 1]}),
        ("add_primitive", {"kind": "teapot", "dimensions": [1, 1, 1]}),
        ("add_primitive", {"kind": "cube", "dimensions": [1, 1, 1e9]}),
        ("transform", {"object": "Cube"}),
        ("set_material", {"object": 1, "base_color": [2, 0, 0]}),
        ("duplicate", {"object": 1, "count": 100000}),
        ("rename", {"object": 1, "name": "\ud800"}),
        ("rename", {"object": 1, "name": ""}),
    ],
)
def test_wrong_arguments_are_malformed(name: str, arguments: dict) -> None:
    with pytest.raises(MalformedCall, match=name):
        parse_call({"name": name, "arguments": arguments}, TOOLS)


def test_operations_take_the_tools_arguments() -> None:
    """Read from the worker's source, which only Blender's own interpreter can import."""
    functions = {
        node.name: node
        for path in WORKER.glob("blend_*.py")
        for node in ast.parse(path.read_text("utf-8")).body
        if isinstance(node, ast.FunctionDef)
    }
    for tool in TOOLS:
        if tool.name == "submit":
            continue
        given = functions[tool.name].args
        required = [argument.arg for argument in given.args[: len(given.args) - len(given.defaults)]]
        assert {argument.arg for argument in given.args} == set(tool.parameters["properties"]), tool.name
        assert set(required) == set(tool.parameters["required"]), tool.name


def test_the_worker_imports_nothing_of_ours() -> None:
    allowed = {
        "array",
        "bmesh",
        "bpy",
        "collections",
        "json",
        "math",
        "mathutils",
        "os",
        "struct",
        "sys",
        "tempfile",
        "traceback",
    }
    own = {path.stem for path in WORKER.glob("*.py")}
    for path in WORKER.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                names = {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                names = {(node.module or "").split(".")[0]}
            else:
                continue
            assert names <= allowed | own, path.name

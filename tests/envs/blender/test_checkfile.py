"""checks.toml is read strictly: every fault names the file, the line, the check, the field and the remedy."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tradeschool.envs.blender.checkfile import KINDS, load_checks
from tradeschool.envs.blender.checks import JUDGES
from tradeschool.errors import TaskError

GOOD = '[[check]]\nname = "a"\nkind = "count"\nobjects = "Box"\ngate = true\n'


def write(folder: Path, text: str) -> Path:
    path = folder / "checks.toml"
    path.write_text(text, "utf-8")
    return path


def test_every_kind_has_a_judge() -> None:
    assert set(KINDS) == set(JUDGES)


def test_a_good_file(tmp_path: Path) -> None:
    (check,) = load_checks(write(tmp_path, GOOD))
    assert (check.name, check.kind, check.weight, check.gate) == ("a", "count", 1.0, True)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "has no \\[\\[check\\]\\]"),
        ("check = 3", "has no \\[\\[check\\]\\]"),
        ("checks = []\n" + GOOD, "unknown field 'checks'. Did you mean 'check'"),
        (GOOD.replace("gate = true", ""), "no check is a gate"),
        (GOOD + GOOD, ":6: there are two checks named 'a'"),
        (GOOD.replace('"count"', '"counts"'), ":1: check 'a': there is no kind 'counts'. Did you mean 'count'"),
        (GOOD + "objekts = 'x'", "unknown field 'objekts'. Did you mean 'objects'"),
        (GOOD.replace('objects = "Box"', ""), "field 'objects' is missing"),
        (GOOD + "min = -1", "field 'min'"),
        (GOOD + "min = '1'", "field 'min'"),
        (GOOD + "weight = nan", "field 'weight'"),
        (GOOD + "weight = -1.0", "field 'weight'"),
        (GOOD + "type = 'mash'", "field 'type'"),
        (GOOD.replace('"a"', '"A B"'), "field 'name'"),
        (GOOD + "when = 2020-01-01", "unknown field 'when'"),
        (
            GOOD + '[[check]]\nname="b"\nkind="distance"\nobjects="A"\nother="B"\nrange_m=[2, 1]',
            ":6: .*range_m: the lower",
        ),
        (GOOD + '[[check]]\nname="b"\nkind="dimensions"\nobjects="A"\nsize=[1, 2]\ntolerance_m=1', "field 'size"),
        (GOOD + '[[check]]\nname="b"\nkind="iou"\nobjects="A"\ntarget=[{shape="box"}]', "a box takes size"),
        (GOOD + '[[check]]\nname="b"\nkind="iou"\nobjects="A"\ntarget=[{shape="ball"}]', "target.0.shape"),
        (
            GOOD + '[[check]]\nname="b"\nkind="iou"\nobjects="A"\ntarget=[{shape="box", size=[1,1,1], sise=1}]',
            "'target.0.sise'. Did you mean 'size'",
        ),
        (
            GOOD + '[[check]]\nname="b"\nkind="probe"\nobjects="A"\nfilled=[0, 1]\n'
            'probe={shape="cylinder", diameter=1, height=1, bore=1.0}',
            "smaller than its diameter",
        ),
        (GOOD + '[[check]]\nname="b"\nkind="material"\nobjects="A"', "at least one of base_color"),
    ],
)
def test_faults_are_named(tmp_path: Path, text: str, why: str) -> None:
    with pytest.raises(TaskError, match=why) as caught:
        load_checks(write(tmp_path, text))
    assert str(tmp_path / "checks.toml") in str(caught.value)
    assert "\n" not in str(caught.value)


@settings(max_examples=100, deadline=None)
@given(st.recursive(st.none() | st.booleans() | st.floats() | st.text(max_size=5), st.lists, max_leaves=5), st.data())
def test_any_value_in_any_field_is_read_or_refused(value: object, data: st.DataObject) -> None:
    from tradeschool.envs.blender import checkfile

    kind = data.draw(st.sampled_from(sorted(KINDS)))
    field = data.draw(st.sampled_from(sorted(KINDS[kind].model_fields)))
    entry = {"name": "a", "kind": kind, "objects": "A", field: value}
    with contextlib.suppress(TaskError):
        assert checkfile._load("checks.toml:1", entry).kind == entry["kind"]

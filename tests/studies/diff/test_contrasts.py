"""Properties in which two runs differ besides their figures."""

from dataclasses import replace

import pytest

from stickler_cli.compare.result import FieldInfo
from stickler_cli.core.locations import parse_field_path
from stickler_cli.studies.diff.answer import contrasts
from .runs import OPTIONS, SIGNATURE, run_of

BASE = run_of()
OTHER = replace(SIGNATURE, digest=f"sha256:{'1' * 64}")


def list_contrasts(new, base=BASE):
    return [
        (contrast.what, contrast.base, contrast.new, contrast.decides)
        for contrast in contrasts(base, new)
    ]


def test_runs_that_differ_in_nothing_have_no_contrast():
    assert list_contrasts(run_of()) == []


@pytest.mark.parametrize(
    ("option", "value", "before", "after", "decides"),
    [
        ("pairing_floor", 0.5, "0.2", "0.5", True),
        ("recall_with_fd", True, "off", "on", True),
        ("extra_fields", "ignore", "fa", "ignore", True),
        ("missing", "skip", "fn", "skip", True),
        ("strict", True, "off", "on", False),
    ],
)
def test_options_decide_but_for_strict(option, value, before, after, decides):
    new = run_of(options=replace(OPTIONS, **{option: value}))

    assert list_contrasts(new) == [(f"option {option}", before, after, decides)]
    assert any(contrast.decides for contrast in contrasts(BASE, new)) is decides


def test_the_schema_decides_by_its_bytes_and_not_by_its_name():
    assert list_contrasts(run_of(schema=replace(SIGNATURE, path="elsewhere.json"))) == []
    changed = run_of(schema=replace(OTHER, path="new.json", model_name="Bill"))

    assert list_contrasts(changed) == [
        ("schema digest", SIGNATURE.digest, OTHER.digest, True),
        ("schema", "order.json", "new.json", False),
        ("model name", "Order", "Bill", False),
    ]
    assert str(contrasts(BASE, changed)[1]) == "schema (order.json in BASE, new.json in NEW)"


def test_the_fields_that_differ_are_told():
    def field(path, threshold):
        return FieldInfo(parse_field_path(path), "leaf", "Exact", threshold, 1.0)

    base = run_of(fields=[field("a", 0.5), field("b", 0.5), field("d", 0.5)])
    new = run_of(fields=[field("b", None), field("c", 0.5), field("d", 0.5)], schema=OTHER)

    assert list_contrasts(new, base)[1:] == [
        ("field a", "declared", "not declared", False),
        ("field b, threshold", "0.5", "none", False),
        ("field c", "not declared", "declared", False),
    ]


def test_another_version_is_told_and_a_run_that_was_interrupted_decides():
    new = run_of(version="9", partial=True)

    assert list_contrasts(new) == [
        ("run", "whole", "interrupted", True),
        ("version", BASE.version, "9", False),
    ]

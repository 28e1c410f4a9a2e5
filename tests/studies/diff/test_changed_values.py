"""Single values that changed between two runs."""

from dataclasses import replace

import pytest

from stickler_cli.compare.plan import Options
from stickler_cli.documents.document_pair import DocumentPair
from stickler_cli.runs.chunk import evaluate_chunk
from stickler_cli.runs.job import Job, OutputsRequested
from stickler_cli.schema.compiler import compile_schema
from stickler_cli.score.errors.error_rows import KeptErrors
from stickler_cli.score.record import Run, SchemaSignature
from stickler_cli.settings.deciding import RunOptions
from stickler_cli.studies.diff.answer import compare_runs
from stickler_cli.studies.diff.changed_values import changed_values, merged_by_whole
from stickler_cli.studies.diff.record import WrongInside

EXACT = {"type": "string", "x-aws-stickler-comparator": "ExactComparator"}
SCHEMA = {
    "type": "object",
    "properties": {
        "id": EXACT,
        "rows": {
            "type": "array",
            "items": {"type": "object", "properties": {"name": EXACT, "unit": EXACT}},
        },
    },
}
PLAN = compile_schema(SCHEMA)
KEPT = OutputsRequested(accounts=True, detail=True)
GT = {"id": "1", "rows": [{"name": "bolt", "unit": "kg"}]}


def run(**predictions):
    pairs = [DocumentPair(name, GT, pred) for name, pred in predictions.items()]
    chunk = evaluate_chunk(Job(PLAN, Options(), requested=KEPT), pairs)
    signature = SchemaSignature("s.json", f"sha256:{'0' * 64}", "S", None)
    return Run(chunk.evaluation, signature, RunOptions(), [], detail=chunk.detail)


def list_changed_values(base, new):
    return [
        (value.document, value.path, value.move.value, value.gt, *value.said)
        for value in changed_values(base, new)
    ]


def test_broken_values_come_first_then_those_wrong_in_another_way_then_fixed_ones():
    base = run(a={**GT, "id": "2"}, b=GT, c={**GT, "id": "3"}, d={**GT, "id": "4"})
    new = run(a=GT, b={**GT, "id": "5"}, c={**GT, "id": "6"}, d={**GT, "id": "4"})

    assert list_changed_values(base, new) == [
        ("b", "id", "broken", '"1"', True, '"5"'),
        ("c", "id", "wrong otherwise", '"1"', '"3"', '"6"'),
        ("a", "id", "fixed", '"1"', '"2"', True),
        ("d", "id", "wrong in the same way", '"1"', '"4"', '"4"'),
    ]


def test_the_flow_adds_up_to_the_values_that_either_run_has_wrong():
    base = run(a={**GT, "id": "2"}, b=GT, c={**GT, "id": "3"}, d={**GT, "id": "4"})
    new = run(a=GT, b={**GT, "id": "5", "rows": []}, c={**GT, "id": "6"}, d={**GT, "id": "4"})

    # The missed item of b has two values.
    assert compare_runs({"x": base}, {"y": new}).flow == {
        "wrong_before": 3,
        "missed_before": 0,
        "invented_before": 0,
        "fixed": 1,
        "wrong_otherwise": 1,
        "wrong_same": 1,
        "broken": 3,
        "wrong_after": 5,
        "missed_after": 2,
        "invented_after": 0,
    }
    assert compare_runs({"x": base}, {"y": replace(new, detail=None)}).flow is None


def test_wrong_values_are_counted_by_kind_in_each_run():
    without_id = {"rows": GT["rows"]}
    longer = {**GT, "rows": [*GT["rows"], {"name": "nut", "unit": "kg"}]}
    flow = compare_runs({"x": run(a=without_id)}, {"y": run(a=longer)}).flow

    # The first run misses the id, the second one invents an item of two values.
    assert (flow["wrong_before"], flow["missed_before"], flow["invented_before"]) == (1, 1, 0)
    assert (flow["wrong_after"], flow["missed_after"], flow["invented_after"]) == (2, 0, 2)


def test_values_inside_failed_items_are_told_and_items_are_not():
    worse = {**GT, "rows": [{"name": "bolt", "unit": "lb"}]}

    assert list_changed_values(run(a=GT), run(a=worse)) == [
        ("a", "rows[0].unit", "broken", '"kg"', True, '"lb"')
    ]


def test_a_missed_value_has_no_other_side():
    assert list_changed_values(run(a=GT), run(a={"rows": GT["rows"]})) == [
        ("a", "id", "broken", '"1"', True, None)
    ]


def test_what_is_only_in_predictions_is_a_value_of_its_own():
    longer = {**GT, "rows": [*GT["rows"], {"name": "nut"}]}

    assert list_changed_values(run(a=longer), run(a=GT)) == [
        ("a", "rows[1].name", "fixed", None, '"nut"', None)
    ]


def test_documents_that_one_run_did_not_compare_say_nothing():
    assert list_changed_values(run(a=GT), run(b={**GT, "id": "2"})) == []


@pytest.mark.parametrize(
    "change", [{"knows_errors": False}, {"errors": KeptErrors(bound=(0.5, "a"))}]
)
def test_runs_that_do_not_know_all_of_their_errors_say_nothing(change):
    run_of_one = run(a=GT)
    other = replace(run_of_one, detail=replace(run_of_one.detail, **change))

    assert changed_values(run_of_one, other) is None
    assert changed_values(replace(run_of_one, detail=None), run_of_one) is None


def test_of_three_runs_values_with_different_answers_are_listed_and_have_no_move():
    wrong = {**GT, "id": "2"}

    # In a the last run is right; in b all three give the same wrong answer.
    values = changed_values(run(a=wrong, b=wrong), run(a=wrong, b=wrong), run(a=GT, b=wrong))

    assert [(value.document, value.move, [*value.said], value.run) for value in values] == [
        ("a", None, ['"2"', '"2"', True], 1)
    ]


def test_several_runs_of_a_side_have_no_single_values():
    first, other = run(a=GT), run(a={**GT, "id": "2"})

    assert len(compare_runs({"x": first}, {"y": other}).values) == 1
    assert compare_runs({"x": first, "z": first}, {"y": other}).values is None


def test_values_of_a_missed_item_are_told_with_it_and_those_of_a_wrong_one_by_themselves():
    worse = {**GT, "rows": [{"name": "bolt", "unit": "lb"}]}
    changed = changed_values(run(a=GT, b=GT), run(a={**GT, "rows": []}, b=worse))

    assert [(value.document, value.path, value.n_values) for value in changed] == [
        ("a", "rows[0].name", 1),
        ("a", "rows[0].unit", 1),
        ("b", "rows[0].unit", 1),
    ]
    assert [
        (value.document, value.path, value.error_class, value.gt, value.n_values, *value.said)
        for value in merged_by_whole(changed)
    ] == [
        ("a", "rows[0]", "missed_item", '{"name":"bolt","unit":"kg"}', 2, True, None),
        ("b", "rows[0].unit", "other", '"kg"', 1, True, '"lb"'),
    ]


def test_an_invented_item_is_one_row_and_a_missed_one_that_was_wrong_is_not():
    nut = {"name": "nut", "unit": "m"}
    longer, worse = {**GT, "rows": [*GT["rows"], nut]}, [{"name": "bolt", "unit": "lb"}]
    base, new = run(a=GT, b={**GT, "rows": worse}), run(a=longer, b={**GT, "rows": []})

    assert [
        (value.document, value.path, value.move.value, value.gt, value.n_values, *value.said)
        for value in merged_by_whole(changed_values(base, new))
    ] == [
        ("a", "rows[1]", "broken", None, 2, None, '{"name":"nut","unit":"m"}'),
        ("b", "rows[0]", "broken", '{"name":"bolt","unit":"kg"}', 1, WrongInside(["unit"]), None),
        ("b", "rows[0].unit", "wrong otherwise", '"kg"', 1, '"lb"', None),
    ]


def test_errors_inside_of_a_whole_that_is_not_listed_have_no_cause_of_their_own():
    (value,) = changed_values(run(a=GT), run(a={**GT, "id": "2"}))

    assert (value.whole, value.run, len(value.cause)) == (None, 1, 20)

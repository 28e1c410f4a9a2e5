"""Causes of two runs, compared: which are new, grew, shrank or are fixed."""

from dataclasses import replace

from stickler_cli.compare.plan import Options
from stickler_cli.documents.document_pair import DocumentPair
from stickler_cli.runs.chunk import evaluate_chunk
from stickler_cli.runs.job import Job, OutputsRequested
from stickler_cli.schema.compiler import compile_schema
from stickler_cli.score.errors.causes import Causes
from stickler_cli.score.record import Run, SchemaSignature
from stickler_cli.settings.deciding import RunOptions
from stickler_cli.studies.diff.answer import compare_runs
from stickler_cli.studies.diff.cause_changes import compare_causes
from stickler_cli.studies.diff.changed_values import changed_values

EXACT = {"type": "string", "x-aws-stickler-comparator": "ExactComparator"}
ROWS = {"type": "array", "items": {"type": "object", "properties": {"name": EXACT, "unit": EXACT}}}
SCHEMA = {"type": "object", "properties": {**dict.fromkeys("vwxyz", EXACT), "rows": ROWS}}
GT = dict(zip("vwxyz", ("north", "south", "east", "west", "up"), strict=True))
GT |= {"rows": [{"name": "bolt", "unit": "kg"}]}
KEPT = OutputsRequested(accounts=True, detail=True)


def run(**predictions):
    pairs = [DocumentPair(name, GT, pred) for name, pred in predictions.items()]
    chunk = evaluate_chunk(Job(compile_schema(SCHEMA), Options(), requested=KEPT), pairs)
    signature = SchemaSignature("s.json", f"sha256:{'0' * 64}", "S", None)
    return Run(chunk.evaluation, signature, RunOptions(), [], detail=chunk.detail)


def without(*names):
    return {name: value for name, value in GT.items() if name not in names}


def changes(base, new):
    causes = compare_runs({"base": base}, {"new": new}).causes
    return causes and [
        (
            cause.field,
            cause.trend.value,
            cause.before["values"],
            cause.fixed,
            cause.broken,
            cause.after["values"],
        )
        for cause in causes
    ]


BASE = run(a=without("x", "v"), b=without("x"), c=without("y"), d=without("z"), e=GT)
NEW = run(a=without("w"), b=without("x"), c=GT, d=without("y"), e=without("y", "z"))


def test_a_cause_is_new_grown_as_large_shrunk_or_fixed_by_the_values_it_lost():
    assert changes(BASE, NEW) == [
        ("y", "grown", 1, 1, 2, 2),
        ("w", "new", 0, 0, 1, 1),
        ("z", "same size", 1, 1, 1, 1),
        ("x", "shrunk", 2, 1, 0, 1),
        ("v", "fixed", 1, 1, 0, 0),
    ]


def test_the_values_of_all_causes_add_up_to_the_flow():
    difference = compare_runs({"base": BASE}, {"new": NEW})

    assert difference.flow is not None
    assert [
        sum(cause.before["values"] for cause in difference.causes),
        sum(cause.fixed for cause in difference.causes),
        sum(cause.broken for cause in difference.causes),
        sum(cause.after["values"] for cause in difference.causes),
    ] == [5, 4, 4, 5]
    assert [difference.flow[key] for key in ("wrong_before", "fixed", "broken", "wrong_after")] == [
        *(5, 4, 4, 5)
    ]


def test_the_errors_of_all_listed_documents_add_up_to_the_flow():
    same = run(a=without("x"), b={**GT, "x": "left"}, c=without("y"), d=GT)
    other = run(a=without("x"), b={**GT, "x": "left"}, c=GT, d=GT)
    difference = compare_runs({"base": same}, {"new": other})

    # a and b have the same wrong value in both runs; c is right in the second run.
    assert [document.id for document in difference.changed_documents] == ["c"]
    assert [document.id for document in difference.unchanged_documents] == ["a", "b"]
    assert [document.id for document in difference.listed_documents] == ["a", "b", "c"]
    assert difference.flow is not None
    for side, total in (("before", 3), ("after", 2)):
        errors = [
            getattr(document_change, f"errors_{side}")
            for document_change in difference.listed_documents
        ]
        assert sum(errors) == difference.flow[f"wrong_{side}"] == total


def test_causes_of_moved_values_have_the_sizes_of_these_values_only():
    left = {**GT, "x": "left"}
    base = run(a=without("rows"), b=without("rows"), c=left, d=left, e=GT)
    new = run(a=without("rows"), b=GT, c=GT, d={**GT, "x": "road"}, e=without("rows"))
    causes = compare_runs({"base": base}, {"new": new}).causes
    assert causes is not None
    sizes = {
        (cause.field, move.value): [tuple(moved.size) for moved in moved_causes]
        for cause in causes
        for move, moved_causes in cause.moved_causes.items()
    }

    # A row has two values. In d, both runs have x wrong: that counts for the cause of the second.
    assert sizes == {
        ("rows", "wrong in the same way"): [(1, 2, 1)],
        ("rows", "fixed"): [(1, 2, 1)],
        ("rows", "broken"): [(1, 2, 1)],
        ("x", "fixed"): [(1, 1, 1)],
        ("x", "wrong otherwise"): [(1, 1, 1)],
    }


def test_a_missed_item_is_one_error_of_all_values_inside_it():
    difference = compare_runs({"base": run(a=GT)}, {"new": run(a={**GT, "rows": []})})
    (cause,) = difference.causes

    assert (cause.field, cause.error_class, cause.broken) == ("rows", "missed_item", 2)
    assert cause.after == {"errors": 1, "values": 2, "documents": 1}


def test_two_values_that_are_alike_everywhere_are_named():
    wrong = {**GT, "x": "right"}
    difference = compare_runs({"base": run(a=wrong, b=GT)}, {"new": run(a=wrong, b=wrong)})
    (cause,) = difference.causes

    assert (cause.ground_truth_value, cause.prediction_value) == ("east", "right")
    assert (cause.trend.value, cause.fixed, cause.broken) == ("grown", 0, 1)


def test_documents_that_one_run_lacks_count_in_no_cause():
    base = run(a=without("x"), b=without("x", "rows"), c=without("rows", "y"))
    new = run(a=without("x"), b=without("rows"))

    # In a and b, the first run misses x twice and an item of two values once.
    assert changes(base, new) == [("rows", "same size", 2, 0, 0, 2), ("x", "shrunk", 2, 1, 0, 1)]


def test_without_single_values_causes_are_known_but_not_what_broke():
    base, new = (replace(side, detail=None) for side in (BASE, NEW))

    assert changes(base, new)[0] == ("y", "grown", 1, None, None, 2)


def test_without_single_values_of_runs_of_other_documents_no_cause_is_known():
    base, new = (replace(side, detail=None) for side in (run(a=GT, b=without("x")), run(a=GT)))

    assert changes(base, new) is None


def test_several_runs_of_a_side_have_no_causes():
    assert compare_runs({"base": BASE, "again": BASE}, {"new": NEW}).causes is None


def test_values_whose_cause_is_unknown_count_in_none():
    values = [replace(value, causes_by_run=("", "")) for value in changed_values(BASE, NEW)]

    assert len(values) > 1
    assert compare_causes([Causes(), Causes()], values) == []


def test_traits_that_one_run_has_joined_are_joined_in_both(monkeypatch):
    monkeypatch.setattr("stickler_cli.score.errors.causes.MAX_TRAITS", 1)
    base = run(a={**GT, "x": "left"}, b=GT, c=GT)
    new = run(a={**GT, "x": "home"}, b={**GT, "x": "road"}, c=GT)

    assert changes(base, new) == [("x", "grown", 1, 0, 1, 2)]

"""Several predictions of the same documents: fields that agree, and values that differ."""

from dataclasses import replace

import pytest

from stickler_cli.score.errors.error_classes import ErrorClass
from stickler_cli.score.errors.error_rows import Error
from stickler_cli.studies import repeats
from stickler_cli.studies.repeats import repeats_of
from tests.studies.diff.runs import MISSED, OPTIONS, RIGHT, WRONG, document, run_of, single


def wrong(name, path, pred, gt="x", values=None):
    """Return an error of a document: a missed value if `pred` is None, else a wrong value."""
    outcome = "FD" if pred is not None else "FN"
    return Error(name, path, path, outcome, ErrorClass.OTHER, gt, pred, values=values)


def flags(text, *errors):
    documents = (single(f"d{n}", flag == "1") for n, flag in enumerate(text))
    return replace(run_of(*documents), first_non_matches=errors)


def test_a_field_is_right_in_all_runs_in_any_or_in_none():
    repeats_found = repeats_of({"a": flags("1100"), "b": flags("1010"), "c": flags("1000")})
    (total,) = repeats_found.fields

    assert repeats_found.runs == ["a", "b", "c"]
    assert total.field == "total"
    # n right of 4: 2n of n + 4.
    assert total.f1 == [4 / 6, 4 / 6, 2 / 5]
    assert (total.documents, total.right_in_all, total.right_in_any, total.flipping) == (4, 1, 3, 2)
    assert (repeats_found.whole.field, repeats_found.whole.right_in_any) == ("", 3)


@pytest.mark.parametrize(("counting", "right"), [("leaves", 0), ("overall", 1)])
def test_fields_are_counted_as_the_first_run_says(counting, right):
    counts = {"overall": {"tp": 1}, "leaves": {"tp": 1, "fn": 1}}
    options = replace(OPTIONS, counting=counting)
    repeats_found = repeats_of(
        {
            name: run_of(
                document("a", total=counts, other=counts), paths=("total",), options=options
            )
            for name in ("a", "b")
        }
    )
    total, other = repeats_found.fields

    assert (total.right_in_any, other.field, other.right_in_all) == (right, "other", right)


def test_a_field_that_is_absent_on_both_sides_in_every_run_is_not_right():
    def run(pred):
        absent = (document(name, total={"tn": 1}) for name in "bc")
        return run_of(document("a", total=pred), *absent)

    (wrong_twice,) = repeats_of({"x": run(WRONG), "y": run(MISSED)}).fields
    (invented_once,) = repeats_of({"x": run({"fa": 1}), "y": run({"tn": 1})}).fields

    assert (wrong_twice.documents, wrong_twice.right_in_any) == (1, 0)
    assert (invented_once.documents, invented_once.flipping) == (1, 1)


def test_a_document_that_a_run_lacks_counts_as_missed_in_it():
    repeats_found = repeats_of({"a": flags("11"), "b": flags("1")})

    assert (repeats_found.fields[0].right_in_all, repeats_found.fields[0].right_in_any) == (1, 2)
    assert repeats_found.flips == []


def test_a_field_of_which_some_runs_say_nothing_is_right_where_no_run_is_wrong():
    runs = {
        name: run_of(document("a", **fields), document("b", total=entry))
        for name, fields, entry in (("x", {"total": RIGHT}, WRONG), ("y", {}, MISSED))
    }
    (total,) = repeats_of(runs).fields

    assert (total.documents, total.right_in_all, total.right_in_any) == (2, 1, 1)


def test_values_flip_that_are_wrong_in_some_runs_only():
    repeats_found = repeats_of(
        {
            "a": flags("01", wrong("d0", "total", "y"), wrong("d0", "items[1]", "z")),
            "b": flags("10", wrong("d1", "total", None), wrong("d0", "items[1]", "z")),
        }
    )

    assert [(flip.document, flip.path, flip.gt) for flip in repeats_found.flips] == [
        ("d0", "total", "x"),
        ("d1", "total", "x"),
    ]
    (first,), (second,) = (flip.wrong for flip in repeats_found.flips)
    assert (first.run, first.outcome, first.pred) == (0, "FD", "y")
    assert (second.run, second.outcome, second.pred) == (1, "FN", None)
    assert repeats_found.all_flips


def test_items_that_failed_as_a_whole_are_no_values():
    repeats_found = repeats_of(
        {"a": flags("0", wrong("d0", "items[0]", {}, values=2)), "b": flags("1")}
    )

    assert repeats_found.flips == []


def test_of_too_many_errors_those_of_documents_that_are_known_in_all_runs_are_told(monkeypatch):
    monkeypatch.setattr(repeats, "MAX_KEPT_ERRORS", 3)
    wrong_values = [wrong(name, "total", "y") for name in ("d0", "d1", "d2")]
    repeats_found = repeats_of(
        {"a": flags("0001", *wrong_values), "b": flags("1110", wrong("d3", "total", "y"))}
    )

    assert [flip.document for flip in repeats_found.flips] == ["d0", "d1"]
    assert not repeats_found.all_flips


@pytest.mark.parametrize("number", [2, 3])
def test_runs_that_are_alike_have_no_flips(number):
    run = flags("10", wrong("d1", "total", "y"))
    repeats_found = repeats_of({f"{index}": run for index in range(number)})

    assert repeats_found.flips == []
    assert repeats_found.fields[0].flipping == 0
    assert len(set(repeats_found.fields[0].f1)) == 1

"""What a run comes to with its marked errors right: what it would be with the mended documents."""

import pytest

from stickler_cli.compare.engine import compare
from stickler_cli.documents.wrappers import Unwrapper
from stickler_cli.schema.compiler import compile_schema
from stickler_cli.score.batch import Batch
from stickler_cli.score.errors.marks import RIGHT as TAKEN
from stickler_cli.score.errors.marks import (
    Mark,
    Marked,
    MarkedCounts,
    changes_of,
    errors_of_marks,
    outcome_of_marks,
    with_none_of,
    with_value,
)
from stickler_cli.score.evaluation import Evaluation
from stickler_cli.score.sums import COUNTING_MODES, RateRule, units_of
from .batches import batch

EXACT = {"type": "string", "x-aws-stickler-comparator": "ExactComparator"}
ITEM = {"type": "object", "properties": {"sku": EXACT, "name": EXACT}}
PLAN = compile_schema(
    {
        "type": "object",
        "properties": {"id": EXACT, "note": EXACT, "lines": {"type": "array", "items": ITEM}},
    }
)
LAMP, BULB = {"sku": "1", "name": "lamp"}, {"sku": "2", "name": "bulb"}
NEW = {"sku": "3", "name": "bulb"}
RIGHT = {"id": "x", "note": "n", "lines": [LAMP, BULB]}
DOCUMENTS = {
    "wrong": (RIGHT, {**RIGHT, "id": "y", "note": None}),
    "right": (RIGHT, RIGHT),
    "lines": (RIGHT, {**RIGHT, "lines": [LAMP, NEW, BULB]}),
    "none": (RIGHT, {}),
    "stays": (RIGHT, {**RIGHT, "note": "m"}),
}
ALL = batch(PLAN, DOCUMENTS)
TRUE, STANDS = Mark("ground_truth_wrong"), Mark("neither")


def marks_on(*told, mark=TRUE):
    return {Marked(*one): mark for one in told}


def found_of(marks, *names):
    """Count what marks change in some documents, as a run does."""
    found = MarkedCounts()
    for position, (name, (gt, pred)) in enumerate(DOCUMENTS.items()):
        if name in names:
            units = (error.unit for error in ALL.classified_errors(position))
            errors = [*errors_of_marks(units, marks, name)]
            right = [unit for marked, unit in errors if marks[marked].verdict in TAKEN]
            again = batch(PLAN, {name: (with_none_of(right, gt), pred)})
            found.fitting += [marked for marked, _ in errors]
            units = [units_of(float(it)) for it in (again.scores[0], ALL.scores[position])]
            found.add(ALL.counts.sums[:, position], again.counts.sums[:, 0], units[0] - units[1])
    return found


def scored(made):
    return made.tally


def evaluated(documents):
    made = Evaluation()
    made.update(batch(PLAN, documents))
    return made


MARKS = {
    **marks_on(("wrong", "id", "FD"), ("lines", "lines[1]", "FA"), ("none", "note", "FN")),
    **marks_on(("wrong", "note", "FN"), ("none", "id", "FN"), mark=STANDS),
}
MENDED = {
    **DOCUMENTS,
    "wrong": ({**RIGHT, "id": "y"}, DOCUMENTS["wrong"][1]),
    "lines": ({**RIGHT, "lines": [LAMP, BULB, NEW]}, DOCUMENTS["lines"][1]),
    "none": ({"id": "x", "lines": [LAMP, BULB]}, {}),
}


@pytest.mark.parametrize("recall_with_fd", [False, True])
@pytest.mark.parametrize("cut", [0, 1, 3, 4])
def test_it_is_what_the_mended_documents_come_to_in_whatever_parts(recall_with_fd, cut):
    names = [*DOCUMENTS]
    found = found_of(MARKS, *names[:cut])
    found.merge(found_of(MARKS, *names[cut:]))
    rule = RateRule(recall_with_fd=recall_with_fd)
    by_document = {"any": MARKS}
    told = outcome_of_marks(by_document, found, scored(evaluated(DOCUMENTS)), rule)

    again = evaluated(MENDED)
    for mode in COUNTING_MODES:
        counts = again.tally.counts(mode)
        rates = counts.derived(recall_with_fd=recall_with_fd)
        mine = getattr(told, mode)
        assert (mine.tp, mine.fd, mine.fa, mine.fn) == (counts.tp, counts.fd, counts.fa, counts.fn)
        assert mine.f1 == rates["f1"] != evaluated(DOCUMENTS).tally.counts(mode).derived()["f1"]
        assert (mine.precision, mine.recall) == (rates["precision"], rates["recall"])
    assert told.overall_score == again.overall_score
    assert (told.verdicts, told.neither, told.unfit) == (5, 2, [])
    assert (told.right, told.changed) == ({"ground_truth_wrong": 3}, 3)


def test_verdicts_are_told_by_what_became_of_them():
    said = {
        **marks_on(("wrong", "id", "FD"), mark=Mark("prediction_right", {"gt": "x", "pred": "y"})),
        **marks_on(("lines", "lines[1]", "FA"), mark=Mark("both_acceptable")),
        **marks_on(("none", "id", "FN"), mark=Mark("neither", {"gt": "x", "pred": None})),
        **marks_on(("none", "note", "FN"), mark=Mark("ground_truth_wrong", {"gt": "m"})),
        **marks_on(("wrong", "note", "FD"), ("gone", "id", "FD")),
    }
    marks = {name: {it: said[it] for it in said if it.document == name} for name in DOCUMENTS}
    marks["gone"] = {it: said[it] for it in said if it.document == "gone"}
    found = found_of(said, *DOCUMENTS)
    told = outcome_of_marks(marks, found, scored(evaluated(DOCUMENTS)), RateRule())

    assert (told.verdicts, told.neither, told.changed) == (6, 1, 2)
    assert [*told.right.items()] == [("prediction_right", 1), ("both_acceptable", 1)]
    assert told.unfit == ["gone: id (FD)", "none: note (FN)", "wrong: note (FD)"]


def test_a_run_without_documents_has_no_score():
    told = outcome_of_marks({"a": MARKS}, MarkedCounts(), scored(Evaluation()), RateRule())
    assert told.overall_score is None
    assert len(told.unfit) == 5


def test_a_change_inside_an_alternative_is_written_there():
    truth = {**RIGHT, "lines": {"_value": [], "_alternatives": [[LAMP]]}}
    bare = Unwrapper(PLAN.root)(truth, is_truth=True)
    pred = {**RIGHT, "lines": [{**LAMP, "name": "lamb"}, BULB]}
    account = compare(PLAN, [bare.value], [pred], gold=[bare.gold])
    result = batch(PLAN, {"one": (RIGHT, pred)}).results
    units = [error.unit for error in Batch(result, account).classified_errors(0)]

    changes = changes_of(units, bare.value)

    assert {("lines", 0, "name"), ("lines", 1, "sku")} <= {it.path for it in changes}
    for it in changes:
        assert it.written == ("lines", "_alternatives", 0, *it.path[1:])


def test_a_value_is_put_inside_the_wrappers_on_its_way():
    wrapped = {"a": {"_value": {"b": 1}, "_alternatives": [{"b": 2}]}}

    def key_of(value):
        return "_value" if "_value" in value else None

    assert with_value(wrapped, ("a", "b"), 3, value_key=key_of)["a"]["_value"] == {"b": 3}
    told = with_value(wrapped, ("a", "_alternatives", 0, "b"), 3, value_key=key_of)
    assert told == {"a": {"_value": {"b": 1}, "_alternatives": [{"b": 3}]}}

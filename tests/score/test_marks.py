"""Figures of a run in which marked errors count as right: those of the corrected documents."""

import pytest

from stickler_cli.compare.engine import compare
from stickler_cli.documents.wrappers import Unwrapper
from stickler_cli.schema.compiler import compile_schema
from stickler_cli.score.batch import Batch
from stickler_cli.score.errors.marks import ACCEPTING_VERDICTS as TAKEN
from stickler_cli.score.errors.marks import (
    Mark,
    MarkedCounts,
    MarkedError,
    correct_truth,
    evaluate_marks,
    find_truth_changes,
    match_marks,
    set_value,
)
from stickler_cli.score.evaluation import Evaluation
from stickler_cli.score.sums import COUNTING_MODES, RateRule, scale_score
from .batches import batch, evaluate

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
ACCEPTING_VERDICTS = {"id": "x", "note": "n", "lines": [LAMP, BULB]}
DOCUMENTS = {
    "wrong": (ACCEPTING_VERDICTS, {**ACCEPTING_VERDICTS, "id": "y", "note": None}),
    "right": (ACCEPTING_VERDICTS, ACCEPTING_VERDICTS),
    "lines": (ACCEPTING_VERDICTS, {**ACCEPTING_VERDICTS, "lines": [LAMP, NEW, BULB]}),
    "none": (ACCEPTING_VERDICTS, {}),
    "stays": (ACCEPTING_VERDICTS, {**ACCEPTING_VERDICTS, "note": "m"}),
}
ALL = batch(PLAN, DOCUMENTS)
TRUE, STANDS = Mark("ground_truth_wrong"), Mark("neither")


def marks_on(*told, mark=TRUE):
    return {MarkedError(*entry): mark for entry in told}


def marked_counts_of(marks, *names):
    """Return the changes of counts by verdicts on the named documents, as a run counts them."""
    marked_counts = MarkedCounts()
    for position, (name, (gt, pred)) in enumerate(DOCUMENTS.items()):
        if name in names:
            units = (error.unit for error in ALL.classified_errors(position))
            errors = [*match_marks(units, marks, name)]
            right = [unit for marked, unit in errors if marks[marked].verdict in TAKEN]
            again = batch(PLAN, {name: (correct_truth(right, gt), pred)})
            marked_counts.matched_errors += [marked for marked, _ in errors]
            units = [scale_score(float(score)) for score in (again.scores[0], ALL.scores[position])]
            marked_counts.add(
                ALL.counts.units[:, position], again.counts.units[:, 0], units[0] - units[1]
            )
    return marked_counts


def scored(evaluation):
    return evaluation.tally


def evaluated(documents):
    return evaluate([batch(PLAN, documents)])


MARKS = {
    **marks_on(("wrong", "id", "FD"), ("lines", "lines[1]", "FA"), ("none", "note", "FN")),
    **marks_on(("wrong", "note", "FN"), ("none", "id", "FN"), mark=STANDS),
}
MENDED = {
    **DOCUMENTS,
    "wrong": ({**ACCEPTING_VERDICTS, "id": "y"}, DOCUMENTS["wrong"][1]),
    "lines": ({**ACCEPTING_VERDICTS, "lines": [LAMP, BULB, NEW]}, DOCUMENTS["lines"][1]),
    "none": ({"id": "x", "lines": [LAMP, BULB]}, {}),
}


@pytest.mark.parametrize("recall_with_fd", [False, True])
@pytest.mark.parametrize("cut", [0, 1, 3, 4])
def test_it_is_what_the_mended_documents_come_to_in_whatever_parts(recall_with_fd, cut):
    names = [*DOCUMENTS]
    marked_counts = marked_counts_of(MARKS, *names[:cut])
    marked_counts.merge(marked_counts_of(MARKS, *names[cut:]))
    rule = RateRule(recall_with_fd=recall_with_fd)
    by_document = {"any": MARKS}
    outcome = evaluate_marks(by_document, marked_counts, scored(evaluated(DOCUMENTS)), rule)

    again = evaluated(MENDED)
    for mode in COUNTING_MODES:
        counts = again.tally.counts(mode)
        rates = counts.derived(recall_with_fd=recall_with_fd)
        figures = getattr(outcome, mode)
        assert (figures.tp, figures.fd, figures.fa, figures.fn) == (
            counts.tp,
            counts.fd,
            counts.fa,
            counts.fn,
        )
        assert figures.f1 == rates["f1"] != evaluated(DOCUMENTS).tally.counts(mode).derived()["f1"]
        assert (figures.precision, figures.recall) == (rates["precision"], rates["recall"])
    assert outcome.overall_score == again.overall_score
    assert (outcome.verdicts, outcome.neither, outcome.unfit) == (5, 2, [])
    assert (outcome.right, outcome.n_accepted) == ({"ground_truth_wrong": 3}, 3)


def test_verdicts_are_told_by_what_became_of_them():
    marks_of_documents = {
        **marks_on(("wrong", "id", "FD"), mark=Mark("prediction_right", {"gt": "x", "pred": "y"})),
        **marks_on(("lines", "lines[1]", "FA"), mark=Mark("both_acceptable")),
        **marks_on(("none", "id", "FN"), mark=Mark("neither", {"gt": "x", "pred": None})),
        **marks_on(("none", "note", "FN"), mark=Mark("ground_truth_wrong", {"gt": "m"})),
        **marks_on(("wrong", "note", "FD"), ("gone", "id", "FD")),
    }
    marks = {
        name: {
            error: marks_of_documents[error]
            for error in marks_of_documents
            if error.document == name
        }
        for name in DOCUMENTS
    }
    marks["gone"] = {
        error: marks_of_documents[error] for error in marks_of_documents if error.document == "gone"
    }
    counts = marked_counts_of(marks_of_documents, *DOCUMENTS)
    outcome = evaluate_marks(marks, counts, scored(evaluated(DOCUMENTS)), RateRule())

    assert (outcome.verdicts, outcome.neither, outcome.n_accepted) == (6, 1, 2)
    assert [*outcome.right.items()] == [("prediction_right", 1), ("both_acceptable", 1)]
    assert outcome.unfit == ["gone: id (FD)", "none: note (FN)", "wrong: note (FD)"]


def test_a_run_without_documents_has_no_score():
    outcome = evaluate_marks({"a": MARKS}, MarkedCounts(), scored(Evaluation()), RateRule())
    assert outcome.overall_score is None
    assert len(outcome.unfit) == 5


def test_a_change_inside_an_alternative_is_written_there():
    truth = {**ACCEPTING_VERDICTS, "lines": {"_value": [], "_alternatives": [[LAMP]]}}
    bare = Unwrapper(PLAN.root)(truth, is_truth=True)
    pred = {**ACCEPTING_VERDICTS, "lines": [{**LAMP, "name": "lamb"}, BULB]}
    account = compare(PLAN, [bare.value], [pred], gold=[bare.gold])
    result = batch(PLAN, {"one": (ACCEPTING_VERDICTS, pred)}).results
    units = [error.unit for error in Batch(result, account).classified_errors(0)]

    changes = find_truth_changes(units, bare.value)

    assert {("lines", 0, "name"), ("lines", 1, "sku")} <= {change.path for change in changes}
    for change in changes:
        assert change.written_path == ("lines", "_alternatives", 0, *change.path[1:])


def test_a_value_is_put_inside_the_wrappers_on_its_way():
    wrapped = {"a": {"_value": {"b": 1}, "_alternatives": [{"b": 2}]}}

    def key_of(value):
        return "_value" if "_value" in value else None

    assert set_value(wrapped, ("a", "b"), 3, value_key=key_of)["a"]["_value"] == {"b": 3}
    changed = set_value(wrapped, ("a", "_alternatives", 0, "b"), 3, value_key=key_of)
    assert changed == {"a": {"_value": {"b": 1}, "_alternatives": [{"b": 3}]}}

"""Sums over documents: their content does not depend on the order of documents."""

from dataclasses import replace

import numpy as np
import orjson
import pytest

from stickler_cli.compare.result import FieldInfo
from stickler_cli.core.problems import Problem, UsageError, Violation
from stickler_cli.metrics import Measure, Metric
from stickler_cli.schema.compiler import compile_schema
from stickler_cli.score.batch import Batch
from stickler_cli.score.blocks import Blocks
from stickler_cli.score.document_result import Status
from stickler_cli.score.evaluation import Evaluation
from stickler_cli.score.intervals import IntervalSettings
from stickler_cli.score.ledger import Ledger
from stickler_cli.score.record import Run, SchemaSignature, run_record
from stickler_cli.settings.deciding import RunOptions
from .batches import batch, evaluate, not_compared

PLAN = compile_schema(
    {
        "type": "object",
        "properties": {
            "b": {"type": "string"},
            "a": {"type": "number"},
            "map": {"type": "object", "additionalProperties": {"type": "string"}},
            "never": {"type": "object", "properties": {"x": {"type": "string"}}},
        },
    }
)
OPTIONS = RunOptions()


COMPARED = {
    "one": ({"a": 1, "map": {"z": "x"}}, {"a": 1, "map": {"z": "y", "k": "v"}, "new": 1}),
    "two": ({"b": "abc", "a": 0.1, "note": 1}, {"b": "abd", "a": 0.1}),
    "three": ({"b": "abcdefg", "note": 2, "other": 3}, {"b": "xbcdefg"}),
}
OTHERS = [
    not_compared("four", Status.FAILED, Problem("four.json", "it is empty")),
    not_compared("five", Status.MISSING, Problem("five", "there is none")),
]
RESULTS = [*(batch(PLAN, {name: pair}) for name, pair in COMPARED.items()), *OTHERS]
TOGETHER = batch(PLAN, COMPARED)
MIXED = Batch([*OTHERS[1].results, *TOGETHER.results, *OTHERS[0].results], TOGETHER.table)


def run(evaluation: Evaluation) -> Run:
    fields = [FieldInfo((name,), "leaf", "", 0.5, 1.0) for name in ("b", "a", "map", "never")]
    return Run(evaluation, SchemaSignature("s.json", "sha256:0", "Doc", None), OPTIONS, fields)


def test_fields_that_no_document_has_are_told_without_those_inside_them():
    assert evaluate(RESULTS).sums.find_never_present() == [("never",)]


def test_groups_have_the_same_results_whether_documents_come_together_or_alone():
    names = {"one": "x", "two": "y", "three": "x", "four": "y", "five": "z"}

    def grouped(batch_of_documents: Batch) -> Batch:
        results = [
            replace(result, groups={"k": names[result.id]}) for result in batch_of_documents.results
        ]
        return Batch(results, batch_of_documents.table)

    def evaluated(*batches: Batch) -> Evaluation:
        evaluation = Evaluation()
        for batch_of_documents in batches:
            evaluation.add(grouped(batch_of_documents))
        return evaluation

    together, alone_, merged = evaluated(MIXED), evaluated(*RESULTS), Evaluation()
    for batch_of_documents in RESULTS:
        merged.merge(evaluated(batch_of_documents))

    assert orjson.dumps(together.to_dict()) == orjson.dumps(alone_.to_dict())
    assert orjson.dumps(together.to_dict()) == orjson.dumps(merged.to_dict())
    groups = together.by["k"]
    assert {name: group.evaluated for name, group in groups.items()} == {"x": 2, "y": 1, "z": 0}
    assert groups["x"].overall_score == pytest.approx((0.5 + 6 / 7) / 2)


def test_fields_stand_in_schema_order_and_keys_of_maps_by_name():
    record = run_record(run(evaluate(RESULTS)))
    fields = record["confusion_matrix"]["fields"]
    assert list(fields) == ["b", "a", "map", "never"]
    assert list(fields["map"]["fields"]) == ["k", "z"]


def test_documents_are_counted_by_what_became_of_them():
    assert evaluate(RESULTS).documents == {
        "total": 5,
        "evaluated": 3,
        "missing": 1,
        "invalid": 0,
        "failed": 1,
        "unmatched": 0,
    }


def test_the_overall_score_is_the_mean_over_evaluated_documents():
    # one: a right (1), map: z wrong and k invented (0 of 2) -> 0.5; two: (2/3 + 1) / 2; three: 6/7.
    assert evaluate(RESULTS).overall_score == pytest.approx((0.5 + 5 / 6 + 6 / 7) / 3)


def test_every_problem_is_named_with_its_document():
    record = run_record(run(evaluate(RESULTS)))
    assert record["problems"] == [
        {"document": "four", "status": "failed", "problem": "four.json: it is empty"},
        {"document": "five", "status": "missing", "problem": "five: there is none"},
    ]


@pytest.mark.parametrize(
    ("rows", "documents", "keeps"),
    [
        ("auto", 2, True),
        ("auto", 3, False),
        ("inline", 2, True),
        ("inline", 3, True),
        ("none", 0, False),
        ("none", 2, False),
    ],
)
def test_rows_are_kept_up_to_a_number_of_documents_or_as_asked(monkeypatch, rows, documents, keeps):
    monkeypatch.setattr("stickler_cli.score.evaluation.MAX_ROWS", 2)
    evaluation = Evaluation(rows=rows, ledger=Ledger(blocks=Blocks()))
    for index in range(documents):
        evaluation.add(batch(PLAN, {f"{index}": COMPARED["one"]}))

    assert evaluation.keeps_rows is keeps
    if documents:
        assert (evaluation.ledger.blocks is not None) is keeps


def test_problems_beyond_the_most_are_counted_by_status_in_any_order(monkeypatch):
    monkeypatch.setattr("stickler_cli.score.evaluation.MAX_NAMED_PROBLEMS", 2)
    statuses = [Status.MISSING, Status.FAILED, Status.MISSING, Status.INVALID, Status.FAILED]
    documents = [
        not_compared(f"{index}", status, Problem("x", "y")) for index, status in enumerate(statuses)
    ]
    for order in (documents, documents[::-1], documents[2:] + documents[:2]):
        evaluation, merged = Evaluation(rows="none"), Evaluation(rows="none")
        for document in order:
            evaluation.add(document)
            single = Evaluation(rows="none")
            single.add(document)
            merged.merge(single)
        several = Evaluation(rows="none")
        several.merge(merged)
        several.merge(Evaluation(rows="none"))

        for variant in (evaluation, merged, several):
            assert [(problem.document, problem.status) for problem in variant.problems] == [
                ("1", Status.FAILED),
                ("4", Status.FAILED),
            ]
            assert variant.n_unnamed == {Status.MISSING: 2, Status.INVALID: 1}
            assert variant.to_dict()["problems_unnamed"] == {"invalid": 1, "missing": 2}


def test_verdicts_of_the_schema_are_added_side_by_side():
    def with_verdict(name: str, **verdicts) -> Evaluation:
        compared = batch(PLAN, {name: COMPARED["one"]}, verdicts=verdicts)
        return evaluate([compared])

    wrong = (Violation("type", "a", "/a", "it is no number"),)
    merged = with_verdict("one", pred=())
    merged.merge(with_verdict("two", pred=wrong, gt=()))
    merged.merge(with_verdict("three", pred=None))

    assert (merged.validity["pred"].checked, merged.validity["gt"].checked) == (3, 1)
    figures = merged.document_figures()
    assert (figures["schema_invalid"], figures["schema_valid_share"]) == (1, 1 / 3)
    record = merged.to_dict()
    assert record["documents"]["schema_invalid"] == {"pred": 1, "gt": 0}
    assert [*record["validity"]] == ["pred", "gt"]
    assert evaluate(RESULTS).document_figures()["schema_valid_share"] is None


class Counted(Metric):
    """A statistic that counts documents."""

    def __init__(self) -> None:
        self.documents = 0

    def add(self, document) -> None:
        self.documents += 1

    def merge(self, other) -> None:
        self.documents += other.documents

    def result(self):
        return {"documents": self.documents}


def measured(documents: int, *names: str) -> Evaluation:
    evaluation = Evaluation(metrics={name: Measure(name, Counted()) for name in names})
    for index in range(documents):
        evaluation.add(batch(PLAN, {f"{index}": COMPARED["one"]}))
        for metric in evaluation.metrics.values():
            metric.add(None)
    return evaluation


def test_metrics_are_put_together_by_name_and_only_of_the_same_documents():
    merged = Evaluation()
    merged.merge(measured(2, "b", "a"))
    merged.merge(measured(1, "a", "b"))
    merged.merge(Evaluation())

    assert merged.metric_figures == {"b.documents": 3, "a.documents": 3}
    assert merged.to_dict()["metrics"] == [
        {"name": "a", "figures": {"a.documents": 3}, "state": {"documents": 3}},
        {"name": "b", "figures": {"b.documents": 3}, "state": {"documents": 3}},
    ]
    for first, second in (
        (measured(1, "b"), evaluate(RESULTS)),
        (evaluate(RESULTS), measured(1, "b")),
    ):
        with pytest.raises(UsageError) as refused:
            first.merge(second)
        assert str(refused.value) == (
            "the evaluations cannot be combined: only one of them has the metric b, "
            "expected evaluations with the same metrics"
        )


def test_counts_of_some_documents_are_those_of_these_alone():
    pairs = [*COMPARED.values()]

    def counts(*chosen: int):
        return batch(PLAN, {f"{document}": pairs[document] for document in chosen}).counts

    all_counts = counts(0, 1, 2)
    for chosen in ((0,), (1,), (0, 2), (1, 2)):
        chosen_documents = all_counts.select_documents(np.isin(np.arange(3), chosen))
        chosen_counts = counts(*chosen)
        assert [path for path, _ in chosen_documents.fields()] == [
            path for path, _ in chosen_counts.fields()
        ]
        assert chosen_documents.units.tolist() == chosen_counts.units.tolist()
        assert chosen_documents.scores.tolist() == chosen_counts.scores.tolist()
        assert chosen_documents.documents.tolist() == [
            chosen[document_index] for document_index in chosen_counts.documents
        ]


def test_a_key_has_a_number_of_groups_at_most(monkeypatch):
    monkeypatch.setattr("stickler_cli.score.evaluation.MAX_GROUPS", 2)
    evaluation = Evaluation()
    for name in "xyx":
        evaluation.add(batch(PLAN, {"one": COMPARED["one"]}, groups={"k": name}))
    with pytest.raises(UsageError, match=r"^--by k: the key gives more than 2 groups"):
        evaluation.add(batch(PLAN, {"one": COMPARED["one"]}, groups={"k": "z"}))


def test_groups_show_intervals_of_the_whole_alone():
    evaluation = Evaluation(interval_settings=IntervalSettings())
    evaluation.add(batch(PLAN, {"1": COMPARED["two"]}, groups={"k": "x"}))
    record = evaluation.to_dict()
    matrix, group = (record["confusion_matrix"] for record in (record, record["by"]["k"]["x"]))

    assert group["intervals"] == matrix["intervals"]
    assert "intervals" in matrix["fields"]["a"]
    assert "intervals" not in group["fields"]["a"]

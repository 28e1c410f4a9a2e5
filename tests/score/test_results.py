"""Sums over documents: intervals without rows, displays, and documents of other shapes."""

from dataclasses import replace

from stickler_cli.compare.open import plan_of_schemas
from stickler_cli.schema.compiler import compile_schema
from stickler_cli.score.comparison_view import sums_of_view
from stickler_cli.score.confidence.confidences import Confidences
from stickler_cli.score.document_result import DocumentProblem, Status
from stickler_cli.score.evaluation import Evaluation, Results
from stickler_cli.score.field_counts import N_UNIT_COUNTS
from stickler_cli.score.folds import PathCounts
from stickler_cli.score.intervals import METHOD, IntervalSettings
from stickler_cli.score.sums import FieldTallies, RateRule, Tally, sum_counts
from tests.score.batches import comparison_view
from .batches import add_confidences, batch, evaluate

EXACT = {"type": "string", "x-aws-stickler-comparator": "ExactComparator"}
SCHEMA = {"type": "object", "properties": {"a": EXACT, "b": EXACT}}
PLAN = compile_schema(SCHEMA)
RIGHT = {"a": "x", "b": "y"}


def without_rows(*preds: dict) -> Evaluation:
    evaluation = Evaluation(rows="none", interval_settings=IntervalSettings(level=0.9))
    for index, pred in enumerate(preds):
        evaluation.add(batch(PLAN, {f"{index}": (RIGHT, pred)}))
    return evaluation


def test_intervals_stand_at_fields_and_the_whole_where_they_were_made():
    run_evaluation = without_rows(RIGHT, {"a": "?", "b": "y"}, RIGHT)
    record = run_evaluation.to_dict()
    score = run_evaluation.intervals(RateRule(recall_with_fd=False)).score
    fields = record["confusion_matrix"]["fields"]

    assert record["intervals"]["overall_score"] == [*score]
    assert record["intervals"].keys() == {"level", "method", "seed", "overall_score"}
    assert (record["intervals"]["level"], record["intervals"]["method"]) == (0.9, METHOD)
    assert record["confusion_matrix"]["intervals"].keys() == {"overall", "aggregate", "leaves"}
    for name in "ab":
        intervals_of_name = run_evaluation.intervals(RateRule(recall_with_fd=False), name)
        assert fields[name]["intervals"]["threshold_applied_score"] == [*intervals_of_name.score]
        assert fields[name]["intervals"]["leaves"]["cm_f1"] == [
            *intervals_of_name.rates["leaves"]["f1"]
        ]
    none = evaluate([batch(PLAN, {"x": (RIGHT, RIGHT)})])
    assert "intervals" not in none.to_dict()
    assert "intervals" not in none.to_dict()["confusion_matrix"]


def test_what_was_odd_and_what_was_unwrapped_is_counted():
    evaluation, other = Evaluation(), Evaluation()
    pair = {"x": (RIGHT, RIGHT)}
    odd = {"warnings": ("duplicate_keys", "lenient", "lenient_fence")}
    evaluation.add(batch(PLAN, pair, unwrapped={"b": 2, "a": 1}, skipped_keys={"page": 3}, **odd))
    other.add(batch(PLAN, pair, unwrapped={"a": 4}, skipped_keys={"bbox": 1, "page": 2}, **odd))
    evaluation.merge(other)
    evaluation.add(batch(PLAN, pair))

    record = evaluation.to_dict()
    assert [*record["unwrapped"].items()] == [("a", 5), ("b", 2)]
    assert [*record["skipped_keys"].items()] == [("bbox", 1), ("page", 5)]
    assert record["documents"]["duplicate_keys"] == 2
    assert (record["documents"]["lenient"]["documents"], record["documents"]["evaluated"]) == (2, 3)
    assert record["documents"]["lenient"]["fence"] == 2
    assert other.unwrapped == {"a": 4}


def test_confidences_without_rows_are_counted_in_the_record():
    evaluation = Evaluation(rows="none", confidences=Confidences())
    pair = RIGHT, {"a": "x", "b": "?"}
    compared = batch(PLAN, {"1": pair}, confidences=[{"a": 0.9, "b": 0.5}])
    for _ in range(2):
        evaluation.add(compared)

    record = evaluation.to_dict()
    assert record["confidence_counts"] == {
        "": {"documents": 2, "right": {"0.9": 2}, "wrong": {"0.5": 2}},
        "a": {"documents": 2, "right": {"0.9": 2}},
        "b": {"documents": 2, "wrong": {"0.5": 2}},
    }
    assert (record["confidence"]["units"], record["confidence"]["auroc"]) == (4, 1.0)
    assert evaluation.confidence("a")["units"] == 2
    assert (evaluation.confidence("nowhere"), Evaluation().confidence()) == (None, None)


def test_confidences_have_intervals_where_rates_have_them():
    for settings in (None, IntervalSettings()):
        evaluation = Evaluation(interval_settings=settings)
        for number in range(6):
            add_confidences(
                evaluation.confidences, f"{number}", {"right": {"a": [0.9]}, "wrong": {"b": [0.5]}}
            )

        assert ("intervals" in evaluation.confidence("a")) is (settings is not None)


def test_results_of_no_documents_take_over_how_intervals_are_made():
    shard = Evaluation(interval_settings=IntervalSettings(level=0.9))
    shard.add(batch(PLAN, {"1": (RIGHT, {"a": "x"})}))
    total = Evaluation()
    total.merge(shard)

    assert total.interval_settings == shard.interval_settings
    assert total.intervals(RateRule(False)) == shard.intervals(RateRule(False))


def test_a_view_of_one_document_is_read_back_as_its_tally():
    schema = {
        "type": "object",
        "properties": {
            "a": {**EXACT, "x-aws-stickler-weight": 3},
            "rows": {"type": "array", "items": {"type": "object", "properties": {"c": EXACT}}},
        },
    }
    documents = {"1": ({"a": "x", "rows": [{"c": "u"}, {"c": "v"}]}, {"a": "y", "rows": []})}
    compared = batch(compile_schema(schema), documents)
    expected = sum_counts(compared.counts)

    view_sums = sums_of_view(
        comparison_view(compared)["confusion_matrix"], compared.results[0].score
    )

    assert view_sums.keys() == expected.keys()
    for path, tally in view_sums.items():
        cell = [
            *expected[path].cell[:N_UNIT_COUNTS],
            *tally.cell[N_UNIT_COUNTS:],
        ]  # a view counts no items
        known_tally = replace(expected[path], cell=cell, moments=tally.moments, score_square_sum=0)
        assert tally == known_tally
    assert view_sums["a",].weight == 3


# --- documents that are no plain objects


def test_an_array_is_counted_as_a_list_and_an_empty_one_as_nothing():
    plan = compile_schema({"type": "array", "items": EXACT})
    compared = batch(plan, {"1": (["a", "b"], ["b"]), "2": ([], []), "3": ([], ["c"])})
    evaluation = evaluate([compared])

    for mode in ("overall", "aggregate", "leaves"):
        assert evaluation.tally.counts(mode) == (1, 0, 1, 1, 1)  # TP, FD, FA, FN, TN


OTHER = {"type": "object", "properties": {"b": EXACT, "c": EXACT}}
PLANS = {"one/": PLAN, "two/": compile_schema(OTHER)}
BY_SCHEMA = {
    "one/": {"1": (RIGHT, {"a": "x", "b": "?", "more": 1}), "2": (RIGHT, {})},
    "two/": {"3": ({"b": "x", "c": "y", "rest": 2}, {"b": "x"})},
}


def test_documents_of_several_schemas_are_counted_below_the_name_of_theirs():
    total_plan = plan_of_schemas(PLANS, "Documents")
    mixed = {
        name: tuple({step: side} for side in pair)
        for step, pairs in BY_SCHEMA.items()
        for name, pair in pairs.items()
    }
    together = evaluate([batch(total_plan, {name: mixed[name] for name in ("1", "3", "2")})])

    for step, pairs in BY_SCHEMA.items():
        single = evaluate([batch(PLANS[step], pairs)])
        node = together.sums[step,]
        assert node.cell == single.tally.cell
        assert node.n_scored == len(pairs)
        assert node.score_sum == single.tally.score_sum
        below = {
            path[1:]: tally.cell for path, tally in together.sums.items() if path[:1] == (step,)
        }
        assert below == {path: tally.cell for path, tally in single.sums.items()}
        assert {
            path[1:]: counts for path, counts in together.errors.fields.items() if path[0] == step
        } == (single.errors.fields)
    keys = together.fold(PathCounts)
    assert keys.extra_keys == {("one/", "more"): 1}
    assert keys.undeclared_keys == {("two/", "rest"): 1}
    assert together.tally.counts("leaves") == (2, 1, 1, 3, 0)


def test_a_document_of_several_schemas_has_errors_and_confidences_below_its_name():
    total_plan = plan_of_schemas(PLANS, "Documents")
    first, second = ({"one/": RIGHT}, {"one/": {"a": "?"}}), ({"two/": {"b": "x"}}, {"two/": {}})
    pairs, confidences = {"1": first, "2": second}, [{"one/": {"a": 0.7}}, None]
    compared = batch(total_plan, pairs, confidences=confidences)

    assert [error.unit.path for error in compared.classified_errors(0)] == [
        ("one/", "a"),
        ("one/", "b"),
    ]
    assert [error.unit.path for error in compared.classified_errors(1)] == [("two/", "b")]
    single = batch(total_plan, {"1": first})
    assert [error.unit.path for error in single.classified_errors(0)] == [
        ("one/", "a"),
        ("one/", "b"),
    ]
    assert compared.confident_values.records(2) == [{"wrong": {"one/a": [0.7]}}, None]


def test_a_matrix_of_no_documents_has_no_fields():
    matrix = Results().results_view((), recall_with_fd=False)["confusion_matrix"]

    assert (matrix["fields"], matrix.keys()) == ({}, {"fields", "overall", "aggregate", "leaves"})


def test_confidences_of_no_field_are_those_of_the_whole():
    results = Results()
    add_confidences(results.confidences, "1", {"right": {"a": [0.9]}, "wrong": {"b": [0.5]}})

    assert results.confidence() == results.confidence("")
    assert results.confidence()["units"] == 2


def test_what_has_no_value_anywhere_is_named_once_by_its_outermost_field():
    # Nothing counts in an item that failed, and {} has no value: o, p and q were met without any.
    o = {"type": "object", "properties": {"p": {"type": "object", "properties": {"q": OTHER}}}}
    row = {"type": "object", "properties": {"a": EXACT, "o": o, "z": EXACT}}
    schema = {"type": "object", "properties": {"rows": {"type": "array", "items": row}}}
    schema["properties"]["rows"]["x-aws-stickler-pairing-floor"] = -1
    empty = {"p": {"q": {}}}
    gt, pred = {"rows": [{"a": "x", "o": empty}]}, {"rows": [{"a": "y", "o": empty}]}
    evaluation = evaluate([batch(compile_schema(schema), {"1": (gt, pred)})])

    assert evaluation.sums.find_never_present() == [("rows", "o"), ("rows", "z")]


def test_of_fields_in_each_other_that_have_no_value_the_outermost_is_named():
    evaluation = Evaluation()
    evaluation.ledger.sums = FieldTallies(
        {("o", "p", "q"): Tally(), ("old",): Tally()}
    ).sort_parents_first()

    assert evaluation.sums.find_never_present() == [("o",), ("old",)]


def test_a_problem_tells_its_document_once():
    problem = DocumentProblem("a", next(iter(Status)), "a: no JSON in a: ")

    assert str(problem) == "a: no JSON in a: "


def test_a_field_of_which_nothing_is_known_has_no_intervals():
    results = Results(interval_settings=IntervalSettings())
    results.sums.add_tally(("a",), Tally())
    view = results.results_view((), recall_with_fd=False, bounds_of_fields=True)

    assert "intervals" not in view["confusion_matrix"]["fields"]["a"]

"""The verdict of a run, its record beside the figures, and merged shards."""

import json
from collections.abc import Mapping
from dataclasses import replace

import pytest

from stickler_cli.compare.field_listing import field_listing
from stickler_cli.compare.result import FieldInfo
from stickler_cli.core.deferred import DeferredList, DeferredObject
from stickler_cli.core.problems import NotComparableError, Problem
from stickler_cli.core.rules import encoded
from stickler_cli.metrics import Measure
from stickler_cli.schema.compiler import compile_schema
from stickler_cli.score.blocks import Blocks
from stickler_cli.score.document_result import Status
from stickler_cli.score.errors.marks import MarkedCounts, evaluate_marks
from stickler_cli.score.evaluation import Evaluation
from stickler_cli.score.folds import Validity
from stickler_cli.score.gate_verdicts import judge_gate
from stickler_cli.score.gates import parse_gate
from stickler_cli.score.intervals import IntervalSettings
from stickler_cli.score.ledger import Ledger
from stickler_cli.score.policy import PolicyOutcome
from stickler_cli.score.record import (
    MAX_NAMED_IDS,
    REPEATED_TRUTHS,
    Provenance,
    Run,
    RunVerdict,
    SchemaSignature,
    join_rare_keys,
    merge_runs,
    run_record,
)
from stickler_cli.score.repeated_runs import FieldRepeats, Repeats
from stickler_cli.score.sums import RateRule, Tally
from stickler_cli.settings.deciding import RunOptions
from .batches import batch, evaluate, not_compared

PLAN = compile_schema({"type": "object", "properties": {"a": {"type": "string"}}})
SCHEMA = SchemaSignature("s.json", "sha256:0", "Doc", None)


def run(*statuses: Status, strict: bool = False, gates=(), **rest) -> Run:
    """Return a run with one document of each given status; compared documents are right."""
    evaluation = Evaluation(rows=rest.pop("rows", "auto"))
    for index, status in enumerate(statuses):
        name = f"{index}"
        if status is Status.EVALUATED:
            evaluation.add(batch(PLAN, {name: ({"a": "x"}, {"a": "x"})}))
        else:
            evaluation.add(not_compared(name, status, Problem(f"{name}.json", "it is bad")))
    results = [judge_gate(parse_gate(text), evaluation) for text in gates]
    return Run(evaluation, SCHEMA, RunOptions(strict=strict), (), results, **rest)


EVALUATED, MISSING, INVALID, FAILED, UNMATCHED = Status


@pytest.mark.parametrize(
    ("statuses", "strict", "gates", "verdict"),
    [
        ([EVALUATED], False, [], RunVerdict.PASSED),
        ([EVALUATED], False, ["f1>=1", "f1<=1"], RunVerdict.PASSED),
        ([EVALUATED], False, ["f1>=1", "f1<1"], RunVerdict.FAILED),
        ([EVALUATED, FAILED], False, ["f1<1"], RunVerdict.INCOMPLETE),
        ([EVALUATED, MISSING], False, [], RunVerdict.PASSED),
        ([EVALUATED, MISSING], True, [], RunVerdict.INCOMPLETE),
        ([EVALUATED, INVALID], False, [], RunVerdict.PASSED),
        ([EVALUATED, INVALID], True, [], RunVerdict.INCOMPLETE),
        ([EVALUATED, UNMATCHED], False, [], RunVerdict.PASSED),
        ([EVALUATED, UNMATCHED], True, [], RunVerdict.INCOMPLETE),
        ([], False, [], RunVerdict.INCOMPLETE),
        ([INVALID], False, [], RunVerdict.INCOMPLETE),
    ],
)
def test_documents_that_were_not_evaluated_win_over_gates(statuses, strict, gates, verdict):
    assert run(*statuses, strict=strict, gates=gates).verdict is verdict


def test_a_metric_that_failed_leaves_a_run_incomplete_whatever_its_gates_say():
    finished = run(EVALUATED, gates=["f1>=1"])
    finished.evaluation.metrics["pages"] = Measure("pages", problem="add: it is full")

    assert finished.verdict is RunVerdict.INCOMPLETE


def test_of_documents_that_are_all_on_one_side_nothing_is_paired():
    for statuses in ([MISSING], [UNMATCHED, MISSING], [UNMATCHED, UNMATCHED]):
        other_run = run(*statuses)
        other_run.evaluation.tally.n_scored = 1  # as if a missing prediction were an empty one

        assert other_run.nothing_paired
        assert other_run.verdict is RunVerdict.INCOMPLETE
    for statuses in ([], [MISSING, EVALUATED], [FAILED], [MISSING, INVALID]):
        assert not run(*statuses).nothing_paired


def test_documents_that_are_not_fit_are_named_in_order(monkeypatch):
    monkeypatch.setattr("stickler_cli.score.evaluation.MAX_NAMED_PROBLEMS", 1)
    statuses = [FAILED, MISSING, EVALUATED, FAILED, INVALID, UNMATCHED]

    for strict, names in ((False, ["0", "3"]), (True, ["0", "3", "4", "1", "5"])):
        finished = run(*statuses, strict=strict)
        assert [problem.document for problem in finished.unfit_problems] == names
        assert (finished.n_unfit, finished.unfit_unnamed) == (len(names), 0)
        few = run(*statuses, strict=strict, rows="none")
        assert [problem.document for problem in few.unfit_problems] == names[:1]
        assert few.unfit_unnamed == len(names) - 1


def test_a_schema_is_told_with_its_file_if_there_is_one():
    assert SCHEMA.title == "Doc (s.json)"
    assert SchemaSignature("", "sha256:0", "Doc", None).title == "Doc"
    inferred = SchemaSignature("inferred from a/gt.jsonl", "sha256:0", "inferred from gt", None)
    assert inferred.title == "inferred from a/gt.jsonl"


def test_a_record_says_what_is_special_about_its_run_and_nothing_else():
    usual = run_record(run(EVALUATED))
    assert not usual.keys() & {"partial", "planned", "provenance", "policy", "repeats", "key"}
    assert usual["schema"].keys() == {"path", "digest", "model_name", "inferred"}
    assert (usual["gates"], run_record(run(EVALUATED, gates=["f1>=1"]))["gates"][0]["value"]) == (
        [],
        1.0,
    )
    assert len(usual["known_ids"]) == 1

    provenances = [
        Provenance("2026-02-01T00:00:00Z", "gt", "pred", ("b",)),
        Provenance("2026-01-01T00:00:00Z", "gt", "pred"),
    ]
    special = run_record(
        run(
            EVALUATED,
            partial=True,
            planned=0,
            provenance=provenances,
            document={"key": 1},
            notes=["z", "a"],
            version="0.1",
        )
    )
    assert (special["partial"], special["planned"], special["key"]) == (True, 0, 1)
    assert [entry["started"][:7] for entry in special["provenance"]] == ["2026-01", "2026-02"]
    assert (special["notes"], special["version"]) == (["a", "z"], "0.1")


def test_the_rule_of_recall_is_that_of_the_run():
    evaluation = evaluate([batch(PLAN, {"x": WRONG, "y": RIGHT})])
    for recall_with_fd, recall in ((False, 1.0), (True, 0.5)):
        options = RunOptions(recall_with_fd=recall_with_fd)
        record = run_record(Run(evaluation, SCHEMA, options, ()))
        assert record["confusion_matrix"]["leaves"]["derived"]["cm_recall"] == recall


def test_a_record_has_all_that_a_run_came_with():
    outcome = evaluate_marks({}, MarkedCounts(), Tally(), RateRule())
    whole = FieldRepeats("", [1.0, None], 1, 1, 1)
    repeats = Repeats(["a", "b"], whole, [], [], all_flips=True)

    policy = PolicyOutcome("d", 0.1, 0.9, 0, [])
    came = {"verdicts": outcome, "repeats": repeats, "policy": policy}

    plain, full = run(EVALUATED), run(EVALUATED, marked=outcome, repeats=repeats, policy=policy)
    assert "verdicts" not in run_record(plain)
    record = run_record(full)
    assert [record[name] for name in came] == [encoded(value) for value in came.values()]
    assert run_record(plain).keys() == record.keys() - came.keys()


def test_a_record_has_the_accounts_of_documents_unless_it_shall_not():
    evaluation = Evaluation(ledger=Ledger(blocks=Blocks()))
    evaluation.add(batch(PLAN, {"1": ({"a": "x"}, {"a": "x"})}))
    kept = Run(evaluation, SCHEMA, RunOptions(), ())

    (account,) = run_record(kept)["per_document"]
    assert (account["id"], account["score"]) == ("1", 1.0)
    assert "per_document" not in run_record(kept, per_document=False)


def resolve_deferred(value):
    """Return a record in which all deferred values are built."""
    if isinstance(value, Mapping):
        return {name: resolve_deferred(entry) for name, entry in value.items()}
    return [*map(resolve_deferred, value)] if isinstance(value, DeferredList) else value


def test_a_deferred_record_has_the_same_values_in_the_same_order():
    plan = compile_schema(
        {
            "type": "object",
            "properties": {
                "a": {"type": "string"},
                "b": {"type": "object", "properties": {"c": {"type": "string"}}},
            },
        }
    )
    evaluation = Evaluation(interval_settings=IntervalSettings())
    value = {"a": "x", "b": {"c": "y"}}
    evaluation.add(batch(plan, {"1": (value, {**value, "a": "z"})}, groups={"key": "g"}))
    evaluation.add(batch(plan, {"2": (value, {})}, groups={"key": "f"}))
    kept = Run(evaluation, SCHEMA, RunOptions(), field_listing(plan))

    record, deferred = run_record(kept), run_record(kept, deferred=True)

    assert json.dumps(resolve_deferred(deferred)) == json.dumps(record)
    assert [*record["by"]["key"]] == ["f", "g"]
    for results in (deferred, deferred["by"]["key"]["g"]):
        assert isinstance(results["confusion_matrix"]["fields"]["b"]["fields"], DeferredObject)


FIELDS = (FieldInfo(("a",), "leaf", "", 0.5, 1.0),)
RIGHT, WRONG = ({"a": "x"}, {"a": "x"}), ({"a": "x"}, {"a": "y"})


def shard(*names: str, pair=RIGHT, path: str = "s.json", accounts: bool = True, **rest) -> Run:
    evaluation = Evaluation(ledger=Ledger(blocks=Blocks() if accounts else None))
    if names:
        evaluation.add(batch(PLAN, dict.fromkeys(names, pair)))
    schema = SchemaSignature(path, "sha256:0", "Doc", None)
    return Run(evaluation, schema, rest.pop("options", RunOptions()), FIELDS, **rest)


def judge_gates(judged_run: Run, *texts: str) -> Run:
    return replace(
        judged_run, gates=[judge_gate(parse_gate(text), judged_run.evaluation) for text in texts]
    )


def refused(*runs: Run) -> list[str]:
    with pytest.raises(NotComparableError) as caught:
        merge_runs([(f"run {index}", shard_run) for index, shard_run in enumerate(runs)])
    return [str(problem) for problem in caught.value.problems]


def test_the_whole_has_the_documents_gates_notes_and_origins_of_all():
    origins = [Provenance("2026-01-01T00:00:00Z", name, name) for name in "ab"]
    first = shard("1", "2", path="z.json", notes=["seen", "late"], provenance=origins[:1])
    second = shard("3", pair=WRONG, path="b.json", notes=["early", "seen"], provenance=origins)
    first, second = judge_gates(first, "f1>=0.7", "tp>=3"), judge_gates(second, "fd>=1", "f1>=0.7")

    merged = merge_runs([("first", first), ("second", second)])

    assert merged.evaluation.documents["total"] == 3
    assert merged.schema.path == "b.json"
    # Two of three are right: an F1 of 4/5, of all documents now.
    assert [(gate.gate.text, gate.passed, gate.value) for gate in merged.gates] == [
        ("f1>=0.7", True, 0.8),
        ("tp>=3", False, 2),
        ("fd>=1", True, 1),
    ]
    assert merged.notes == ["early", "late", "seen"]
    assert merged.provenance == origins
    assert (merged.partial, merged.planned) == (False, None)
    regated = merge_runs([("first", first), ("second", second)], [parse_gate("tp>=2")])
    assert [(gate.gate.text, gate.passed) for gate in regated.gates] == [("tp>=2", True)]


def test_gates_are_judged_by_the_rule_of_the_runs():
    options = RunOptions(recall_with_fd=True)
    runs = [("a", shard("1", options=options)), ("b", shard("2", pair=WRONG, options=options))]

    assert merge_runs(runs, [parse_gate("recall>=0.9")]).gates[0].value == 0.5


def test_one_run_keeps_what_is_of_that_run_alone():
    policy = PolicyOutcome("d", 0.1, 0.9, 0, [])
    repeats = Repeats.__new__(Repeats)
    marked = object()
    single = shard("1", document={"key": 1}, policy=policy, repeats=repeats, marked=marked)

    merged = merge_runs([("a", single)])
    assert (merged.document, merged.policy, merged.repeats) == ({"key": 1}, policy, repeats)
    assert merged.marked is marked
    merged = merge_runs([("a", single), ("b", shard("2"))])
    assert (merged.document, merged.policy, merged.repeats, merged.marked) == (None,) * 4


@pytest.mark.parametrize(
    ("shards", "partial", "planned"),
    [
        ([(False, None), (False, None)], False, None),
        ([(True, 7), (False, None)], True, 8),
        ([(False, None), (True, 0)], True, 1),
        ([(True, 7), (True, 5)], True, 12),
        ([(True, 7), (True, None)], True, None),
    ],
)
def test_interrupted_runs_were_to_evaluate_what_each_of_them_was(shards, partial, planned):
    runs = [
        (f"{index}", shard(f"{index}", partial=status, planned=number))
        for index, (status, number) in enumerate(shards)
    ]
    merged = merge_runs(runs)

    assert (merged.partial, merged.planned) == (partial, planned)


def with_intervals(name: str, seed: int = 0, level: float = 0.95) -> Run:
    shard_run = shard()
    shard_run.evaluation.interval_settings = IntervalSettings(level, seed)
    shard_run.evaluation.add(batch(PLAN, {name: RIGHT}))
    return shard_run


def validated(name: str, side: str) -> Run:
    shard_run = shard(name)
    shard_run.evaluation.validity[side] = Validity()
    return shard_run


def grouped(name: str, key: str) -> Run:
    shard_run = shard()
    shard_run.evaluation.add(batch(PLAN, {name: RIGHT}, groups={key: "x"}))
    return shard_run


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        (
            shard("1"),
            replace(shard("2"), version="0.1"),
            'the setting \'version\' is "0.1", but it is "',
        ),
        (
            shard("1"),
            replace(shard("2"), schema=SchemaSignature("s.json", "sha256:1", "Doc", None)),
            'the setting \'schema digest\' is "sha256:1", but it is "sha256:0" in run 0',
        ),
        (
            shard("1"),
            replace(shard("2"), schema=SchemaSignature("s.json", "sha256:0", "Doc", "sha256:2")),
            "the setting 'inferred annotations' is \"sha256:2\", but it is null in run 0",
        ),
        (
            shard("1"),
            shard("2", options=RunOptions(strict=True)),
            "the setting 'option strict' is true, but it is false in run 0",
        ),
        (with_intervals("1"), with_intervals("2", seed=7), "the setting 'intervals' is {"),
        (with_intervals("1"), with_intervals("2", level=0.9), "the setting 'intervals' is {"),
        (with_intervals("1"), shard("2"), "the setting 'intervals' is null, but it is {"),
        (
            grouped("1", "k"),
            grouped("2", "m"),
            'the setting \'breakdown\' is ["m"], but it is ["k"] in run 0',
        ),
        (
            validated("1", "pred"),
            validated("2", "gt"),
            'the setting \'validated sides\' is ["gt"], but it is ["pred"] in run 0',
        ),
        (
            shard("1"),
            replace(shard("2"), fields=()),
            "this run and run 0 have schemas with different fields",
        ),
    ],
)
def test_runs_of_other_conditions_do_not_go_together(first, second, message):
    (sentence,) = refused(first, second)

    assert sentence.startswith(f"run 1: {message}")


def test_every_difference_of_every_run_is_told():
    other = shard("2", options=RunOptions(strict=True, recall_with_fd=True))

    assert len(refused(shard("1"), other, replace(shard("3"), version="0.1"))) == 3


def test_documents_that_stand_in_two_runs_are_named():
    names = [f"{index}" for index in range(MAX_NAMED_IDS + 3)]
    first, few = refused(shard(*names), shard(*names, "new"), shard("other", "3"))

    assert first == (
        "run 1: '0', '1', '2', '3', '4' and 3 more are also in run 0, "
        "expected each document in only one of the runs"
    )
    assert few.startswith("run 2: '3' are also in run 1, ")
    (exact,) = refused(shard(*names[:MAX_NAMED_IDS]), shard(*names[:MAX_NAMED_IDS]))
    assert "more" not in exact


def test_runs_without_rows_are_known_by_hashes_of_their_documents():
    first, second, third = (shard(name, accounts=False) for name in ("1", "2", "1"))
    (sentence,) = refused(first, second, third)

    assert sentence == (
        "run 2: the run shares some documents with run 0, expected each document in only "
        "one of the runs"
    )
    assert merge_runs([("a", first), ("b", second)]).evaluation.documents["total"] == 2
    third.evaluation.ledger.hashes = []
    (sentence,) = refused(first, third)
    assert sentence.startswith("run 1: the run does not record which documents it contains")
    merge_runs([("a", first), ("b", shard(accounts=False))])


def test_a_run_without_rows_stays_one():
    none = [shard(name, accounts=False, options=RunOptions(rows="none")) for name in "ab"]

    assert merge_runs([("a", none[0]), ("b", none[1])]).evaluation.rows == "none"


MAP = {"type": "object", "additionalProperties": {"type": "string"}}
OF_MAPS = compile_schema({"type": "object", "properties": {"m": MAP}})


def test_notes_on_repeated_ground_truths_lose_their_numbers_if_runs_are_merged():
    numbers, rest = ("12", "1,015"), f"{REPEATED_TRUTHS}. Intervals may be too narrow"
    first, second = (shard(number, notes=[f"{number}{rest}"]) for number in numbers)

    assert merge_runs([("a", first)]).notes == [f"12{rest}"]
    assert merge_runs([("a", first), ("b", second)]).notes == [f"some{rest}"]


def test_rare_keys_are_joined_in_counts_and_errors_and_told_once(monkeypatch):
    monkeypatch.setattr("stickler_cli.score.sums.MAX_MAP_KEYS", 2)
    evaluation = Evaluation(ledger=Ledger(blocks=Blocks()))
    keys = {"often": "x", "also": "x"}
    wrong = {"1": ({"m": {**keys, "a": "x"}}, {"m": {**keys, "a": "y"}})}
    evaluation.add(batch(OF_MAPS, wrong, groups={"k": "x"}))
    evaluation.add(batch(OF_MAPS, {"2": ({"m": {**keys, "b": "x"}},) * 2}, groups={"k": "x"}))

    fields = field_listing(OF_MAPS)

    (note,) = join_rare_keys(evaluation, fields)
    assert note.startswith("m.* are 2 keys beyond ")
    assert {path[1] for path in evaluation.sums if len(path) == 2} == {"often", "also", "*"}
    assert sum(evaluation.sums["m", "*"].counts("leaves")) == 2
    assert evaluation.by["k"]["x"].sums.keys() == evaluation.sums.keys()
    assert [*evaluation.errors.fields] == [("m", "*")]
    assert join_rare_keys(evaluation, fields) == []

"""What a run comes to, and what its record says beside its figures."""

import pytest

from stickler_cli.core.problems import Problem
from stickler_cli.core.rules import encoded
from stickler_cli.metrics import Measure
from stickler_cli.schema.compiler import compile_schema
from stickler_cli.score.blocks import Blocks
from stickler_cli.score.document_result import Status
from stickler_cli.score.errors.marks import MarkedCounts, outcome_of_marks
from stickler_cli.score.evaluation import Evaluation
from stickler_cli.score.gate_verdicts import judge
from stickler_cli.score.gates import parse_gate
from stickler_cli.score.ledger import Ledger
from stickler_cli.score.policy import PolicyOutcome
from stickler_cli.score.record import (
    FieldRepeats,
    Provenance,
    Repeats,
    Run,
    SchemaSignature,
    Verdict,
    run_record,
)
from stickler_cli.score.sums import RateRule, Tally
from stickler_cli.settings.deciding import RunOptions
from .batches import batch, not_compared

PLAN = compile_schema({"type": "object", "properties": {"a": {"type": "string"}}})
SCHEMA = SchemaSignature("s.json", "sha256:0", "Doc")


def run(*statuses: Status, strict: bool = False, gates=(), **rest) -> Run:
    """Return a run of a document of each status; those that were compared are right."""
    found = Evaluation(rows=rest.pop("rows", "auto"))
    for at, status in enumerate(statuses):
        name = f"{at}"
        if status is Status.EVALUATED:
            found.update(batch(PLAN, {name: ({"a": "x"}, {"a": "x"})}))
        else:
            found.update(not_compared(name, status, Problem(f"{name}.json", "it is bad")))
    results = [judge(parse_gate(text), found) for text in gates]
    return Run(found, SCHEMA, RunOptions(strict=strict), (), results, **rest)


EVALUATED, MISSING, INVALID, FAILED, UNMATCHED = Status


@pytest.mark.parametrize(
    ("statuses", "strict", "gates", "verdict"),
    [
        ([EVALUATED], False, [], Verdict.PASSED),
        ([EVALUATED], False, ["f1>=1", "f1<=1"], Verdict.PASSED),
        ([EVALUATED], False, ["f1>=1", "f1<1"], Verdict.FAILED),
        ([EVALUATED, FAILED], False, ["f1<1"], Verdict.INCOMPLETE),
        ([EVALUATED, MISSING], False, [], Verdict.PASSED),
        ([EVALUATED, MISSING], True, [], Verdict.INCOMPLETE),
        ([EVALUATED, INVALID], False, [], Verdict.PASSED),
        ([EVALUATED, INVALID], True, [], Verdict.INCOMPLETE),
        ([EVALUATED, UNMATCHED], False, [], Verdict.PASSED),
        ([EVALUATED, UNMATCHED], True, [], Verdict.INCOMPLETE),
        ([], False, [], Verdict.INCOMPLETE),
        ([INVALID], False, [], Verdict.INCOMPLETE),
    ],
)
def test_documents_that_were_not_evaluated_win_over_gates(statuses, strict, gates, verdict):
    assert run(*statuses, strict=strict, gates=gates).verdict is verdict


def test_a_metric_that_failed_leaves_a_run_incomplete_whatever_its_gates_say():
    found = run(EVALUATED, gates=["f1>=1"])
    found.evaluation.metrics["pages"] = Measure("pages", problem="add: it is full")

    assert found.verdict is Verdict.INCOMPLETE


def test_of_documents_that_are_all_on_one_side_nothing_is_paired():
    for statuses in ([MISSING], [UNMATCHED, MISSING], [UNMATCHED, UNMATCHED]):
        alone = run(*statuses)
        alone.evaluation.tally.scored = 1  # as if a missing prediction were an empty one

        assert alone.nothing_paired
        assert alone.verdict is Verdict.INCOMPLETE
    for statuses in ([], [MISSING, EVALUATED], [FAILED], [MISSING, INVALID]):
        assert not run(*statuses).nothing_paired


def test_documents_that_are_not_fit_are_named_in_order(monkeypatch):
    monkeypatch.setattr("stickler_cli.score.evaluation.MOST_PROBLEMS", 1)
    statuses = [FAILED, MISSING, EVALUATED, FAILED, INVALID, UNMATCHED]

    for strict, names in ((False, ["0", "3"]), (True, ["0", "3", "4", "1", "5"])):
        found = run(*statuses, strict=strict)
        assert [it.document for it in found.unfit_problems] == names
        assert (found.unfit, found.unfit_unnamed) == (len(names), 0)
        few = run(*statuses, strict=strict, rows="none")
        assert [it.document for it in few.unfit_problems] == names[:1]
        assert few.unfit_unnamed == len(names) - 1


def test_a_schema_is_told_with_its_file_if_there_is_one():
    assert SCHEMA.title == "Doc (s.json)"
    assert SchemaSignature("", "sha256:0", "Doc").title == "Doc"


def test_a_record_says_what_is_special_about_its_run_and_nothing_else():
    usual = run_record(run(EVALUATED))
    assert not usual.keys() & {"partial", "planned", "provenance", "policy", "repeats", "key"}
    assert usual["schema"].keys() == {"path", "digest", "model_name", "inferred"}
    assert (usual["gates"], run_record(run(EVALUATED, gates=["f1>=1"]))["gates"][0]["value"]) == (
        [],
        1.0,
    )
    assert len(usual["known_ids"]) == 1

    made = [
        Provenance("2026-02-01T00:00:00Z", "gt", "pred", ("b",)),
        Provenance("2026-01-01T00:00:00Z", "gt", "pred"),
    ]
    special = run_record(
        run(
            EVALUATED,
            partial=True,
            planned=0,
            provenance=made,
            document={"key": 1},
            notes=["z", "a"],
            version="0.1",
        )
    )
    assert (special["partial"], special["planned"], special["key"]) == (True, 0, 1)
    assert [it["started"][:7] for it in special["provenance"]] == ["2026-01", "2026-02"]
    assert (special["notes"], special["version"]) == (["a", "z"], "0.1")


def test_the_rule_of_recall_is_that_of_the_run():
    found = Evaluation()
    found.update(batch(PLAN, {"x": ({"a": "x"}, {"a": "y"}), "y": ({"a": "x"}, {"a": "x"})}))
    for recall_with_fd, recall in ((False, 1.0), (True, 0.5)):
        options = RunOptions(recall_with_fd=recall_with_fd)
        record = run_record(Run(found, SCHEMA, options, ()))
        assert record["confusion_matrix"]["leaves"]["derived"]["cm_recall"] == recall


def test_a_record_has_all_that_a_run_came_with():
    outcome = outcome_of_marks({}, MarkedCounts(), Tally(), RateRule())
    whole = FieldRepeats("", [1.0, None], 1, 1, 1)
    repeats = Repeats(["a", "b"], whole, [], [], all_flips=True)

    policy = PolicyOutcome("d", 0.1, 0.9, 0, [])
    came = {"verdicts": outcome, "repeats": repeats, "policy": policy}

    plain, full = run(EVALUATED), run(EVALUATED, marked=outcome, repeats=repeats, policy=policy)
    assert "verdicts" not in run_record(plain)
    record = run_record(full)
    assert [record[name] for name in came] == [encoded(it) for it in came.values()]
    assert run_record(plain).keys() == record.keys() - came.keys()


def test_a_record_has_the_accounts_of_documents_unless_it_shall_not():
    found = Evaluation(ledger=Ledger(blocks=Blocks()))
    found.update(batch(PLAN, {"1": ({"a": "x"}, {"a": "x"})}))
    kept = Run(found, SCHEMA, RunOptions(), ())

    (account,) = run_record(kept)["per_document"]
    assert (account["id"], account["score"]) == ("1", 1.0)
    assert "per_document" not in run_record(kept, per_document=False)

"""Policies: thresholds that labelled documents allow, by tests with limited error, and their use.

The results of a policy on other documents are computed by hand.
"""

from dataclasses import replace
from hashlib import sha256
from math import ceil, e, exp, log
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from benchmarks.accept import KINDS, SETS, simulate_policies
from stickler_cli.compare import engine
from stickler_cli.compare.result import FieldInfo
from stickler_cli.core.json_values import json_line
from stickler_cli.core.problems import UsageError
from stickler_cli.core.rules import encoded
from stickler_cli.schema.compiler import compile_schema
from stickler_cli.score.batch import Batch
from stickler_cli.score.document_result import DocumentResult, Status
from stickler_cli.score.evaluation import Evaluation
from stickler_cli.score.policy import (
    POLICY_FORMAT,
    AcceptancePolicy,
    FieldOutcome,
    FieldPolicy,
    Losses,
    PolicyPlace,
    Promise,
    choose_threshold,
    count_documents_needed,
    document_digest,
    evaluate_policy,
    field_label,
    losses_by_threshold,
    p_values,
    reject_in_sequence,
    sign_policy,
)
from stickler_cli.score.record import Run, SchemaSignature
from stickler_cli.settings.deciding import RunOptions
from stickler_cli.studies.accept.answer import calibrate

LIST = {"type": "array", "items": {"type": "string"}}
PLAN = compile_schema({"type": "object", "properties": {"a": LIST, "b": LIST}})


def evaluation(documents, groups=None) -> Evaluation:
    """Evaluate documents, given by id.

    A document has, for each field, a list of (confidence, whether the value is right).
    """
    gts, preds, confidences = [], [], []
    for fields in documents.values():
        gts.append(
            {
                name: [f"value {index}" for index in range(len(units))]
                for name, units in fields.items()
            }
        )
        preds.append(
            {
                name: [
                    f"value {index}" if right else f"{index}"
                    for index, (_, right) in enumerate(units)
                ]
                for name, units in fields.items()
            }
        )
        confidences.append(
            {name: [confidence for confidence, _ in units] for name, units in fields.items()}
        )
    account = engine.compare(PLAN, gts, preds, None, confidences)
    results = [
        DocumentResult(name, Status.EVALUATED, score, groups={"k": groups[name]} if groups else {})
        for name, score in zip(documents, account.document_scores.tolist(), strict=True)
    ]
    run_evaluation = Evaluation()
    run_evaluation.add(Batch(results, account))
    return run_evaluation


def run(run_evaluation: Evaluation, inferred: str | None = None) -> Run:
    schema = SchemaSignature("s.json", "sha256:0", "Doc", inferred)
    fields = [FieldInfo((name,), "list", "", 0.5, 1.0) for name in "ab"]
    return Run(run_evaluation, schema, RunOptions(recall_with_fd=True), fields)


def field_policy(field: str, threshold: float | None, group: str | None = None) -> FieldPolicy:
    return FieldPolicy(field, group, 9, 9, threshold, 0.5, 0.0, 0.1, 59, [])


def policy(*fields: FieldPolicy, by: str | None = None, documents=()) -> AcceptancePolicy:
    promise = Promise(0.05, 0.9)
    return AcceptancePolicy(
        POLICY_FORMAT,
        "1",
        2,
        "sha256:0",
        None,
        [],
        {},
        promise,
        by,
        fields,
        documents,
        "the digest",
    )


DOCUMENTS = {
    "one": {"a": [(0.9, True), (0.6, False), (0.4, False), (None, True)], "b": [(0.2, True)]},
    "two": {"a": [(0.5, True)]},
    "three": {"a": [(0.3, False)], "b": [(0.2, False)]},
    "four": {"b": [(0.1, True)]},
}


def test_an_outcome_counts_what_passes_and_takes_the_mean_of_documents():
    digests = [document_digest("two", b""), document_digest("elsewhere", b"")]
    made_policy = policy(
        field_policy("a", 0.5),
        field_policy("a", None),
        field_policy("a", 0.95),
        field_policy("b", 0.2),
        field_policy("gone", 0.5),
        documents=digests,
    )

    outcome = evaluate_policy(made_policy, evaluation(DOCUMENTS))

    assert (outcome.digest, outcome.max_error, outcome.assurance) == ("the digest", 0.05, 0.9)
    assert outcome.overlap == 1
    assert outcome.fields == [
        # One of the two of the first document that pass is wrong, none of the second: a quarter.
        FieldOutcome("a", None, 0.5, 6, 3, 1, 2, 0.25),
        FieldOutcome("a", None, None, 6, 0, 0, 0, None),
        FieldOutcome("a", None, 0.95, 6, 0, 0, 0, None),
        FieldOutcome("b", None, 0.2, 3, 2, 1, 2, 0.5),
        FieldOutcome("gone", None, 0.5, 0, 0, 0, 0, None),
    ]


def test_an_outcome_of_groups_takes_the_documents_of_each():
    groups = {"one": "x", "two": "y", "three": "x", "four": "(none)"}
    made_policy = policy(
        field_policy("a", 0.5, "x"),
        field_policy("a", 0.5, "y"),
        field_policy("b", 0.1, "(none)"),
        by="k",
    )

    outcomes = evaluate_policy(made_policy, evaluation(DOCUMENTS, groups)).fields

    assert [
        (outcome.group, outcome.values, outcome.accepted, outcome.wrong, outcome.error)
        for outcome in outcomes
    ] == [
        ("x", 5, 2, 1, 0.5),
        ("y", 1, 1, 0, 0.0),
        ("(none)", 0, 0, 0, None),  # nobody knows which group these are of
    ]


def right(documents: int, confidence: float = 0.9, **more) -> dict:
    return {f"{index:03}": {"a": [(confidence, True)], **more} for index in range(documents)}


def test_a_policy_says_what_it_was_made_of():
    documents = right(60, b=[(None, True)])
    documents["000"]["a"] += [(0.5, False), (0.5, False), (None, False)]
    run_evaluation = evaluation(documents)

    calibrated = calibrate(run(run_evaluation, "sha256:1"), Promise(0.05, 0.95))

    (field,) = calibrated.fields
    assert (field.field, field.group, field.values, field.documents) == ("a", None, 63, 60)
    assert (field.threshold, field.accepted, field.error, field.needed) == (0.9, 60 / 63, 0.0, 59)
    assert 0 < field.bound <= 0.05
    # At the lower one, two of the three values of one of sixty documents are wrong.
    assert field.curve == [[60 / 63, 0.0], [62 / 63, pytest.approx(2 / 3 / 60)]]
    assert (calibrated.schema, calibrated.inferred, calibrated.by) == ("sha256:0", "sha256:1", None)
    assert calibrated.places == [PolicyPlace("a", "list"), PolicyPlace("b", "list")]
    assert calibrated.options["recall_with_fd"] is True
    assert calibrated.documents == sorted(document_digest(f"{index:03}", {}) for index in range(60))
    signed = json_line(encoded(replace(calibrated, digest="")))
    assert calibrated.digest == sha256(signed).hexdigest()
    assert sign_policy(calibrated) == calibrated


def test_fields_together_share_the_level_and_each_alone_has_it_all():
    run_evaluation = evaluation(right(65, b=[(0.8, True)]))

    separate = calibrate(run(run_evaluation), Promise(0.05, 0.95)).fields
    together = calibrate(run(run_evaluation), Promise(0.05, 0.95, together=True)).fields

    # 0.95 ** 59 < 0.05, and 0.95 ** 72 < 0.025.
    assert [(field.field, field.threshold, field.needed) for field in separate] == [
        ("a", 0.9, 59),
        ("b", 0.8, 59),
    ]
    assert [(field.threshold, field.needed) for field in together] == [(None, 72), (None, 72)]
    assert (together[0].accepted, together[0].error, together[0].bound) == (0.0, None, None)


def test_groups_have_fields_of_their_own_in_order_and_documents_of_none_have_not():
    documents = right(180)
    groups = {name: ("y", "x", "(none)")[int(name) % 3] for name in documents}

    calibrated = calibrate(run(evaluation(documents, groups)), Promise(0.05, 0.95), "k")

    assert calibrated.by == "k"
    assert [(field.group, field.documents, field.threshold) for field in calibrated.fields] == [
        ("x", 60, 0.9),
        ("y", 60, 0.9),
    ]
    assert calibrated.threshold("a", "x") == 0.9
    assert calibrated.threshold("a", None) is None
    assert calibrated.threshold("b", "x") is None


def test_a_long_curve_is_shown_at_sixty_points():
    documents = {f"{index:03}": {"a": [(index / 200, True)]} for index in range(200)}
    (field,) = calibrate(run(evaluation(documents)), Promise(0.05, 0.95)).fields

    assert len(field.curve) == 60
    assert (field.curve[0], field.curve[-1]) == ([1 / 200, 0.0], [1.0, 0.0])
    shares = [share for share, _ in field.curve]
    assert np.diff(shares) == pytest.approx(199 / 59 / 200, abs=1 / 200)


@pytest.mark.parametrize(
    ("documents", "message"),
    [
        (right(58), r"only 58 documents have confidences, expected at least 59 for --max-error"),
        (
            right(70, None),
            (
                "no prediction has a confidence, expected predictions with confidences; if the "
                "predictions contain confidences, name their keys with --wrapped "
                "VALUE_KEY:CONFIDENCE_KEY; if another file or directory contains them, name it "
                "with --confidence$"
            ),
        ),
    ],
)
def test_without_enough_documents_there_is_no_policy(documents, message):
    with pytest.raises(UsageError, match=f"^{message}"):
        calibrate(run(evaluation(documents)), Promise(0.05, 0.95))


def test_as_many_documents_as_are_needed_are_enough():
    (field,) = calibrate(run(evaluation(right(59))), Promise(0.05, 0.95)).fields
    assert field.threshold == 0.9


def test_a_document_is_known_by_its_id_and_one_that_has_only_a_line_by_its_confidences_too():
    record = {"right": {"a": [0.5]}}

    assert document_digest("café", record) == sha256("café".encode()).hexdigest()[:16]
    assert (
        document_digest("line 7", record) == sha256(b"line 7" + json_line(record)).hexdigest()[:16]
    )
    assert document_digest("baseline 7", record) == document_digest("baseline 7", {})
    assert document_digest("\udc80", {}) == sha256(b"\xed\xb2\x80").hexdigest()[:16]


@pytest.mark.parametrize(("group", "name"), [(None, "total"), ("de", "total (de)")])
def test_fields_of_a_group_are_named_with_it(group, name):
    assert field_label(field_policy("total", 0.5, group)) == name


UNITS = st.lists(
    st.tuples(st.integers(0, 6), st.integers(0, 10), st.booleans()), min_size=1, max_size=40
)


def arrays(units):
    document, confidence, right = (np.array(column) for column in zip(*units, strict=True))
    return document, confidence / 10, right.astype(bool)


@given(UNITS)
def test_losses_are_those_of_each_threshold_by_itself(units):
    document, confidence, right = arrays(units)
    losses = losses_by_threshold(document, confidence, right)
    assert losses.threshold.tolist() == sorted(set(confidence.tolist()), reverse=True)
    for index, threshold in enumerate(losses.threshold):
        passing = confidence >= threshold
        document_losses = [
            1 - right[passing & (document == number)].mean() for number in set(document[passing])
        ]
        assert losses.n_documents[index] == len(document_losses)
        assert losses.mean_loss[index] == pytest.approx(np.mean(document_losses))
        assert losses.is_binary[index] == all(loss in (0, 1) for loss in document_losses)
        assert losses.n_accepted[index] == passing.sum()


def test_of_many_thresholds_a_thousand_are_tried():
    confidence = np.linspace(0, 1, 5_000)
    losses = losses_by_threshold(np.arange(5_000), confidence, np.ones(5_000, bool))
    assert len(losses.threshold) == 1_000
    assert (losses.threshold[0], losses.threshold[-1]) == (1.0, 0.0)
    assert losses.n_accepted[-1] == 5_000


def test_whole_losses_have_the_tail_of_a_binomial():
    right = np.arange(100) % 10 != 0
    losses = losses_by_threshold(np.arange(100), np.full(100, 0.5), right)
    assert p_values(losses, 0.2)[0] == pytest.approx(binom.cdf(10, 100, 0.2))
    bounded = p_values(losses._replace(is_binary=np.array([False])), 0.2)[0]
    assert binom.cdf(10, 100, 0.2) < bounded < np.e * binom.cdf(10, 100, 0.2) + 1e-12


@pytest.mark.parametrize("max_loss", [0.02, 0.1, 0.5])
@pytest.mark.parametrize("documents", [1, 7, 60, 900])
@pytest.mark.parametrize("loss", [0.0, 0.003, 0.04, 0.09, 0.3, 1.0])
def test_shares_have_the_bound_of_hoeffding_and_bentkus(loss, documents, max_loss):
    losses = Losses(
        np.array([0.5]), np.array([documents]), np.array([loss]), np.array([False]), np.array([9])
    )
    mean = min(loss, max_loss)
    distance = mean * log(mean / max_loss) if mean else 0.0
    distance += (1 - mean) * log((1 - mean) / (1 - max_loss))
    tail = binom.cdf(ceil(documents * loss - 1e-9), documents, max_loss)
    expected = min(exp(-documents * distance), e * tail)
    assert p_values(losses, max_loss)[0] == pytest.approx(expected)


@given(
    st.lists(st.floats(0, 0.1), min_size=1, max_size=30),
    st.integers(1, 4),
    st.randoms(use_true_random=False),
)
def test_no_level_is_spent_twice(p, starts, random):
    positions = np.unique(len(p) * np.arange(starts) // starts)
    levels = reject_in_sequence(np.array(p), positions, 0.05)
    assert (levels <= 0.05 + 1e-12).all()
    chosen = levels > 0
    assert (np.array(p)[chosen] <= levels[chosen]).all()
    # Nothing is rejected but at a start, or after a rejected one; all that is left failed.
    for start in np.flatnonzero(chosen).tolist():
        assert start in positions or chosen[(start - 1) % len(p)]


def test_a_sequence_that_ended_well_passes_its_level_on():
    p = np.array([0.001, 0.001, 0.02, 0.02])
    assert reject_in_sequence(p, np.array([0, 2]), 0.03).tolist() == pytest.approx(
        [0.015, 0.015, 0.03, 0.03]
    )
    assert reject_in_sequence(p, np.array([0]), 0.01).tolist() == pytest.approx([0.01, 0.01, 0, 0])
    assert reject_in_sequence(np.array([0.02, 0.001]), np.array([0, 1]), 0.04).tolist() == [
        0.02,
        0.04,
    ]
    # The third of four is rejected, then the last one; the first one was rejected before it.
    p = np.array([0.001, 0.5, 0.001, 0.001])
    assert reject_in_sequence(p, np.array([0, 2]), 0.03).tolist() == pytest.approx(
        [0.015, 0, 0.015, 0.015]
    )
    round_again = np.array([0.03, 0.001])
    assert reject_in_sequence(round_again, np.array([0, 1]), 0.04).tolist() == pytest.approx(
        [0.04, 0.02]
    )


@pytest.mark.parametrize(("level", "max_error", "documents"), [(0.05, 0.05, 59), (0.1, 0.1, 22)])
def test_the_least_number_of_documents_without_an_error(level, max_error, documents):
    assert count_documents_needed(level, max_error) == documents
    for number in (documents - 1, documents):
        units = np.arange(number), np.full(number, 0.9), np.ones(number, bool)
        assert (choose_threshold(losses_by_threshold(*units), max_error, level) is None) is (
            number < documents
        )


def test_what_is_accepted_and_on_what_evidence():
    confidence = np.repeat([0.9, 0.5], 500)
    right = np.concatenate([np.ones(500, bool), np.arange(500) % 2 == 0])
    choice = choose_threshold(losses_by_threshold(np.arange(1_000), confidence, right), 0.05, 0.05)
    assert (choice.threshold, choice.accepted, choice.documents, choice.error) == (0.9, 500, 500, 0)
    # All right: (1 - bound) ** 500 is the level, all of which the start has that is left.
    assert (1 - choice.bound) ** 500 <= 0.05 + 1e-9
    assert choice.error < choice.bound < 0.05


def test_the_bound_is_the_greatest_share_that_the_last_test_leaves_open():
    right = np.arange(400) % 40 > 0
    choice = choose_threshold(
        losses_by_threshold(np.arange(400), np.full(400, 0.9), right), 0.1, 0.05
    )
    assert (choice.threshold, choice.accepted, choice.error) == (0.9, 400, 0.025)
    assert binom.cdf(10, 400, choice.bound) == pytest.approx(0.05)


@pytest.mark.filterwarnings("ignore:Fixed sequence testing")
@pytest.mark.filterwarnings("ignore:No predict parameters")
def test_one_start_gives_the_thresholds_of_mapie():
    control = pytest.importorskip("mapie.risk_control", reason="MAPIE IS NOT INSTALLED")
    level, max_error, size, same = 0.05, 0.1, 600, 0
    for seed in range(20):
        random = np.random.default_rng(seed)
        confidence = np.round(random.beta(8, 1, size), 3)
        right = random.random(size) < confidence
        losses = losses_by_threshold(np.arange(size), confidence, right)
        candidates = losses.select(
            slice(
                int(np.searchsorted(losses.n_documents, count_documents_needed(level, max_error))),
                None,
            )
        )
        ours = candidates.threshold[
            reject_in_sequence(p_values(candidates, max_error), np.array([0]), level) > 0
        ].tolist()
        controller = control.BinaryClassificationController(
            lambda values: np.hstack([1 - values, values]),
            "precision",
            1 - max_error,
            confidence_level=1 - level,
            list_predict_params=candidates.threshold,
            fwer_method="fixed_sequence",
        )
        controller.calibrate(confidence[:, None], right.astype(int))
        theirs = [float(threshold) for threshold in controller.valid_predict_params]
        assert ours[: len(theirs)] == theirs
        # It may count an error too many: it rounds n (1 - (n - errors) / n) up, noise included.
        errors = np.rint(candidates.mean_loss * candidates.n_documents)
        share = 1 - (candidates.n_documents - errors) / candidates.n_documents
        if len(ours) > len(theirs):
            assert np.ceil(candidates.n_documents * share)[len(theirs)] > errors[len(theirs)]
        same += ours == theirs
    assert same >= 10


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_policies_break_their_promise_as_seldom_as_the_docs_say(kind, monkeypatch):
    # No simulated figure depends on the bound, which takes half of the time.
    monkeypatch.setattr("stickler_cli.score.policy._bound_loss", lambda *_: 0.0)
    figures = simulate_policies(kind, documents=200, max_error=0.1, sets=SETS, seed=0)
    assert figures.broken <= 0.05
    page = (Path(__file__).parents[2] / "docs" / "accepting.md").read_text("utf-8")
    row = f"| {kind.name} | {figures.broken:.3f} | {figures.none:.3f} | {figures.passing:.2f} |"
    assert row in page


def test_just_as_many_documents_as_several_sequences_take_are_tested_by_several():
    # The top value is wrong, and one of a hundred of its document at the lowest confidence. One
    # sequence begins where too little is known of that loss, and ends there.
    for documents, is_enough in ((85, False), (86, True)):
        document = np.append(np.arange(documents), np.zeros(99, int))
        confidence = np.append(np.linspace(1, 0.5, documents), np.full(99, 0.1))
        accepted = choose_threshold(
            losses_by_threshold(document, confidence, np.arange(len(document)) > 0), 0.05, 0.05
        )
        assert (accepted is not None) is is_enough


def test_sequences_begin_where_each_has_documents_enough():
    confidence, right = np.linspace(1, 0, 300), np.ones(300, bool)
    choice = choose_threshold(losses_by_threshold(np.arange(300), confidence, right), 0.1, 0.05)

    # All of them pass, so that the last threshold has all of the level: (1 - bound) ** 300.
    assert choice.bound == pytest.approx(1 - 0.05 ** (1 / 300))

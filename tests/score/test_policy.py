"""Policies: what labelled documents allow, and what a policy comes to on others, by hand."""

from dataclasses import replace
from hashlib import sha256

import numpy as np
import pytest

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
    Asked,
    FieldOutcome,
    FieldPolicy,
    PolicyPlace,
    digest_of,
    name_of,
    outcome_of,
    signed,
)
from stickler_cli.score.record import Run, SchemaSignature
from stickler_cli.settings.deciding import RunOptions
from stickler_cli.studies.accept.answer import calibrate

LIST = {"type": "array", "items": {"type": "string"}}
PLAN = compile_schema({"type": "object", "properties": {"a": LIST, "b": LIST}})


def evaluation(documents, groups=None) -> Evaluation:
    """Evaluate documents, each given by its id: of each field (confidence, whether right)."""
    gts, preds, known = [], [], []
    for fields in documents.values():
        gts.append({name: [f"value {at}" for at in range(len(it))] for name, it in fields.items()})
        preds.append(
            {
                name: [f"value {at}" if right else f"{at}" for at, (_, right) in enumerate(it)]
                for name, it in fields.items()
            }
        )
        known.append({name: [confidence for confidence, _ in it] for name, it in fields.items()})
    account = engine.compare(PLAN, gts, preds, None, known)
    results = [
        DocumentResult(name, Status.EVALUATED, score, groups={"k": groups[name]} if groups else {})
        for name, score in zip(documents, account.similarity.tolist(), strict=True)
    ]
    found = Evaluation()
    found.update(Batch(results, account, np.arange(len(results))))
    return found


def run(of: Evaluation, inferred: str | None = None) -> Run:
    schema = SchemaSignature("s.json", "sha256:0", "Doc", inferred)
    fields = [FieldInfo((name,), "list", "", 0.5, 1.0) for name in "ab"]
    return Run(of, schema, RunOptions(recall_with_fd=True), fields)


def field_policy(field: str, threshold: float | None, group: str | None = None) -> FieldPolicy:
    return FieldPolicy(field, group, 9, 9, threshold, 0.5, 0.0, 0.1, 59, [])


def policy(*fields: FieldPolicy, by: str | None = None, documents=()) -> AcceptancePolicy:
    asked = Asked(0.05, 0.9)
    return AcceptancePolicy(
        POLICY_FORMAT, "1", 2, "sha256:0", None, [], {}, asked, by, fields, documents, "the digest"
    )


DOCUMENTS = {
    "one": {"a": [(0.9, True), (0.6, False), (0.4, False), (None, True)], "b": [(0.2, True)]},
    "two": {"a": [(0.5, True)]},
    "three": {"a": [(0.3, False)], "b": [(0.2, False)]},
    "four": {"b": [(0.1, True)]},
}


def test_an_outcome_counts_what_passes_and_takes_the_mean_of_documents():
    known = [digest_of("two", b""), digest_of("elsewhere", b"")]
    made = policy(
        field_policy("a", 0.5),
        field_policy("a", None),
        field_policy("a", 0.95),
        field_policy("b", 0.2),
        field_policy("gone", 0.5),
        documents=known,
    )

    found = outcome_of(made, evaluation(DOCUMENTS))

    assert (found.digest, found.max_error, found.assurance) == ("the digest", 0.05, 0.9)
    assert found.overlap == 1
    assert found.fields == [
        # One of the two of the first document that pass is wrong, none of the second: a quarter.
        FieldOutcome("a", None, 0.5, 6, 3, 1, 2, 0.25),
        FieldOutcome("a", None, None, 6, 0, 0, 0, None),
        FieldOutcome("a", None, 0.95, 6, 0, 0, 0, None),
        FieldOutcome("b", None, 0.2, 3, 2, 1, 2, 0.5),
        FieldOutcome("gone", None, 0.5, 0, 0, 0, 0, None),
    ]


def test_an_outcome_of_groups_takes_the_documents_of_each():
    groups = {"one": "x", "two": "y", "three": "x", "four": "(none)"}
    made = policy(
        field_policy("a", 0.5, "x"),
        field_policy("a", 0.5, "y"),
        field_policy("b", 0.1, "(none)"),
        by="k",
    )

    found = outcome_of(made, evaluation(DOCUMENTS, groups)).fields

    assert [(it.group, it.values, it.accepted, it.wrong, it.error) for it in found] == [
        ("x", 5, 2, 1, 0.5),
        ("y", 1, 1, 0, 0.0),
        ("(none)", 0, 0, 0, None),  # nobody knows which group these are of
    ]


def right(documents: int, confidence: float = 0.9, **more) -> dict:
    return {f"{at:03}": {"a": [(confidence, True)], **more} for at in range(documents)}


def test_a_policy_says_what_it_was_made_of():
    documents = right(60, b=[(None, True)])
    documents["000"]["a"] += [(0.5, False), (0.5, False), (None, False)]
    of = evaluation(documents)

    made = calibrate(run(of, "sha256:1"), Asked(0.05, 0.95))

    (field,) = made.fields
    assert (field.field, field.group, field.values, field.documents) == ("a", None, 63, 60)
    assert (field.threshold, field.accepted, field.error, field.needed) == (0.9, 60 / 63, 0.0, 59)
    assert 0 < field.bound <= 0.05
    # At the lower one, two of the three values of one of sixty documents are wrong.
    assert field.curve == [[60 / 63, 0.0], [62 / 63, pytest.approx(2 / 3 / 60)]]
    assert (made.schema, made.inferred, made.by) == ("sha256:0", "sha256:1", None)
    assert made.places == [PolicyPlace("a", "list"), PolicyPlace("b", "list")]
    assert made.options["recall_with_fd"] is True
    assert made.documents == sorted(digest_of(f"{at:03}", {}) for at in range(60))
    said = json_line(encoded(replace(made, digest="")))
    assert made.digest == sha256(said).hexdigest()
    assert signed(made) == made


def test_fields_together_share_the_level_and_each_alone_has_it_all():
    of = evaluation(right(65, b=[(0.8, True)]))

    apart = calibrate(run(of), Asked(0.05, 0.95)).fields
    together = calibrate(run(of), Asked(0.05, 0.95, together=True)).fields

    # 0.95 ** 59 < 0.05, and 0.95 ** 72 < 0.025.
    assert [(it.field, it.threshold, it.needed) for it in apart] == [("a", 0.9, 59), ("b", 0.8, 59)]
    assert [(it.threshold, it.needed) for it in together] == [(None, 72), (None, 72)]
    assert (together[0].accepted, together[0].error, together[0].bound) == (0.0, None, None)


def test_groups_have_fields_of_their_own_in_order_and_documents_of_none_have_not():
    documents = right(180)
    groups = {name: ("y", "x", "(none)")[int(name) % 3] for name in documents}

    made = calibrate(run(evaluation(documents, groups)), Asked(0.05, 0.95), "k")

    assert made.by == "k"
    assert [(it.group, it.documents, it.threshold) for it in made.fields] == [
        ("x", 60, 0.9),
        ("y", 60, 0.9),
    ]
    assert made.threshold("a", "x") == 0.9
    assert made.threshold("a", None) is None
    assert made.threshold("b", "x") is None


def test_a_long_curve_is_shown_at_sixty_points():
    documents = {f"{at:03}": {"a": [(at / 200, True)]} for at in range(200)}
    (field,) = calibrate(run(evaluation(documents)), Asked(0.05, 0.95)).fields

    assert len(field.curve) == 60
    assert (field.curve[0], field.curve[-1]) == ([1 / 200, 0.0], [1.0, 0.0])
    shares = [share for share, _ in field.curve]
    assert np.diff(shares) == pytest.approx(199 / 59 / 200, abs=1 / 200)


@pytest.mark.parametrize(
    ("documents", "said"),
    [
        (right(58), r"the documents with confidences are 58, expected at least 59, for a share"),
        (right(70, None), "no prediction has a confidence, expected confidences"),
    ],
)
def test_without_enough_documents_there_is_no_policy(documents, said):
    with pytest.raises(UsageError, match=f"^{said}"):
        calibrate(run(evaluation(documents)), Asked(0.05, 0.95))


def test_as_many_documents_as_are_needed_are_enough():
    (field,) = calibrate(run(evaluation(right(59))), Asked(0.05, 0.95)).fields
    assert field.threshold == 0.9


def test_a_document_is_known_by_its_id_and_one_that_has_only_a_line_by_its_confidences_too():
    record = {"right": {"a": [0.5]}}

    assert digest_of("café", record) == sha256("café".encode()).hexdigest()[:16]
    assert digest_of("line 7", record) == sha256(b"line 7" + json_line(record)).hexdigest()[:16]
    assert digest_of("baseline 7", record) == digest_of("baseline 7", {})
    assert digest_of("\udc80", {}) == sha256(b"\xed\xb2\x80").hexdigest()[:16]


@pytest.mark.parametrize(("group", "name"), [(None, "total"), ("de", "total (de)")])
def test_fields_of_a_group_are_named_with_it(group, name):
    assert name_of(field_policy("total", 0.5, group)) == name

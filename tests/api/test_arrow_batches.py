"""An Arrow table gives the same result however it is cut into batches, and in any order."""

import json

import pytest

from stickler_cli import Evaluation, UsageError, evaluate_batch, evaluate_many, merge_states
from stickler_cli.settings.of_commands import ManySettings

pa = pytest.importorskip("pyarrow", reason="pyarrow IS NOT INSTALLED: no batches of Arrow")

EXACT = {"type": "string", "x-aws-stickler-comparator": "ExactComparator"}
LINE = {"type": "object", "properties": {"sku": EXACT, "qty": {"type": "integer"}}}
SCHEMA = {
    "type": "object",
    "properties": {
        "name": EXACT,
        "total": {"type": "number"},
        "lines": {"type": "array", "items": LINE},
    },
}


def rows(documents: int = 40) -> list[tuple[str, object, object]]:
    """Return documents: some have errors, one has no prediction, one prediction is no document."""
    triples: list[tuple[str, object, object]] = []
    for number in range(documents):
        gt = {"name": "n", "total": number / 7, "lines": [{"sku": "a", "qty": number}] * 2}
        pred = {**gt, "name": "m"} if number % 5 == 0 else gt
        pred = {**pred, "lines": gt["lines"][:1]} if number % 3 == 0 else pred
        triples.append((f"d{number:03}", gt, pred))
    triples[7] = (*triples[7][:2], None)
    return triples


def table_of(documents) -> "pa.Table":
    names, gts, preds = zip(*documents, strict=True)
    sides = [
        [None if document is None else json.dumps(document) for document in side]
        for side in (gts, preds)
    ]
    return pa.table({"id": names, "gt": sides[0], "pred": sides[1]}, schema=TEXTS)


TEXTS = pa.schema([(name, pa.string()) for name in ("id", "gt", "pred")])


@pytest.mark.slow
@pytest.mark.parametrize("size", [1, 3, 16])
def test_batches_of_any_size_in_any_order_come_to_the_bytes_of_one(size):
    table = table_of(rows())
    total = evaluate_batch(table, SCHEMA)
    evaluations = [evaluate_batch(batch, SCHEMA) for batch in table.to_batches(max_chunksize=size)]

    for states in (
        [evaluation.state for evaluation in evaluations],
        [evaluation.state for evaluation in reversed(evaluations)],
    ):
        assert merge_states(states) == total.state
    half = len(evaluations) // 2
    two = (
        merge_states([evaluation.state for evaluation in evaluations[half:]]),
        merge_states([evaluations[0].state]),
    )
    middle_states = [evaluation.state for evaluation in evaluations[1:half]]
    assert merge_states([*two, *middle_states]) == total.state
    for name in ("documents", "values"):
        assert pa.concat_tables(
            [getattr(evaluation, name) for evaluation in evaluations]
        ) == getattr(total, name)


def test_a_state_says_what_the_evaluation_of_all_says():
    found = evaluate_batch(table_of(rows()), SCHEMA)
    evaluation = Evaluation.from_dict(json.loads(found.state))
    expected = evaluate_many(SCHEMA, rows())

    assert evaluation.tally == expected.tally
    assert evaluation.documents == expected.documents
    assert evaluation.overall_score == expected.overall_score
    lower, upper = evaluation.to_dict()["confusion_matrix"]["intervals"]["overall"]["cm_f1"]
    assert 0 < lower < upper < 1
    assert len(set(found.documents.column("document").to_pylist())) == 40
    assert found.values.num_rows == sum(expected.tally.counts("leaves")[:4])


def test_structs_are_compared_like_text():
    compared = [row for row in rows() if row[2] is not None]
    names, gts, preds = zip(*compared, strict=True)
    structs = pa.table({"id": names, "gt": list(gts), "pred": list(preds)})

    assert evaluate_batch(structs, SCHEMA).state == evaluate_batch(table_of(compared), SCHEMA).state


def test_what_is_no_document_is_told_by_its_id():
    table = pa.table({"id": ["x", "y"], "gt": ["{}", "{"], "pred": ["[1", "{}"]})
    record = json.loads(evaluate_batch(table, SCHEMA).state)

    assert [(problem["document"], problem["status"]) for problem in record["problems"]] == [
        ("y", "failed"),
        ("x", "invalid"),
    ]


def test_settings_are_those_of_evaluate_many_and_must_agree():
    table = table_of(rows())
    other = evaluate_batch(table, SCHEMA, ManySettings(recall_with_fd=True))

    assert json.loads(other.state)["options"]["recall_with_fd"] is True
    with pytest.raises(UsageError, match="the option recall_with_fd is True in one evaluation"):
        merge_states([other.state, evaluate_batch(table, SCHEMA).state])


def test_whole_numbers_in_settings_come_to_the_same_bytes():
    table, settings = table_of(rows(8)), ManySettings(pairing_floor=0)
    states = [evaluate_batch(table.slice(offset, 4), SCHEMA, settings).state for offset in (0, 4)]

    assert merge_states(states) == evaluate_batch(table, SCHEMA, settings).state


def test_documents_are_held_against_the_schema_where_that_is_asked():
    documents = [("x", {"total": 1}, {"total": "1"}), ("y", {"total": 1}, {"total": 1})]
    settings = ManySettings(validate="pred")
    outcome = evaluate_batch(table_of(documents), SCHEMA, settings)
    evaluation = evaluate_many(SCHEMA, documents, validate="pred")

    assert json.loads(outcome.state)["validity"] == evaluation.to_dict()["validity"]
    validity = outcome.documents.column("validity").to_pylist()
    assert len([verdict for verdict in validity if verdict is not None]) == 2  # once a document


def test_what_a_batch_cannot_be_is_refused():
    for bad in ({"pairing_floor": 5}, {"missing": "skipp"}, {"lenient_json": True}):
        with pytest.raises(UsageError, match=next(iter(bad))):
            evaluate_batch(table_of(rows()), SCHEMA, ManySettings(**bad))
    with pytest.raises(
        UsageError, match="the table has no column 'pred', expected the columns id, gt, pred"
    ):
        evaluate_batch(pa.table({"id": ["x"], "gt": ["{}"]}), SCHEMA)
    with pytest.raises(UsageError, match="the table has an id that is of type null, expected text"):
        evaluate_batch(pa.table({"id": [None], "gt": ["{}"], "pred": ["{}"]}), SCHEMA)
    with pytest.raises(UsageError, match="all documents of a batch have one schema"):
        evaluate_batch(table_of(rows()), SCHEMA, ManySettings(schema_by="kind"))
    with pytest.raises(UsageError, match="state"):
        merge_states([b"{}"])

"""The ledger of documents: it is read back from files exactly, and wrong files are refused."""

import json
import pickle
from functools import cache

import numpy as np
import pytest

from stickler_cli.core.problems import UsageError
from stickler_cli.records.run_reading import read_blocks
from stickler_cli.schema.compiler import compile_schema
from stickler_cli.score import blocks
from stickler_cli.score.batch import Batch
from stickler_cli.score.blocks import Blocks, encode_rows
from stickler_cli.score.evaluation import Evaluation
from stickler_cli.score.ledger import Ledger
from stickler_cli.score.sums import Counts, split_by_mode
from .batches import batch, evaluate, not_compared, records

PLAN = compile_schema(
    {
        "type": "object",
        "properties": {
            "id": {"type": "string", "x-aws-stickler-comparator": "ExactComparator"},
            "lines": {
                "type": "array",
                "items": {"type": "object", "properties": {"sku": {"type": "string"}}},
            },
        },
    }
)


LINES = [{"sku": "mouse"}, {"sku": "lamp"}]


def record_of(name: str, gt: dict, pred: dict) -> dict:
    return records(batch(PLAN, {name: (gt, pred)}))[0]


def account(gt: dict, pred: dict) -> dict:
    return record_of("d", gt, pred)


def failed(name: str, **groups: str) -> dict:
    return records(not_compared(name, groups=groups))[0]


def result(name: str) -> Batch:
    return batch(PLAN, {name: ({"id": name}, {"id": name})})


def evaluation_with_rows(*names: str) -> Evaluation:
    evaluation = Evaluation(ledger=Ledger(blocks=Blocks()))
    for name in names:
        evaluation.add(result(name))
    return evaluation


def test_equal_modes_stand_once_and_others_by_name():
    # Of two lines one is missed: one unit in overall and aggregate, one leaf in leaves.
    record = account({"id": "a", "lines": LINES}, {"id": "a", "lines": LINES[:1]})

    assert record["fields"]["id"] == {"score": 1.0, "tp": 1}
    assert record["fields"]["lines"] == {
        "score": 0.5,
        "tp": 1,
        "fn": 1,
        "whole": 1,
        "items": 2,
        "missed_items": 1,
    }
    assert record["fields"]["lines.sku"] == {
        "overall": {"tp": 1},
        "aggregate": {"tp": 1},
        "leaves": {"tp": 1, "fn": 1},
    }
    assert record["fields"][""] == {"tp": 2, "fn": 1}


def test_what_counted_nothing_is_left_out():
    record = account({"id": "a", "lines": [{"sku": "b"}]}, {"id": "a"})

    assert record["fields"]["lines.sku"] == {"leaves": {"fn": 1}}


def test_a_document_of_which_nothing_was_counted_has_no_fields_beside_others():
    plan = compile_schema({"type": "object"})
    empty, extra = records(batch(plan, {"a": ({}, {}), "b": ({}, {"x": 1})}))

    assert empty["fields"] == {}
    assert extra["fields"] == {"": {"fa": 1}, "x": {"score": 0.0, "fa": 1}}


def test_a_document_that_was_not_compared_has_no_fields():
    assert failed("x") == {"id": "x", "status": "failed", "score": None, "fields": {}}


def test_the_groups_of_a_document_stand_in_its_account():
    assert failed("x", vendor="Acme")["by"] == {"vendor": "Acme"}


def test_names_are_written_as_in_field_paths():
    inner = {"type": "object", "properties": {"c": {"type": "string"}}}
    plan = compile_schema({"type": "object", "properties": {"a.b": inner}})

    (record,) = records(batch(plan, {"x": ({"a.b": {"c": "y"}}, {"a.b": {"c": "y"}})}))

    assert list(record["fields"]) == ["", '["a.b"]', '["a.b"].c']


def test_documents_of_one_batch_have_the_accounts_that_each_has_alone():
    documents = {
        "a": ({"id": "a", "lines": LINES}, {"id": "a", "lines": LINES[:1]}),
        "b": ({"id": "b"}, {}),
        "c": ({"lines": LINES[1:]}, {"id": "c", "new": 1}),
    }
    together, other = batch(PLAN, documents), not_compared("x")
    mixed = Batch([*other.results, *together.results], together.table)

    single = [record_of(name, *pair) for name, pair in documents.items()]
    assert records(mixed) == [failed("x"), *single]


def test_an_account_is_read_mode_by_mode():
    read = record_of("d", {"id": "a", "lines": LINES}, {"id": "a", "lines": LINES[:1]})

    assert (read["id"], read["status"], read["score"]) == ("d", "evaluated", 0.75)
    sku, identity = read["fields"]["lines.sku"], read["fields"]["id"]
    assert split_by_mode(sku) == ({"tp": 1}, {"tp": 1}, {"tp": 1, "fn": 1})
    assert split_by_mode(identity) == (identity,) * 3


def test_a_name_with_half_a_surrogate_pair_survives():
    record = failed("a\ud800")

    assert record["id"] == "a\ud800"
    read = read_blocks([record], "run.json")
    assert list(read.view()) == [record]


def test_accounts_are_iterated_in_the_order_of_their_ids():
    accounts = evaluation_with_rows("b", "a").ledger.blocks

    assert [record["id"] for record in accounts.view()] == ["a", "b"]
    assert len(accounts) == 2


def test_nobody_keeps_accounts_who_does_not_ask_for_them():
    evaluation = evaluate([result("a")])

    assert evaluation.ledger.blocks is None
    assert "per_document" not in evaluation.to_dict()


def test_accounts_are_the_same_in_any_order_of_merging():
    first, second = evaluation_with_rows("b"), evaluation_with_rows("c", "a")
    left, right = Evaluation(), Evaluation()
    for shard in (first, second):
        left.merge(shard)
    for shard in (second, first):
        right.merge(shard)

    assert left.to_dict() == right.to_dict() == evaluation_with_rows("a", "b", "c").to_dict()
    assert [entry["id"] for entry in left.to_dict()["per_document"]] == ["a", "b", "c"]
    assert [entry["id"] for entry in evaluation_with_rows("b").to_dict()["per_document"]] == ["b"]


def test_merging_leaves_the_other_accounts_alone():
    other, evaluation = evaluation_with_rows("a"), Evaluation()
    evaluation.merge(other)
    evaluation.merge(evaluation_with_rows("b"))

    assert len(other.ledger.blocks) == 1


def test_accounts_of_some_documents_only_are_none():
    without = evaluate([result("a")])
    for left, right in ((evaluation_with_rows("b"), without), (without, evaluation_with_rows("b"))):
        evaluation = Evaluation()
        evaluation.merge(left)
        evaluation.merge(right)
        assert evaluation.ledger.blocks is None


def test_merging_no_documents_keeps_the_accounts():
    evaluation = evaluation_with_rows("a")
    evaluation.merge(Evaluation())

    assert len(evaluation.ledger.blocks) == 1


@pytest.mark.parametrize(
    ("entry", "place"),
    [
        ({"fields": {}}, 'per_document/0: the key "id" is missing'),
        ({"id": "a", "status": "evaluated", "score": "1", "fields": {}}, "per_document/0/score"),
        ({"id": "a", "status": "lost", "score": 1, "fields": {}}, "per_document/0/status"),
        ({"id": "a", "status": "missing", "score": 2, "fields": {}}, "per_document/0/score"),
        (
            {"id": "a", "status": "failed", "score": None, "fields": {}, "by": {"k": 1}},
            "per_document/0/by/k",
        ),
    ],
)
def test_what_is_no_account_is_named_with_its_place(entry, place):
    with pytest.raises(UsageError, match=place):
        read_blocks([entry], "run.json")


@pytest.mark.parametrize(
    "counts",
    [
        {},
        7,
        {"tp": 0},
        {"tp": True},
        {"tp": 10**10},
        {"score": -0.1},
        {"score": "high"},
        {"score": True},
        {"hits": 3},
        {"overall": 3},
        {"leaves": {"fn": -1}},
    ],
)
def test_what_are_no_counts_is_named_with_its_place(counts):
    entry = {"id": "a", "status": "evaluated", "score": 1.0, "fields": {"total": counts}}
    with pytest.raises(UsageError, match=r"run\.json#/per_document/0/fields/total"):
        read_blocks([entry], "run.json")


def test_a_field_of_an_object_that_no_side_has_is_left_out_though_another_document_has_it():
    schema = {"type": "object", "properties": {"b": {"type": "string"}, "o": PLAN_OF_O}}
    pairs = {"1": ({"b": "x"}, {"b": "x"}), "2": ({"o": {"a": "x"}}, {"o": {"a": "x"}})}

    first, second = records(batch(compile_schema(schema), pairs))

    assert list(first["fields"]) == ["", "b", "o"]
    assert list(second["fields"]) == ["", "b", "o", "o.a"]


PLAN_OF_O = {"type": "object", "properties": {"a": {"type": "string"}}}


def test_fields_stand_by_their_names():
    text = {"type": "string"}
    plan = compile_schema({"type": "object", "properties": {"b": text, "a": text}})

    (record,) = records(batch(plan, {"1": ({"a": "x"}, {"a": "x"})}))

    assert list(record["fields"]) == ["", "a", "b"]


def test_what_became_of_documents_is_read_off_the_root():
    collected = Blocks()
    collected.add(batch(PLAN, {"d": ({"id": "a", "lines": LINES}, {"id": "a", "new": 1})}))
    collected.add(not_compared("x"))

    # One of two fields is right, and the new key is no field.
    assert [*collected.documents()] == [
        ("d", "evaluated", 0.5, Counts(tp=1, fa=1, fn=2)),
        ("x", "failed", None, Counts()),
    ]
    assert [document.values.lost for document in collected.documents()] == [3, 0]


def varied_documents(documents: int) -> dict[str, tuple[dict, dict]]:
    """Return documents with different fields and errors."""
    lines = [{"sku": name} for name in ("mouse", "lamp", "desk")]
    return {
        f"{index:03}": (
            {"id": "a", "lines": lines[: index % 4]}
            if index % 3
            else {"lines": lines[index % 2 :]},
            {"id": "ab"[index % 2], "lines": lines[index % 5 :]} if index % 7 else {"new": 1},
        )
        for index in range(documents)
    }


@pytest.fixture(scope="module")
def expected() -> list[dict]:
    """The accounts of documents that take two whole blocks and a part of a third one."""

    @cache
    def account_of(pair: str) -> dict:
        return account(*json.loads(pair))

    documents = varied_documents(520)
    return [{**account_of(json.dumps(pair)), "id": name} for name, pair in documents.items()]


@pytest.mark.parametrize(
    ("number", "size", "most_bytes"),
    [
        # One whole block and a part of a second one: each document by itself takes long.
        pytest.param(390, 1, 1, marks=pytest.mark.slow),
        *((520, 7, 1 << 20), (520, 300, 1), (520, 300, 1 << 20), (520, 520, 1 << 20)),
    ],
)
def test_rows_do_not_depend_on_how_documents_were_put_together(
    number, size, most_bytes, expected, monkeypatch
):
    documents, expected = varied_documents(number), expected[:number]
    monkeypatch.setattr(blocks, "MAX_MEMORY_BYTES", most_bytes)
    names = list(documents)
    collected = Blocks()
    for start in reversed(range(0, len(names), size)):
        shard = Blocks()
        shard.add(batch(PLAN, {name: documents[name] for name in names[start : start + size]}))
        collected.merge(shard)

    assert len(collected) == number
    assert collected.view() == expected
    again = Blocks()
    again.read_records(expected)
    assert again.view() == expected
    assert sorted(again.documents()) == sorted(collected.documents())
    assert max(len(block.documents) for block in collected) <= blocks.MAX_BLOCK_DOCUMENTS


def test_different_rows_of_one_key_are_told_apart():
    first, two = blocks._KEYS[:2].astype(np.int64).tolist()  # noqa: SLF001
    rows = np.array([[two, 0], [0, first], [two, 0]])  # the product of both in either row

    codes_found, codes = encode_rows(rows)
    assert codes_found[codes].tolist() == rows.tolist()
    assert len(codes_found) == 2


def test_a_ledger_can_be_sent_wherever_itsread_blocks_are(monkeypatch):
    monkeypatch.setattr(blocks, "MAX_MEMORY_BYTES", 1)
    collected = Blocks()
    collected.add(batch(PLAN, varied_documents(300)))

    sent = pickle.loads(pickle.dumps(collected))  # noqa: S301 - ours
    assert sent.view() == collected.view()
    sent.add(not_compared("x"))
    assert (len(sent), len(collected)) == (301, 300)


def test_documents_with_and_without_confidences_stand_together():
    pairs = {"1": ({"id": "a"}, {"id": "a"}), "2": ({"id": "a"}, {"id": "b"})}
    evaluation = Evaluation(ledger=Ledger(blocks=Blocks()))
    evaluation.add(batch(PLAN, pairs, confidences=[None, {"id": 0.5}]))

    first, second = evaluation.ledger.blocks.records()
    assert "confidences" not in first
    assert second["confidences"] == {"wrong": {"id": [0.5]}}
    assert [*evaluation.confidences.records()] == [("2", {"wrong": {"id": [0.5]}})]


def test_cells_of_which_nobody_counted_items_have_none():
    counts = batch(PLAN, {"1": ({"id": "a"}, {"id": "a"})}).counts
    assert counts.cells[:, -3:].tolist() == [[0, 0, 0]] * len(counts.documents)

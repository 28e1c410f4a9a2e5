"""The timed documents are the same on every machine."""

import json
from random import Random

import pytest

from benchmarks.documents import predict_items, predict_record
from benchmarks.sets import NOTE, SETS, invoices, pairs, write

EVERY = pytest.mark.parametrize(
    "documents", [*SETS.values(), NOTE], ids=lambda documents: documents.name
)


def seeded():
    return Random("0")  # noqa: S311 - documents are made up, not secret


def files(directory):
    return {
        path.relative_to(directory).as_posix(): path.read_bytes()
        for path in directory.rglob("*.json")
    }


@EVERY
def test_a_seed_always_makes_the_same_documents(documents):
    assert list(pairs(documents, 2, seed=7)) == list(pairs(documents, 2, seed=7))


def test_a_set_on_disk_is_a_schema_and_two_directories(tmp_path):
    write(NOTE, tmp_path, 2, seed=0)

    assert sorted(files(tmp_path)) == [
        "gt/000000.json",
        "gt/000001.json",
        "pred/000000.json",
        "pred/000001.json",
        "schema.json",
    ]
    assert json.loads((tmp_path / "gt/000000.json").read_text())["number"]


def test_invoices_have_sixteen_fields_and_their_items():
    gt, _ = next(pairs(invoices(7), 1, seed=1))
    fields = invoices(7).schema["properties"]

    assert len(fields) == 16 + 1
    assert len(gt["line_items"]) == 7
    assert all(len(item) == 5 for item in gt["line_items"])
    assert fields["supplier_address"]["type"] == "object"
    assert fields["tags"]["items"] == {"type": "string"}


def test_a_prediction_of_a_list_drops_but_never_invents():
    predicted_list = predict_items(seeded(), list(range(100)), lambda item: item, dropped=0.2)

    assert set(predicted_list) < set(range(100))
    assert predicted_list != sorted(predicted_list)


def test_a_missing_field_is_left_out():
    random = seeded()
    records = [predict_record(random, {"a": 1}, {"a": lambda: 2}) for _ in range(200)]

    assert {tuple(record.values()) for record in records} == {(1,), (2,), ()}

"""The documents that are timed are the same ones wherever they are made."""

import json
from random import Random

import pytest

from benchmarks.documents import day, misread, mistaken, predicted, predicted_items
from benchmarks.sets import NOTE, SETS, invoices, pairs, write

EVERY = pytest.mark.parametrize("documents", [*SETS.values(), NOTE], ids=lambda one: one.name)


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


@EVERY
def test_another_seed_makes_others(documents):
    assert list(pairs(documents, 1, seed=1)) != list(pairs(documents, 1, seed=2))


def test_fewer_documents_are_the_first_of_many():
    note = list(pairs(NOTE, 5, seed=0))

    assert list(pairs(NOTE, 2, seed=0)) == note[:2]


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


def test_the_wide_set_has_three_hundred_fields_and_the_deep_one_three_levels_of_lists():
    assert len(SETS["wide"].schema["properties"]) == 300
    company = SETS["deep"].schema["properties"]
    departments = company["departments"]["items"]["properties"]
    teams = departments["teams"]["items"]["properties"]
    assert teams["members"]["type"] == "array"


@EVERY
def test_some_documents_are_predicted_wrong(documents):
    assert any(gt != pred for gt, pred in pairs(documents, 3, seed=0))


def test_a_prediction_of_a_list_drops_but_never_invents():
    predicted_list = predicted_items(seeded(), list(range(100)), lambda item: item, dropped=0.2)

    assert set(predicted_list) < set(range(100))
    assert predicted_list != sorted(predicted_list)


def test_a_list_never_loses_all_items():
    assert predicted_items(seeded(), [1, 2], lambda item: item, dropped=1.0) == [1]


def test_no_text_is_misread_into_nothing():
    random = seeded()

    assert all(misread(random, "Ba") for _ in range(200))


def test_only_words_are_misread():
    random = seeded()
    values = {predicted(random, "A1B2", lambda: "C3") for _ in range(200)}

    assert values == {"A1B2", "C3", None}


def test_a_missing_field_is_left_out():
    random = seeded()
    records = [mistaken(random, {"a": 1}, {"a": lambda: 2}) for _ in range(200)]

    assert {tuple(record.values()) for record in records} == {(1,), (2,), ()}


def test_the_first_style_of_dates_is_iso():
    assert len(day(seeded(), styles=1).split("-")) == 3

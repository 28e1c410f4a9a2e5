"""Programs written for stickler-eval give the right results after changing only the import."""

import importlib
import sys
from pathlib import Path

import pytest

import stickler_cli
from stickler_cli import StructuredModelEvaluator

sys.path.insert(0, str(Path(__file__).parent))  # tests are no package
programs = importlib.import_module("programs")
sys.path.pop(0)

# "gear" to "gears" is 1 edit of 5: 0.8 of that product, (0.8 + 2) / 3 of the item.
GEAR = 2.8 / 3
# "Springfield" to "Springfeld" is 1 edit of 11.
CITY = 10 / 11


def test_scores():
    address, items = (1 + CITY) / 2, (1 + GEAR) / 2

    assert programs.scores(stickler_cli) == pytest.approx(
        {
            "number": 1.0,
            "total": 1.0,
            "address": address,
            "items": items,
            "overall": (3 + 1 + address + 2 * items) / 7,
        }
    )


def test_counts():
    counts = {key: count for key, count in programs.counts(stickler_cli).items() if count}

    assert counts == {
        ".overall.tp": 5,
        ".aggregate.tp": 8,
        "number.overall.tp": 1,
        "number.aggregate.tp": 1,
        "total.overall.tp": 1,
        "total.aggregate.tp": 1,
        "address.overall.tp": 1,
        "address.aggregate.tp": 2,
        "items.overall.tp": 2,
        "items.aggregate.tp": 4,
    }


def test_errors():
    assert programs.errors(stickler_cli) == {
        "number": "false_discovery",
        "address.city": "false_negative",
    }


def test_units():
    units = programs.units(stickler_cli)

    assert units["number"] == ["number", True, 1.0, 3.0, "exact match"]
    assert units["items[0].product"][:3] == ["items[1].product", True, 0.8]
    assert units["items[0].product"][4] == "above threshold (0.800 >= 0.5)"
    assert units["items[0].price"] == ["items[1].price", True, 1.0, 2.0, "exact match"]
    assert list(units)[:4] == ["number", "total", "address.street", "address.city"]


def test_errors_of_list_elements():
    assert programs.list_errors(stickler_cli) == {
        "missed items[2]": ["unmatched ground truth", "NonMatchType.FALSE_NEGATIVE"],
        "invented items[2]": ["unmatched prediction", "NonMatchType.FALSE_ALARM"],
    }


def test_elements_without_a_partner():
    assert programs.unpaired(stickler_cli) == {
        "missed": [["items[2]", None, "false negative (unmatched ground truth)"]],
        "invented": [["items[]", "items[2]", "false alarm (unmatched prediction)"]],
    }


def test_counts_of_several_documents():
    # Both pairs have two items that match, one misses an item, one invents an item.
    counts = {key: count for key, count in programs.added_up(stickler_cli).items() if count}
    fields = ("number", "total", "address", "address.street", "address.city")

    assert counts == {
        **{f"{name}.tp": 2 for name in fields},
        **{f"{name}.cm_f1": 1.0 for name in (*fields, "items.product", "items.price")},
        "items.tp": 4,
        "items.fa": 1,
        "items.fn": 1,
        "items.fp": 1,
        "items.cm_f1": 0.8,
        "items.product.tp": 4,
        "items.price.tp": 4,
    }


def test_raw_similarities():
    similarities = programs.raw_similarities(stickler_cli)

    assert similarities == pytest.approx({"number": 1.0, "address": (1 + CITY) / 2})


def test_a_model_from_a_configuration():
    # "widget" to "widgets" is 1 edit of 7, of weight 2 in 4.
    expected = (2 * 6 / 7 + 2) / 4

    assert programs.from_configuration(stickler_cli) == pytest.approx(
        {"overall": expected, "compare": expected}
    )


def test_a_model_from_a_json_schema():
    assert programs.from_json_schema(stickler_cli) == {
        "name": "Order",
        "overall": 1.0,
        "again": 1.0,
    }


def test_the_evaluator_gives_the_documented_structure():
    invoice = programs.invoice_classes(stickler_cli)
    result = StructuredModelEvaluator(model_class=invoice).evaluate(
        invoice(**programs.GT), invoice(**programs.PRED)
    )

    assert {"overall", "fields", "confusion_matrix", "non_matches"} <= result.keys()
    assert result["overall"]["f1"] == 1.0
    assert len(result["fields"]["items"]["items"]) == 2
    assert result["confusion_matrix"]["fields"]["number"]["tp"] == 1
    assert result["confusion_matrix"]["fields"]["items"]["fields"]["price"]["overall"]["tp"] == 2


@pytest.mark.parametrize("program", programs.PROGRAMS, ids=lambda program: program.__name__)
def test_both_libraries_give_the_same(program):
    reference = pytest.importorskip("stickler", reason="stickler-eval is not installed")
    theirs, ours = program(reference), program(stickler_cli)

    assert ours.keys() == theirs.keys()
    for key, value in theirs.items():
        is_exact = isinstance(value, str | list)
        assert ours[key] == (value if is_exact else pytest.approx(value)), key

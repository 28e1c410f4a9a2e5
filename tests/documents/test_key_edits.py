"""Keys that are renamed in predictions, and keys that are ignored on both sides."""

import json

import pytest

from stickler_cli.core.problems import UsageError
from stickler_cli.documents.key_edits import parse_key_edits
from stickler_cli.documents.pairs import open_pairs
from stickler_cli.documents.wrapper_forms import NO_FORM
from stickler_cli.documents.wrappers import Unwrapper
from stickler_cli.settings.of_commands import EvalSettings

LINES = {"id": 1, "lines": [{"id": 2, "price": 3}, {"price": 4, "note": "x"}]}


@pytest.mark.parametrize(
    ("ignored", "kept"),
    [
        (["id"], {"lines": [{"id": 2, "price": 3}, {"price": 4, "note": "x"}]}),
        (["**.id"], {"lines": [{"price": 3}, {"price": 4, "note": "x"}]}),
        (["*.id", "lines.note"], {"id": 1, "lines": [{"price": 3}, {"price": 4}]}),
        (["lines.*"], {"id": 1, "lines": [{}, {}]}),
        (["lines"], {"id": 1}),
        (["lines.**"], {"id": 1}),
        (["other", "lines.id.x"], LINES),
    ],
)
def test_ignored_keys_are_left_out_on_both_sides(ignored, kept):
    unwrapper = Unwrapper(None, None, parse_key_edits(ignored, []))
    for is_truth in (True, False):
        assert unwrapper(LINES, is_truth=is_truth).value == kept


@pytest.mark.parametrize(
    ("renamed", "expected"),
    [
        (["id=no"], {"no": 1, "lines": [{"id": 2, "price": 3}, {"price": 4, "note": "x"}]}),
        (
            ["lines.price=amount", "lines.note=lines.text"],
            {"id": 1, "lines": [{"id": 2, "amount": 3}, {"amount": 4, "text": "x"}]},
        ),
        # a key around it may be named as it was, or as it will be
        (
            ["lines=rows", "lines.id=no", "rows.note=text"],
            {"id": 1, "rows": [{"no": 2, "price": 3}, {"price": 4, "text": "x"}]},
        ),
        (
            ["**.id=no"],
            {"no": 1, "lines": [{"no": 2, "price": 3}, {"price": 4, "note": "x"}]},
        ),
        # the second has both: nothing of it is lost
        (["lines.note=price"], LINES),
    ],
)
def test_keys_of_predictions_get_other_names(renamed, expected):
    unwrapper = Unwrapper(None, None, parse_key_edits([], renamed))
    assert unwrapper(LINES).value == expected
    assert unwrapper(LINES, is_truth=True).value == LINES


def test_a_new_name_replaces_an_absent_value_under_it():
    unwrapper = Unwrapper(None, None, parse_key_edits([], ["vendor=seller"]))
    assert unwrapper({"seller": None, "vendor": "Kite"}).value == {"seller": "Kite"}
    assert unwrapper({"vendor": "Kite", "seller": ""}).value == {"seller": "Kite"}


@pytest.mark.parametrize(
    ("renamed", "value", "expected"),
    [
        (["a=b", "b=a"], {"a": 1, "b": 2}, {"b": 1, "a": 2}),
        (["a=b", "b=c"], {"a": 1, "b": 2}, {"b": 1, "c": 2}),
        (["a=b", "b=c"], {"a": 1, "b": 2, "c": 3}, {"a": 1, "b": 2, "c": 3}),
        (["a=c", "b=c"], {"a": 1, "b": 2}, {"c": 1, "b": 2}),
    ],
)
def test_keys_may_change_places_and_no_value_is_lost(renamed, value, expected):
    assert Unwrapper(None, None, parse_key_edits([], renamed))(value).value == expected


def test_renamed_keys_are_ignored_by_their_new_names():
    edits = parse_key_edits(["seller"], ["vendor=seller"])
    assert Unwrapper(None, None, edits)({"vendor": "Kite", "total": 1}).value == {"total": 1}


def test_paths_do_not_name_the_keys_of_wrappers():
    unwrapper = Unwrapper(None, None, parse_key_edits(["lines.id"], ["lines.n=count"]))
    lines = {"value": [{"id": {"_value": 2}, "n": {"_value": 3}}], "confidence": 0.5}
    unwrapped = unwrapper({"lines": lines})
    assert unwrapped.value == {"lines": [{"count": 3}]}
    assert unwrapped.confidences == {"lines": [{"count": 0.5}]}


def test_keys_are_left_out_of_alternatives():
    unwrapper = Unwrapper(None, None, parse_key_edits(["home.no"], []))
    home = {"_value": {"street": "Elm", "no": 1}, "_alternatives": [{"street": "Oak", "no": 2}]}
    gold = unwrapper({"home": home}, is_truth=True).gold
    assert [alternative.value for alternative in gold.descendant(("home",)).alternatives] == [
        {"street": "Oak"}
    ]


def test_keys_are_edited_where_values_stay_in_their_wrappers():
    unwrapper = Unwrapper(None, NO_FORM, parse_key_edits(["id"], []))
    document = {"id": 1, "total": {"_value": 5}}
    assert unwrapper(document, is_truth=True).value == {"total": {"_value": 5}}


@pytest.mark.parametrize(
    ("ignored", "renamed", "option"),
    [
        ([""], [], "--ignore"),
        (["**"], [], "--ignore"),
        (["a[0].b"], [], "--ignore"),
        (["a..b"], [], "--ignore"),
        ([], ["vendor"], "--rename"),
        ([], ["=seller"], "--rename"),
        ([], ["vendor="], "--rename"),
        ([], ["meta.total=header.total"], "--rename"),
        ([], ["*=seller"], "--rename"),
    ],
)
def test_what_names_no_key_is_refused(ignored, renamed, option):
    with pytest.raises(UsageError) as error:
        parse_key_edits(ignored, renamed)
    assert str(error.value).startswith(f"{option}: the value is ")


def test_predictions_are_paired_by_an_id_under_its_new_name(tmp_path):
    gts = [{"id": n, "a": n} for n in (1, 2)]
    preds = [{"doc_id": n, "a": n + 1} for n in (2, 1)]
    for name, documents in (("gt", gts), ("pred", preds)):
        (tmp_path / f"{name}.jsonl").write_text("\n".join(map(json.dumps, documents)))
    sources = str(tmp_path / "gt.jsonl"), str(tmp_path / "pred.jsonl")
    settings = EvalSettings(id_field="id", rename=("doc_id=id",))
    pairs = [*open_pairs(*sources, settings)]
    assert [(pair.id, pair.pred["a"]) for pair in pairs] == [("1", 2), ("2", 3)]

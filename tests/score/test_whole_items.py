"""Number of exact items: both sides have them, and nothing in them is wrong."""

import pytest

from stickler_cli.core.problems import UsageError
from stickler_cli.schema.compiler import compile_schema
from stickler_cli.score.gate_verdicts import judge_gate
from stickler_cli.score.gates import parse_gate
from .batches import TEXT, a_list, an_object, batch, evaluate, records

LINE = an_object(sku=TEXT, name=TEXT)
SCHEMA = an_object(
    id=TEXT,
    o=an_object(a=TEXT, b=TEXT),
    lines=a_list(LINE),
    tags=a_list(TEXT),
    rows=a_list(a_list(TEXT)),
    parts=a_list(an_object(id=TEXT, of=an_object(a=TEXT), lines=a_list(LINE))),
)
BOLT, NUT = {"sku": "1", "name": "bolt"}, {"sku": "2", "name": "nut"}
PART = {"id": "1", "of": {"a": "x"}, "lines": [BOLT, NUT]}
NAIL, PIN = {"sku": "3", "name": "nail"}, {"sku": "4", "name": "pin"}


def exact_items_of(gt, pred, schema=SCHEMA):
    """Return a dict from each field to (number of exact items, number of all items)."""
    (record,) = records(batch(compile_schema(schema), {"1": (gt, pred)}))
    return {
        name: (entry.get("whole", 0), entry["items"])
        for name, entry in record["fields"].items()
        if "items" in entry
    }


@pytest.mark.parametrize(
    ("gt", "pred", "expected"),
    [
        ({"lines": [BOLT, NUT]}, {"lines": [NUT, BOLT]}, {"lines": (2, 2)}),
        # One of two values is wrong in a pair, which is one item.
        ({"lines": [BOLT]}, {"lines": [{**BOLT, "name": "zzz"}]}, {"lines": (0, 1)}),
        ({"lines": [BOLT]}, {"lines": [{**BOLT, "new": 1}]}, {"lines": (0, 1)}),
        ({"lines": [BOLT, NUT]}, {"lines": [BOLT]}, {"lines": (1, 2)}),
        ({"lines": [BOLT]}, {"lines": [BOLT, NUT]}, {"lines": (1, 2)}),
        # What is not alike is not paired: one is missed and one invented.
        ({"tags": ["a", "b"]}, {"tags": ["b", "x"]}, {"tags": (1, 3)}),
        ({"rows": [["a", "b"], ["c"]]}, {"rows": [["a", "b"], ["c", "d"]]}, {"rows": (1, 2)}),
        ({"o": {"a": "x"}}, {"o": {"a": "x"}}, {"o": (1, 1)}),
        ({"o": {"a": "x"}}, {"o": {"a": "x", "b": "y"}}, {"o": (0, 1)}),
        ({"o": {"a": "x"}}, {"o": {"a": "x", "new": 1}}, {"o": (0, 1)}),
        ({"o": {"a": "x"}}, {}, {"o": (0, 1)}),
        ({}, {"o": {"a": "x"}}, {"o": (0, 1)}),
        ({"o": {"a": "x"}}, {"o": "x"}, {"o": (0, 1)}),
        # A value in the place of a list is a list of one.
        ({"lines": [BOLT]}, {"lines": "x"}, {"lines": (0, 2)}),
        ({"id": "a"}, {"id": "b"}, {}),
        # An error deep inside breaks all that is around it.
        (
            {"parts": [PART, PART]},
            {"parts": [PART, {**PART, "lines": [BOLT, {**NUT, "name": "zzz"}]}]},
            {"parts": (1, 2), "parts.lines": (3, 4), "parts.of": (2, 2)},
        ),
        # What is inside a missed item is missed, too.
        ({"parts": [PART]}, {}, {"parts": (0, 1), "parts.lines": (0, 2), "parts.of": (0, 1)}),
    ],
)
def test_items_are_whole_where_they_are_paired_and_nothing_in_them_is_wrong(gt, pred, expected):
    assert exact_items_of(gt, pred) == expected


def test_documents_that_are_lists_have_items_at_their_root():
    assert exact_items_of([BOLT, NUT], [BOLT], a_list(LINE)) == {"": (1, 2)}


def test_objects_where_another_kind_is_found_are_items_in_any_company():
    tree = an_object(a=an_object(name=TEXT))
    pairs = {"1": ({"a": {"name": "x"}}, {"a": False}), "2": ({"a": 1}, {"a": {"name": "x"}})}

    together = records(batch(compile_schema(tree), pairs))

    single_records = [
        record
        for name in pairs
        for record in records(batch(compile_schema(tree), {name: pairs[name]}))
    ]
    assert together == single_records
    assert [record["fields"]["a"]["items"] for record in together] == [1, 1]


@pytest.mark.parametrize(
    ("gt", "pred", "exact"),
    [
        # Two of three predicted and of four true lines: 2 / 3, 2 / 4, and 2 * 2 / (3 + 4).
        ([BOLT, NUT, NAIL, PIN], [BOLT, NUT, {**NAIL, "name": "zzz"}], (2 / 3, 1 / 2, 4 / 7)),
        # One of each is invented: 1 / 2, 1 / 1, 2 / 3.
        ([BOLT], [BOLT, NUT], (1 / 2, 1, 2 / 3)),
        ([BOLT], [], (None, 0, 0)),
        ([], [BOLT], (0, None, 0)),
        ([BOLT], [BOLT], (1, 1, 1)),
        ([], [], (None, None, None)),
    ],
)
def test_exact_items_are_divided_by_those_of_either_side(gt, pred, exact):
    done = evaluate([batch(compile_schema(SCHEMA), {"1": ({"lines": gt}, {"lines": pred})})])
    lines = done.to_dict()["confusion_matrix"]["fields"]["lines"]

    assert done.sums.tally(("lines",)).exact_rates == exact
    expected = dict(zip(("precision", "recall", "f1"), exact, strict=True))
    assert lines.get("exact") == (expected if gt or pred else None)


def test_gates_ask_for_exact_items():
    truth, prediction = [BOLT, NUT, NAIL, PIN], [BOLT, NUT, {**NAIL, "name": "zzz"}]
    documents = {"1": ({"lines": truth}, {"lines": prediction}), "2": ({"id": "a"}, {"id": "a"})}
    done = evaluate([batch(compile_schema(SCHEMA), documents)])

    assert judge_gate(parse_gate("lines.exact_precision>=0.6"), done).value == 2 / 3
    assert judge_gate(parse_gate("lines.exact_recall<=0.5"), done).passed
    assert (
        judge_gate(parse_gate("lines.exact_f1>=0.5"), done).reason == "lines.exact_f1 0.571 >= 0.5"
    )
    # Of objects, fields of values and whole documents there are none.
    for path in ("o.", "id.", ""):
        result = judge_gate(parse_gate(f"{path}exact_f1>=0"), done)
        expected = f"{path}exact_f1 is undefined: this field has no items or objects"
        assert (result.passed, result.reason) == (False, expected)
    # It is a share, and has no interval.
    for text in ("lines.exact_f1>=3", "lines.exact_f1.lower>=0.5"):
        with pytest.raises(UsageError):
            parse_gate(text)

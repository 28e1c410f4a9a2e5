"""Reports of a single comparison, and its JSON, which is valid under its schema."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from stickler_cli.cli.outputs import outputs_of
from stickler_cli.compare.engine import compare
from stickler_cli.compare.plan import Options
from stickler_cli.compare.tree import explain, tree_of
from stickler_cli.core.figures import cells
from stickler_cli.reports.formats import PAIR_FORMATS, render
from stickler_cli.reports.json_report import COMPARISON_FORMAT, comparison_record
from stickler_cli.reports.layout import TableStyle
from stickler_cli.reports.pair import (
    LONGEST,
    MANY,
    ComparedPair,
    diff_texts,
    diff_values,
    errors_by_location,
)
from stickler_cli.schema.compiler import compile_schema
from stickler_cli.score.batch import batch_of_unit
from stickler_cli.settings.of_commands import CompareSettings

TEXT = {"type": "string"}
EXACT = {"type": "string", "x-aws-stickler-comparator": "ExactComparator"}
ORDER = {
    "type": "object",
    "x-aws-stickler-model-name": "Order",
    "properties": {
        "name": {**TEXT, "x-aws-stickler-threshold": 0.9, "x-aws-stickler-weight": 2},
        "rows": {
            "type": "array",
            "items": {"type": "object", "properties": {"sku": EXACT, "unit": EXACT}},
        },
    },
}
GT = {"name": "Acme Ltd", "rows": [{"sku": "a", "unit": "pc"}, {"sku": "b", "unit": "kg"}]}
PRED = {"name": "Acme Inc", "rows": [{"sku": "a", "unit": "m"}, {"sku": "b", "unit": "kg"}]}


def pair_of(schema=ORDER, gt=GT, pred=PRED, detail="brief", options=None):
    plan, options = compile_schema(schema), options or Options()
    root = tree_of(compare(plan, [gt], [pred], options), 0, options)
    explain(root)
    classes = errors_by_location(batch_of_unit(root).classified_errors(0))
    options_used = options.pairing_floor, options.extra_fields
    return ComparedPair(
        "order.json", plan.model_name, "one", *options_used, root, [root], classes, detail
    )


def drawn(pair, width=80, *, color=False):
    return render("table", pair, TableStyle(width=width, color=color, plain=False))


def test_a_tree_shows_values_marks_pairs_and_sums():
    # name: 5 of 8 letters are right; rows: (0.5 + 1) / 2.
    expected = """\
document one (schema Order in order.json)
overall score 0.6667: sum 2 / weight 3 = 0.6667

field                 similarity  threshold  from        weight    adds
(document)                0.6667
  name            FD      0.6250        0.9  annotation       2  1.2500
    gt    "Acme [-Ltd-]"
    pred  "Acme {+Inc+}"
  rows                    0.7500                              1  0.7500
    [0] with [0]  FD      0.5000        0.7  default             0.5000
      item with errors
      sku         TP      1.0000        0.5  default          1  1.0000
      unit        FD      0.0000        0.5  default          1  0.0000
        gt    "[-pc-]"
        pred  "{+m+}"
      sum 1 / weight 2 = 0.5000
    [1] with [1]  TP      1.0000        0.7  default             1.0000
    sum 1.5 / items 2 = 0.7500; items are paired if their similarity is above
    0.2
  sum 2 / weight 3 = 0.6667

adds: weight x score; the score of an object or list is the sum of these
  numbers, divided by the divisor
from: where the threshold comes from (an annotation in the schema, the
  match-threshold of the list items, or the default)
"""
    assert drawn(pair_of()) == expected


def test_no_line_is_wider_than_the_terminal():
    for width in (40, 80, 120):
        for line in drawn(pair_of(), width).splitlines():
            assert cells(line) <= width


def test_a_place_by_itself_has_its_whole_path():
    pair = pair_of()
    item = pair.root.parts[1].parts[0]

    assert "\nrows[0] with [0]  FD      0.5000" in drawn(replace(pair, chosen=[item]))


def test_a_floor_of_the_schema_is_told_as_such():
    annotated = {"type": "array", "items": TEXT, "x-aws-stickler-pairing-floor": 0.5}
    schema = {"type": "object", "properties": {"t": annotated}}

    text = drawn(pair_of(schema, {"t": ["a", "b"]}, {"t": ["a"]}))
    shown_text = " ".join(text.split())
    assert "items are paired if their similarity is above 0.5 (annotation)" in shown_text


def test_columns_without_room_are_named():
    sentence = "columns left out to save width: from,\n  weight, adds\n"
    assert drawn(pair_of(), 40).endswith(sentence)


def test_in_colour_differences_have_no_marks():
    out = drawn(pair_of(), color=True)

    assert "[-" not in out
    assert '"Acme \x1b[1;32mLtd\x1b[0m"' in out
    assert '"Acme \x1b[1;31mInc\x1b[0m"' in out


def test_long_values_go_on_in_the_next_line():
    schema = {"type": "object", "properties": {"a": EXACT}}
    out = drawn(pair_of(schema, {"a": "東" * 30}, {"a": "x" * 30}), 40)

    lines = out.splitlines()
    position = next(index for index, line in enumerate(lines) if line.startswith("    gt    "))
    assert lines[position : position + 3] == [
        '    gt    [-"' + "東" * 13,
        "          " + "東" * 15,
        "          " + "東" * 2 + '"-]',
    ]
    assert all(cells(line) <= 40 for line in lines)


def test_what_is_right_is_shown_by_its_value_only_on_request():
    schema = {"type": "object", "properties": {"a": EXACT, "b": TEXT}}
    document = {"a": "x"}

    assert 'both  "x"' not in drawn(pair_of(schema, document, document))
    all_lines = drawn(pair_of(schema, document, document, "all"))
    assert '    both  "x"' in all_lines
    assert "  b " in all_lines
    assert "1 absent on both sides" in drawn(pair_of(schema, document, document))


def test_right_elements_of_a_long_list_are_counted():
    schema = {"type": "object", "properties": {"t": {"type": "array", "items": EXACT}}}
    gt = {"t": [f"item {index}" for index in range(MANY + 1)]}
    pred = {"t": [*gt["t"][:-1], "else"]}
    out = drawn(pair_of(schema, gt, pred))

    assert f"{MANY} right" in out
    assert f"[{MANY}] missed" in out
    assert "no item on the other side is similar" in out


def test_an_element_without_a_pair_says_why():
    item = {**TEXT, "x-aws-stickler-threshold": 0.5}
    schema = {
        "type": "object",
        "properties": {"t": {"type": "array", "items": item, "x-aws-stickler-pairing-floor": 0.5}},
    }
    out = drawn(pair_of(schema, {"t": ["abcd", "abce"]}, {"t": ["xbyd", "abcd"]}), 120)

    assert "not paired: the best candidate is [1] at 0.7500, which goes with [0]" in out
    assert (
        "not paired: the best candidate is [0] at 0.5000, which is not above the pairing "
        "floor of 0.5"
    ) in out
    close = drawn(pair_of(schema, {"t": ["abcd"]}, {"t": ["abcf", "abxf"]}, "all"))
    assert "next best [1] at 0.5000" in close


def test_lists_that_one_side_lacks_are_counted():
    out = drawn(pair_of(gt=GT, pred={"name": "Acme Ltd"}))

    assert "    2 missed items\n" in out
    assert "invented item" in drawn(pair_of(gt={}, pred={"rows": GT["rows"][:1]}))


def test_a_clipped_field_says_that_it_adds_nothing():
    clipped = {**TEXT, "x-aws-stickler-threshold": 0.8, "x-aws-stickler-clip-under-threshold": True}
    schema = {"type": "object", "properties": {"a": clipped}}

    out = drawn(pair_of(schema, {"a": "abcd"}, {"a": "abcx"}))
    assert "similarity is below the threshold, so the score is 0" in out


def test_nothing_to_compare_is_said():
    assert "nothing to compare: 1" in drawn(pair_of(gt={}, pred={}))


HOSTILE = "\x1b]0;t\x07 \u202e|`<b>[red]\n@me"


@pytest.mark.parametrize("format_name", ["table", "markdown"])
def test_hostile_values_stay_text(format_name):
    schema = {"type": "object", "properties": {HOSTILE: EXACT, "b": EXACT}}
    pair = pair_of(schema, {HOSTILE: HOSTILE, "b": HOSTILE}, {"b": "x", HOSTILE + "2": HOSTILE})
    pair = replace(pair, document=HOSTILE)

    for style in (TableStyle(), TableStyle(width=60, plain=False)):
        out = render(format_name, pair, style)
        assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", out)
    if format_name == "markdown":
        assert "<b>" not in out
        rows = [line for line in out.splitlines() if line.startswith("|")]
        assert {row.count("|") for row in rows} == {12}


def test_json_takes_what_only_python_can_write():
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}}
    out = render("json", pair_of(schema, {"a": 2**70}, {"a": 1}), TableStyle())

    assert json.loads(out)["places"][0]["parts"][0]["ground_truth_value"] == 2**70


def test_values_that_cannot_be_written_are_named():
    (segment, _) = diff_values(10**5000, 1)

    assert segment.text == "(integer, too large to show)"


def test_long_runs_are_shortened():
    gt, pred = "a" * 100 + "1" * 900, "a" * 100 + "2" * 10
    same, first, second, _ = diff_values(gt + "a" * 800, pred + "a" * 800)

    assert same.text == '"' + "a" * 19 + "…" + "a" * 20
    assert first.text == "1" * 400 + "…"
    assert second.text == "2" * 10


def test_suffixes_tell_formats():
    settings = CompareSettings(output=("a.json", "b.md", "c.txt"))

    assert outputs_of(settings, PAIR_FORMATS).files == {
        "a.json": "json",
        "b.md": "markdown",
        "c.txt": "table",
    }
    assert set(PAIR_FORMATS) == {"table", "json", "markdown"}


ROOT = Path(__file__).parents[2]
SCHEMA = json.loads((ROOT / "schemas" / "stickler-comparison.json").read_text(encoding="utf-8"))
VALIDATOR = Draft202012Validator(SCHEMA)
CASES = ROOT / "tests" / "cases" / "documents.jsonl"
ROWS = [json.loads(line) for line in CASES.read_text(encoding="utf-8").splitlines()]


def record_of(row):
    options_given = row.get("options", {})
    options = Options(
        options_given.get("pairing_floor", 0.2), options_given.get("extra_fields", "fa")
    )
    return comparison_record(pair_of(row["schema"], row["gt"], row["pred"], options=options))


def score_of(place):
    """Compute the score of a place from the figures of its parts only."""
    if "sum" not in place:
        return place["score"]
    children = place.get("parts", [])
    total = sum(child["adds"] for child in children if "adds" in child)
    if place["kind"] == "object":
        divisor = sum(child["weight"] for child in children if "adds" in child)
    elif place["kind"] == "tuple":
        divisor = len(children)
    else:
        sides = [child["pairing"] for child in children]
        divisor = max(
            sum(side[name] is not None for side in sides)
            for name in ("ground_truth_index", "prediction_index")
        )
    return total / divisor if divisor else 1.0


def test_the_schema_is_one_and_names_the_format():
    Draft202012Validator.check_schema(SCHEMA)
    assert SCHEMA["title"] == SCHEMA["properties"]["format"]["const"] == COMPARISON_FORMAT


@pytest.mark.slow
@pytest.mark.parametrize("row", [pytest.param(row, id=row["name"]) for row in ROWS])
def test_what_is_printed_fits_the_schema_and_adds_up_to_the_overall_score(row):
    record = json.loads(json.dumps(record_of(row)))

    assert [error.message for error in VALIDATOR.iter_errors(record)] == []
    (root,) = record["places"]
    assert score_of(root) == pytest.approx(row["expect"]["overall_score"], abs=1e-9)
    waiting = [root]
    while waiting:
        place = waiting.pop()
        waiting += place.get("parts", [])
        is_clipped = place["score"] == 0.0 and place["outcome"] == "FD"
        assert is_clipped or score_of(place) == pytest.approx(place["score"], abs=1e-9)


def cut(gt, pred):
    """Return the differences of two texts as one line: `[-ground truth-]` and `{+prediction+}`."""
    marks = {"both": "{}", "gt": "[-{}-]", "pred": "{{+{}+}}"}
    return "".join(marks[segment.side].format(segment.text) for segment in diff_texts(gt, pred))


@pytest.mark.parametrize(
    ("gt", "pred", "expected"),
    [
        ("same", "same", "same"),
        ("", "", ""),
        ("", "new", "{+new+}"),
        ("old", "", "[-old-]"),
        ("12.50 EUR", "12.80 EUR", "12.[-5-]{+8+}0 EUR"),
        ("Acme", "Acme Inc", "Acme{+ Inc+}"),
        ("the Acme", "Acme", "[-the -]Acme"),
        ("colour", "color", "colo[-u-]r"),
        ("abcdef", "uvwxyz", "[-abcdef-]{+uvwxyz+}"),
        ("aXbYc-long", "aZbWc-long", "a[-XbY-]{+ZbW+}c-long"),
    ],
)
def test_texts_are_cut_where_they_differ(gt, pred, expected):
    assert cut(gt, pred) == expected


def test_very_long_texts_are_not_compared_letter_by_letter():
    gt = "x" * LONGEST + "y"

    assert [segment.side for segment in diff_texts(gt, "x" * LONGEST)] == ["gt", "pred"]


@pytest.mark.parametrize(("gt", "pred"), [("kitten sits", "sitting kit"), ("naïve é", "naive e")])
def test_the_pieces_make_up_both_texts(gt, pred):
    segments = diff_texts(gt, pred)

    assert "".join(segment.text for segment in segments if segment.side != "pred") == gt
    assert "".join(segment.text for segment in segments if segment.side != "gt") == pred

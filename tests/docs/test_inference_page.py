"""`docs/inference.md` and the code say the same."""

import json
import re
from pathlib import Path

from stickler_cli.schema.annotations import NUMBER
from stickler_cli.schema.inference.name_rules import (
    ANY_TEXT,
    MISLEADING,
    PREPOSITIONS,
    QUALIFIERS,
    rules,
)
from tests.schema.inference_pairs import Pair, are_right

PAGE = (Path(__file__).parents[2] / "docs" / "inference.md").read_text(encoding="utf-8")


def table(heading):
    """Return the rows of the table whose first heading is `heading`."""
    lines = PAGE.partition(f"| {heading} |")[2].split("\n\n")[0].splitlines()
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines[2:]]


def words_after(text):
    """Return the list of words at the end of a sentence, given the text before the list."""
    split_page = " ".join(PAGE.split()).partition(text)[2]
    return re.match(r" (.*?)[.](?: |$)", split_page)[1].split(", ")


def test_the_table_of_names_is_that_of_the_code():
    assert table("the field holds") == [
        [
            rule.meaning,
            ", ".join(rule.names["en"]),
            ", ".join(kind for kind in ("string", "number", "box") if kind in rule.kinds),
            rule.default.comparator,
            str(rule.default.threshold),
            f"`{json.dumps(rule.default.config)}`" if rule.default.config else "",
        ]
        for rule in rules()
    ]


def test_the_lists_of_words_are_those_of_the_code():
    assert words_after("strings whose names end in:") == list(MISLEADING)
    assert words_after("These words count as prepositions:") == sorted(PREPOSITIONS)
    assert words_after("so `total_usd` is a total:") == sorted(QUALIFIERS)


def test_what_no_rule_names_is_compared_as_the_page_says():
    page_text = " ".join(PAGE.split())
    assert (
        f"a string is compared by {ANY_TEXT.comparator} with threshold {ANY_TEXT.threshold}"
        in page_text
    )
    assert f"a number by {NUMBER.comparator} with threshold {NUMBER.threshold}" in page_text


def kind_of(value):
    return "string" if isinstance(value, str) else "number"


def test_pairs_of_values_are_judged_as_the_page_says():
    rows = table("named")
    names, gts, preds = ([row[column].strip("`") for row in rows] for column in range(3))
    pairs = [
        Pair("", name, {"type": kind_of(gt)}, [], gt, json.loads(pred), right=True, why="")
        for name, gt, pred in zip(names, map(json.loads, gts), preds, strict=True)
    ]

    assert len(rows) >= 3
    assert [are_right([pair], "its own value") for pair in pairs] == [
        [row[3].startswith("right")] for row in rows
    ]

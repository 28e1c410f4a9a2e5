"""`docs/comparators.md` and the code say the same."""

import json
import re
from pathlib import Path

import pytest

from stickler_cli.comparators.comparator_registry import ENTRY_POINT_GROUP, construct, describe

PAGE = (Path(__file__).parents[2] / "docs" / "comparators.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^## (\w+)\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL))
DESCRIBED = {description.name: description for description in describe()}


def table(section, heading):
    """Return the rows of the table whose first heading is `heading`, without code marks."""
    rows = [
        [cell.strip().strip("`") for cell in line.strip("|").split("|")]
        for line in section.splitlines()
        if line.startswith("|")
    ]
    headings = [
        index for index, row in enumerate(rows) if rows[index + 1 :][:1] == [["---"] * len(row)]
    ]
    for start, end in zip(headings, [*headings[1:], len(rows)], strict=True):
        if rows[start][0] == heading:
            return rows[start + 2 : end]
    return []


EXAMPLES = [(name, *row) for name in DESCRIBED for row in table(SECTIONS[name], "config")]


def test_every_comparator_has_a_section_and_a_row_in_the_overview():
    overview = table(PAGE.partition("\n## ")[0], "comparator")

    assert [row[0] for row in overview] == [
        f"[{name}](#{name.lower()})" for name in SECTIONS if name in DESCRIBED
    ]
    assert set(DESCRIBED) <= set(SECTIONS)


@pytest.mark.parametrize("name", DESCRIBED)
def test_a_section_lists_the_keywords_of_the_constructor_with_their_defaults(name):
    expected = [
        [
            keyword.name,
            "required" if keyword.default is keyword.empty else json.dumps(keyword.default),
        ]
        for keyword in DESCRIBED[name].keywords
    ]
    overview = {row[0]: row[2] for row in table(PAGE.partition("\n## ")[0], "comparator")}
    listed = [row[:2] for row in table(SECTIONS[name], "keyword")]
    threshold = overview[f"[{name}](#{name.lower()})"]
    listed += [["threshold", threshold]] if threshold != "-" else []

    assert sorted(listed) == sorted(expected)


@pytest.mark.parametrize("name", DESCRIBED)
def test_a_section_names_the_other_names_of_its_comparator(name):
    accepted = re.search(r"^Also accepted: `(\w+)`", SECTIONS[name], re.MULTILINE)

    assert ((accepted[1],) if accepted else ()) == DESCRIBED[name].aliases


@pytest.mark.parametrize(("name", "config", "gt", "pred", "similarity"), EXAMPLES)
def test_an_example_gives_what_the_page_says(name, config, gt, pred, similarity):
    comparator = construct(name, json.loads(config))

    assert comparator.compare(json.loads(gt), json.loads(pred)) == pytest.approx(float(similarity))


def test_the_comparator_of_ones_own_works_as_it_stands_there():
    (source,) = re.findall(r"```python\n(from .*?)```", PAGE, re.DOTALL)
    names = {}
    exec(source, names)  # noqa: S102 - the page's own example

    comparator = names["FirstLetter"]()

    assert comparator.compare("ab", "ac") == 1.0
    assert comparator.similarities(["ab", "b"], ["ac", "ac"]).tolist() == [1.0, 0.0]


def test_the_page_names_the_group_of_entry_points():
    assert f'[project.entry-points."{ENTRY_POINT_GROUP}"]' in PAGE

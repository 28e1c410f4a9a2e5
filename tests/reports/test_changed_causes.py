"""Sentences about the causes of broken values and of fixed values."""

from stickler_cli.documents.document_pair import DocumentPair
from stickler_cli.reports.changed_causes import list_moved_causes
from stickler_cli.reports.difference_sections import DifferenceView
from stickler_cli.reports.formats import render
from stickler_cli.reports.layout import TableStyle
from stickler_cli.studies.diff.answer import compare_runs
from .conftest import RIGHT


def difference_of(run_of):
    """Return the difference between two runs of documents a to d.

    The first run misses `id` in a and b, the second in b, c and d. The total is wrong only in a, in
    the first run.
    """
    without_id = {name: value for name, value in RIGHT.items() if name != "id"}
    base = {"a": {**without_id, "total": 99}, "b": without_id, "c": RIGHT, "d": RIGHT}
    new = {"a": RIGHT, "b": without_id, "c": without_id, "d": without_id}
    runs = [
        run_of(
            pairs=[DocumentPair(name, RIGHT, pred) for name, pred in side.items()], detailed=True
        )
        for side in (base, new)
    ]
    return compare_runs({"base": runs[0]}, {"new": runs[1]})


def test_a_cause_stands_among_broken_and_fixed_values_and_counts_only_these(run_of):
    difference = difference_of(run_of)
    lists = list_moved_causes(DifferenceView(difference).causes)

    rows_shown = [
        (moved_list.move, moved.cause.text, moved.moved, moved.stayed, moved.total)
        for moved_list in lists
        for moved in moved_list.causes
    ]
    assert sorted(rows_shown) == [
        ("broken", "id missed in 2 documents", 2, 1, 3),
        ("fixed", "id missed in 1 document", 1, 1, 2),
        ("fixed", "total 10 -> 99 once", 1, 0, 1),
    ]
    assert difference.flow is not None
    assert [difference.flow["broken"], difference.flow["fixed"]] == [2, 2]


def test_the_terminal_names_broken_values_before_fixed_ones(run_of):
    lines = render("table", difference_of(run_of), TableStyle(width=80, plain=False)).splitlines()

    first = lines.index("values broken, by cause")
    assert lines[first + 1].strip() == "2 broken of 3  id missed in 2 documents"
    assert lines[first + 2] == "values fixed, by cause"
    assert "1 fixed of 2  id missed in 1 document" in [line.strip() for line in lines]


def test_the_page_links_each_list_to_the_values_of_its_move(run_of):
    page = render("html", difference_of(run_of), TableStyle())

    assert page.index("<h3>Values broken, by cause</h3>") < page.index("Values fixed, by cause")
    assert "Causes that shrank" not in page

"""An interrupted run is marked as such in the formats that promise it."""

from dataclasses import replace
from typing import get_args

import pytest

from stickler_cli.reports.formats import FORMATS_WITH_NOTES, render
from stickler_cli.reports.layout import TableStyle
from stickler_cli.settings.deciding import RunFormat

NOTE = "interrupted: these results cover only 3 of 9 documents"


@pytest.mark.parametrize("name", get_args(RunFormat))
def test_a_format_says_that_a_run_was_interrupted_or_is_known_not_to(run_of, name):
    run = replace(run_of(), notes=(NOTE,), partial=True)
    assert (NOTE in render(name, run, TableStyle(plain=True))) == (name in FORMATS_WITH_NOTES)


@pytest.mark.parametrize(
    ("planned", "expected_message"),
    [(9, "partial: 1 of 9 documents"), (None, "partial: 1 documents")],
)
def test_the_first_line_of_a_part_says_how_much_it_is(run_of, planned, expected_message):
    run = replace(run_of(), partial=True, planned=planned)
    count = run.evaluation.documents["total"]
    expected_message = expected_message.replace("1", str(count), 1)
    assert render("table", run, TableStyle()).splitlines()[0] == expected_message
    assert f"**{expected_message}; " in render("markdown", run, TableStyle())
    assert expected_message in render("html", run, TableStyle())
    assert "partial:" not in render("table", run_of(), TableStyle())

from typing import get_args

import pytest

from stickler_cli.reports.formats import FORMATS, SUFFIXES, format_of, render
from stickler_cli.reports.layout import TableStyle
from stickler_cli.settings.deciding import RunFormat


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("run.json", "json"),
        ("run.JSON", "json"),
        ("a.b/run.csv", "csv"),
        ("run.tsv", "tsv"),
        ("run.ndjson", "jsonl"),
        ("run.parquet", "parquet"),
        ("run.md", "markdown"),
        ("run.txt", "table"),
        ("run.metrics.txt", "openmetrics"),
        ("metrics.txt", "openmetrics"),
        ("run.prom", "openmetrics"),
        ("mymetrics.txt", "table"),
        ("metrics.txt/run.md", "markdown"),
        ("run.junit.xml", "junit"),
        ("junit.xml", "junit"),
        ("TEST-run.xml", "junit"),
        ("json", None),
        ("run.yaml", None),
        ("run", None),
        (".json", None),
    ],
)
def test_the_suffix_of_a_file_tells_the_format(file, name):
    assert format_of(file) == name


def test_every_format_but_that_of_a_log_has_a_suffix():
    assert set(SUFFIXES.values()) == set(FORMATS) - {"github"}


@pytest.mark.parametrize("name", get_args(RunFormat))
def test_every_format_gives_text_that_ends_with_one_line_break(orders, name):
    text = render(name, orders, TableStyle())

    assert text.endswith("\n")
    assert not text.endswith("\n\n")

"""`stickler report`: finished runs in other formats, byte for byte as the run would write them."""

import base64
import gzip
import json
import re
from pathlib import Path

import pytest

from stickler_cli.core import problems
from .conftest import write

EVAL = ("eval", "schema.json", "gt", "pred", "--no-config")


@pytest.fixture
def run_file(stickler, data: Path) -> Path:
    stickler(*EVAL, "-q", "-o", "run.json", "--gate", "f1>=0.99")
    return data / "run.json"


@pytest.fixture
def run_directory(stickler, run_file, data: Path) -> Path:
    """A run directory, with the run and its errors."""
    stickler(*EVAL, "-q", "--non-matches", "errors.jsonl")
    write(data / "night" / "run.json", run_file.read_text())
    write(data / "night" / "non-matches.jsonl", (data / "errors.jsonl").read_text())
    return data / "night"


def errors_in(page: str) -> list:
    packed = re.search(r'id="data-non-matches">([^<]*)<', page)[1]
    return json.loads(gzip.decompress(base64.b64decode(packed)))


@pytest.mark.slow
@pytest.mark.parametrize(
    "format_name", ["table", "json", "csv", "markdown", "junit", "openmetrics"]
)
def test_a_report_of_a_run_file_is_that_of_the_run(stickler, run_file, format_name):
    first = stickler(*EVAL, "-f", format_name, "-o", "again.json", "--gate", "f1>=0.99")

    again = stickler("report", "run.json", "-f", format_name)

    assert again.out == first.out.partition("\nnext: ")[0].rstrip("\n") + "\n"
    assert (again.code, again.err) == (0, "")


def test_without_a_format_the_table_is_printed(stickler, run_file):
    assert stickler("report", "run.json").out == stickler("report", "run.json", "-f", "table").out


def test_files_are_written_by_their_suffix_and_nothing_is_printed(stickler, run_file):
    result = stickler("report", "run.json", "-o", "a.csv", "-o", "b.md", "--verbose")

    assert (result.code, result.out) == (0, "")
    assert result.err.splitlines() == ["wrote a.csv", "wrote b.md"]
    assert Path("a.csv").read_text() == stickler("report", "run.json", "-f", "csv").out


def test_a_page_of_a_run_file_says_that_errors_are_not_there(stickler, run_file):
    page = stickler("report", "run.json", "-f", "html").out

    assert errors_in(page) == []
    assert "A run file does not contain individual errors" in page


def test_a_page_of_a_run_directory_has_its_errors(stickler, run_directory):
    stickler(*EVAL, "-q", "-o", "run.html")

    page = stickler("report", "night", "-f", "html").out

    assert len(errors_in(page)) == 4
    assert errors_in(page) == errors_in(Path("run.html").read_text())
    # One number is wrong, and one item of two values is invented.
    sentence = "All 4 errors of the run = 3 errors in values + 1 error in whole items or objects."
    assert sentence in page
    assert "is shown in one row, together with the values inside it: 2 rows." in page


def test_a_page_of_the_run_of_one_pair_has_its_errors(stickler):
    stickler("eval", "schema.json", "gt/two.json", "pred/two.json", "-q", "-o", "one.json")

    rows = errors_in(stickler("report", "one.json", "-f", "html").out)

    paths = ["total", "lines[1]", "lines[1].sku", "lines[1].qty"]
    assert [row[1:3] for row in rows] == [["two", path] for path in paths]


@pytest.mark.slow
def test_no_more_errors_are_read_than_the_page_takes(stickler, run_directory):
    errors = run_directory / "non-matches.jsonl"
    line = errors.read_text().splitlines()[0]
    long = json.dumps({**json.loads(line), "ground_truth_value": "x" * 1990})
    errors.write_text(f"{long}\n" * 16_500)

    page = stickler("report", "night", "-f", "html").out

    expected = r"[\d,]+ of 16,500 errors: all errors of the 1 document with the lowest scores"
    assert re.search(expected, page)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "non-matches.jsonl:2"),
        ("[]", "non-matches.jsonl:2:1: the document is of type array"),
        (
            "{}",
            (
                "non-matches.jsonl:2:1: the keys document, path and field are missing, expected a "
                "line that stickler eval --non-matches has written"
            ),
        ),
        ('{"document":"a","path":"x","field":"[["}', 'the value is "[["'),
    ],
)
def test_a_file_of_errors_that_is_none_is_refused(stickler, run_directory, line, message):
    file = run_directory / "non-matches.jsonl"
    file.write_text(file.read_text().splitlines()[0] + f"\n{line}\n")

    result = stickler("report", "night", "-o", "x.html")

    assert result.code == 2
    assert message in result.err
    assert not Path("x.html").exists()


def test_a_file_of_errors_that_breaks_off_is_refused(stickler, run_directory):
    file = run_directory / "non-matches.jsonl"
    file.write_bytes(gzip.compress(file.read_bytes())[:-9])

    assert stickler("report", "night", "-o", "x.html").code == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "error: RUN is missing, expected stickler report RUN...\n"),
        (["nowhere.json"], "there is no such file or directory"),
        (["run.json", "-o", "x.yaml"], "the file name is x.yaml"),
        (["run.json", "-o", "run.json"], "the output would overwrite the run"),
        (["schema.json"], "schema.json: this is not a run, expected a run file"),
    ],
)
def test_what_cannot_be_reported_is_refused(stickler, run_file, arguments, message):
    result = stickler("report", *arguments)

    assert result.code == 2
    assert message in result.err


def test_a_missing_extra_is_told_before_anything_is_written(stickler, run_file, monkeypatch):
    monkeypatch.setattr(problems, "find_spec", lambda name: None)

    result = stickler("report", "run.json", "-o", "a.csv", "-o", "b.parquet")

    assert result.code == 2
    assert result.err == (
        "error: Parquet needs pyarrow, which is not installed; "
        "in a checkout of stickler, run pip install '.[parquet]'\n"
    )
    assert not Path("a.csv").exists()


def test_an_evaluation_for_which_an_extra_is_missing_does_not_begin(stickler, monkeypatch):
    monkeypatch.setattr(problems, "find_spec", lambda name: None)

    result = stickler("eval", "no-schema.json", "gt", "pred", "-o", "b.parquet")

    assert "in a checkout of stickler, run pip install '.[parquet]'" in result.err


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_page_is_the_same_for_any_number_of_jobs(stickler, data, jobs):
    stickler(*EVAL, "-q", "-o", "once.html", "--jobs", "1")
    stickler(*EVAL, "-q", "-o", "again.html", "--jobs", jobs)

    assert Path("again.html").read_bytes() == Path("once.html").read_bytes()

"""`stickler eval --repeat`: several predictions of the same documents are compared."""

import json
from pathlib import Path

import pytest

from .conftest import BAD, GOOD, write

EVAL = ("eval", "schema.json", "gt", "pred")


@pytest.fixture
def three(data: Path) -> Path:
    """Three predictions of two documents. Two predictions of the second document are wrong."""
    for name, second in (("pred", BAD), ("pred2", GOOD), ("pred3", BAD)):
        write(data / name / "one.json", GOOD)
        write(data / name / "two.json", second)
    for name in ("one", "two"):
        write(data / "gt" / f"{name}.json", GOOD)
    return data


def test_the_table_tells_spread_agreement_and_flips(three, stickler):
    result = stickler(*EVAL, "--repeat", "pred2", "pred3")
    lines = result.out.splitlines()

    assert (result.code, result.err) == (0, "")
    (head,) = [line for line in lines if line.startswith("3 runs")]
    assert head.startswith("3 runs (pred, pred2, pred3): F1 0.8")
    assert head.endswith("to 1.00; 1 of 2 documents right in all runs, 2 right in at least one run")
    (total,) = [line.split() for line in lines[lines.index(head) :] if line.startswith("total")]
    # One of two is wrong in two runs: F1 is 2 x 1 of 2 x 1 + 1.
    assert total == ["total", "0.6667", "1.0000", "2", "0.5000", "1.0000", "1"]
    flips = [line for line in lines if line.startswith("two  total")]
    assert flips == [
        "two  total  ground truth 10.5; wrong in 2 of 3 runs: predicted 11, predicted 11"
    ]


def test_all_other_results_are_those_of_the_first_prediction(three, stickler):
    single = stickler(*EVAL, "-f", "json").json
    record = stickler(*EVAL, "-f", "json", "--repeat", "pred2").json
    repeats = record.pop("repeats")
    for run_record in (single, record):
        run_record.pop("provenance")

    assert record == single
    assert repeats["runs"] == ["pred", "pred2"]


def test_a_run_file_tells_it_again(three, stickler):
    out = stickler(*EVAL, "--repeat", "pred2", "-o", "run.json", "-f", "markdown").out

    again = stickler("report", "run.json", "-f", "markdown").out
    assert again == out.partition("\n\nnext: ")[0] + "\n"
    assert "**2 runs (`pred`, `pred2`): F1 0." in out
    assert "- `two`  `total`  ground truth `10.5`; wrong in 1 of 2 runs: predicted `11`" in out
    record = json.loads((three / "run.json").read_text())
    assert {flip["document"] for flip in record["repeats"]["flips"]} == {"two"}


def test_where_nothing_flips_it_is_said(three, stickler):
    assert (
        "every value is right in all runs or wrong in all runs"
        in stickler(*EVAL, "--repeat", "pred3").out
    )


def test_a_run_that_cannot_be_evaluated_is_told_and_exit_code_3(three, stickler):
    write(three / "pred2" / "two.json", "{")
    result = stickler(*EVAL, "--repeat", "pred2", "--strict")

    assert result.code == 3
    assert "1 of 2 documents could not be evaluated" in result.err
    assert "2 runs (pred, pred2)" in result.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--repeat", "pred"), "--repeat: 'pred' is given twice"),
        (("--repeat", "pred2", "--run-dir", "kept"), "--repeat: --run-dir is also given"),
        (("--repeat", "none"), "none: there is no such file or directory"),
    ],
)
def test_what_cannot_be_repeated_is_refused(three, stickler, arguments, message):
    result = stickler(*EVAL, *arguments)

    assert result.code == 2
    assert message in result.err

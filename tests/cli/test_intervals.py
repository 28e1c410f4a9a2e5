"""Confidence intervals on the command line: how they are shown, requested, gated and refused."""

import re
from pathlib import Path

import pytest

from .conftest import BAD, GOOD, write

EVAL = ("eval", "schema.json", "gt", "pred")


@pytest.fixture
def twelve_documents(data: Path) -> Path:
    """Twelve documents; every other one has errors."""
    for number in range(10):
        write(data / "gt" / f"{number}.json", GOOD)
        write(data / "pred" / f"{number}.json", BAD if number % 2 else GOOD)
    return data


def test_the_table_shows_the_intervals_of_the_whole(twelve_documents, stickler):
    for number in range(10, 28):
        write(twelve_documents / "gt" / f"{number}.json", GOOD)
        write(twelve_documents / "pred" / f"{number}.json", BAD if number % 2 else GOOD)
    lines = stickler(*EVAL, "-v").out.splitlines()

    assert any(re.search(r"F1 +95% CI of F1$", line) for line in lines)
    (leaves,) = (line for line in lines if line.startswith("leaves") and "[" in line)
    lower, upper = leaves.split("[")[1].rstrip("]").split(", ")
    # Fifteen documents with 4 right, fifteen with 3 right, a wrong total and an invented line of
    # two.
    assert float(lower) < 2 * 105 / (2 * 105 + 15 + 30) < float(upper)


def test_of_too_few_documents_no_interval_is_shown(twelve_documents, stickler):
    text = stickler(*EVAL, "-v", "--by", "@id").out

    assert "F1 0.82 (12 documents are too few for an interval)  " in text
    assert " CI of F1" not in text
    assert not re.search(r"\[0\.\d+, ", text)


def test_level_and_seed_can_be_chosen(twelve_documents, stickler):
    usual, wide, other = (
        stickler(*EVAL, "-f", "json", *options).json["intervals"]
        for options in ((), ("--ci", "0.99"), ("--seed", "7"))
    )

    assert wide["overall_score"][0] < usual["overall_score"][0]
    assert (wide["level"], other["seed"]) == (0.99, 7)
    assert other["overall_score"] == usual["overall_score"]  # nothing is drawn


def test_no_intervals_are_made_where_none_are_wanted(twelve_documents, stickler):
    assert "CI" not in stickler(*EVAL, "--ci", "none").out
    assert "intervals" not in stickler(*EVAL, "-f", "json", "--ci", "none").json


@pytest.mark.parametrize(
    ("level", "message"),
    [
        (
            "95",
            "the value is '95', expected a number above 0 and below 1, or none; did you mean 0.95?",
        ),
        ("most", "--ci: the value is 'most', expected a number above 0 and below 1, or none\n"),
        ("nan", "the value is 'nan'"),
        ("1", "the value is '1'"),
    ],
)
def test_a_level_that_cannot_be_is_refused(stickler, level, message):
    result = stickler(*EVAL, "--ci", level)

    assert result.code == 2
    assert message in result.err


def test_few_perfect_documents_do_not_pass_a_gate_on_the_lower_end(data, stickler):
    for number in range(5):
        write(data / "gt" / f"{number}.json", GOOD)
        write(data / "pred" / f"{number}.json", GOOD)
    for name in ("one", "two"):
        (data / "gt" / f"{name}.json").unlink()
        (data / "pred" / f"{name}.json").unlink(missing_ok=True)
    result = stickler(*EVAL, "--gate", "f1.lower>=0.999", "--gate", "f1>=0.999")

    # Of five without an error, the exact binomial interval begins at 0.025 ** (1 / 5), 0.478.
    assert result.code == 1
    assert "gate failed: f1.lower 0.4" in result.err


def test_a_gate_on_an_interval_needs_intervals(stickler):
    result = stickler(*EVAL, "--ci", "none", "--gate", "f1.lower>=0")

    assert result.code == 2
    assert (
        "'f1.lower>=0' needs a confidence interval, expected a run with confidence intervals; "
        "leave out --ci none" in result.err
    )


def test_one_document_has_no_intervals(stickler):
    record = stickler("eval", "schema.json", "gt/one.json", "pred/one.json", "-f", "json").json

    assert "intervals" not in record

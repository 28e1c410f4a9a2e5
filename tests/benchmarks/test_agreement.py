"""Two programs agree if their counts and mean scores are equal."""

import dataclasses
import json
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

from benchmarks import floor, native, programs
from benchmarks.agreement import Result, disagreements
from benchmarks.processes import run
from benchmarks.sets import SETS, write
from stickler_cli.cli import main

RESULT = Result(2, 0.5, {"": (1, 2, 0, 0, 0), "a": (1, 2, 0, 0, 0)})


def changed(**changes):
    return dataclasses.replace(RESULT, **changes)


@pytest.mark.parametrize(
    ("other", "sentences"),
    [
        (RESULT, []),
        (changed(score=0.5 + 1e-12), []),  # rounding
        (changed(score=0.5 + 1e-6), ["score 0.5 against 0.500001"]),
        (changed(score=float("nan")), ["score 0.5 against nan"]),
        (changed(documents=3), ["2 documents against 3"]),
        (
            changed(counts={**RESULT.counts, "a": (2, 1, 0, 0, 0)}),
            ["a: tp=1 fd=2 fa=0 fn=0 tn=0 against tp=2 fd=1 fa=0 fn=0 tn=0"],
        ),
        # a path that is not there counts nothing
        (changed(counts={**RESULT.counts, "b": (0, 0, 0, 0, 0)}), []),
        (
            changed(counts={"a": RESULT.counts["a"]}),
            ["the whole: tp=1 fd=2 fa=0 fn=0 tn=0 against tp=0 fd=0 fa=0 fn=0 tn=0"],
        ),
    ],
)
def test_a_sentence_tells_each_figure_in_which_two_results_disagree(other, sentences):
    assert disagreements(RESULT, other) == sentences


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in SETS if name != "invoices-1000"])
def test_the_floor_finds_what_the_tool_finds(name, tmp_path, capfdbinary):
    written = write(SETS[name], tmp_path, 6, seed=11)  # of fewer there are no intervals
    floor.main(written.schema, written.gt, written.pred)
    theirs = programs.read_result(capfdbinary.readouterr().out)
    python, dash_m, package, *arguments = programs.ours_as_json(written)

    assert [python, dash_m, package] == [sys.executable, "-m", "stickler_cli"]
    assert main(arguments) == 0
    ours = programs.read_result(capfdbinary.readouterr().out)
    assert disagreements(ours, theirs) == []
    assert ours.counts[""][0] > 0
    assert ours.errors == theirs.errors
    assert ours.intervals.keys() >= theirs.intervals.keys() >= {"cm_f1", "score"}


def test_errors_and_intervals_are_compared_where_both_programs_tell_them():
    first = changed(errors={"other": 2}, intervals={"cm_f1": [0.25, 0.5]})
    other = changed(errors={"format": 2}, intervals={"cm_f1": [0.25, 0.501]})

    assert disagreements(first, RESULT) == disagreements(RESULT, first) == []
    assert disagreements(first, other) == [
        "errors {'other': 2} against {'format': 2}",
        "interval of cm_f1: [0.25, 0.5] against [0.25, 0.501]",
    ]


@pytest.mark.slow
def test_the_floor_breaks_ties_of_pairs_by_position():
    similarities = np.zeros((5, 4))
    similarities[[2, 4, 0], [0, 1, 2]] = 1.0  # the last prediction is like no ground truth

    rows, columns = floor.assign_pairs(similarities)

    assert [*zip(rows.tolist(), columns.tolist(), strict=True)] == [(0, 2), (2, 0), (3, 3), (4, 1)]


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("rustc") is None, reason="nothing compiles the native floor")
@pytest.mark.parametrize("name", ["invoices-10", "deep", "wide", "text", "dates"])
def test_the_native_floor_finds_what_the_floor_finds(name, tmp_path, native_floor, capfdbinary):
    written = write(SETS[name], tmp_path, 3, seed=12)
    floor.main(written.schema, written.gt, written.pred)
    expected = programs.read_result(capfdbinary.readouterr().out)
    native_result = programs.read_result(run(native.command(native_floor, written)).output)

    assert disagreements(expected, native_result) == []


def test_without_a_compiler_there_is_no_native_floor(monkeypatch, tmp_path):
    monkeypatch.setattr(native.shutil, "which", lambda name: None)

    assert native.build(tmp_path) is None


def test_the_results_of_stickler_eval_and_the_floor_have_one_form():
    printed = {"documents": 2, "score": 0.5, "counts": {"": [1, 2, 0, 0, 0], "a": [1, 2, 0, 0, 0]}}

    assert programs.read_result(json.dumps(printed).encode()) == RESULT


def test_a_python_without_stickler_eval_has_no_version_of_it():
    assert programs.reference_version("/nowhere/python") is None
    assert programs.reference_version(str(Path(sys.executable))) in (None, "1.0.0")

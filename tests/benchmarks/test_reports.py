"""Reports of measurements, and cases in which there is none."""

import dataclasses
import json
import shutil
import sys
from pathlib import Path

import pytest

from benchmarks import __main__ as command
from benchmarks import (
    growth,
    instructions,
    memory,
    native,
    one_document,
    processes,
    programs,
    speed,
    startup,
    targets,
    workers,
)
from benchmarks.processes import Finished, median_seconds, run_in_turns
from benchmarks.report import render_text
from benchmarks.sets import BILL, NOTE, invoices, pairs, write

pytestmark = pytest.mark.slow

REFERENCE = speed.Reference(seconds=32.0, comparing=30.0, documents=10)
TIMED = speed.SetTimes(
    "note",
    100,
    ours=2.0,
    as_json=3.0,
    floor=1.0,
    native=0.125,
    auto=1.5,
    ours_processor=4.0,
    floor_processor=1.0,
    without_intervals_processor=3.0,
    reference=REFERENCE,
    disagreements=(),
)


def test_a_set_gives_the_figures_that_targets_are_set_for():
    assert speed.report([TIMED]).figures == {
        targets.floor_target("note"): 2.0,
        targets.native_target("note"): 2.0 / 0.125,
        targets.reference_target("note"): pytest.approx(151),
        targets.AUTO: 0.75,
        targets.INTERVALS: 25,
    }


def test_a_disagreement_stands_where_the_ratios_would():
    differing = dataclasses.replace(TIMED, disagreements=("floor: score 0 against 1",))
    report = speed.report([differing])

    assert report.failures == ["note: floor: score 0 against 1"]
    assert report.rows[0].count("disagree") == 4
    assert report.figures == {}
    assert "ours_to_floor" not in report.record[0]
    assert "note: floor: score 0 against 1" in render_text(report)


def test_programs_take_turns_after_warming_up(monkeypatch):
    ran = []
    monkeypatch.setattr(
        processes, "run", lambda words: ran.append(words) or Finished(len(ran), b"")
    )
    finished = run_in_turns({"a": "A", "b": "B"}, repeat=2)

    assert "".join(ran) == "AB" + "AB" + "BA"
    assert median_seconds(finished["a"]) == (3 + 6) / 2


def printing(score):
    """Return a function that stands in for a program of `benchmarks.programs`.

    The command that it returns prints a result with this mean score.
    """
    counts = {"": [1, 0, 0, 0, 0]}
    result = {"documents": 2, "score": score, "counts": counts, "comparing": 0.01}
    return lambda *_, **__: [sys.executable, "-c", f"print({json.dumps(json.dumps(result))})"]


@pytest.fixture
def small(monkeypatch):
    """Make the benchmark use two small documents, and stand-ins for programs that agree."""
    monkeypatch.setattr(command, "SETS", {"note": NOTE})
    monkeypatch.setattr(speed.Settings, "count", lambda self, documents: min(documents, 2))
    monkeypatch.setattr(programs, "ours", printing(0.5))
    monkeypatch.setattr(programs, "floor", printing(0.5))
    monkeypatch.setattr(native, "build", lambda directory: None)


def test_a_run_of_the_tool_and_the_floor_agrees(monkeypatch, native_floor, tmp_path, capsys):
    figures = tmp_path / "figures.json"

    def copy_floor(directory):
        return native_floor and Path(shutil.copy(native_floor, directory))

    monkeypatch.setattr(native, "build", copy_floor)
    monkeypatch.setattr(command, "SETS", {"note": dataclasses.replace(NOTE, documents=20)})

    assert command.main(["speed", "--quick", "--no-reference", "--json", str(figures)]) == 0
    assert "ours / floor" in capsys.readouterr().out
    (record,) = json.loads(figures.read_text())["speed"]
    assert record["documents"] == 2
    assert record["ours_to_floor"] == record["ours"] / record["floor"]


def test_a_run_with_a_disagreement_exits_with_1(monkeypatch, small, capsys):
    monkeypatch.setattr(programs, "floor", printing(0.25))

    assert command.main(["speed", "--quick", "--no-reference"]) == 1
    assert "note: floor: score 0.5 against 0.25" in capsys.readouterr().out


def test_without_stickler_eval_the_rest_is_measured(small, capsys):
    assert command.main(["speed", "--quick", "--reference-python", "/nowhere/python"]) == 0
    assert "pip install stickler-eval" in capsys.readouterr().err


def test_memory_compares_many_documents_with_few(monkeypatch):
    holding = "import sys; held = b'x' * (int(sys.argv[1]) * 2**20)"
    monkeypatch.setattr(
        programs,
        "evaluation",
        lambda written, *_: [sys.executable, "-c", holding, str(written.documents)],
    )
    report = memory.measure(0, n_few=1, n_many=200)

    assert [row[0] for row in report.rows] == ["table", "json", "html", "run directory"]
    assert all(
        200 * 2**20 < record["many"] < record["few"] + 220 * 2**20 for record in report.record
    )
    assert len(report.figures) == 4


def counted(monkeypatch, tmp_path, ours):
    """Make this project take `ours` instructions for each document, and the floor 100."""
    monkeypatch.setattr(instructions, "BASELINE", tmp_path / "instructions.json")
    monkeypatch.setattr(instructions.shutil, "which", lambda name: f"/bin/{name}")
    monkeypatch.setattr(instructions, "run", lambda command: None)
    monkeypatch.setattr(programs, "ours", lambda written: (ours, written.documents))
    monkeypatch.setattr(programs, "floor", lambda written: (100, written.documents))
    monkeypatch.setattr(instructions, "count", lambda command: 10**6 + command[0] * command[1])


def test_instructions_are_held_against_a_baseline(monkeypatch, tmp_path, capsys):
    arguments = ["instructions", "--sets", "deep"]
    counted(monkeypatch, tmp_path, ours=150)
    assert command.main([*arguments, "--update"]) == 0
    assert json.loads((tmp_path / "instructions.json").read_text()) == {"deep": 1.5}
    assert command.main(arguments) == 0

    counted(monkeypatch, tmp_path, ours=170)
    assert command.main(arguments) == 1
    assert "1.700 times the floor's instructions, 1.5 before" in capsys.readouterr().out


def test_growth_is_net_of_start_up(monkeypatch):
    def took(commands, repeat, *, warm_up):
        seconds = {"500": 0.01, "5000": 0.2}
        return {
            name: [Finished(0.5 + seconds[name.split("/")[1]] * int(name.split("/")[2]), b"")]
            for name in commands
        }

    short, long = (growth.Length("identifier", items, NOTE, 2) for items in (500, 5000))
    texts = growth.Length("free text", 5000, NOTE, 0)
    monkeypatch.setattr(
        growth, "LENGTHS", (short, long, dataclasses.replace(texts, items=1), texts)
    )
    monkeypatch.setattr(growth, "run_in_turns", took)
    monkeypatch.setattr(growth, "measure_peak", lambda command: 70_000_000)
    report = growth.measure(1, seed=0)

    assert report.figures == {
        targets.GROWTH: pytest.approx(20),
        targets.IDENTIFIER_MEMORY: 70,
        targets.TEXT_MEMORY: 70,
    }
    assert report.rows[-1] == ["free text, 5,000", "-", "-", "70 MB"]


def test_start_up_is_held_against_a_python_that_does_nothing(monkeypatch):
    monkeypatch.setattr(
        startup,
        "run_in_turns",
        lambda commands, repeat: {
            name: [Finished(1, b"", 0.02 if "pass" in name else 0.3)] for name in commands
        },
    )
    report = startup.measure(1, seed=0)

    assert [row[0] for row in report.rows[1:]] == [
        "--version",
        "--help",
        "eval, flat",
        "eval, lists",
    ]
    named = targets.START_UP, targets.VERSION, targets.HELP
    assert report.figures == dict.fromkeys(named, pytest.approx(15))


def test_two_processes_share_documents_under_several_names(monkeypatch):
    ran = []

    def took(commands, repeat, *, warm_up):
        ran.append(commands)
        return {
            jobs: [Finished({"1": 12.0, "2": 6.0, "auto": 6.5}[jobs], b"")] for jobs in commands
        }

    monkeypatch.setattr(workers, "SETS", {"invoices-10": dataclasses.replace(BILL, documents=2)})
    monkeypatch.setattr(workers, "run", lambda command: Finished(1.0, b""))
    monkeypatch.setattr(workers, "run_in_turns", took)
    monkeypatch.setattr(workers, "_first_comparisons", lambda *_: [0.01, 0.02, 0.03])
    report = workers.measure(1, seed=0, seconds=1.095)

    assert report.record["documents"] == 2 * 10
    assert report.figures == {targets.TWO: 2.0, targets.FIRST_RESULT: 20}


def test_a_worker_tells_when_it_first_compares(tmp_path, monkeypatch):
    monkeypatch.setattr(workers, "SETS", {"invoices-10": invoices(1)})
    monkeypatch.setattr(workers, "_PROBED", 20)
    ages = workers._first_comparisons(tmp_path, 1, 0)  # noqa: SLF001 - the rest takes a minute

    assert ages
    assert all(0 < age < 600 for age in ages)


def test_calls_for_one_document_are_timed_in_a_process_of_their_own(tmp_path):
    write(BILL, tmp_path, 3, seed=0)
    report = one_document.measure(1, seed=0, data=tmp_path, rounds=1)

    assert report.figures.keys() == {targets.COMPARE_WITH, targets.EVALUATE}
    assert all(0 < value < 10_000 for value in report.figures.values())
    assert [row[0] for row in report.rows[:3]] == [
        "compare_with, flat, 8 texts",
        "compare_with, short invoice",
        "compare_with, 50 items",
    ]


def test_one_document_is_held_against_stickler_eval_in_turns(monkeypatch):
    ran = []

    def took(command):
        ran.append(command[2])
        milliseconds = dict.fromkeys(SIZES, 1.0 if command[2] == "stickler_cli" else 8.0)
        timings = {
            "compare_with": milliseconds,
            "evaluate": milliseconds if command[2] == "stickler_cli" else {},
        }
        return Finished(1.0, json.dumps(timings).encode())

    monkeypatch.setattr(one_document, "run", took)
    report = one_document.measure(2, seed=0, reference="python")

    assert ran == ["stickler_cli", "stickler"] * 2
    assert {report.figures[targets.one_document_target(name)] for name in SIZES} == {8.0}
    assert report.rows[3] == ["evaluate, flat, 8 texts", "1.000 ms", "-", "-"]


SIZES = (one_document.FLAT, one_document.MIDDLE, one_document.LONG)


def test_the_median_document_has_a_prediction(tmp_path):
    write(BILL, tmp_path, 3, seed=0)
    (tmp_path / "pred").rename(tmp_path / "pred_run1")
    by_size = sorted(pairs(BILL, 3, 0), key=lambda pair: len(json.dumps(pair[0])))

    assert one_document._median_document(tmp_path)[1:] == by_size[1]  # noqa: SLF001 - of a report


@pytest.mark.parametrize(
    ("target", "good", "missed"),
    [
        (targets.Target("time", 1.5), 1.5, 1.51),
        (targets.Target("gain", 1.7, at_least=True), 1.7, 1.69),
    ],
)
def test_a_target_says_where_a_figure_should_lie(target, good, missed):
    assert target.is_met(good)
    assert not target.is_met(missed)

"""What is told of a measurement, and when none is."""

import dataclasses
import json
import sys

import pytest

from benchmarks import __main__ as command
from benchmarks import instructions, memory, processes, programs, scaling, speed, startup
from benchmarks.processes import Finished, ProcessError, in_turns, median_seconds, run
from benchmarks.report import Report, as_markdown, as_text, machine, ratio, results_page
from benchmarks.sets import NOTE

TIMED = speed.Timed("note", 100, 2.0, 3.0, 1.0, 1.25, 30.0, 10, ())


def test_ratios_of_a_set_are_seconds_a_document_against_the_reference():
    # 30 s for 10 documents against 2 s for 100: 3 s against 0.02 s.
    assert (TIMED.to_floor, TIMED.to_reference, TIMED.by_two) == (2.0, pytest.approx(150), 1.6)


def test_the_table_shows_them():
    lines = as_text(speed.report([TIMED])).splitlines()

    assert lines[0] == "Speed"
    assert lines[3].split("  ")[0] == "note"
    assert lines[3].split()[-5:] == ["2.00x", "1.60x", "3.000", "s", "150x"]


def test_a_disagreement_stands_where_the_ratios_would():
    differing = speed.Timed(
        "note", 100, 2.0, 3.0, 1.0, 1.25, 30.0, 10, ("floor: score 0 against 1",)
    )
    report = speed.report([differing])

    assert report.failures == ["note: floor: score 0 against 1"]
    assert report.rows[0].count("disagree") == 3
    assert "ours_to_floor" not in report.record[0]
    assert "note: floor: score 0 against 1" in as_text(report)


def test_what_did_not_run_has_no_ratio():
    alone = speed.Timed("note", 100, 2.0, 3.0, 1.0, 2.0, None, 0, ())

    assert speed.report([alone]).rows[0][7:] == ["-", "-"]


@pytest.mark.parametrize(
    ("value", "shown"), [(2.345, "2.35x"), (12.34, "12.3x"), (2345.6, "2,346x")]
)
def test_a_ratio_is_shown_with_the_digits_that_mean_something(value, shown):
    assert ratio(value) == shown


def test_a_page_of_results_says_on_what_and_how_to_repeat_it():
    report = Report("Speed", ("set", "time"), [("note", "1 s")], None, notes=("Medians.",))
    page = results_page([report], {"cores": "2"}, "python -m benchmarks")

    assert "$ python -m benchmarks\n" in page
    assert "- cores: 2\n" in page
    assert "## Speed\n\n| set | time |\n| --- | ---: |\n| note | 1 s |\n\nMedians.\n" in page
    assert as_markdown(report) in page


def test_the_machine_is_described_without_a_place():
    assert {"processor", "cores", "python", "numpy", "stickler-cli"} <= machine().keys()
    assert not any("/" in value for value in machine().values())


def test_a_program_that_fails_is_told_with_what_it_said():
    with pytest.raises(ProcessError, match="exited with 3; it said: no luck"):
        run([sys.executable, "-c", "import sys; print('no luck', file=sys.stderr); sys.exit(3)"])


def test_a_program_that_takes_too_long_is_ended():
    with pytest.raises(ProcessError, match="took more than 0 s"):
        run([sys.executable, "-c", "import time; time.sleep(60)"], timeout=0.2)


def test_programs_take_turns_after_warming_up(monkeypatch):
    ran = []
    monkeypatch.setattr(
        processes, "run", lambda words: ran.append(words) or Finished(len(ran), b"")
    )
    finished = in_turns({"a": "A", "b": "B"}, repeat=2)

    assert "".join(ran) == "AB" + "AB" + "BA"
    assert median_seconds(finished["a"]) == (3 + 6) / 2


def test_measured_programs_write_bytecode_and_find_this_checkout(monkeypatch):
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    shown = run([sys.executable, "-c", "import sys, benchmarks; print(sys.dont_write_bytecode)"])

    assert shown.output == b"False\n"


def printing(score):
    """Give a stand-in for a program: it prints a result with this score."""
    result = {"documents": 2, "score": score, "counts": {"": [1, 0, 0, 0, 0]}}
    return lambda *_, **__: [sys.executable, "-c", f"print({json.dumps(json.dumps(result))})"]


@pytest.fixture
def small(monkeypatch):
    """Measure two small documents, with stand-ins that agree."""
    monkeypatch.setattr(command, "SETS", {"note": NOTE})
    monkeypatch.setattr(speed.Settings, "count", lambda self, documents: min(documents, 2))
    monkeypatch.setattr(programs, "ours", printing(0.5))
    monkeypatch.setattr(programs, "floor", printing(0.5))


def test_a_run_of_the_tool_and_the_floor_agrees(monkeypatch, tmp_path, capsys):
    figures = tmp_path / "figures.json"
    monkeypatch.setattr(command, "SETS", {"note": dataclasses.replace(NOTE, documents=20)})

    assert command.main(["--quick", "--no-reference", "--json", str(figures)]) == 0
    assert "ours / floor" in capsys.readouterr().out
    (record,) = json.loads(figures.read_text())["speed"]
    assert record["documents"] == 2
    assert record["ours_to_floor"] == record["ours"] / record["floor"]


def test_the_results_page_says_how_to_repeat_the_run(monkeypatch, small, tmp_path):
    monkeypatch.setattr(command, "RESULTS", tmp_path / "RESULTS.md")

    assert command.main(["--sets", "note", "--seed", "3", "--no-reference", "--results"]) == 0
    page = (tmp_path / "RESULTS.md").read_text()
    assert "speed --sets note --repeat 3 --seed 3 --no-reference\n" in page


def test_a_run_with_a_disagreement_exits_with_1(monkeypatch, small, capsys):
    monkeypatch.setattr(programs, "floor", printing(0.25))

    assert command.main(["--quick", "--no-reference"]) == 1
    assert "note: floor: score 0.5 against 0.25" in capsys.readouterr().out


def test_without_stickler_eval_the_rest_is_measured(small, capsys):
    assert command.main(["--quick", "--reference-python", "/nowhere/python"]) == 0
    assert "pip install stickler-eval" in capsys.readouterr().err


def referred(monkeypatch, program):
    """Measure against a stand-in for stickler-eval."""
    monkeypatch.setattr(programs, "reference", program)
    documents = dataclasses.replace(NOTE, reference_documents=2)
    return speed.measure(documents, speed.Settings(repeat=1, reference_python="any"))


def test_a_reference_that_agrees_has_a_time(monkeypatch, small):
    timed = referred(monkeypatch, printing(0.5))

    assert timed.disagreements == []
    assert timed.to_reference > 0


def test_a_reference_that_finds_otherwise_is_told(monkeypatch, small):
    timed = referred(monkeypatch, printing(0.75))

    assert timed.disagreements == ["reference: score 0.5 against 0.75"]


def test_a_reference_that_fails_leaves_no_ratio(monkeypatch, small):
    timed = referred(monkeypatch, lambda *_: [sys.executable, "-c", "raise SystemExit(1)"])

    assert timed.to_reference is None
    assert "exited with 1" in timed.disagreements[0]


def test_an_unknown_set_is_a_usage_error(capsys):
    with pytest.raises(SystemExit, match="2"):
        command.main(["--sets", "invoice"])
    assert "no set is called 'invoice'" in capsys.readouterr().err


def test_memory_compares_many_documents_with_few(monkeypatch):
    holding = "import sys; held = b'x' * (int(sys.argv[1]) * 2**20)"
    monkeypatch.setattr(
        programs,
        "ours",
        lambda written, *_: [sys.executable, "-c", holding, str(written.documents)],
    )
    report = memory.measure(0, few=1, many=200)

    assert [row[0] for row in report.rows] == ["table", "json"]
    assert all(
        200 * 2**20 < record["many"] < record["few"] + 220 * 2**20 for record in report.record
    )


def counted(monkeypatch, tmp_path, ours):
    """Let our program take `ours` instructions a document, and the floor 100."""
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


def test_instructions_need_valgrind(monkeypatch, capsys):
    monkeypatch.setattr(instructions.shutil, "which", lambda name: None)

    assert command.main(["instructions", "--sets", "deep"]) == 1
    assert "counted by valgrind" in capsys.readouterr().err


def test_scaling_is_net_of_start_up(monkeypatch):
    def took(commands, repeat):
        each = {"100": 0.01, "1000": 0.2}
        return {
            name: [Finished(0.5 + each[name.split("/")[0]] * int(name.split("/")[1]), b"")]
            for name in commands
        }

    monkeypatch.setattr(scaling, "_COUNTS", {100: 2, 1000: 2})
    monkeypatch.setattr(scaling, "in_turns", took)

    assert scaling.measure(1, seed=0).record["ratio"] == pytest.approx(20)


def test_start_up_is_held_against_the_imports_it_needs(monkeypatch):
    monkeypatch.setattr(
        startup,
        "in_turns",
        lambda commands, repeat: {
            name: [Finished(0.2 if "import" in name or "its" in name else 0.3, b"")]
            for name in commands
        },
    )
    report = startup.measure(1, seed=0)

    assert [row[0] for row in report.rows] == ["--version", "--help", "eval, flat", "eval, lists"]
    assert [row[-1] for row in report.rows] == ["1.50x"] * 4

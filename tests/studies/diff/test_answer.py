"""`stickler diff`: its report and exit code."""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import GOOD, write


@pytest.fixture
def runs(stickler, data: Path) -> Path:
    """Two runs of two documents; one document is wrong in the first run and right in the second."""
    stickler("eval", "schema.json", "gt", "pred", "-q", "-o", "base.json")
    write(data / "pred" / "two.json", GOOD)
    stickler("eval", "schema.json", "gt", "pred", "-q", "-o", "new.json")
    return data


def test_the_table_tells_what_got_better(stickler, runs):
    result = stickler("diff", "base.json", "new.json")

    assert (result.code, result.err) == (0, "")
    assert result.out.startswith(
        "Order: change from BASE (base.json) to NEW (new.json)\n2 documents compared: "
        "1 better, 0 worse, 1 the same, both by score and by number of wrong values\n"
    )
    assert "documents that got better\n" in result.out
    assert "\ndocuments that got worse" not in result.out


def test_the_table_ends_with_the_command_that_writes_the_page(stickler, runs):
    commands = {
        ("base.json", "new.json"): "stickler diff base.json new.json -o diff.html",
        ("--base", "base.json", "--new", "new.json", "--ci", "0.9", "--width", "70"): (
            "stickler diff --ci 0.9 --base base.json --new new.json -o diff.html"
        ),
    }
    for arguments, command in commands.items():
        result = stickler("diff", *arguments)
        assert result.out.endswith(f"\nnext: {command}\n")
        assert stickler(*command.split()[1:], "-q").code == 0
        assert (runs / "diff.html").read_text().startswith("<!DOCTYPE html>")
        (runs / "diff.html").unlink()

    page = stickler("diff", "base.json", "new.json", "-f", "markdown").out
    assert page.endswith("next: `stickler diff base.json new.json -o diff.html`\n")


def test_a_difference_with_a_page_names_no_next_command(stickler, runs):
    out = stickler("diff", "base.json", "new.json", "-o", "diff.html").out

    assert "next: " not in out


def test_a_run_directory_is_a_run(stickler, runs):
    write(runs / "kept" / "run.json", (runs / "new.json").read_text())

    assert stickler("diff", "base.json", "kept", "-f", "json").json["documents"]["better"] == 1


def test_files_are_written_by_their_suffix(stickler, runs):
    result = stickler("diff", "base.json", "new.json", "-q", "-o", "d.json", "-o", "d.md")

    assert (result.code, result.out) == (0, "")
    assert json.loads((runs / "d.json").read_text())["format"] == "stickler-diff/1"
    assert (runs / "d.md").read_text().startswith("<!-- stickler diff -->\n")


def test_a_page_asks_for_the_pages_beside_the_runs(stickler, runs, monkeypatch):
    requests = []
    monkeypatch.setattr("stickler_cli.studies.diff.answer.page_of", requests.append)
    stickler("diff", "base.json", "new.json", "-q", "-o", "d.json")
    assert requests == []

    result = stickler("diff", "base.json", "new.json", "-q", "-o", "d.html")
    assert (result.code, requests) == (0, ["base.json", "new.json"])


def test_a_gate_that_fails_is_exit_code_1_and_told(stickler, runs):
    result = stickler("diff", "new.json", "base.json", "--gate", "f1>=-0.01")

    assert result.code == 1
    assert result.err.startswith("gate failed: change of f1 is -0.")
    assert stickler("diff", "base.json", "new.json", "--gate", "f1>=-0.01").code == 0


def test_in_a_terminal_a_gate_that_fails_is_told_by_the_table(stickler, runs, monkeypatch):
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    result = stickler("diff", "new.json", "base.json", "--gate", "f1>=-0.01", "--no-color")

    assert (result.code, result.err) == (1, "")
    assert "\nFAIL  change of f1 is -0." in result.out


def test_runs_under_other_options_are_not_comparable_unless_allowed(stickler, runs):
    stickler(
        "eval", "schema.json", "gt", "pred", "-q", "--pairing-floor", "0.5", "-o", "other.json"
    )
    refused = stickler("diff", "base.json", "other.json")

    assert (refused.code, refused.out) == (3, "")
    assert refused.err == (
        "error: the runs are not comparable: they differ in option pairing_floor (0.2 in BASE, "
        "0.5 in NEW); to compare the runs anyway, use --allow-different\n"
    )
    allowed = stickler("diff", "base.json", "other.json", "--allow-different")
    assert allowed.code == 0
    assert "not comparable: option pairing_floor: 0.2 -> 0.5" in allowed.out


def test_a_document_that_is_gone_is_a_regression(stickler, runs):
    (runs / "gt" / "one.json").unlink()
    (runs / "pred" / "one.json").unlink()
    stickler("eval", "schema.json", "gt", "pred", "-q", "-o", "less.json")
    result = stickler("diff", "new.json", "less.json", "--gate", "documents.lost==0")

    assert result.code == 1
    assert "1 document was not compared in the new run, so it counts as missed: one" in result.out


def test_the_summary_of_a_step_is_filled(stickler, runs, monkeypatch):
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(runs / "summary.md"))
    stickler("diff", "base.json", "new.json", "--format", "github")

    assert (runs / "summary.md").read_text().startswith("<!-- stickler diff -->\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("base.json", "none.json"), "none.json: there is no such file or directory"),
        (("base.json", "new.json", "--ci", "none"), "--ci: the value is 'none', expected a number"),
        (("base.json", "new.json", "--ci", "95"), "did you mean 0.95?"),
        (
            ("base.json", "new.json", "--margin", "0"),
            "--margin: the value is '0', expected a number above 0 and below 1",
        ),
        (("base.json", "new.json", "--gate", "f1"), "--gate: 'f1' is not a gate"),
        (("base.json", "new.json", "--gate", "f1>=-2"), "expected a number between -1 and 1"),
        (("base.json", "new.json", "-o", "d.what"), "--output: the file name is d.what, expected"),
        (("base.json", "new.json", "-o", "base.json"), "the output would overwrite BASE"),
        (("base.json", "schema.json"), "schema.json: this is not a run"),
    ],
)
def test_what_cannot_be_done_is_said_with_what_can(stickler, runs, arguments, message):
    result = stickler("diff", *arguments)

    assert (result.code, result.out) == (2, "")
    assert message in result.err


def test_a_run_without_accounts_says_how_to_get_them(stickler, runs):
    record = json.loads((runs / "new.json").read_text())
    del record["per_document"]
    record.pop("intervals", None)
    write(runs / "new.json", record)
    result = stickler("diff", "base.json", "new.json")

    assert result.code == 2
    assert "NEW: the run has no row for each document" in result.err


# --- runs that are made of predictions


def test_two_predictions_are_evaluated_and_compared(stickler, runs):
    (runs / "next").mkdir()
    for file in (runs / "pred").iterdir():
        write(runs / "next" / file.name, file.read_text())
    write(runs / "pred" / "two.json", {**GOOD, "total": 99})
    evaluated = stickler("diff", "schema.json", "gt", "pred", "next", "-f", "json").json

    assert (evaluated["base"]["source"], evaluated["new"]["source"]) == ("pred", "next")
    assert (evaluated["documents"]["better"], evaluated["contrasts"]) == (1, [])
    stickler("eval", "schema.json", "gt", "pred", "-q", "-o", "a.json")
    stickler("eval", "schema.json", "gt", "next", "-q", "-o", "b.json")
    finished = stickler("diff", "a.json", "b.json", "-f", "json").json
    for record in (evaluated, finished):
        for side in ("base", "new"):
            record[side].pop("source")
    # A run file has no single values.
    assert (evaluated.pop("flow")["fixed"], finished.pop("flow")) == (1, None)
    assert [cause.pop("fixed") for cause in evaluated["causes"]] == [1]
    assert [cause.pop("fixed") for cause in finished["causes"]] == [None]
    assert [cause.pop("broken") for cause in evaluated["causes"]] == [0]
    assert [cause.pop("broken") for cause in finished["causes"]] == [None]
    assert evaluated == finished


def test_options_of_a_run_count_where_runs_are_made(stickler, runs):
    write(runs / "pred" / "two.json", {**GOOD, "more": 1})
    (runs / "stickler.toml").write_text('extra_fields = "ignore"\n')
    ignored = stickler("diff", "schema.json", "gt", "pred", "pred", "-f", "json").json
    counted = stickler(
        "diff", "schema.json", "gt", "pred", "pred", "-f", "json", "--extra-fields", "fa"
    ).json

    assert ignored["whole"][0]["before"] > counted["whole"][0]["before"]


def test_documents_that_cannot_be_evaluated_are_told_and_exit_code_3(stickler, runs):
    write(runs / "gt" / "two.json", "{")
    result = stickler("diff", "schema.json", "gt", "pred", "pred")

    assert result.code == 3
    assert "1 of 2 documents could not be evaluated" in result.err
    assert "1 document compared" in result.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("a",),
            (
                "stickler diff: the arguments (a) do not fit, expected stickler diff [SCHEMA GT] "
                "BASE NEW, or stickler diff [SCHEMA GT] --base"
            ),
        ),
        (("a", "b", "c"), "stickler diff: the arguments (a, b, c) do not fit, expected"),
        (("--base", "a", "b"), "stickler diff: the arguments (--base) do not fit, expected"),
        (("a", "b", "--base", "c", "--new", "d", "--base", "c"), "BASE: 'c' is given twice"),
        (
            ("a", "--base", "c", "--new", "d"),
            "the arguments (a, --base, --new) do not fit, expected",
        ),
        (
            ("gt", "pred"),
            (
                "gt: there is no run.json in this directory, expected a finished run; to compare "
                "predictions: stickler diff SCHEMA GT PRED_A PRED_B"
            ),
        ),
        (("schema.json", "gt", "pred", "none"), "none: there is no such file or directory"),
    ],
)
def test_what_is_neither_runs_nor_predictions_is_refused(stickler, runs, arguments, message):
    result = stickler("diff", *arguments)

    assert result.code == 2
    assert message in result.err


def test_no_prediction_is_overwritten(stickler, runs):
    result = stickler(
        "diff",
        "schema.json",
        "gt/two.json",
        "pred/one.json",
        "pred/two.json",
        "-o",
        "pred/two.json",
    )

    assert result.code == 2
    assert "pred/two.json" in result.err


# --- several runs of either side


def test_several_runs_may_follow_one_option(stickler, runs):
    write(runs / "other.json", (runs / "new.json").read_text())
    orders = (
        ("--base", "base.json", "new.json", "--new", "other.json"),
        ("--base=base.json", "--base", "new.json", "--new", "other.json"),
    )
    first, second = (stickler("diff", *order, "-f", "json").json for order in orders)

    assert first == second
    assert (first["base"]["source"], first["base"]["further"]) == ("base.json", ["new.json"])
    assert first["new"]["further"] == []
    score = first["whole"][3]
    assert len(score["runs_before"]) == 2
    assert score["before"] == sum(score["runs_before"]) / 2
    lines = stickler("diff", *orders[0]).out.splitlines()
    assert lines[0] == "Order: change from BASE (base.json + new.json) to NEW (other.json)"
    # The document that is wrong in base.json only is right in half of the runs, not in most.
    assert lines[3] == (
        "documents wholly right in most runs: 1 before, 2 after (0 no longer right, 1 newly right)"
    )
    assert lines[4].startswith("2 runs of BASE, F1 0.")
    assert (
        "1 run of NEW, F1 1.000: p values and intervals take into account that repeated runs vary"
    ) in lines[4]


def test_one_run_of_each_is_said_to_be_no_more_than_that(stickler, runs):
    for form in ("table", "markdown"):
        out = stickler("diff", "base.json", "new.json", "-f", form).out
        assert "each side has one run, so this compares two runs, not two systems" in out


def test_several_predictions_of_either_side_are_evaluated(stickler, runs):
    for name in ("a", "b"):
        (runs / name).mkdir()
        write(runs / name / "two.json", GOOD)
    sides = ("--base", "pred", "--new", "a", "b")
    record = stickler("diff", "schema.json", "gt", *sides, "-f", "json").json

    assert (record["new"]["source"], record["new"]["further"]) == ("a", ["b"])
    assert len(record["whole"][0]["runs_after"]) == 2

"""Every command that reads a directory of documents reports a broken file in it."""

import json
from pathlib import Path

import pytest

BROKEN = '{"a": "x", "n'
GT_PROBLEM = "gt/3.json:1:14: not valid JSON: "
PRED_PROBLEM = "pred/2.json:1:14: not valid JSON: "
MISSED = "so all values of their ground truths count as missed"


@pytest.fixture
def directories(tmp_path, monkeypatch):
    """Four documents: one ground truth is broken, and the prediction of another document."""
    folder = tmp_path / "broken"
    folder.mkdir()
    monkeypatch.chdir(folder)
    for side, broken_id in (
        ("gt", 3),
        ("pred", 2),
        ("whole", None),
        ("fine", None),
        ("again", None),
    ):
        (folder / side).mkdir()
        for number in range(1, 5):
            text = json.dumps({"a": f"x{number}", "n": number})
            (folder / side / f"{number}.json").write_text(BROKEN if number == broken_id else text)
    return folder


@pytest.mark.parametrize("flags", [[], ["-q"], ["-f", "csv"], ["-f", "json", "-o", "x.html"]])
def test_eval_tells_both_and_counts_them_as_documented(stickler, directories, flags):
    result = stickler("eval", "gt", "pred", *flags)

    assert result.code == 3
    assert "1 of 4 documents could not be evaluated" in result.err
    assert GT_PROBLEM in result.err
    if "-q" not in flags:
        assert PRED_PROBLEM in result.out + result.err
    record = json.loads(stickler("eval", "gt", "pred", "-f", "json").out)
    # Documents 1 and 4 are right, document 2 is missed, and document 3 is left out.
    counts = record["confusion_matrix"]["fields"]["a"]["leaves"]
    assert [counts[name] for name in ("tp", "fd", "fa", "fn")] == [2, 0, 0, 1]
    documents = record["documents"]
    assert (documents["total"], documents["failed"], documents["invalid"]) == (4, 1, 1)


@pytest.mark.parametrize("flags", [[], ["-f", "csv"], ["-f", "json"], ["-o", "x.json"]])
def test_a_broken_prediction_alone_is_told_with_exit_code_0(stickler, directories, flags):
    result = stickler("eval", "whole", "pred", *flags)

    assert result.code == 0
    assert PRED_PROBLEM in result.out + result.err
    assert stickler("eval", "whole", "pred", "--strict", *flags).code == 3


COMMANDS = {
    "errors": ["errors", "{gt}", "{pred}"],
    "errors as rows": ["errors", "{gt}", "{pred}", "-f", "jsonl"],
    "audit": ["audit", "{gt}", "{pred}", "again"],
}


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_commands_that_evaluate_tell_both(stickler, directories, command):
    def run(gt, pred):
        return stickler(*(word.format(gt=gt, pred=pred) for word in command))

    failed, invalid, sound = run("gt", "whole"), run("whole", "pred"), run("whole", "fine")

    assert (failed.code, invalid.code, sound.code) == (3, 0, 0)
    assert GT_PROBLEM in failed.err
    missed = "so all values of its ground truth count as missed"
    assert f"warning: 1 prediction cannot be read, {missed}" in invalid.err
    assert PRED_PROBLEM in invalid.err
    assert "warning" not in sound.err


@pytest.mark.parametrize("command", ["tune", "places"])
def test_commands_that_skip_documents_say_why(stickler, directories, command):
    printed = stickler(command, "gt", "pred").out

    assert f"note: document 3 was skipped: {GT_PROBLEM}" in printed
    assert f"note: document 2 was skipped: {PRED_PROBLEM}" in printed
    assert "one side is missing" not in printed


def test_many_broken_documents_are_counted(stickler, directories):
    for number in range(10, 40):
        (directories / "whole" / f"{number}.json").write_text('{"a": "x", "n": 1}')
        (directories / "pred" / f"{number}.json").write_text(BROKEN)

    error_output = stickler("errors", "whole", "pred").err
    assert f"warning: 31 predictions cannot be read, {MISSED}" in error_output
    named = error_output.count("not valid JSON")
    assert f"  and {31 - named} more" in error_output
    assert "more documents were skipped, because the ground truth or the prediction " in " ".join(
        stickler("tune", "whole", "pred").out.split()
    )


def test_init_and_lint_tell_a_broken_ground_truth(stickler, directories):
    result = stickler("init", "gt")
    warning = "warning: 1 document cannot be read and is left out: "
    assert (result.code, result.err.startswith(f"{warning}{GT_PROBLEM}")) == (0, True)
    assert warning not in stickler("init", "gt", "-q").err
    (directories / "gt" / "1.json").write_text(BROKEN)
    assert "warning: 2 documents cannot be read and are left out; the first: gt/1.json" in (
        stickler("init", "gt").err
    )

    lint = stickler("lint", "gt")
    assert lint.code == 1
    assert "gt/3.json:1: not valid JSON" in lint.out


@pytest.mark.parametrize("broken", ["gt", "pred"])
def test_split_tells_a_broken_packet(stickler, directories: Path, broken):
    for side in ("gt", "pred"):
        for number in range(1, 5):
            packet = json.dumps({"sections": [{"class": "a", "pages": [1]}]})
            (directories / side / f"{number}.json").write_text(packet)
    (directories / broken / "2.json").write_text(BROKEN)

    result = stickler("split", "gt", "pred")

    assert result.code == 3
    assert "1 of 4 packets (scans of several documents) could not be compared" in result.err
    assert f"{broken}/2.json:1:14: not valid JSON" in result.err


@pytest.mark.parametrize(("document", "problem"), [("2", PRED_PROBLEM), ("3", GT_PROBLEM)])
def test_compare_tells_a_broken_document(stickler, directories, document, problem):
    result = stickler("compare", "gt", "pred", "--document", document)

    assert result.code == 3
    assert f"error: {problem}" in result.err

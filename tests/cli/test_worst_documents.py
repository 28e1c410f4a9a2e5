"""`--show-documents`: the documents with the lowest scores, with commands that can be pasted."""

import json
import re
import shlex
from pathlib import Path

import pytest

from stickler_cli.score.document_result import Status
from .conftest import BAD, GOOD, write

SOURCES = ("schema.json", "gt", "pred")
LINES = ("schema.json", "gt.jsonl", "pred.jsonl", "--id-field", "id")
WORSE = {"total": 3, "lines": []}
IDS = ('it\'s "one"', "-q", "a b", "$HOME")


@pytest.fixture
def lines(data: Path) -> None:
    """Write JSON Lines with ids that have a special meaning in a shell.

    Each document has a lower score than the one before.
    """
    preds = (GOOD, BAD, {**BAD, "lines": BAD["lines"] * 2}, WORSE)
    for name, documents in (("gt", [GOOD] * len(IDS)), ("pred", preds)):
        text = "".join(
            json.dumps({**document, "id": document_id}) + "\n"
            for document_id, document in zip(IDS, documents, strict=True)
        )
        write(data / f"{name}.jsonl", text)


def commands(text: str) -> dict[str, list[str]]:
    """Return the printed rows: a dict from "SCORE LOST" to the arguments of the row's command."""
    rows = re.findall(r"([01]\.\d{4}) +(\d+)  stickler (compare .*)$", text, re.MULTILINE)
    return {f"{score} {lost}": shlex.split(command) for score, lost, command in rows}


def test_the_worst_are_shown_first_and_only_those_with_errors(stickler, lines):
    output = stickler("eval", *LINES, "--show-documents", "2").out
    commands_shown = commands(output)
    all_commands = commands(stickler("eval", *LINES, "--show-documents", "9").out)

    assert "2 of the 3 documents that lost values, those with the lowest scores\n" in output
    assert len(all_commands) == 3
    assert [*commands_shown] == [*all_commands][:2] == sorted(all_commands)[:2]


def test_each_command_explains_the_document(stickler, lines):
    options = ("--pairing-floor", "-1", "--extra-fields", "ignore", "--lenient-json")
    commands_shown = commands(stickler("eval", *LINES, *options, "--show-documents", "9").out)

    assert len(commands_shown) == 3
    for figures, command in commands_shown.items():
        result = stickler(*command, "-f", "json")
        score, lost = figures.split()
        assert result.code == 0
        assert f"{result.json['overall_score']:.4f}" == score
        assert int(lost) > 0
        assert command[4:9] == ["--lenient-json", "--id-field", "id", "--pairing-floor", "-1.0"]
    assert {
        stickler(*words, "-f", "json").json["document"] for words in commands_shown.values()
    } == {*IDS[1:]}


def test_a_run_directory_names_the_commands_of_its_run(stickler, lines):
    first = commands(stickler("eval", *LINES, "--show-documents", "9").out)
    stickler("eval", *LINES, "-q", "--run-dir", "night")

    commands_shown = commands(stickler("report", "night", "--show-documents", "9").out)

    assert [*commands_shown] == [*first]
    for command, other in zip(commands_shown.values(), first.values(), strict=True):
        assert stickler(*command).out == stickler(*other).out != ""


@pytest.mark.slow
@pytest.mark.parametrize("infer", ["auto", "always", "never"])
def test_a_schema_that_was_inferred_is_so_again(stickler, data, infer):
    arguments = ("gt", "pred", "--infer", infer)
    (first,) = commands(stickler("eval", *arguments, "--show-documents", "9").out).values()
    stickler("eval", *arguments, "-q", "--run-dir", "night")
    (command,) = commands(stickler("report", "night", "--show-documents", "9").out).values()

    assert stickler(*first).out == stickler(*command).out != ""
    assert "schema.json" not in first


@pytest.mark.parametrize("kind", ["file", "input"])
def test_without_a_command_it_is_said_how_to_make_one(stickler, lines, kind, monkeypatch, data):
    if kind == "file":
        stickler("eval", *LINES, "-q", "-o", "run.json")
        output = stickler("report", "run.json", "--show-documents", "9").out
    else:
        with Path("pred.jsonl").open() as stream:
            monkeypatch.setattr("sys.stdin", stream)
            sources = ("schema.json", "gt.jsonl", "-", "--id-field", "id")
            output = stickler("eval", *sources, "--show-documents", "9").out

    assert "all documents that lost values\n" in output
    assert not commands(output)
    assert (
        "to explain one of these documents: stickler compare SCHEMA GT PRED --document ID" in output
    )


def test_a_document_that_was_not_compared_has_no_command(stickler, data):
    Path("pred/two.json").unlink()

    output = stickler("eval", *SOURCES, "--show-documents", "1").out

    assert re.search(
        rf"^two +0\.0000 +\d+  the document is {Status.MISSING}$", output, re.MULTILINE
    )


def test_where_nothing_is_wrong_that_is_said(stickler, data):
    alike = stickler("eval", "schema.json", "gt", "gt", "--show-documents", "1").out

    assert "no document lost values" in alike

"""Reading run files: they are written again with the same bytes, or the error is named."""

import gzip
import json
from pathlib import Path

import pytest

from stickler_cli.core.problems import UsageError
from stickler_cli.reports.formats import render
from stickler_cli.reports.layout import TableStyle
from stickler_cli.runs.saved import load_run
from .conftest import write

GATES = ("--gate", "f1>=0.99", "--gate", "documents.total==3", "--gate", "lines.score>0.5")


@pytest.fixture
def run_file(stickler, data: Path) -> Path:
    """A run file with a missing prediction, passed and failed gates, a note, and documents."""
    write(data / "gt" / "three.json", {"id": "C-3"})
    (data / "gt" / "notes.txt").touch()
    stickler("eval", "schema.json", "gt", "pred", "-q", "-o", "run.json", *GATES)
    return data / "run.json"


def again(name: object) -> str:
    return render("json", load_run(str(name)), TableStyle())


@pytest.mark.parametrize("name", ["run.json", "folder", "run.json.gz"])
def test_a_run_is_read_back_to_the_byte(run_file, name):
    written = run_file.read_bytes()
    write(run_file.parent / "folder" / "run.json", written.decode())
    (run_file.parent / "run.json.gz").write_bytes(gzip.compress(written))

    assert again(name) == written.decode()


def test_the_run_of_one_pair_is_read_back_to_the_byte(stickler):
    stickler("eval", "schema.json", "gt/two.json", "pred/two.json", "-q", "-o", "one.json")

    assert again("one.json") == Path("one.json").read_text()
    assert len(load_run("one.json").document["non_matches"]) == 4


def test_a_run_says_of_which_version_it_is(run_file):
    record = {**json.loads(run_file.read_text()), "version": "9.9"}
    write(run_file, record)

    assert load_run(str(run_file)).version == "9.9"
    assert json.loads(again(run_file))["version"] == "9.9"


def test_every_document_has_an_account(run_file):
    accounts = json.loads(run_file.read_text())["per_document"]

    assert [entry["id"] for entry in accounts] == ["one", "three", "two"]
    assert [entry["status"] for entry in accounts] == ["evaluated", "missing", "evaluated"]
    assert accounts[1]["fields"][""] == {"fn": 1, "tn": 2}
    assert run_file.read_text().count('{"id":') == 3


@pytest.mark.parametrize("format_name", ["table", "csv", "markdown"])
def test_a_run_that_is_read_gives_the_same_reports(stickler, run_file, format_name):
    printed = stickler("eval", "schema.json", "gt", "pred", "-f", format_name, *GATES)

    out = printed.out.partition("\nnext: ")[0].rstrip("\n") + "\n"
    assert render(format_name, load_run(str(run_file)), TableStyle()) == out


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("none.json", None, "none.json: there is no such file or directory, expected a run file"),
        ("bad.json", "{", "bad.json:1:2: not valid JSON"),
        ("list.json", [], "list.json: this is not a run, expected a run file"),
        ("empty/x", "", "empty: this directory does not contain run.json"),
        ("no.json", {"a": 1}, "no.json: this is not a run, expected a run file"),
        (
            "other.json",
            {"format": "stickler-evaluation/1"},
            'other.json#/format: the value is .*, expected "stickler-run/1"; a run file is',
        ),
    ],
)
def test_what_is_no_run_is_said_with_its_place(data, name, content, message):
    if content is not None:
        write(data / name, content)
    with pytest.raises(UsageError, match=message):
        load_run(name.removesuffix("/x"))


@pytest.mark.parametrize(
    ("change", "place"),
    [
        (lambda run: run["schema"].pop("digest"), 'run.json#/schema: the key "digest" is missing'),
        (lambda run: run["options"].update(strict=1), "run.json#/options/strict"),
        (lambda run: run.update(options=None), "run.json#/options"),
        (lambda run: run["gates"][0].update(gate="f1"), "run.json#/gates/0/gate: 'f1'"),
        (lambda run: run["gates"][0].update(value="x"), "run.json#/gates/0/value"),
        (lambda run: run["notes"].append(1), "run.json#/notes/1"),
        (
            lambda run: run["per_document"][2].pop("id"),
            'run.json#/per_document/2: the key "id" is missing',
        ),
    ],
)
def test_what_is_wrong_in_a_run_is_said_with_its_place(run_file, change, place):
    record = json.loads(run_file.read_text())
    change(record)
    write(run_file, record)
    with pytest.raises(UsageError) as raised:
        load_run(str(run_file))
    assert place in str(raised.value)


def test_a_file_that_is_too_large_is_refused(run_file):
    with pytest.raises(UsageError, match="expected at most 10 bytes"):
        load_run(str(run_file), limit=10)

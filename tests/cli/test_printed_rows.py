"""Printed rows and JSON contain no commands for a terminal or for the runner of a CI job."""

import csv
import io
import json
import subprocess
import sys

import pytest

from .conftest import write

ID = "a\n::error::pwned"
VALUES = ["##vso[task.complete]x", "\x1b[31mred", "::warning::x", "\u202eabc", "﹢1+1"]


@pytest.fixture
def hostile(data):
    schema = {"properties": {"v": {"type": "array", "items": {"type": "string"}}}}
    write(data / "h.json", {"type": "object", **schema})
    line = {"id": ID, "v": VALUES}
    write(data / "g.jsonl", json.dumps(line))
    write(data / "p.jsonl", json.dumps({**line, "v": ["::set-env::" + "z" * 40]}))
    return ("h.json", "g.jsonl", "p.jsonl", "--id-field", "id")


COMMANDS = [
    ("errors",),
    ("eval", "--by", "id"),
    ("diff",),
    ("lint",),
]


def arguments(command, hostile):
    name, *options = command
    if name == "diff":
        return ["diff", *hostile[:3], "g.jsonl", *hostile[3:]]
    if name == "lint":
        return ["lint", *hostile[:2], *hostile[3:]]
    return [name, *hostile, *options]


@pytest.mark.slow
@pytest.mark.parametrize("form", ["csv", "tsv", "jsonl", "json"])
@pytest.mark.parametrize("command", COMMANDS)
def test_printed_rows_have_no_commands_and_no_control_characters(stickler, hostile, command, form):
    if (command[0], form) == ("errors", "json"):
        form = "jsonl"
    printed = stickler(*arguments(command, hostile), "-f", form).out

    assert printed
    lines = printed.split("\n")
    assert not [line for line in lines if line.strip().startswith(("::", "##"))]
    assert "##vso[" not in printed
    visible = printed.replace("\n", "").replace("\t", "")
    assert visible.isprintable(), [
        character for character in visible if not character.isprintable()
    ]


@pytest.mark.parametrize(("form", "delimiter"), [("csv", ","), ("tsv", "\t")])
def test_a_printed_table_has_the_rows_of_the_file(stickler, hostile, data, form, delimiter):
    printed = stickler("errors", *hostile, "-f", form).out
    stickler("errors", *hostile, "-o", f"e.{form}")
    rows = [*csv.DictReader(io.StringIO(printed), delimiter=delimiter)]
    text = (data / f"e.{form}").read_text()
    in_file = [*csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter)]

    assert len(rows) == len(in_file) > 0
    assert {row["document"] for row in rows} == {r"a\n::error::pwned"}
    assert {row["document"] for row in in_file} == {ID}


def test_printed_json_is_the_same_json(stickler, hostile, data):
    printed = stickler("errors", *hostile, "-f", "jsonl").out
    stickler("errors", *hostile, "-o", "e.jsonl")
    lines = (data / "e.jsonl").read_text().splitlines()

    assert [json.loads(line) for line in printed.splitlines()] == [*map(json.loads, lines)]
    assert any("##vso[" in line for line in lines)


@pytest.mark.slow  # it starts a process
def test_standard_output_that_is_a_file_is_written_as_a_file_is(stickler, hostile, data):
    stickler("errors", *hostile, "-o", "e.csv")
    with (data / "redirected.csv").open("wb") as stream:
        command = [sys.executable, "-m", "stickler_cli", "errors", *hostile, "-f", "csv"]
        subprocess.run(command, cwd=data, stdout=stream, check=True)

    assert (data / "redirected.csv").read_bytes() == (data / "e.csv").read_bytes()


@pytest.mark.parametrize("sign", "=+-@＝＋－＠﹦﹢﹣﹫")  # noqa: RUF001 - meant
def test_no_cell_is_a_formula_in_any_width_of_its_sign(stickler, data, sign):
    write(data / "h.json", {"type": "object", "properties": {"v": {"type": "string"}}})
    write(data / "g.jsonl", json.dumps({"v": f"{sign}cmd()"}))
    write(data / "p.jsonl", json.dumps({"v": "x"}))
    stickler("errors", "h.json", "g.jsonl", "p.jsonl", "-o", "e.csv")

    (row,) = csv.DictReader(io.StringIO((data / "e.csv").read_text(), newline=""))
    assert row["ground_truth_value"] == f"'{sign}cmd()"

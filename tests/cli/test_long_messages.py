"""Messages have a limited length, however many columns, keys or names there are."""

import json

import pytest

from stickler_cli.cli.app import main
from stickler_cli.core.figures import join_some
from stickler_cli.core.problems import LONGEST_CLAUSE, Problem

N_NAMES = 1_500
MAX_CHARACTERS = 15_000  # of all messages of a command, which may be several; all names have more

NAMES = [f"long_column_{number}" for number in range(N_NAMES)]
LONG_NAME = "n" * 150_000


def write_table(file, names):
    file.write_text("\n".join(",".join(cells) for cells in (names, ["1"] * len(names))) + "\n")


@pytest.fixture
def inputs(tmp_path, monkeypatch):
    """Files with very many names, or with one very long name."""
    monkeypatch.chdir(tmp_path)
    write_table(tmp_path / "table.csv", NAMES)
    write_table(tmp_path / "ids.csv", ["id", *NAMES])
    write_table(tmp_path / "long.csv", ["id", LONG_NAME])
    (tmp_path / "rows.jsonl").write_text(json.dumps(dict.fromkeys(NAMES, 1)) + "\n")
    (tmp_path / "gt.json").write_text(json.dumps({"id": "1", "n": 1}))
    keyed = {"type": "object", "properties": {key: {"type": "string"} for key in NAMES}}
    keys = {"type": "array", "x-aws-stickler-key": LONG_NAME, "items": keyed}
    (tmp_path / "keys.json").write_text(
        json.dumps({"type": "object", "properties": {"items": keys}})
    )
    (tmp_path / "type.json").write_text(json.dumps({"type": LONG_NAME, "properties": {"a": {}}}))
    ignored = {key: {"type": "string", "x-aws-stickler-ignore": True} for key in NAMES}
    (tmp_path / "ignored.json").write_text(
        json.dumps({"type": "object", "properties": {**ignored, "n": {"type": "integer"}}})
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments",
    [
        "eval --pairs table.csv",
        "eval --pairs rows.jsonl",
        "eval --pairs ids.csv --gt-column gt --pred-column pred",
        "eval --pairs rows.jsonl --gt-column gt --pred-column pred",
        "eval --pairs ids.csv --id-column key",
        "eval gt.json gt.json --metadata table.csv --by vendor",
        "eval gt.json gt.json --metadata ids.csv --by vendor",
        "eval gt.json gt.json --metadata rows.jsonl --by vendor",
        "eval keys.json gt.json gt.json",
        "eval type.json gt.json gt.json",
        "eval ignored.json gt.json gt.json",
        "check keys.json",
        "check type.json",
        "tune --pairs table.csv",
        "lint table.csv",
        "init table.csv --id-column key",
    ],
)
def test_what_a_command_says_is_bounded(inputs, capsys, arguments):
    main(arguments.split())

    assert 0 < len(capsys.readouterr().err) < MAX_CHARACTERS


def test_a_list_of_names_ends_with_how_many_there_are_besides():
    assert join_some(NAMES, 2) == "long_column_0, long_column_1 and 1,498 more"
    assert join_some(NAMES[:10]).count(",") == 9
    assert join_some(NAMES[:11]).endswith("long_column_9 and 1 more")


def test_each_clause_of_a_problem_is_cut():
    problem = Problem(LONG_NAME, LONG_NAME, LONG_NAME, LONG_NAME, pointer="/" + LONG_NAME)

    assert str(problem).count("...") == 4
    assert len(str(problem)) == 4 * LONGEST_CLAUSE + len(": ") + len(", expected ") + len("; ")

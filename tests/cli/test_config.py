"""The configuration file: where it is found, what it may hold, who wins."""

import inspect

import pytest

from stickler_cli.cli.eval import evaluate
from stickler_cli.cli.options import IN_CONFIG

from .conftest import write

EVAL = ("eval", "schema.json", "gt", "pred")
NOT_IN_CONFIG = {"restart", "schema", "gt", "pred", "config", "no_config", "debug", "dry_run"}


def test_the_nearest_own_file_is_used(stickler, data):
    write(data / "stickler.toml", "fail_under = 1.0\n")
    assert stickler(*EVAL).code == 1


def test_a_pyproject_is_used_if_it_has_the_table(stickler, data):
    write(data / "pyproject.toml", "[tool.stickler]\nfail-under = 1.0\n")
    assert stickler(*EVAL).code == 1


def test_a_pyproject_without_the_table_is_passed_over(stickler, data, monkeypatch):
    write(data / "stickler.toml", "fail_under = 1.0\n")
    write(data / "below" / "pyproject.toml", "[tool.other]\n")
    monkeypatch.chdir(data / "below")
    assert stickler("eval", "../schema.json", "../gt", "../pred").code == 1


def test_the_command_line_wins(stickler, data):
    write(data / "stickler.toml", "fail_under = 1.0\n")
    assert stickler(*EVAL, "--fail-under", "0.1").code == 0


def test_no_config_ignores_the_file(stickler, data):
    write(data / "stickler.toml", "fail_under = 1.0\n")
    assert stickler(*EVAL, "--no-config").code == 0


def test_a_named_file_is_used_instead(stickler, data):
    write(data / "stickler.toml", "fail_under = 1.0\n")
    write(data / "other.toml", 'gate = ["id.f1>=1"]\n')
    assert stickler(*EVAL, "--config", "other.toml").code == 0


@pytest.mark.parametrize(
    "arguments",
    [("--no-config", "--config", "other.toml"), ("--config", "other.toml", "--no-config")],
)
def test_a_named_file_beside_no_config_is_refused(stickler, data, arguments):
    write(data / "other.toml", "")
    assert stickler(*EVAL, *arguments).code == 2


def test_outputs_are_relative_to_the_file(stickler, data, monkeypatch):
    write(data / "stickler.toml", 'output = ["run.json"]\nnon_matches = "errors.jsonl"\n')
    (data / "below").mkdir()
    monkeypatch.chdir(data / "below")
    assert stickler("eval", "../schema.json", "../gt", "../pred").code == 0
    assert (data / "run.json").exists()
    assert (data / "errors.jsonl").exists()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("fail_undr = 0.9", "did you mean fail_under?"),
        ("strict = 1", "expected true or false"),
        ("gate = 'f1>=0.9'", "expected a list of strings"),
        ("show_non_matches = true", "expected a whole number"),
        ("fail_under = 'high'", "expected a number"),
        ("id_field = 3", "expected a string"),
        ("= 1", "it is not TOML"),
    ],
)
def test_what_is_wrong_in_a_file_is_told_with_its_name(stickler, data, text, told):
    write(data / "stickler.toml", text)
    result = stickler(*EVAL)
    assert result.code == 2
    assert "stickler.toml" in result.err
    assert told in result.err


def test_a_named_file_that_is_not_there_is_told(stickler):
    result = stickler(*EVAL, "--config", "nope.toml")
    assert result.code == 2
    assert "nope.toml" in result.err


def test_a_named_pyproject_without_the_table_is_told(stickler, data):
    write(data / "pyproject.toml", "")
    result = stickler(*EVAL, "--config", "pyproject.toml")
    assert result.code == 2
    assert "[tool.stickler]" in result.err


def test_every_option_but_the_sources_may_stand_in_a_file():
    assert set(inspect.signature(evaluate).parameters) - NOT_IN_CONFIG == set(IN_CONFIG)


def test_the_header_of_pyproject_in_the_own_file_is_told(stickler, data):
    write(data / "stickler.toml", "[tool.stickler]\nstrict = true\n")
    result = stickler(*EVAL)
    assert result.code == 2
    assert "leave out the header [tool.stickler]" in result.err

"""The configuration file: where it is looked for, what it may contain, and what overrides it."""

import base64
import gzip
import json
import os
import re
import sys
from pathlib import Path

import pytest

from .conftest import GOOD, Result, write

EVAL = ("eval", "schema.json", "gt", "pred")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("stickler.toml", "fail_under = 1.0\n"),
        ("pyproject.toml", "[tool.stickler]\nfail-under = 1.0\n"),
    ],
)
def test_the_nearest_file_is_used(stickler, data, name, text):
    write(data / name, text)
    assert stickler(*EVAL).code == 1


def test_a_pyproject_without_the_table_is_passed_over(stickler, data, monkeypatch):
    write(data / "stickler.toml", "fail_under = 1.0\n")
    write(data / "below" / "pyproject.toml", "[tool.other]\n")
    monkeypatch.chdir(data / "below")
    assert stickler("eval", "../schema.json", "../gt", "../pred").code == 1


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has other owners")
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("stickler.toml", "fail_under = 1.0\n"),
        ("pyproject.toml", "[tool.stickler]\nfail_under = 1.0\n"),
        ("pyproject.toml", "[tool.stickler]\nthis is no TOML"),
    ],
)
def test_a_file_of_another_user_is_read_only_if_it_is_named(
    stickler, data, monkeypatch, name, text
):
    write(data / name, text)
    owner = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: owner + 1)
    result = stickler(*EVAL)
    assert result.code == 0
    assert f"{name} belongs to another user, so it was not read" in result.err
    expected = 2 if "no TOML" in text else 1
    assert stickler(*EVAL, "--config", name).code == expected
    assert "another user" not in stickler(*EVAL, "--no-config").err


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has other owners")
def test_root_reads_the_file_of_who_asked_for_its_rights(stickler, data, monkeypatch):
    write(data / "stickler.toml", "fail_under = 1.0\n")
    stat_of_file = (data / "stickler.toml").stat()
    theirs = os.stat_result((*stat_of_file[:4], 1234, *stat_of_file[5:]))
    stat = Path.stat
    monkeypatch.setattr(
        Path,
        "stat",
        lambda self, **how: theirs if self.name == "stickler.toml" else stat(self, **how),
    )
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setenv("SUDO_UID", "1234")
    assert stickler(*EVAL).code == 1
    monkeypatch.setenv("SUDO_UID", "1235")
    assert stickler(*EVAL).code == 0


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has other owners")
@pytest.mark.parametrize("make_link", [Path.symlink_to, Path.hardlink_to])
def test_a_link_of_another_user_to_an_own_file_is_not_read(stickler, data, monkeypatch, make_link):
    write(data / "mine" / "stickler.toml", "fail_under = 1.0\n")
    make_link(data / "stickler.toml", data / "mine" / "stickler.toml")
    assert stickler(*EVAL).code == 1
    lstat, stat = Path.lstat, Path.stat

    def of_another(stated):
        return os.stat_result((*stated[:4], stated.st_uid + 1, *stated[5:]))

    # The link and the directory that it is in are of another user, the file is not.
    monkeypatch.setattr(Path, "lstat", lambda self: of_another(lstat(self)))
    if make_link is Path.hardlink_to:
        monkeypatch.setattr(Path, "lstat", lstat)
        monkeypatch.setattr(
            Path,
            "stat",
            lambda self, **how: of_another(stat(self)) if self == data else stat(self, **how),
        )
    result = stickler(*EVAL)
    assert result.code == 0
    assert "stickler.toml belongs to another user, so it was not read" in result.err


@pytest.mark.skipif(sys.platform == "win32", reason="Windows keeps it")
def test_a_working_directory_that_is_gone_is_told(stickler, data, monkeypatch):
    (data / "gone").mkdir()
    monkeypatch.chdir(data / "gone")
    (data / "gone").rmdir()
    result = stickler(*EVAL)
    assert result.code == 2
    assert result.err == (
        "error: the working directory has been deleted; change to a directory that exists\n"
    )


@pytest.mark.parametrize("options", [("--fail-under", "0.1"), ("--no-config",)])
def test_the_command_line_wins(stickler, data, options):
    write(data / "stickler.toml", "fail_under = 1.0\n")
    assert stickler(*EVAL, *options).code == 0


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
    ("text", "message"),
    [
        ("fail_undr = 0.9", "did you mean fail_under?"),
        ("strict = 1", "expected true or false"),
        ("gate = 0.9", "expected a list of strings"),
        ("show_non_matches = true", "expected a whole number"),
        ("fail_under = 'high'", "expected a number"),
        ("id_field = 3", "expected a string"),
        ("= 1", "the file is not valid TOML"),
        (
            "[eval]\nfail_under = 1.0",
            "there is a table [eval], expected only options; remove the header [eval]",
        ),
        ("[tool.stickler]\nstrict = true", "a header such as [tool.stickler] belongs only in"),
        ("qqqq = 0.5", "expected an option of a command"),
    ],
)
def test_what_is_wrong_in_a_file_is_told_with_its_name(stickler, data, text, message):
    write(data / "stickler.toml", text)
    result = stickler(*EVAL)
    assert result.code == 2
    assert "stickler.toml" in result.err
    assert message in result.err


@pytest.mark.parametrize(
    ("name", "message"), [("nope.toml", "nope.toml"), ("pyproject.toml", "[tool.stickler]")]
)
def test_a_named_file_that_has_no_options_is_told(stickler, data, name, message):
    write(data / "pyproject.toml", "")
    result = stickler(*EVAL, "--config", name)
    assert result.code == 2
    assert message in result.err


# --- arguments


SOURCES = "schema = 'schema.json'\ngt = 'gt'\npred = 'pred'\n"


def test_the_file_may_have_the_schema_and_both_sides(stickler, data, monkeypatch):
    write(data / "stickler.toml", SOURCES)
    (data / "below").mkdir()
    monkeypatch.chdir(data / "below")
    assert "2 documents, 1 wholly right" in stickler("eval").out
    assert stickler("compare", "--document", "two").code == 0


def test_of_fewer_than_three_arguments_the_last_is_the_prediction(stickler, data):
    write(data / "stickler.toml", SOURCES)
    assert stickler("eval", "-f", "json").json["overall_score"] < 1
    assert stickler("eval", "gt", "-f", "json").json["overall_score"] == 1
    assert stickler("eval", "pred", "pred", "-f", "json").json["overall_score"] == 1
    assert stickler("eval", "schema.json", "gt", "gt", "-f", "json").json["overall_score"] == 1


@pytest.mark.parametrize(
    ("arguments", "missing"),
    [((), "GT and PRED are missing"), (("pred",), "GT is missing")],
)
def test_arguments_that_nobody_gave_are_told_with_what_would_be_right(stickler, arguments, missing):
    result = stickler("eval", *arguments)
    assert result.code == 2
    assert f"error: {missing}, expected stickler eval [SCHEMA] GT PRED" in result.err
    names = "gt, pred" if "PRED" in missing else "gt"
    assert f"or set {names} in stickler.toml" in result.err


def test_standard_input_named_in_the_file_is_no_file(stickler, data):
    write(data / "stickler.toml", SOURCES.replace("'gt'", "'-'"))
    assert "standard input, but" not in stickler("eval").err
    assert "/-:" not in stickler("eval").err


# --- all commands


PRICE = {"type": "object", "properties": {"a": {"type": "array", "items": {"type": "string"}}}}


@pytest.fixture
def near(data):
    """Arguments for a pair of documents whose only items have a similarity below 0.9."""
    write(data / "near.json", PRICE)
    write(data / "near" / "gt.json", {"a": ["abcdefgh"]})
    write(data / "near" / "pred.json", {"a": ["abcdefgx"]})
    return ("near.json", "near/gt.json", "near/pred.json")


def test_compare_explains_the_score_that_eval_gave(stickler, data, near):
    write(data / "stickler.toml", "pairing_floor = 0.9\n")
    score = stickler("eval", *near, "-f", "json").json["overall_score"]
    assert stickler("compare", *near, "-f", "json").json["overall_score"] == score
    assert stickler("eval", *near, "--no-config", "-f", "json").json["overall_score"] != score


def test_compare_reads_documents_as_eval_does(stickler, data):
    write(data / "pred" / "two.json", f"Here it is: {json.dumps(GOOD)}")
    write(data / "stickler.toml", "lenient_json = true\n")
    assert stickler("compare", "schema.json", "gt/two.json", "pred/two.json").code == 0
    write(data / "stickler.toml", "max_document_size = '10B'\n")
    result = stickler("compare", "schema.json", "gt/two.json", "gt/two.json")
    assert result.code == 3
    assert "expected at most 10 bytes" in result.err


def test_what_eval_writes_by_its_file_other_commands_do_not(stickler, data):
    write(data / "stickler.toml", "output = ['run.json']\nformat = 'csv'\nquiet = true\n")
    assert stickler(*EVAL).code == 0
    before = (data / "run.json").read_bytes()
    for command in (
        ("report", "run.json", "-f", "table"),
        ("diff", "run.json", "run.json"),
        ("merge", "run.json"),
        ("compare", "schema.json", "gt/one.json", "pred/one.json"),
        ("check", "schema.json"),
    ):
        assert stickler(*command) == Result(0, "", "")
    assert (data / "run.json").read_bytes() == before


def test_a_plugin_is_allowed_by_the_file_in_check_too(stickler, data):
    field = {"type": "string", "x-aws-stickler-comparator": "json:JSONDecoder"}
    write(data / "plugin.json", {"type": "object", "properties": {"a": field}})
    assert "--allow-plugins" in stickler("check", "plugin.json").err
    write(data / "stickler.toml", "allow_plugins = true\n")
    assert "--allow-plugins" not in stickler("check", "plugin.json").err


def test_gates_of_the_file_hold_for_a_merged_run_too(stickler, data):
    assert stickler(*EVAL, "-q", "-o", "run.json").code == 0
    write(data / "stickler.toml", "fail_under = 1.0\n")
    assert stickler("merge", "run.json").code == 1


def test_a_file_that_is_wrong_is_wrong_for_every_command(stickler, data):
    write(data / "stickler.toml", "pairing_floor = 1\nmargin = 0\nseed = -1\n")
    result = stickler("check", "schema.json")
    assert result.code == 2
    assert result.err.splitlines() == [
        f"error: {data}/stickler.toml: the option {key} is {value}, expected {expected}"
        for key, value, expected in (
            ("pairing_floor", "1", "a number in [-1, 1)"),
            ("margin", "0", "a number above 0 and below 1"),
            ("seed", "-1", "a whole number of at least 0"),
        )
    ]


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("gate = ['f1>=']", "gate: "),
        ("fail_under = 90", "fail_under: "),
        ("output = ['run.xyz']", "output: "),
        ("by = ['@language']", "by @language: "),
        ("offline = true\nno_cache = true", "offline: "),
        ("id_field = ''", 'the option id_field is ""'),
        ("run_dir = 'gt'", "run_dir "),
    ],
)
def test_the_file_is_blamed_for_what_turns_out_later(stickler, data, text, place):
    write(data / "stickler.toml", text)
    result = stickler(*EVAL)
    assert result.code == 2
    assert result.err.startswith(f"error: {data}/stickler.toml: {place}")
    assert stickler(*EVAL, "--no-config").code == 0


def test_the_option_is_blamed_where_it_goes_before_the_file(stickler, data):
    write(data / "stickler.toml", "gate = ['f1>=0']\n")
    assert stickler(*EVAL, "--gate", "f1>=").err.startswith("error: --gate: ")


def test_an_empty_list_in_the_file_is_as_none(stickler, data):
    write(data / "stickler.toml", "gate = []\noutput = []\n")
    assert stickler(*EVAL).code == 0


@pytest.mark.parametrize(
    ("sources", "links"),
    [("scans", {"two": "scans/two.pdf#page={page}"}), ("https://host/{id}.pdf", None)],
)
def test_an_address_is_no_path_beside_the_file(stickler, data, monkeypatch, sources, links):
    write(data / "scans" / "two.pdf", "")
    write(data / "stickler.toml", f"sources = '{sources}'\n")
    (data / "elsewhere").mkdir()
    sides = [str(data / name) for name in ("schema.json", "gt", "pred")]
    config = ["--config", str(data / "stickler.toml")]
    monkeypatch.chdir(data / "elsewhere")
    page = data / "page.html"
    assert stickler("eval", *sides, "-o", str(page), *config, "--quiet").code == 0
    packed = re.search(r'id="data-sources">([^<]*)<', page.read_text())[1]
    [[template, root, _]] = json.loads(gzip.decompress(base64.b64decode(packed)))
    assert (template, root) == ("" if links else sources, links)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has other rights")
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("stickler.toml", "fail_under = 1.0\n"),
        ("pyproject.toml", "[tool.stickler]\nfail_under = 1.0"),
    ],
)
def test_a_file_that_others_may_write_is_read_only_if_it_is_named(
    stickler, data, monkeypatch, name, text
):
    write(data / name, text)
    (data / name).chmod(0o646)
    result = stickler(*EVAL)
    assert result.code == 0
    assert f"{name} can be changed by other users, so it was not read" in result.err
    assert stickler(*EVAL, "--config", name).code == 1
    (data / name).chmod(0o664)  # by the user's own group
    assert stickler(*EVAL).code == 1
    group_id = os.getegid()
    monkeypatch.setattr(os, "getegid", lambda: group_id + 1)
    assert "can be changed by other users" in stickler(*EVAL).err


def test_a_typo_names_the_nearest_options_and_not_all(stickler, data):
    write(data / "stickler.toml", "fail_undr = 0.5\n")
    result = stickler("eval", "schema.json", "gt", "pred")
    assert result.code == 2
    assert 'unknown option "fail_undr", expected an option, such as fail_under' in result.err
    assert len(result.err) < 300


def test_check_and_init_take_their_sources_from_a_file(stickler, data):
    (data / "stickler.toml").write_text("schema = 'schema.json'\ngt = 'gt'\n", "utf-8")
    assert "schema.json: no problems" in stickler("check").out
    assert '"properties"' in stickler("init").out


@pytest.mark.parametrize("key", ["run_dir", "documents", "by_file", "policy", "values", "gt"])
def test_a_path_with_a_nul_is_told(stickler, data, key):
    write(data / "stickler.toml", f'{key} = "a\\u0000b"\noutput = ["\\u0000.json"]\n')
    result = stickler(*EVAL)

    assert result.code == 2
    for option in (key, "output"):
        finding = f"the value of the option {option} contains a NUL character, expected a path"
        assert f"stickler.toml: {finding}" in result.err

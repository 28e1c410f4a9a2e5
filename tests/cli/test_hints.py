"""Hints of messages work if users follow them."""

import json
import re
import shlex
import subprocess
import sys
from io import StringIO
from pathlib import Path

import pytest

from stickler_cli.cli.console import warn
from .conftest import write

SOURCES = ("schema.json", "gt", "pred")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "hint"),
    [
        (("--gate", "lines.qty.f1_score>=0.5"), ("--gate", "lines.qty.f1>=0.5")),
        (("--gate", "document_score>=0.5"), ("--gate", "score>=0.5")),
        (("--gate", "wholly_right>=0.5"), ("--gate", "documents.right>=0.5")),
        (("--gate", "qty.f1>=0.5"), ("--gate", "lines.qty.f1>=0.5")),
        (("--gate", "f1>=50"), ("--gate", "f1>=0.5")),
        (("--gate", "lines.f1.lowr>=0"), ("--gate", "lines.f1.lower>=0")),
        (("--gate", "documents.rigth>=0.5"), ("--gate", "documents.right>=0.5")),
        (("--fail-under", "50"), ("--fail-under", "0.5")),
        (("--columns", "wrung"), ("--columns", "wrong")),
        (("--fields", "lines.qti"), ("--fields", "lines.qty")),
    ],
)
def test_what_was_meant_is_taken(stickler, options, hint):
    result = stickler("eval", *SOURCES, *options)
    assert result.code == 2
    (meant,) = re.findall(r"did you mean (.*)\?$", result.err, re.MULTILINE)
    assert (options[0], meant) == hint
    assert stickler("eval", *SOURCES, *hint).code in (0, 1)


def test_a_gate_on_a_field_alone_is_told_how_to_name_a_metric(stickler):
    result = stickler("eval", *SOURCES, "--gate", "total>=0.5")

    assert (result.code, "; if total is a field, write total.f1>=0.5" in result.err) == (2, True)
    assert stickler("eval", *SOURCES, "--gate", "total.f1>=0.5").code in (0, 1)


def test_a_limit_that_is_no_percentage_has_no_hint(stickler):
    for options in (("--fail-under", "1.5"), ("--gate", "f1>=1.5")):
        result = stickler("eval", *SOURCES, *options)
        assert (result.code, "did you mean" in result.err) == (2, False)


MODELS = """
from pydantic import BaseModel

class Order(BaseModel):
    id: str
    total: float
"""


@pytest.mark.parametrize("name", ["models_of_hints:Order", "models_of_hints.py:Order"])
def test_a_model_is_named_by_its_module_or_by_the_file(stickler, data, name):
    write(data / "models_of_hints.py", MODELS)
    result = stickler("eval", "models_of_hints.py", "gt", "pred")
    assert result.code == 2
    assert (
        "for a pydantic model, give models_of_hints.py:Model together with --allow-plugins"
        in result.err
    )

    result = stickler("eval", name, "gt", "pred", "--allow-plugins")
    assert (result.code, result.out.partition(":")[0]) == (0, "Order")


def test_files_of_our_own_are_taken_for_no_documents(stickler, data):
    stickler("eval", *SOURCES, "-q", "-o", "run.json")
    for words in (("eval", "gt", "run.json"), ("errors", "run.json", "schema.json")):
        result = stickler(*words)
        assert result.code == 2
        assert "run.json: this file contains output of stickler (stickler-run/1)" in result.err
        assert "use stickler report to read a run" in result.err
    stickler("diff", "schema.json", "gt", "pred", "gt", "-q", "-o", "diff.json")
    result = stickler("eval", "diff.json", "pred/one.json")
    assert "diff.json: this file contains output of stickler (stickler-diff/" in result.err


@pytest.mark.parametrize(
    ("words", "key", "again"),
    [
        (("errors", "run.json"), "again", "errors"),
        (("compare", "run.json", "--document", "two"), "documents", "compare"),
    ],
)
def test_what_a_run_file_has_not_is_had_by_the_command_that_it_tells(stickler, words, key, again):
    stickler("eval", *SOURCES, "--extra-fields", "ignore", "-q", "-o", "run.json")
    result = stickler(*words)
    (command,) = re.findall(rf"{key}: stickler (.*)$", result.err, re.MULTILINE)
    document_option = " --document two" if again == "compare" else ""
    assert command == f"{again} schema.json gt pred --extra-fields ignore{document_option}"
    assert stickler(*shlex.split(command)).code == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("wrong", "hint", "right"),
    [
        ("eval shcema.json gt pred", r"did you mean (.*)\?", "eval {} gt pred"),
        ("eval schema.json gt perd", r"did you mean (.*)\?", "eval schema.json gt {}"),
        ("check shcema.json", r"did you mean (.*)\?", "check {}"),
        ("report rnu.json", r"did you mean (.*)\?", "report {}"),
        ("compare schema.json gt pred", "for example, (.*)", "compare schema.json gt pred {}"),
        (
            "compare schema.json gt pred --document x",
            "for example, (.*)",
            "compare schema.json gt pred {}",
        ),
        ("diff gt pred", "stickler (.*)", "{}"),
    ],
)
def test_a_hint_that_is_followed_works(stickler, data, wrong, hint, right):
    for name in ("one", "two"):  # as ids that a shell would break
        (data / "gt" / f"{name}.json").rename(data / "gt" / f"{name} of 2.json")
        (data / "pred" / f"{name}.json").rename(data / "pred" / f"{name} of 2.json")
    stickler("eval", *SOURCES, "-q", "-o", "run.json")
    result = stickler(*wrong.split())
    assert (result.code, result.out) == (2, "")
    (meant,) = re.findall(f"; (?:.*: )?{hint}$", result.err, re.MULTILINE)
    meant = meant.replace("SCHEMA GT PRED_A PRED_B", "schema.json gt pred gt")
    assert stickler(*shlex.split(right.format(meant))).code == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            "eval gt/two.json gt pred",
            "two.json#: the schema describes .* SCHEMA GT PRED$",
        ),
        (
            "check run.json",
            (
                "run.json#: .*; this file contains output of stickler .stickler-run/1., not a "
                "schema$"
            ),
        ),
        (
            "diff run.json gt/two.json",
            ("two.json: this is not a run, expected a run file, made with .*$"),
        ),
        ("eval schema.json gt none", "0 predictions, expected documents on both sides$"),
    ],
)
def test_a_file_in_the_place_of_another_is_seen_for_what_it_is(stickler, data, words, message):
    write(data / "gt" / "two.json", {"items": [1], "number": "a", "total": 2})
    write(data / "none" / "x.txt", "")
    stickler("eval", *SOURCES, "-q", "-o", "run.json")

    (line,) = stickler(*words.split()).err.splitlines()
    assert re.search(message, line)


def test_the_command_that_shows_what_was_inferred_names_the_file(stickler, data):
    write(data / "a plain schema.json", {"properties": {"id": {"type": "string"}}})
    result = stickler("eval", "a plain schema.json", "gt", "pred")
    (command,) = re.findall(r"`stickler ([^`]*)`;", result.err)
    assert stickler(*shlex.split(command)).code == 0


@pytest.mark.parametrize("content", ["no JSON", "[1]", '{"result": {"id": "A-1"}}'])
def test_predictions_of_which_none_can_be_used_are_no_success(stickler, data, content):
    for name in ("one", "two"):
        write(data / "pred" / f"{name}.json", content)
    result = stickler("eval", *SOURCES, "--pred-root", "reslt")

    assert result.code == 3
    assert "no ground truth has a usable prediction" in result.err
    heading = result.out.splitlines()[0]
    assert heading.endswith(
        "2 documents have an unreadable prediction, so all their values are missed"
    )
    assert "next: " not in result.out
    page = stickler("eval", *SOURCES, "--pred-root", "reslt", "-f", "markdown").out
    assert "no ground truth has a usable prediction" in page


@pytest.mark.parametrize("name", ["a night's schema.yaml", "schema.yml"])
def test_a_schema_of_yaml_is_made_json_of_by_the_command_that_is_told(stickler, data, name):
    write(data / name, "type: object\nproperties:\n  day: {type: string, default: 2026-01-02}\n")
    problem = stickler("check", name).err
    (command,) = re.findall("`(python -c .*)`", problem)

    command = command.replace("python", shlex.quote(sys.executable), 1)
    subprocess.run(["sh", "-c", command], check=True, cwd=data)
    assert stickler("check", str(Path(name).with_suffix(".json"))).code == 0


def test_an_id_field_that_no_document_has_is_told_with_those_that_may_be_meant(stickler, data):
    document = {"total": 1.5, "meta": {"doc_id": 7, "is": True, "in": {"id": 1}}, "ref": "a"}
    write(data / "gt.jsonl", json.dumps(document))
    err = stickler("eval", "schema.json", "gt.jsonl", "gt.jsonl", "--id-field", "docid").err
    assert 'the document has no field "docid", expected a field with the id of the document' in err
    assert (
        "with --id-field, give a field that identifies each document; this document has the "
        "fields meta.doc_id, ref\n"
    ) in err


def test_a_terminal_has_remarks_broken_between_words_and_commands_whole(monkeypatch):
    terminal = StringIO()
    terminal.isatty = lambda: True
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("COLUMNS", "24")

    warn("error: well-known words (`stickler init a b c d e` shows), and on")
    warn("  one: there is no two, expected three")
    assert terminal.getvalue().splitlines() == [
        "error: well-known words",
        "  (`stickler init a b c d e`",
        "  shows), and on",
        "  one: there is no two,",
        "    expected three",
    ]


def test_the_last_line_has_the_options_that_decide_the_run(stickler, data):
    models = ("--endpoint", "openai:a=http://localhost:1/v1", "--offline")
    options = ("--limit", "2", "--extra-fields", "ignore", *models)
    write(data / "meta.csv", "id,kind\none,a\ntwo,b\n")
    groups = ("--by-file", "meta.csv", "--by", "@kind")
    out = stickler("eval", *SOURCES, *options, *groups, "--jobs", "1", "--sort", "f1").out
    (again,) = re.findall(r"^next: stickler (.*)$", out, re.MULTILINE)
    words = shlex.split(again)
    assert words[:4] == ["errors", *SOURCES]
    assert sorted(words[4:]) == sorted((*options, "--cause", "1"))
    assert stickler(*words).code == 0


def test_another_file_in_the_place_of_lines_is_told_in_a_few_lines(stickler):
    stickler("eval", *SOURCES, "-q", "-o", "run.json")

    result = stickler("tune", *SOURCES, "--verdicts", "run.json")

    assert result.code == 2
    first, *_, last = result.err.splitlines()
    assert first.startswith("error: run.json:1:2: not valid JSON")
    assert re.fullmatch(r"and \d+ more", last)
    assert len(result.err.splitlines()) == 11
    (line,) = stickler("eval", *SOURCES, "--verdicts", "run.json").err.splitlines()
    assert line.startswith("error: run.json:1:2: not valid JSON")

"""Reports of a run directory with other groups, and opening its page."""

import json
from pathlib import Path

import pytest
import typer

from .conftest import BAD, GOOD, write
from .test_verdicts import write_verdicts

EVAL = ("eval", "schema.json", "gt", "pred")


@pytest.fixture
def kept_run(stickler, data):
    """A run directory of six documents in two folders."""
    for number in range(6):
        name = f"{'ab'[number % 2]}/{number}.json"
        write(data / "gt" / name, {**GOOD, "source": "scan" if number < 4 else "mail"})
        write(data / "pred" / name, BAD if number % 3 else GOOD)
    options = ("--limit", "7", "--pairing-floor", "0.3", "--gate", "f1>=0.1")
    assert stickler(*EVAL, *options, "--run-dir", "kept", "-q").code == 0
    return options


@pytest.mark.slow
@pytest.mark.parametrize("key", ["source", "@directory", "@lang"])
def test_a_run_directory_is_reported_by_another_key(stickler, data, kept_run, key):
    rows = "".join(f"{'ab'[n % 2]}/{n},{'de' if n % 2 else 'fr'}\n" for n in range(6))
    write(data / "meta.csv", f"id,lang\n{rows}one,de\n")
    groups = ("--by", key, *(("--by-file", "meta.csv") if key == "@lang" else ()))
    expected = stickler(*EVAL, *kept_run, *groups, "-f", "json").json
    report = stickler("report", "kept", *groups, "-f", "json")
    assert report.code == 0
    assert report.json == expected
    assert f"by {key}" in stickler("report", "kept", *groups).out


OWN_METRIC = """
from stickler_cli.metrics import Metric

class Seen(Metric):
    def __init__(self):
        self.seen = 0

    def add(self, document):
        self.seen += 1

    def merge(self, other):
        self.seen += other.seen

    def result(self):
        return self.seen
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "options",
    [
        ("--confidence", "sure.jsonl"),
        ("--metric", "own_metric:Seen", "--allow-plugins"),
        ("--sample", "4", "--validate", "pred", "--metric", "anls_star"),
    ],
)
def test_lines_are_reported_by_other_groups_as_they_were_evaluated(
    stickler, data, options, monkeypatch
):
    monkeypatch.syspath_prepend(str(data))
    write(data / "own_metric.py", OWN_METRIC)
    for name, document in (("gt", GOOD), ("pred", BAD), ("sure", {"total": 0.5})):
        lines = ({**document, "id": str(index), "kind": "ab"[index % 2]} for index in range(6))
        write(data / f"{name}.jsonl", "".join(json.dumps(line) + "\n" for line in lines))
    run = ("eval", "schema.json", "gt.jsonl", "pred.jsonl", "--id-field", "id", *options)
    assert stickler(*run, "--run-dir", "lines", "-q").code == 0
    may = ("--allow-plugins",) if "--allow-plugins" in options else ()
    report = stickler("report", "lines", "--by", "kind", *may, "-f", "json")
    assert report.code == 0, report.err
    assert report.json == stickler(*run, "--by", "kind", "-f", "json").json
    if may:
        assert "--allow-plugins" in stickler("report", "lines", "--by", "kind").err


@pytest.mark.slow
def test_what_verdicts_and_a_policy_say_of_all_documents_stays(stickler, data, kept_run):
    write_verdicts(data, {"document": "a/4"})
    for number in range(6):
        name = f"{'ab'[number % 2]}/{number}.json"
        write(data / "sure" / name, {"id": 0.9, "total": 0.1 * number})
    sure = ("--confidence", "sure")
    accept = ("accept", "schema.json", "gt", "pred", *sure, "--max-error", "0.5", "-q")
    assert stickler(*accept, "-o", "policy.json").code == 0
    arguments = (*EVAL, *sure, "--verdicts", "verdicts.jsonl", "--policy", "policy.json")
    assert stickler(*arguments, "--run-dir", "marked", "-q").code == 0
    expected = stickler(*arguments, "--by", "source", "-f", "json").json
    report = stickler("report", "marked", "--by", "source", "-f", "json")
    assert report.code == 0, report.err
    assert report.json == expected
    assert {"policy", "verdicts"} < report.json.keys()


def test_the_directory_stays_what_it_was(stickler, data, kept_run):
    before = {path: path.read_bytes() for path in (data / "kept").iterdir()}
    stickler("report", "kept", "--by", "source")
    assert {path: path.read_bytes() for path in (data / "kept").iterdir()} == before


def test_documents_that_have_changed_are_refused(stickler, data, kept_run):
    write(data / "pred" / "a" / "0.json", BAD)
    result = stickler("report", "kept", "--by", "source")
    assert result.code == 2
    assert "the documents, or how they are compared, have changed since the run" in result.err


def test_another_schema_is_refused(stickler, data, kept_run):
    schema = json.loads((data / "schema.json").read_text())
    write(data / "schema.json", {**schema, "title": "Other"})
    assert "the schema has changed" in stickler("report", "kept", "--by", "source").err


@pytest.mark.slow
@pytest.mark.parametrize("schema", [("boxes.json",), ()])
@pytest.mark.parametrize("boxes", ["corners", "xywh"])
def test_a_run_is_read_again_with_the_inference_that_it_had(stickler, data, schema, boxes):
    box = {"type": "array", "items": {"type": "number"}, "minItems": 4, "maxItems": 4}
    properties = {"name": {"type": "string"}, "bbox": box}
    write(data / "boxes.json", {"type": "object", "properties": properties})
    # Of 20 by 30 units where two are corners; of 30 by 40 where two are lengths.
    write(data / "gt.jsonl", {"name": "a", "bbox": [10, 10, 30, 40]})
    write(data / "pred.jsonl", {"name": "a", "bbox": [12, 12, 30, 40]})
    similarity = {"corners": 504 / 600, "xywh": 1064 / 1336}[boxes]
    run = stickler(
        "eval", *schema, "gt.jsonl", "pred.jsonl", "--boxes", boxes, "--run-dir", "run", "-q"
    )
    assert run.code == 0, run.err

    explained = stickler("compare", "run", "--document", "line 1")
    grouped = stickler("report", "run", "--by", "name")

    assert f"overall score {(1 + similarity) / 2:.4f}" in explained.out, explained.err
    assert grouped.code == 0, grouped.err
    assert "by name" in grouped.out


def test_a_key_that_no_document_has_is_refused(stickler, kept_run):
    result = stickler("report", "kept", "--by", "sorce")
    assert (result.code, result.out) == (2, "")
    assert "--by sorce: no document has this field or key" in result.err


def test_a_run_file_cannot_be_grouped_anew(stickler, kept_run):
    result = stickler("report", "kept/run.json", "--by", "source")
    assert result.code == 2
    assert "which does not record how the documents were read" in result.err


@pytest.mark.parametrize("output", [(), ("-o", "page.html")])
def test_the_page_is_opened(stickler, kept_run, monkeypatch, output):
    opened = []
    monkeypatch.setattr(typer, "launch", opened.append)
    result = stickler("report", "kept", "--open", *output)
    assert (result.code, result.out) == (0, "")
    (page,) = opened
    assert f"opening {page}" in result.err
    assert Path(page).read_text().startswith("<!DOCTYPE html>")
    assert not output or page == "page.html"

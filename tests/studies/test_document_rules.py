"""Documents that are copies of other documents."""

import json
import random

import pytest

from stickler_cli.schema.loading import load_schema
from stickler_cli.studies.lint import document_rules
from stickler_cli.studies.lint.answer import lint
from stickler_cli.studies.lint.question import LintSettings

SCHEMA = {"type": "object", "properties": {"a": {}}, "additionalProperties": {}}


@pytest.fixture
def run_lint(tmp_path):
    def run(documents):
        (tmp_path / "schema.json").write_text(json.dumps(SCHEMA))
        (tmp_path / "gt.jsonl").write_text("\n".join(map(json.dumps, documents)))
        loaded = load_schema(str(tmp_path / "schema.json"))
        report = lint(loaded, str(tmp_path / "gt.jsonl"), LintSettings())
        rules = {"duplicate-document", "near-duplicate"}
        findings_told = [
            (finding.rule, problem.line, problem.found.rpartition(":")[2])
            for finding in report.findings
            for problem in finding.places
            if finding.rule in rules
        ]
        return findings_told, report.notes

    return run


def a_document(seed, fields=20):
    drawn = random.Random(seed)  # noqa: S311 - the same each time
    return {f"f{index}": f"{drawn.random():.6f} text" for index in range(fields)}


def test_an_exact_copy_is_found_whatever_the_order_of_keys_and_absence(run_lint):
    first = a_document(1)
    copy = {**dict(reversed(first.items())), "more": None}
    findings_told, _ = run_lint([first, a_document(2), copy])
    assert findings_told == [("duplicate-document", 3, "1")]


def test_documents_that_differ_in_one_value_of_many_are_nearly_copies(run_lint):
    documents = [a_document(seed) for seed in range(30)]
    documents.append({**documents[4], "f3": "another text"})
    assert run_lint(documents)[0] == [("near-duplicate", 31, "5")]


def test_documents_that_differ_in_a_quarter_are_none(run_lint):
    documents = [a_document(seed) for seed in range(30)]
    documents.append({**documents[4], **{f"f{index}": "else" for index in range(5)}})
    assert run_lint(documents)[0] == []


def test_values_that_many_documents_have_make_no_copies(run_lint):
    form = {f"q{index}": "no" for index in range(40)}
    documents = [
        {**form, f"q{index % 40}": f"yes {index}", "name": f"n{index}"} for index in range(60)
    ]
    assert run_lint(documents)[0] == []


def test_labels_alone_repeat_and_are_no_copies(run_lint):
    assert run_lint([{"label": "invoice", "signed": True}] * 9)[0] == []


def test_beyond_its_bound_it_says_that_it_did_not_look(run_lint, monkeypatch):
    monkeypatch.setattr(document_rules, "MAX_DOCUMENTS", 2)
    first = a_document(1)
    findings_told, notes = run_lint([first, a_document(2), first])
    assert findings_told == []
    assert notes == ["only 2 documents (exact copies aside) were searched for near copies"]

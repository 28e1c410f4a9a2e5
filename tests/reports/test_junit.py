"""JUnit XML: it is valid under the schema of Jenkins, and a library can read it.

`junit-10.xsd` is the schema of the Jenkins xunit plugin (MIT), as pytest 9.2.0 ships it with its
tests.
"""

import re
from dataclasses import replace
from functools import partial
from pathlib import Path

import junitparser
import pytest
import xmlschema

from stickler_cli.core.problems import Problem
from stickler_cli.documents.document_pair import DocumentPair
from stickler_cli.reports import formats
from stickler_cli.reports.junit import Case, junit_text
from stickler_cli.reports.layout import TableStyle

render = partial(formats.render, "junit")

SCHEMA = xmlschema.XMLSchema10(str(Path(__file__).parent / "junit-10.xsd"))
FIELDS = TableStyle(junit_fields=True)
BROKEN = Problem("gt.json", "it is not JSON", "a JSON object")


def suite_of(text):
    """Return the single suite of a JUnit file, after validating the file."""
    SCHEMA.validate(text)
    (suite,) = junitparser.JUnitXml.fromstring(text.encode())
    return suite


def outcomes(suite, classname):
    """Return a dict from the name of each case in a class to (kind of outcome, message, body)."""
    outcomes_by_name = {}
    for case in suite:
        if case.classname == classname:
            (result,) = case.result or [None]
            kind = type(result).__name__ if result else "Passed"
            outcomes_by_name[case.name] = (
                kind,
                result.message if result else None,
                result.text if result else case.system_out,
            )
    return outcomes_by_name


def test_every_gate_is_a_case_and_its_reason_is_in_message_and_body(orders):
    gates = outcomes(suite_of(render(orders, TableStyle())), "stickler.gates")

    assert list(gates) == [result.gate.text for result in orders.gates]
    for result in orders.gates:
        kind, message, body = gates[result.gate.text]
        assert kind == ("Passed" if result.passed else "Failure")
        assert message == (None if result.passed else result.reason)
        assert body == result.reason


def test_the_counts_of_the_suite_are_those_of_its_cases(orders):
    suite = suite_of(render(orders, FIELDS))

    failed = sum(not result.passed for result in orders.gates)
    on_fields = sum(bool(result.gate.path) and not result.passed for result in orders.gates)
    assert (suite.tests, suite.errors) == (len(list(suite)), 0)
    assert suite.failures == failed + on_fields
    assert suite.failures > 1


def test_the_figures_are_properties(orders):
    properties = {
        entry.name: entry.value for entry in suite_of(render(orders, FIELDS)).properties()
    }

    counts = orders.evaluation.tally.counts("leaves")
    assert properties["documents.total"] == "4"
    assert properties["documents.missing"] == "1"
    assert properties["tp"] == str(counts.tp)
    assert float(properties["f1"]) == counts.derived()["f1"]
    assert (properties["verdict"], properties["counting"]) == ("failed", "leaves")


def test_fields_are_cases_only_if_asked_for(orders):
    assert outcomes(suite_of(render(orders, TableStyle())), "stickler.fields") == {}
    assert list(outcomes(suite_of(render(orders, FIELDS)), "stickler.fields")) == [
        *("id", "total", "customer", "customer.name", "customer.city"),
        *("lines", "lines.sku", "lines.qty", "rates", "rates.*"),
    ]


@pytest.mark.parametrize(
    ("gate", "kinds"),
    [
        ("total.f1>=0.99", {"total": "Failure", "id": "Passed"}),
        ("total.f1>=0.01", {"total": "Passed", "id": "Passed"}),
        ("f1>=0.99", {"total": "Passed", "id": "Passed"}),
        ("rates.standard.tp>=9", {"rates.*": "Failure", "rates": "Passed"}),
        ("documents.total>=9", {"total": "Passed"}),
    ],
)
def test_a_field_fails_where_a_gate_on_it_fails(run_of, gate, kinds):
    fields = outcomes(suite_of(render(run_of(gates=[gate]), FIELDS)), "stickler.fields")

    assert {name: fields[name][0] for name in kinds} == kinds


def test_a_field_that_fails_tells_every_gate_and_its_figures(run_of):
    run = run_of(gates=["total.f1>=0.99", "total.tp>=9"])
    _, message, body = outcomes(suite_of(render(run, FIELDS)), "stickler.fields")["total"]

    assert message == run.gates[0].reason
    lines = body.split("\n")
    assert lines[:2] == [result.reason for result in run.gates]
    assert lines[3] == "TP 1, FD 1, FA 0, FN 1, TN 0"
    assert lines[4] == "Numeric, threshold 0.5, weight 2"


def test_a_field_without_any_value_is_skipped(run_of):
    schema = {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}}
    run = run_of(schema, [DocumentPair("x", {"a": "1"}, {"a": "1"})])
    fields = outcomes(suite_of(render(run, FIELDS)), "stickler.fields")

    assert fields["b"][:2] == (
        "Skipped",
        "this field has no value in the ground truth or the predictions",
    )
    assert fields["a"][0] == "Passed"


def test_a_run_without_gates_has_a_case_for_its_documents(run_of):
    documents = outcomes(suite_of(render(run_of(), TableStyle())), "stickler.documents")

    assert list(documents) == ["documents"]
    kind, _, body = documents["documents"]
    assert kind == "Passed"
    assert body.startswith("3 documents, 1 wholly right;")
    assert "worst fields: " in body


def test_a_run_that_evaluated_nothing_is_an_error(run_of):
    documents = outcomes(suite_of(render(run_of(pairs=[]), TableStyle())), "stickler.documents")

    assert documents == {
        "documents": ("Error", "no document was evaluated", "no document was evaluated")
    }


def test_a_document_that_could_not_be_evaluated_is_an_error_with_its_problem(run_of):
    run = run_of(pairs=[DocumentPair("a", {}, {}), DocumentPair("b", BROKEN, {})])
    documents = outcomes(suite_of(render(run, TableStyle())), "stickler.documents")

    message = f"failed: {BROKEN}"
    assert documents == {"b": ("Error", message, message)}


def test_strict_makes_errors_of_documents_without_a_pair(run_of):
    documents = outcomes(suite_of(render(run_of(strict=True), TableStyle())), "stickler.documents")

    assert list(documents) == ["c", "d"]


def test_a_hundred_documents_are_named_and_the_others_counted(run_of):
    pairs = [DocumentPair(f"d{n:03}", BROKEN, {}) for n in range(102)]
    suite = suite_of(render(run_of(pairs=pairs), TableStyle()))
    documents = outcomes(suite, "stickler.documents")

    assert len(documents) == 101
    assert suite.errors == 101
    assert documents["and more"][1] == "2 more documents; the JSON report lists all of them"


def test_cases_of_one_name_are_told_apart(run_of):
    gates = outcomes(suite_of(render(run_of(gates=["f1>=0", "f1>=0"]), FIELDS)), "stickler.gates")

    assert list(gates) == ["f1>=0", "f1>=0 (2)"]


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("a\x00b\x1b[31m", r"a\x00b\x1b[31m"),
        ("\ud800", r"\ud800"),
        ("\ufffe\uffff", r"\ufffe\uffff"),
        ("]]> & <a b='c\"'>", "]]> & <a b='c\"'>"),
        ("東京 é 😀", "東京 é 😀"),
        ("a\nb", r"a\nb"),
    ],
)
def test_what_xml_does_not_allow_is_made_visible(text, printed):
    written = junit_text(text, [Case("c", text, "failure", text, [text])], {text: text})
    read = suite_of(written)
    (case,) = read
    (failure,) = case.result

    assert written.isascii()
    assert (read.name, case.name, failure.message) == (printed, printed, printed)
    assert failure.text == f"{printed}\n{printed}"
    assert [(entry.name, entry.value) for entry in read.properties()] == [(printed, printed)]


def test_the_numbers_of_a_field_are_not_rounded_onto_a_gate(run_of):
    run = run_of(gates=["id.f1>=0.9"])
    text = render(replace(run, gates=run.gates), FIELDS)

    assert re.search(r'name="id" time="0">\s*<failure message="id.f1 0.8 &lt; 0.9"', text)

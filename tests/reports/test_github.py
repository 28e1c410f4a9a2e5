"""Workflow commands, read in the way of GitHub's runner."""

import re
from functools import partial

import pytest

from stickler_cli.core.figures import visible
from stickler_cli.core.problems import Problem
from stickler_cli.documents.document_pair import DocumentPair
from stickler_cli.reports import formats
from stickler_cli.reports.github import Annotation, annotation_lines, summary
from stickler_cli.reports.layout import TableStyle
from stickler_cli.reports.markdown import CUT, SUMMARY_LIMIT

render = partial(formats.render, "github")

STYLE = TableStyle()
BROKEN = Problem("gt.json", "it is not JSON")


def commands(text):
    """Return the commands in a log: `::name key=value,key=value::message`, or `##[name]` anywhere.

    Other lines are no commands, and are left out. The function follows the documented format.
    """
    commands_found = []
    for line in re.split(r"[\r\n]+", text):
        match = re.fullmatch(r"::([A-Za-z-]+)(?: (.*?))?::(.*)", line.lstrip())
        if match:
            name, properties, message = match.groups()
            pairs = (pair.partition("=") for pair in (properties or "").split(",") if pair)
            commands_found.append(
                (name, {key: decoded(value) for key, _, value in pairs}, decoded(message))
            )
        elif "##[" in line:
            commands_found.append(("##[", {}, line))
    return commands_found


def decoded(text):
    for code, letter in (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%")):
        text = text.replace(code, letter)
    return text


def test_a_failed_gate_is_an_error_and_the_figures_are_notices(run_of):
    run = run_of(gates=["f1>=0.99", "total.tp>=1"])
    commands_found = commands(render(run, STYLE))

    assert commands_found[0] == ("error", {"title": "stickler: a gate failed"}, run.gates[0].reason)
    assert [name for name, _, _ in commands_found] == ["error", "warning", *["notice"] * 4]
    assert commands_found[1][2] == "1 missing, 1 unmatched"
    assert commands_found[2][1] == {"title": "stickler: Order"}
    assert commands_found[2][2].startswith("3 documents, 1 wholly right;")
    assert commands_found[3][1] == {"title": "stickler: Order, worst fields"}


def test_a_run_without_a_fault_has_one_notice(run_of):
    document = DocumentPair("a", {"id": "A"}, {"id": "A"})
    ((name, _, message),) = commands(render(run_of(pairs=[document]), STYLE))

    assert name == "notice"
    assert message == (
        "1 document, 1 wholly right; 1 value: 1 right, 0 wrong, 0 missed, 0 invented; "
        "F1 1.0000  precision 1.0000  recall 1.0000"
    )


def test_documents_that_could_not_be_evaluated_are_one_error_that_names_five(run_of):
    pairs = [DocumentPair(f"d{n}", BROKEN, {}) for n in range(7)]
    errors = [
        entry for entry in commands(render(run_of(pairs=pairs), STYLE)) if entry[0] == "error"
    ]

    ((_, properties, message),) = errors
    assert properties == {"title": "stickler: incomplete"}
    assert message.startswith("7 documents could not be evaluated: d0: gt.json: it is not JSON; ")
    assert "d4: " in message
    assert "d5: " not in message
    assert message.endswith("; and 2 more")


def test_a_document_is_named_once_even_if_its_problem_names_it(run_of):
    commands_found = commands(render(run_of(strict=True), STYLE))

    assert commands_found[0][2] == (
        "2 documents could not be evaluated: c: there is no prediction for this ground truth; "
        "d: there is no ground truth for this prediction"
    )


def test_a_run_that_evaluated_nothing_is_an_error(run_of):
    commands_found = commands(render(run_of(pairs=[]), STYLE))

    assert commands_found[0] == (
        "error",
        {"title": "stickler: incomplete"},
        "no document was evaluated",
    )


@pytest.mark.parametrize(("count", "last"), [(10, "m9"), (11, "and 2 more"), (30, "and 21 more")])
def test_at_most_ten_annotations_of_a_kind_are_written(count, last):
    several = [Annotation("error", "t", f"m{n}") for n in range(count)]
    commands_found = commands(
        "\n".join(annotation_lines([*several, Annotation("notice", "t", "n")]))
    )

    assert [name for name, _, _ in commands_found] == ["error"] * 10 + ["notice"]
    assert commands_found[8][2] == "m8"
    assert commands_found[9][2] == last


@pytest.mark.parametrize(
    "text",
    ["50%", "a: b, c", "%0A%25", "x::y", "=,=", "東京", "a%3Ab", "##x", "a ##[b"],
)
def test_titles_and_messages_come_out_as_they_went_in(text):
    (line,) = annotation_lines([Annotation("warning", text, text)])

    assert commands(line) == [("warning", {"title": visible(text)}, visible(text))]


@pytest.mark.parametrize("text", ["a\n::error::b", "a\r\n::stop-commands::t", "\x85::error::x"])
def test_no_text_begins_another_command(text):
    (line,) = annotation_lines([Annotation("notice", text, text)])

    assert len(commands(line)) == 1


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("::error::x", r"\x3a:error::x"),
        ("  ::add-mask::x", r"  \x3a:add-mask::x"),
        ("a::b", "a::b"),
        (":a", ":a"),
        ("a ##[error]x", r"a #\x23[error]x"),
        ("##vso[task.complete]", r"#\x23vso[task.complete]"),
        ("###[x]", r"##\x23[x]"),
        ("## x [y]", "## x [y]"),
    ],
)
def test_text_that_would_be_a_command_in_a_log_is_spelt_out(text, printed):
    assert visible(text) == printed
    assert commands(printed) == []


def test_the_summary_is_the_markdown_report(orders):
    assert summary(orders, STYLE) == formats.markdown_page(orders, STYLE)


@pytest.mark.slow
def test_a_summary_is_longer_than_a_comment_may_be_and_never_longer_than_its_room(run_of):
    long = "x" * 5_000
    schema = {
        "type": "object",
        "properties": {f"field_{n:04}_{long}": {"type": "string"} for n in range(220)},
    }
    run = run_of(schema, [DocumentPair("a", {}, {})])
    text = summary(run, STYLE)

    assert 800_000 < len(text.encode()) <= SUMMARY_LIMIT
    assert text.endswith(f"|\n\n{CUT}")
    assert len(formats.render("markdown", run, STYLE)) <= 65_000
    assert len(summary(run, STYLE, SUMMARY_LIMIT - 2000).encode()) <= 2000

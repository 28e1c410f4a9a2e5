"""Names, ids and values that look like markup or commands are only text in every report."""

import csv
import io
import json
import re
from dataclasses import replace

import pytest

from stickler_cli.core.locations import field_path
from stickler_cli.core.problems import Problem
from stickler_cli.documents.document_pair import DocumentPair
from stickler_cli.reports.formats import render
from stickler_cli.reports.layout import TableStyle

HOSTILE = (
    "\x1b[31mred",
    "\x9b2J",
    "[red]x[/red]",
    ":skull:",
    "</td><script>alert(1)</script>",
    "<!-- x",
    "=cmd()",
    "@everyone",
    "+1",
    "-1",
    "\tx",
    "a|b",
    "`a`|`b`",
    "a\\|b",
    "new\nline",
    "\n::error::x",
    "::add-mask::x",
    "##[error]x",
    "a ##vso[task.complete]x",
    "\u202egnp.exe",
    "![x](http://evil.example/x.png)",
    "*b* _i_ ~s~",
    "&lt;",
)
SCHEMA = {
    "type": "object",
    "x-aws-stickler-model-name": "Evil\x1b]0;title\x07 <b>|`x`</b>",
    "properties": {name: {"type": "string"} for name in HOSTILE},
}
GT = {name: name for name in HOSTILE}
PAIRS = (
    DocumentPair("right", GT, GT),
    *(DocumentPair(name, GT, {name: f"{name} " * 9}) for name in HOSTILE),
    DocumentPair("undeclared", {"\x1b[2Jkey\n|": 1}, {"</td>|\n": 1}),
    DocumentPair("broken", {}, Problem("\x1b[2Jfile\n", "\x9bfound\n::error::", "\u202ex")),
)


@pytest.fixture
def report(run_of, errors_of):
    run = run_of(SCHEMA, PAIRS, gates=[f"{field_path(('=cmd()',))}.f1>=0.5"])
    style = TableStyle(junit_fields=True, show_non_matches=1000)
    note = "\x1b[2Jnote\n</td>|@all"
    noted = replace(run, notes=(note,), first_non_matches=errors_of(SCHEMA, PAIRS))

    def build(name, **options):
        return render(name, noted, replace(style, **options))

    return build


def unprintable(text):
    return {letter for letter in text if letter != "\n" and not letter.isprintable()}


@pytest.mark.parametrize("name", ["table", "markdown", "junit", "github", "openmetrics"])
def test_nothing_that_cannot_be_seen_is_printed(report, name):
    assert unprintable(report(name)) == set()
    assert unprintable(report(name, plain=False, width=60)) == set()


def test_in_colour_only_the_codes_of_the_report_are_printed(report):
    text = report("table", plain=False, width=60, color=True)

    assert unprintable(re.sub(r"\x1b\[(\d;)?\d+m", "", text)) == set()
    assert len(re.findall(r"\x1b\[31m", text)) == 0  # red is always bold here


def test_markup_and_emoji_names_are_shown_as_they_are(report):
    text = report("table", plain=False, width=200, color=True)

    assert "[red]x[/red]" in text
    assert ":skull:" in text


@pytest.mark.slow
@pytest.mark.parametrize("name", ["table", "markdown", "junit", "openmetrics"])
@pytest.mark.parametrize("options", [{}, {"plain": False, "width": 200}])
def test_no_line_of_a_report_is_a_workflow_command(report, name, options):
    lines = report(name, **options).splitlines()

    assert not [line for line in lines if line.lstrip().startswith("::")]
    assert not [line for line in lines if re.search(r"##\w*\[", line)]


def test_workflow_commands_are_those_of_the_report_alone(report):
    lines = report("github").splitlines()

    assert not [line for line in lines if not re.match(r"::(error|notice|warning) title=s", line)]
    assert not [line for line in lines if re.search(r"##\w*\[", line)]


@pytest.mark.slow
def test_every_row_of_a_markdown_table_has_as_many_cells_as_its_title(report):
    widths = []
    for block in report("markdown").split("\n\n"):
        rows = [line for line in block.splitlines() if line.startswith("|")]
        widths += [{row.count("|") for row in rows}] if rows else []

    assert all(len(width) == 1 for width in widths)
    assert {4, 8} == set().union(*widths)


def test_outside_code_there_is_no_html_in_markdown_but_its_own(report):
    text = re.sub(r"`[^`\n]*`", "", report("markdown"))
    tags = set(re.findall(r"<[^ \d][^>]*>?", text))

    assert tags == {"<!-- stickler -->", "<code>", "</code>"}


def test_nothing_hostile_stands_between_backticks(report):
    spans = re.findall(r"`([^`\n]*)`", report("markdown"))

    assert not [span for span in spans if re.search(r"[|\\]|</|<!|<s", span)]


def test_nobody_is_mentioned_outside_code(report):
    text = re.sub(r"`[^`\n]*`|<code>.*?</code>", "", report("markdown"))

    assert "@" not in text
    assert "http" not in text


def spelt_out(found):
    return f"\\u{ord(found[0]):04x}"


def test_a_csv_file_reads_back_with_every_field_and_no_formula(report):
    rows = list(csv.DictReader(io.StringIO(report("csv"))))
    fields = [row["field"] for row in rows[1:]]
    paths = [field_path((name,)) for name in HOSTILE]

    straight = [re.sub("[\u202a-\u202e\u2066-\u2069]", spelt_out, path) for path in paths]
    assert straight != paths
    assert [field.removeprefix("'") for field in fields] == straight
    assert not [field for field in fields if field[0] in "=+-@\t\r\n"]
    assert {"'=cmd()", "'@everyone", "'+1", "'-1"} <= set(fields)


def test_json_says_exactly_what_there_was(report):
    record = json.loads(report("json"))

    assert [field["field"] for field in record["fields"]] == [field_path((n,)) for n in HOSTILE]
    assert record["schema"]["model_name"] == SCHEMA["x-aws-stickler-model-name"]

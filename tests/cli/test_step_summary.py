"""`--format github`: annotations on standard output, and a report in the summary of the step."""

import pytest

from stickler_cli.reports.markdown import CUT, SUMMARY_LIMIT

EVAL = ("eval", "schema.json", "gt", "pred", "--format", "github")


@pytest.fixture
def summary(data, monkeypatch):
    file = data / "summary.md"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(file))
    return file


def test_without_a_summary_there_are_annotations_alone(stickler, monkeypatch):
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    result = stickler(*EVAL)

    assert result.code == 0
    assert result.out.startswith("::notice title=stickler%3A Order::2 documents, 1 wholly right;")


def test_the_summary_is_appended_to(stickler, summary):
    summary.write_text("before\n", encoding="utf-8")
    stickler(*EVAL, "--quiet")

    assert summary.read_text(encoding="utf-8").startswith("before\n<!-- stickler -->\n### `Order`")


def test_another_format_leaves_the_summary_alone(stickler, summary):
    stickler("eval", "schema.json", "gt", "pred")

    assert not summary.exists()


@pytest.mark.parametrize(
    ("room", "appended"),
    [(len(CUT), CUT), (len(CUT) - 1, ""), (0, ""), (-5, "")],
)
def test_what_is_there_already_takes_room(stickler, summary, room, appended):
    before = "x" * (SUMMARY_LIMIT - room)
    summary.write_text(before, encoding="utf-8")

    assert stickler(*EVAL).code == 0
    assert summary.read_text(encoding="utf-8") == before + appended


def test_a_summary_that_cannot_be_written_changes_no_exit_code(stickler, data, monkeypatch):
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(data))
    result = stickler(*EVAL)

    assert result.code == 0
    assert f"warning: the summary was not written to {data} (Is a directory)" in result.err


def test_nothing_on_standard_error_is_a_workflow_command(stickler, data):
    (data / "gt" / "::error::x.json").write_text("{", encoding="utf-8")
    (data / "gt" / "a\n::error::y.json").write_text("{", encoding="utf-8")
    result = stickler("eval", "schema.json", "gt", "pred", "-q")

    assert result.code == 3
    assert [line for line in result.err.splitlines() if line.lstrip().startswith("::")] == []
    assert r"\x3a:error::x" in result.err

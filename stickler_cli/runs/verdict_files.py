"""Verdicts on errors, as the page of a run has them downloaded, read for the next run."""

from stickler_cli.core.json_values import JsonValue, json_line
from stickler_cli.core.problems import Problem, UsageError
from stickler_cli.core.rules import encoded
from stickler_cli.documents.document import digest_of, read_document
from stickler_cli.documents.lines import lines_of
from stickler_cli.documents.reading import source_of
from stickler_cli.records.codec import read
from stickler_cli.records.verdict_format import VERDICT_FORMAT, VerdictRecord
from stickler_cli.score.errors.marks import Mark, Marked, Marks

_EXPECTED = "verdicts.jsonl of the HTML report, one verdict on each line"


def marks_of(file: str, limit: int) -> Marks:
    """Read verdicts, by document; of several on one error the last one counts.

    Raises:
        UsageError: with every line that is none.
    """
    found: dict[str, dict[Marked, Mark]] = {}
    problems: list[Problem] = []
    for line in lines_of(file, limit):
        value = read_document(line).value
        if isinstance(value, Problem):
            problems.append(value)
            continue
        source = f"{source_of(file)}:{line.line}"
        if not isinstance(value, dict) or value.get("format") != VERDICT_FORMAT:
            what = "this is no verdict on an error"
            problems.append(Problem(source_of(file), what, _EXPECTED, line=line.line))
            continue
        try:
            said = read(VerdictRecord, value, source)
        except UsageError as error:
            problems += error.problems
            continue
        marked = Marked(said["document"], said["path"], said["outcome"])
        seen: dict[str, JsonValue] = {it: value[it] for it in ("gt", "pred") if it in value}
        found.setdefault(marked.document, {})[marked] = Mark(said["verdict"], seen)
    if not found and not problems:
        problems.append(Problem(source_of(file), "there are no verdicts", _EXPECTED))
    if problems:
        raise UsageError(problems)
    return found


def digest_of_marks(marks: Marks) -> str:
    """Return a digest of what was said of which errors."""
    said = [[marked, encoded(mark)] for each in marks.values() for marked, mark in each.items()]
    return digest_of(json_line(said))

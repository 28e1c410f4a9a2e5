"""JUnit XML: a test case for each gate, for the documents, and optionally for each field.

A test case fails only if its failure also sets the exit code of the run. For example, the case of a
field fails only if a gate on the field fails.

GitLab reads only one of several cases with the same name, so every case has its own name. GitLab
shows the body of a failure, so the explanation of a failure is in its body.

Source: junit-10.xsd of the Jenkins xunit plugin.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal
from xml.etree import ElementTree as ET

from stickler_cli import __version__
from stickler_cli.compare.result import FieldInfo
from stickler_cli.core.figures import number_of, setting, visible
from stickler_cli.core.locations import Path, field_path, parse_field_path
from stickler_cli.reports import run_sentences
from stickler_cli.score.gates import METRICS, GateResult
from stickler_cli.score.record import Run
from stickler_cli.score.sums import schema_pattern
from stickler_cli.studies.diff.record import Difference, Trend
from .difference_sections import DifferenceView
from .layout import TableStyle
from .view import FieldRow, RunView

TestOutcome = Literal["passed", "failure", "error", "skipped"]

MOST_DOCUMENTS: Final = 100
"""Maximum number of test cases for documents without a result. It is limited because CI servers
refuse large files."""

_RUN: Final = "stickler"
_DIFFERENCE: Final = "stickler.diff"
"""If the report is a comparison of two runs, the class name of each test case begins with this
text. CI servers group test cases by class name."""

_NO_TIME: Final = "0"
"""Time of every test case. Some readers require a time. It is always 0, because equal runs must
give equal files."""


@dataclass(frozen=True, slots=True)
class Case:
    """A test case.

    `message` is its result in one line, and `detail` explains it in further lines.
    """

    classname: str
    name: str
    outcome: TestOutcome = "passed"
    message: str = ""
    detail: Sequence[str] = ()


def render(subject: Run | Difference, style: TableStyle) -> str:
    """Return a run or a difference as JUnit XML. There is always at least one test case."""
    if isinstance(subject, Run):
        return _run_text(subject, style)
    return _difference_text(subject, style)


def _run_text(run: Run, style: TableStyle) -> str:
    view, evaluation = RunView(run), run.evaluation
    cases = [*_gate_cases(_RUN, run.gates), *_document_cases(view)]
    if style.junit_fields:
        failures_by_field = _failed(run.gates, {field.field: field for field in run.fields})
        for row in view.rows:
            counts = (f"{name.upper()} {count}" for name, count in row.counts._asdict().items())
            precision, recall, f1, score = map(view.rate, (*row.rates, row.score))
            settings_text = f"threshold {setting(row.threshold)}, weight {setting(row.weight)}"
            lines = [
                f"precision {precision}, recall {recall}, F1 {f1}, mean score {score}",
                ", ".join(counts),
                *_exact_items(view, row),
                f"{row.compared_by}, {settings_text}",
            ]
            is_empty = row.rates.f1 is None
            cases.append(
                _case_of(_RUN, row.path, failures_by_field[row.path], lines, is_empty=is_empty)
            )
    figures: dict[str, object] = {
        "version": __version__,
        "verdict": view.run.verdict.value,
        "schema": run.schema.path,
        "schema.digest": run.schema.digest,
        **{f"documents.{name}": count for name, count in evaluation.documents.items()},
        "score": evaluation.overall_score,
        "documents.right": evaluation.wholly_right.share,
        "counting": run.rule.counting,
        **view.whole.rates._asdict(),
        **view.whole.counts._asdict(),
    }
    return junit_text("stickler", cases, figures)


def _exact_items(view: RunView, row: FieldRow) -> list[str]:
    """Return the precision, recall and F1 of exactly right items, as a list with one line.

    The list is empty if the field has no items.
    """
    if not row.whole:
        return []
    precision, recall, f1 = map(view.rate, row.tally.exact_rates)
    return [f"{row.whole} completely right: precision {precision}, recall {recall}, F1 {f1}"]


def _difference_text(difference: Difference, style: TableStyle) -> str:
    view, total = DifferenceView(difference), difference.whole[0]
    detail = [text for _, text in view.contrasts] + [view.trend_line]
    detail += (text for _, text in view.fields_with(Trend.REGRESSED))
    for document in view.documents["worse"][0]:
        detail.append(f"worse: {document.id}: {view.document_text(document)}")
    documents = Case(
        classname=f"{_DIFFERENCE}.documents",
        name="documents",
        outcome="passed",
        message=view.headline,
        detail=detail,
    )
    cases = [*_gate_cases(_DIFFERENCE, difference.gates), documents]
    if style.junit_fields:
        failures_by_field = _failed(difference.gates, {})
        for change in difference.fields:
            lines, is_empty = [view.describe_change(change)], not change.documents
            cases.append(
                _case_of(
                    _DIFFERENCE,
                    change.field,
                    failures_by_field[change.field],
                    lines,
                    is_empty=is_empty,
                )
            )
    figures = {
        "version": __version__,
        "base": difference.base.source,
        "new": difference.new.source,
        **{f"documents.{name}": count for name, count in difference.documents.items()},
        **{f"f1.{name}": getattr(total, name) for name in ("before", "after", "change", "p")},
        "f1.trend": total.trend.value,
    }
    return junit_text("stickler diff", cases, figures)


def _gate_cases(prefix: str, gates: Iterable[GateResult]) -> list[Case]:
    outcomes: dict[bool, TestOutcome] = {True: "passed", False: "failure"}
    return [
        Case(
            classname=f"{prefix}.gates",
            name=result.gate.text,
            outcome=outcomes[result.passed],
            message=result.reason,
        )
        for result in gates
    ]


def _failed(
    gates: Iterable[GateResult], fields_by_path: Mapping[Path, FieldInfo]
) -> defaultdict[Path, list[str]]:
    failures_by_field: defaultdict[Path, list[str]] = defaultdict(list)
    for result in gates:
        # Unless it is a gate on a count of documents.
        if result.gate.metric in METRICS and not result.passed:
            failures_by_field[
                schema_pattern(parse_field_path(result.field), fields_by_path)
            ].append(result.reason)
    return failures_by_field


def _case_of(
    prefix: str, path: Path, failures: Sequence[str], figures: Sequence[str], *, is_empty: bool
) -> Case:
    outcome: TestOutcome = "failure" if failures else "skipped" if is_empty else "passed"
    reasons = (
        ["this field has no value in the ground truth or the predictions"]
        if outcome == "skipped"
        else failures
    )
    message, *details = (*reasons, *figures)
    return Case(
        classname=f"{prefix}.fields",
        name=field_path(path),
        outcome=outcome,
        message=message,
        detail=details,
    )


def _document_cases(view: RunView) -> list[Case]:
    """Return a failing case for each document without a result.

    Returns one passing case if every document has a result.
    """
    classname = f"{_RUN}.documents"
    problems: dict[str, list[str]] = {}
    for entry in view.run.unfit_problems:
        problems.setdefault(entry.document, []).append(f"{entry.status.value}: {entry.problem}")
    cases = [
        Case(classname=classname, name=name, outcome="error", message=texts[0], detail=texts[1:])
        for name, texts in problems.items()
    ]
    if len(cases) > MOST_DOCUMENTS:
        n_more = number_of(len(cases) - MOST_DOCUMENTS, "more document")
        more_text = f"{n_more}; the JSON report lists all of them"
        cases[MOST_DOCUMENTS:] = [
            Case(classname=classname, name="and more", outcome="error", message=more_text)
        ]
    if not cases and not view.run.evaluation.evaluated:
        return [
            Case(
                classname=classname,
                name="documents",
                outcome="error",
                message="no document was evaluated",
            )
        ]
    field_texts = run_sentences.worst_field_texts(view)
    worst = [f"worst fields: {', '.join(field_texts)}"] if field_texts else []
    message = run_sentences.headline(view)
    return cases or [
        Case(classname=classname, name="documents", outcome="passed", message=message, detail=worst)
    ]


def junit_text(
    suite: str, cases: Sequence[Case], figures: Mapping[str, object] | None = None
) -> str:
    """Return test cases as JUnit XML in ASCII. `figures` become properties of the test suite.

    `cases` must not be empty. Programs disagree on empty suites: some report an error, some a
    success.
    """
    outcomes = Counter(case.outcome for case in cases)
    totals = {
        "name": visible(suite),
        "tests": str(len(cases)),
        "failures": str(outcomes["failure"]),
        "errors": str(outcomes["error"]),
        "time": _NO_TIME,
    }
    root = ET.Element("testsuites", totals)
    parent = ET.SubElement(root, "testsuite", totals, skipped=str(outcomes["skipped"]))
    properties = ET.SubElement(parent, "properties")
    for name, value in (figures or {}).items():
        if value is not None:
            ET.SubElement(properties, "property", name=visible(name), value=visible(str(value)))
    seen: Counter[tuple[str, str]] = Counter()
    for case in cases:
        seen[case.classname, case.name] += 1
        _add(parent, case, seen[case.classname, case.name])
    ET.indent(root)
    text = f"{ET.tostring(root, encoding='unicode')}\n".encode("ascii", "xmlcharrefreplace")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text.decode("ascii")}'


def _add(parent: ET.Element, case: Case, occurrence: int) -> None:
    """Add a test case to a suite. `occurrence` tells cases of the same name apart."""
    name = visible(case.name if occurrence == 1 else f"{case.name} ({occurrence})")
    element = ET.SubElement(parent, "testcase", classname=case.classname, name=name, time=_NO_TIME)
    message = visible(case.message)
    body = "\n".join([message, *map(visible, case.detail)])
    if case.outcome == "passed":
        ET.SubElement(element, "system-out").text = body
        return
    attributes = {"message": message}
    if case.outcome != "skipped":
        attributes["type"] = case.classname
    ET.SubElement(element, case.outcome, attributes).text = body

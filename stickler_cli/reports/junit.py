"""JUnit XML: a test case for each gate, for the documents, and, if asked for, for each field.

Red in it is red in the exit code: a field fails where a gate on it fails. Source: junit-10.xsd of
the Jenkins xunit plugin, and what GitLab reads: the body of a failure, and of equal names one.
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
from stickler_cli.score.sums import pattern_of
from stickler_cli.studies.diff.record import Difference, Trend
from .difference_sections import DifferenceView
from .layout import TableStyle
from .view import FieldRow, RunView

Outcome = Literal["passed", "failure", "error", "skipped"]

MOST_DOCUMENTS: Final = 100
"""Cases of documents that could not be evaluated; servers show each, and refuse large files."""

_RUN: Final = "stickler"
_DIFFERENCE: Final = "stickler.diff"
"""What the classes of the cases begin with, by which CI servers group them."""

_NO_TIME: Final = "0"
"""Some readers want a time; reports have no clock, so that equal runs give equal bytes."""


@dataclass(frozen=True, slots=True)
class Case:
    """One test case: its result on one line, and more lines on it."""

    classname: str
    name: str
    outcome: Outcome = "passed"
    message: str = ""
    detail: Sequence[str] = ()


def render(subject: Run | Difference, style: TableStyle) -> str:
    """Return a run or a difference as JUnit XML; there is always at least one case."""
    if isinstance(subject, Run):
        return _run_text(subject, style)
    return _difference_text(subject, style)


def _run_text(run: Run, style: TableStyle) -> str:
    view, evaluation = RunView(run), run.evaluation
    cases = [*_gate_cases(_RUN, run.gates), *_document_cases(view)]
    if style.junit_fields:
        failed = _failed(run.gates, {info.field: info for info in run.fields})
        for row in view.rows:
            counts = (f"{name.upper()} {count}" for name, count in row.counts._asdict().items())
            precision, recall, f1, score = map(view.rate, (*row.rates, row.score))
            set_to = f"threshold {setting(row.threshold)}, weight {setting(row.weight)}"
            told = [
                f"precision {precision}, recall {recall}, F1 {f1}, mean score {score}",
                ", ".join(counts),
                *_exact_items(view, row),
                f"{row.compared_by}, {set_to}",
            ]
            empty = row.rates.f1 is None
            cases.append(_case_of(_RUN, row.path, failed[row.path], told, empty=empty))
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
    """Return the rates of items that are right as a whole, as a line; nothing without items."""
    if not row.whole:
        return []
    precision, recall, f1 = map(view.rate, row.tally.exact)
    return [f"{row.whole} right as a whole: precision {precision}, recall {recall}, F1 {f1}"]


def _difference_text(difference: Difference, style: TableStyle) -> str:
    view, whole = DifferenceView(difference), difference.whole[0]
    detail = [text for _, text in view.contrasts] + [view.trend_line]
    detail += (text for _, text in view.fields_with(Trend.REGRESSED))
    for document in view.documents["worse"][0]:
        detail.append(f"worse: {document.id}: {view.document_text(document)}")
    documents = Case(f"{_DIFFERENCE}.documents", "documents", "passed", view.headline, detail)
    cases = [*_gate_cases(_DIFFERENCE, difference.gates), documents]
    if style.junit_fields:
        failed = _failed(difference.gates, {})
        for change in difference.fields:
            told, empty = [view.told(change)], not change.documents
            cases.append(
                _case_of(_DIFFERENCE, change.field, failed[change.field], told, empty=empty)
            )
    figures = {
        "version": __version__,
        "base": difference.base.source,
        "new": difference.new.source,
        **{f"documents.{name}": count for name, count in difference.documents.items()},
        **{f"f1.{name}": getattr(whole, name) for name in ("before", "after", "change", "p")},
        "f1.trend": whole.trend.value,
    }
    return junit_text("stickler diff", cases, figures)


def _gate_cases(prefix: str, gates: Iterable[GateResult]) -> list[Case]:
    outcomes: dict[bool, Outcome] = {True: "passed", False: "failure"}
    return [
        Case(f"{prefix}.gates", each.gate.text, outcomes[each.passed], each.reason)
        for each in gates
    ]


def _failed(
    gates: Iterable[GateResult], known: Mapping[Path, FieldInfo]
) -> defaultdict[Path, list[str]]:
    failed: defaultdict[Path, list[str]] = defaultdict(list)
    for result in gates:
        if result.gate.metric in METRICS and not result.passed:  # and not a count of documents
            failed[pattern_of(parse_field_path(result.field), known)].append(result.reason)
    return failed


def _case_of(
    prefix: str, path: Path, failed: Sequence[str], figures: Sequence[str], *, empty: bool
) -> Case:
    outcome: Outcome = "failure" if failed else "skipped" if empty else "passed"
    why = ["it had no value on either side"] if outcome == "skipped" else failed
    first, *more = (*why, *figures)
    return Case(f"{prefix}.fields", field_path(path), outcome, first, more)


def _document_cases(view: RunView) -> list[Case]:
    """Return an error for each document that could not be evaluated, or one case that passes."""
    classname = f"{_RUN}.documents"
    problems: dict[str, list[str]] = {}
    for entry in view.run.unfit_problems:
        problems.setdefault(entry.document, []).append(f"{entry.status.value}: {entry.problem}")
    cases = [Case(classname, name, "error", it[0], it[1:]) for name, it in problems.items()]
    if len(cases) > MOST_DOCUMENTS:
        more = number_of(len(cases) - MOST_DOCUMENTS, "more document")
        told = f"{more}, all of them are in the JSON report"
        cases[MOST_DOCUMENTS:] = [Case(classname, "and more", "error", told)]
    if not cases and not view.run.evaluation.evaluated:
        return [Case(classname, "documents", "error", "no document was evaluated")]
    texts = run_sentences.worst_field_texts(view)
    worst = [f"worst fields: {', '.join(texts)}"] if texts else []
    message = run_sentences.headline(view)
    return cases or [Case(classname, "documents", "passed", message, worst)]


def junit_text(
    suite: str, cases: Sequence[Case], figures: Mapping[str, object] | None = None
) -> str:
    """Return cases as XML in ASCII, so that no encoding can break it; figures are properties.

    There is at least one case: an empty suite is an error to some readers, a success to others.
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
    """Add a case; one that has the name of others is told from them by a number."""
    name = visible(case.name if occurrence == 1 else f"{case.name} ({occurrence})")
    element = ET.SubElement(parent, "testcase", classname=case.classname, name=name, time=_NO_TIME)
    message = visible(case.message)
    body = "\n".join([message, *map(visible, case.detail)])
    if case.outcome == "passed":
        ET.SubElement(element, "system-out").text = body
        return
    told = {"message": message}
    if case.outcome != "skipped":
        told["type"] = case.classname
    ET.SubElement(element, case.outcome, told).text = body

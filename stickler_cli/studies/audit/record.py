"""The record of an audit, as `stickler audit --format json` writes it, and its report.

The format is `stickler-audit/1`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, Final, Literal

from stickler_cli.core.figures import (
    NOTHING,
    cells,
    cut_middle,
    fit_widths,
    number_of,
    rate,
    value_text,
    visible,
)
from stickler_cli.core.json_values import json_line
from stickler_cli.core.rules import AnyJson, Count, Fraction, FractionOrNone, NumberOrNone
from stickler_cli.core.sections import Choices, FigureColumn, Figures, Report, Section, Text
from stickler_cli.score.gates import GateResult
from stickler_cli.studies.study import StudyRecord

BoundsOrNone = list[float] | None


@dataclass(frozen=True, slots=True)
class Said:
    """One of the answers that runs gave for a value, with the runs that gave it."""

    answer: AnyJson
    """The value that the runs in `runs` give. Null if they give no value."""
    runs: list[Count]
    """Positions of the runs that give this answer, from 0."""


@dataclass(frozen=True, slots=True)
class Suspect:
    """A value for which several runs give the same answer, but the ground truth has another."""

    document: str
    """Id of the document."""
    path: str
    """Path of the value. List indexes are those of the ground truth. `+0` stands for the first list
    item that the ground truth lacks."""
    field: str
    """Path of the field without list indexes."""
    gt: AnyJson
    """The ground truth; null if it is absent."""
    others: list[Said]
    """Answers that differ from the ground truth. The answer that most runs give comes first."""
    votes: Count
    """Number of runs that give the most frequent answer that differs from the ground truth. This
    answer is the first entry of `others`."""
    against: Count
    """Number of runs that agree with the ground truth."""
    rarity: Fraction
    """Mean error rate, in [0, 1], of the runs that give the first answer of `others`. The error
    rate of a run is the share of the field's places at which the run differs from the ground truth.
    With a small mean, the value is more suspect, because runs that are seldom wrong disagree with
    the ground truth."""


@dataclass(frozen=True, slots=True)
class AuditedField:
    """Figures of one field, or of all fields together.

    They are computed from the answers of all runs.
    """

    field: str
    """Path of the field without list indexes; empty for all fields together."""
    places: Count
    """Number of places. A place is a path in a document at which the ground truth or a run has a
    value."""
    suspects: Count
    """Number of places at which the ground truth is suspect: two or more runs give the same answer,
    and this answer differs from the ground truth."""
    agreement: FractionOrNone
    """Share of the places at which all runs agree."""
    agreement_interval: BoundsOrNone
    """Confidence interval of `agreement`, resampled by document; null without intervals."""
    pairwise: FractionOrNone
    """Share of pairs of answers that agree. At each place, every pair of runs is compared."""
    pairwise_interval: BoundsOrNone
    """Confidence interval of `pairwise`; null without intervals."""
    alpha: NumberOrNone
    """Krippendorff's alpha. Two answers agree if the comparator of the field matches them. Null if
    all answers are the same."""
    alpha_interval: BoundsOrNone
    """Confidence interval of `alpha`; null without intervals."""
    looked_at: Count
    """Number of places on which a person gave a verdict."""
    wrong: FractionOrNone
    """Share of the places at which the ground truth is wrong; null without verdicts."""
    wrong_interval: BoundsOrNone
    """Confidence interval of `wrong`; null without intervals."""


@dataclass(frozen=True, slots=True)
class AuditedRun:
    """The figures of one run."""

    run: str
    """The run, as the user named it."""
    differing: FractionOrNone
    """Share of the places at which the run differs from the ground truth."""
    f1: FractionOrNone
    """F1 of the run's values, compared with the ground truth as it is, without corrections."""
    f1_interval: BoundsOrNone
    """Confidence interval of `f1`; null without intervals."""
    right_f1: FractionOrNone
    """Estimated F1 of the run, compared with a corrected ground truth; null without verdicts."""
    right_f1_interval: BoundsOrNone
    """Confidence interval of `right_f1`; null without intervals."""
    shares_with: list[Count]
    """Positions, from 0, of the runs that share suspiciously many mistakes with this run. Two runs
    share suspiciously many mistakes if other pairs of runs share far fewer."""


@dataclass(frozen=True, slots=True)
class AuditReport(StudyRecord):
    """The comparison of runs with a ground truth, as `stickler audit --format json` writes it.

    Described in docs/auditing.md.
    """

    format: Literal["stickler-audit/1"]
    schema: str
    """The schema, as the user named it."""
    gt: str
    """The ground truth, as the user named it."""
    documents: Count
    """Number of documents that at least one run has."""
    level: FractionOrNone
    """Confidence level of the intervals; null without intervals."""
    whole: AuditedField
    """Figures of all fields together."""
    fields: list[AuditedField]
    """Figures of each field. Fields are in the order in which they first occur in the documents."""
    runs: list[AuditedRun]
    """The runs, in the order of the command line."""
    suspects: list[Suspect]
    """The suspects, at most a thousand. The most suspect comes first. If the same runs lack
    all values of a list item, the item is one suspect, and its values are no suspects of their own.
    """
    gates: list[GateResult]
    """The gates and their results."""
    notes: list[str]
    """Notes that say how far the figures can be trusted and which verdicts were skipped."""


MAX_SHOWN: Final = 20
"""Maximum number of suspects that the report shows; JSON has up to a thousand."""


def _format_answers(suspect: Suspect) -> str:
    """Return the wrong answers as text, with the number of runs that give each answer."""
    return "; ".join(
        f"{_format_value(other.answer)} ({len(other.runs)})" for other in suspect.others
    )


_FIELDS: Final = (
    FigureColumn("field", "field", str, shown=lambda audited: audited.field or "all"),
    FigureColumn(title="places", value="places", kind=int, rank=3),
    FigureColumn(title="suspects", value="suspects", kind=int, rank=1),
    FigureColumn("all agree", "agreement"),
    FigureColumn(title="interval", value="agreement_interval", kind=list, rank=5),
    FigureColumn("pairs agree", "pairwise", rank=4),
    FigureColumn("alpha", "alpha", rank=2),
    FigureColumn(title="interval", value="alpha_interval", kind=list, rank=6),
)
_WRONG: Final = (
    FigureColumn(title="looked at", value="looked_at", kind=int, rank=3),
    FigureColumn("wrong", "wrong", rank=1, tone="title"),
    FigureColumn(title="interval", value="wrong_interval", kind=list, rank=1),
)
_RUNS: Final = (
    FigureColumn("run", "run", str),
    FigureColumn("differs", "differing", rank=1),
    FigureColumn("F1", "f1"),
    FigureColumn(title="interval", value="f1_interval", kind=list, rank=2),
)
_RIGHT: Final = (
    FigureColumn("F1 if right", "right_f1", tone="title"),
    FigureColumn(title="interval", value="right_f1_interval", kind=list, rank=2),
)
MAX_WIDTH: Final = 80  # width of a terminal that rows of suspects fit in
_OTHER_WIDTH: Final = 22  # width for numbers and gaps


def _suspect_columns(suspects: Sequence[Suspect]) -> tuple[FigureColumn, ...]:
    """Return the columns of the table of suspects.

    Long ids and values are shortened in the middle.
    """
    texts: dict[str, Callable[[Suspect], str]] = {
        "document": lambda suspect: visible(suspect.document),
        "place": lambda suspect: visible(suspect.path),
        "ground truth": lambda suspect: _format_value(suspect.gt),
        "runs say": _format_answers,
    }
    natural_widths = [
        max([cells(title), *(cells(text(suspect)) for suspect in suspects)])
        for title, text in texts.items()
    ]
    widths = dict(zip(texts, fit_widths(natural_widths, MAX_WIDTH - _OTHER_WIDTH), strict=True))

    def cut(title: str) -> Callable[[Suspect], str]:
        return lambda suspect: cut_middle(texts[title](suspect), widths[title])

    return (
        FigureColumn("document", "document", str, shown=cut("document")),
        FigureColumn("place", "path", str, shown=cut("place")),
        FigureColumn("votes", "votes", int),
        FigureColumn("against", "against", int),
        FigureColumn(title="ground truth", value="gt", kind=str, rank=1, shown=cut("ground truth")),
        FigureColumn(title="runs say", value="others", kind=str, rank=1, shown=cut("runs say")),
    )


def make_report(record: AuditReport) -> Report:
    """Return the report of an audit."""
    has_verdicts = record.whole.wrong is not None
    legend = (
        (
            "suspects",
            (
                "suspects: values for which two or more runs agree on a value other than the "
                "ground truth"
            ),
        ),
        (
            "all agree",
            (
                "all agree: share of values on which all runs agree; pairs agree: average share "
                "of values on which two runs agree; alpha: agreement beyond chance (Krippendorff)"
            ),
        ),
        (
            "wrong",
            (
                "wrong: share of values for which the ground truth is wrong, according to the "
                "verdicts"
            ),
        ),
    )
    columns = (*_FIELDS, *(_WRONG if has_verdicts else ()))
    table = Figures(columns, [record.whole, *record.fields], legend[: 3 if has_verdicts else 2])
    runs = Figures((*_RUNS, *(_RIGHT if has_verdicts else ())), record.runs)
    documents = number_of(record.documents, "document")
    head = f"{record.gt} and {number_of(len(record.runs), 'run')}: {documents}"
    suspects, n_more = record.suspects[:MAX_SHOWN], len(record.suspects) - MAX_SHOWN
    choices = [_make_choices(asdict(suspect)) for suspect in suspects]
    suspect_blocks = [Figures(_suspect_columns(suspects), suspects, choices=choices)]
    omitted = (
        [Text(f"and {n_more} more; the JSON report lists all of them", "dim")] if n_more > 0 else []
    )
    sharing_runs = [Text(_sharing_sentence(run, record)) for run in record.runs if run.shares_with]
    gates = [Text(gate.reason) for gate in record.gates]
    return Report.of_study(
        record,
        head,
        [Text(_estimate_sentence(record))],
        [table],
        Section("runs", [runs, *sharing_runs]),
        Section("suspects", [*suspect_blocks, *omitted]) if suspects else [],
        Section("gates" if gates else "", gates),
        rows=table,
    )


def _make_choices(line: Mapping[str, Any]) -> Choices:
    """Return the verdicts that a person can choose for a place. They say which answer is right."""
    answers = [other["answer"] for other in line["others"]]
    verdicts = [
        ("ground truth right", {"verdict": "ground_truth_right"}),
        *(
            (f"{_format_value(answer)} right", {"verdict": "ground_truth_wrong", "right": answer})
            for answer in answers
        ),
        *([("both acceptable", {"verdict": "both_acceptable"})] if answers else []),
        ("neither", {"verdict": "neither"}),
    ]
    return Choices(_as_json(line), [(text, _as_json(verdict)) for text, verdict in verdicts])


def _as_json(value: Mapping[str, Any]) -> str:
    """Return a JSON object as one line of text."""
    return json_line({**value}).decode().rstrip("\n")


def _format_value(value: Any) -> str:
    """Return a value as the report shows it."""
    return "absent" if value is None else value_text(value)


def make_page(lines: Sequence[Mapping[str, Any]], runs: Sequence[str]) -> Report:
    """Return a report with a table of values that were drawn at random for a person to check.

    Each entry of `lines` is a row of the table. In the HTML page of the report, each row has
    buttons with which the person gives a verdict on the value.
    """

    def answer_of_run(line: Mapping[str, Any], run: str) -> str:
        answers = (
            _format_value(other["answer"]) for other in line["others"] if run in other["runs"]
        )
        return next(answers, "agrees" if run in line["agree"] else NOTHING)

    figures = (
        FigureColumn("document", lambda line: line["document"], str),
        FigureColumn("place", lambda line: line["path"], str),
        FigureColumn("ground truth", lambda line: _format_value(line["gt"]), str),
        *(FigureColumn(f"run {run}", partial(answer_of_run, run=run), str) for run in runs),
    )
    choices = [
        _make_choices({key: value for key, value in line.items() if key != "verdict"})
        for line in lines
    ]
    table = Figures(figures, lines, choices=choices)
    instruction = Text("Mark each value, download the verdicts, and give the file to --verdicts.")
    head = Section(f"{number_of(len(lines), 'value')} to check", [instruction])
    return Report([*lines], [head, Section("", [table])], table)


def _estimate_sentence(record: AuditReport) -> str:
    """Return a sentence for the report: how many suspects there are, and how many places are wrong.

    The share of wrong places is an estimate.
    """
    total = record.whole
    suspects = f"{number_of(total.suspects, 'suspect')} among {number_of(total.places, 'value')}"
    if len(record.suspects) != total.suspects:
        rows = number_of(len(record.suspects), "row")
        suspects += f", in {rows} (the values of a list item can share a row)"
    if total.wrong is None:
        return suspects
    bounds = total.wrong_interval
    interval = f" ({rate(bounds[0])} to {rate(bounds[1])})" if bounds else ""
    verdicts = number_of(total.looked_at, "verdict")
    wrong = f"the ground truth is wrong for {rate(total.wrong)} of all values{interval}"
    return f"{suspects}; by {verdicts} {wrong}"


def _sharing_sentence(run: AuditedRun, record: AuditReport) -> str:
    """Return a warning that a run shares many mistakes with other runs, as one sentence."""
    names = " and ".join(record.runs[position].run for position in run.shares_with)
    return (
        f"{run.run} and {names} give the same answer, different from the ground truth, far more "
        f"often than other runs do, so {run.run} is not counted as independent evidence"
    )

"""What runs say beside a ground truth, as `stickler audit --format json` writes it; sections.

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
    """An answer at a place."""

    answer: AnyJson
    """Null where it is absent."""
    runs: list[Count]
    """Who says so: positions of runs, from 0."""


@dataclass(frozen=True, slots=True)
class Suspect:
    """A place where runs say something else than the ground truth."""

    document: str
    """Its id."""
    path: str
    """With the ground truth's list indexes; `+0` is the first item that only runs have."""
    field: str
    """Without list indexes."""
    gt: AnyJson
    """The ground truth; null where it is absent."""
    others: list[Said]
    """The other answers, that of most runs first."""
    votes: Count
    """How many runs give the first of these."""
    against: Count
    """How many agree with the ground truth."""
    rarity: Fraction
    """How often the runs that vote differ from the ground truth in this field, on average."""


@dataclass(frozen=True, slots=True)
class AuditedField:
    """The runs in one field, or in all."""

    field: str
    """Without list indexes; empty of all."""
    places: Count
    """Places where the ground truth or a run has a value."""
    suspects: Count
    """Those where two runs or more give the same other answer."""
    agreement: FractionOrNone
    """The share of places on which all runs agree."""
    agreement_interval: BoundsOrNone
    """Where it may lie, over documents, as of other shares."""
    pairwise: FractionOrNone
    """The share of pairs of runs that agree on a place."""
    pairwise_interval: BoundsOrNone
    """Where that may lie, likewise."""
    alpha: NumberOrNone
    """Krippendorff's alpha by the comparator's matches; null where all answers are alike."""
    alpha_interval: BoundsOrNone
    """Where that may lie, likewise."""
    looked_at: Count
    """Places with a verdict."""
    wrong: FractionOrNone
    """The share of places at which the ground truth is wrong, by verdicts; null without."""
    wrong_interval: BoundsOrNone
    """Where that may lie, likewise."""


@dataclass(frozen=True, slots=True)
class AuditedRun:
    """One of the runs."""

    run: str
    """As named."""
    differing: FractionOrNone
    """The share of places where it differs from the ground truth."""
    f1: FractionOrNone
    """F1 of all values as it is."""
    f1_interval: BoundsOrNone
    """Where that may lie, likewise."""
    right_f1: FractionOrNone
    """F1 with a right ground truth, by verdicts; null without."""
    right_f1_interval: BoundsOrNone
    """Where that may lie, likewise."""
    shares_with: list[Count]
    """Runs that share its other answers far more often than others do."""


@dataclass(frozen=True, slots=True)
class AuditReport(StudyRecord):
    """What several runs say beside a ground truth, as `stickler audit` writes it in JSON.

    Described in docs/auditing.md.
    """

    format: Literal["stickler-audit/1"]
    schema: str
    """The schema, as named."""
    gt: str
    """The ground truth, as named."""
    documents: Count
    """Documents that a run has values of."""
    level: FractionOrNone
    """That of the intervals; null without."""
    whole: AuditedField
    """All fields together."""
    fields: list[AuditedField]
    """By field, in the order in which they are met."""
    runs: list[AuditedRun]
    """In the order given."""
    suspects: list[Suspect]
    """The most suspect places, at most a thousand: two runs or more give the same other answer. An
    item that the same runs do not have is one, with the values in it."""
    gates: list[GateResult]
    """What was asked for."""
    notes: list[str]
    """What the figures rest on."""


SHOWN: Final = 20
"""Suspects that people are shown first; JSON has a thousand."""


def _others(it: Suspect) -> str:
    return "; ".join(f"{_shown(said.answer)} ({len(said.runs)})" for said in it.others)


_FIELDS: Final = (
    FigureColumn("field", "field", str, shown=lambda it: it.field or "all"),
    FigureColumn("places", "places", int, 3),
    FigureColumn("suspects", "suspects", int, 1),
    FigureColumn("all agree", "agreement"),
    FigureColumn("interval", "agreement_interval", list, 5),
    FigureColumn("pairs agree", "pairwise", rank=4),
    FigureColumn("alpha", "alpha", rank=2),
    FigureColumn("interval", "alpha_interval", list, 6),
)
_WRONG: Final = (
    FigureColumn("looked at", "looked_at", int, 3),
    FigureColumn("wrong", "wrong", rank=1, tone="title"),
    FigureColumn("interval", "wrong_interval", list, 1),
)
_RUNS: Final = (
    FigureColumn("run", "run", str),
    FigureColumn("differs", "differing", rank=1),
    FigureColumn("F1", "f1"),
    FigureColumn("interval", "f1_interval", list, 2),
)
_RIGHT: Final = (
    FigureColumn("F1 if right", "right_f1", tone="title"),
    FigureColumn("interval", "right_f1_interval", list, 2),
)
ROOM: Final = 80  # columns of a terminal, into which suspects fit
_BESIDE: Final = 22  # of these, for numbers and gaps


def _suspect_columns(suspects: Sequence[Suspect]) -> tuple[FigureColumn, ...]:
    """Return the columns of suspects: ids and values are cut in the middle where they are long."""
    texts: dict[str, Callable[[Suspect], str]] = {
        "document": lambda suspect: visible(suspect.document),
        "place": lambda suspect: visible(suspect.path),
        "ground truth": lambda suspect: _shown(suspect.gt),
        "runs say": _others,
    }
    natural = [
        max([cells(title), *(cells(text(suspect)) for suspect in suspects)])
        for title, text in texts.items()
    ]
    widths = dict(zip(texts, fit_widths(natural, ROOM - _BESIDE), strict=True))

    def cut(title: str) -> Callable[[Suspect], str]:
        return lambda suspect: cut_middle(texts[title](suspect), widths[title])

    return (
        FigureColumn("document", "document", str, shown=cut("document")),
        FigureColumn("place", "path", str, shown=cut("place")),
        FigureColumn("votes", "votes", int),
        FigureColumn("against", "against", int),
        FigureColumn("ground truth", "gt", str, 1, shown=cut("ground truth")),
        FigureColumn("runs say", "others", str, 1, shown=cut("runs say")),
    )


def report_of(record: AuditReport) -> Report:
    """Return runs beside a ground truth as a report."""
    known = record.whole.wrong is not None
    legend = (
        ("suspects", "suspects: two runs or more say the same other thing than the ground truth"),
        ("all agree", "all agree, pairs agree, alpha: runs among themselves"),
        ("wrong", "wrong: places at which this ground truth is wrong, by the verdicts"),
    )
    columns = (*_FIELDS, *(_WRONG if known else ()))
    table = Figures(columns, [record.whole, *record.fields], legend[: 3 if known else 2])
    runs = Figures((*_RUNS, *(_RIGHT if known else ())), record.runs)
    documents = number_of(record.documents, "document")
    head = f"{record.gt} and {number_of(len(record.runs), 'run')}: {documents}"
    shown, more = record.suspects[:SHOWN], len(record.suspects) - SHOWN
    suspects = Figures(
        _suspect_columns(shown), shown, choices=[_choices(asdict(it)) for it in shown]
    )
    others = [Text(f"and {more} more, which JSON has", "dim")] if more > 0 else []
    shared = (Text(_shared(it, record)) for it in record.runs if it.shares_with)
    return Report.of_study(
        record,
        head,
        [Text(_estimate(record))],
        [table],
        Section("runs", [runs, *shared]),
        Section("suspects", [suspects, *others]) if shown else [],
        Section("gates" if record.gates else "", [Text(it.reason) for it in record.gates]),
        rows=table,
    )


def _choices(line: Mapping[str, Any]) -> Choices:
    """Return the verdicts on a place: each answer may be the right one."""
    answers = [it["answer"] for it in line["others"]]
    said = [
        ("ground truth right", {"verdict": "ground_truth_right"}),
        *(
            (f"{_shown(it)} right", {"verdict": "ground_truth_wrong", "right": it})
            for it in answers
        ),
        *([("both acceptable", {"verdict": "both_acceptable"})] if answers else []),
        ("neither", {"verdict": "neither"}),
    ]
    return Choices(_json(line), [(text, _json(more)) for text, more in said])


def _json(value: Mapping[str, Any]) -> str:
    return json_line({**value}).decode().rstrip("\n")


def _shown(value: Any) -> str:
    return "absent" if value is None else value_text(value)


def page_of(lines: Sequence[Mapping[str, Any]], runs: Sequence[str]) -> Report:
    """Return places to look at as a page, whose buttons make verdicts of them."""

    def says(it: Mapping[str, Any], run: str) -> str:
        others = (_shown(said["answer"]) for said in it["others"] if run in said["runs"])
        return next(others, "agrees" if run in it["agree"] else NOTHING)

    figures = (
        FigureColumn("document", lambda it: it["document"], str),
        FigureColumn("place", lambda it: it["path"], str),
        FigureColumn("ground truth", lambda it: _shown(it["gt"]), str),
        *(FigureColumn(f"run {run}", partial(says, run=run), str) for run in runs),
    )
    bare = [{key: part for key, part in it.items() if key != "verdict"} for it in lines]
    table = Figures(figures, lines, choices=[*map(_choices, bare)])
    told = Text("Download the verdicts, and give them to --verdicts.")
    head = Section(f"{number_of(len(lines), 'place')} to look at", [told])
    return Report([*lines], [head, Section("", [table])], table)


def _estimate(record: AuditReport) -> str:
    whole = record.whole
    said = f"{number_of(whole.suspects, 'suspect')} among {number_of(whole.places, 'place')}"
    if len(record.suspects) != whole.suspects:
        said += f", in {number_of(len(record.suspects), 'row')}"
    if whole.wrong is None:
        return said
    ends = whole.wrong_interval
    between = f" ({rate(ends[0])} to {rate(ends[1])})" if ends else ""
    looked_at = number_of(whole.looked_at, "verdict")
    wrong = f"the ground truth is wrong at {rate(whole.wrong)} of places{between}"
    return f"{said}; by {looked_at} {wrong}"


def _shared(it: AuditedRun, record: AuditReport) -> str:
    others = " and ".join(record.runs[other].run for other in it.shares_with)
    return f"{it.run} shares other answers with {others} far more often than others do: no witness"

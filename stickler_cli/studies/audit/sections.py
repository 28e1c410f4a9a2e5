"""Runs beside a ground truth, as sections."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import partial
from typing import Any, Final

from stickler_cli.core.figures import NOTHING, number_of, rate, value_text
from stickler_cli.core.json_values import json_line
from stickler_cli.core.sections import Choices, Figure, Figures, Report, Section, Text, notes
from .record import AuditedRun, AuditReport, Suspect

SHOWN: Final = 20
"""Suspects that people are shown first; JSON has a thousand."""


def _others(it: Suspect) -> str:
    return "; ".join(f"{_shown(said.answer)} ({len(said.runs)})" for said in it.others)


_FIELDS: Final = (
    Figure("field", "field", str, shown=lambda it: it.field or "all"),
    Figure("places", "places", int, 3),
    Figure("suspects", "suspects", int, 1),
    Figure("all agree", "agreement"),
    Figure("interval", "agreement_interval", list, 5),
    Figure("pairs agree", "pairwise", rank=4),
    Figure("alpha", "alpha", rank=2),
    Figure("interval", "alpha_interval", list, 6),
)
_WRONG: Final = (
    Figure("looked at", "looked_at", int, 3),
    Figure("wrong", "wrong", rank=1, tone="title"),
    Figure("interval", "wrong_interval", list, 1),
)
_RUNS: Final = (
    Figure("run", "run", str),
    Figure("differs", "differing", rank=1),
    Figure("F1", "f1"),
    Figure("interval", "f1_interval", list, 2),
)
_RIGHT: Final = (
    Figure("F1 if right", "right_f1", tone="title"),
    Figure("interval", "right_f1_interval", list, 2),
)
_SUSPECTS: Final = (
    Figure("document", "document", str),
    Figure("place", "path", str),
    Figure("votes", "votes", int),
    Figure("against", "against", int),
    Figure("ground truth", "gt", str, 1, shown=lambda it: _shown(it.gt)),
    Figure("runs say", "others", str, 1, shown=_others),
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
    suspects = Figures(_SUSPECTS, shown, choices=[_choices(asdict(it)) for it in shown])
    sections = [
        Section(head, [Text(_estimate(record))]),
        Section("", [table]),
        Section(
            "runs", [runs, *(Text(_shared(it, record)) for it in record.runs if it.shares_with)]
        ),
        Section(
            "suspects" if record.suspects else "",
            [
                *([suspects] if shown else []),
                *([Text(f"and {more} more, which JSON has", "dim")] if more > 0 else []),
            ],
        ),
        Section("gates" if record.gates else "", [Text(it.reason) for it in record.gates]),
        Section("", notes(record.notes)),
    ]
    return Report(record, sections, table)


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
        Figure("document", lambda it: it["document"], str),
        Figure("place", lambda it: it["path"], str),
        Figure("ground truth", lambda it: _shown(it["gt"]), str),
        *(Figure(f"run {run}", partial(says, run=run), str) for run in runs),
    )
    bare = [{key: part for key, part in it.items() if key != "verdict"} for it in lines]
    table = Figures(figures, lines, choices=[*map(_choices, bare)])
    told = Text("Download the verdicts, and give them to --verdicts.")
    head = Section(f"{number_of(len(lines), 'place')} to look at", [told])
    return Report([*lines], [head, Section("", [table])], table)


def _estimate(record: AuditReport) -> str:
    whole = record.whole
    said = f"of {number_of(whole.places, 'place')} {whole.suspects} are suspects"
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

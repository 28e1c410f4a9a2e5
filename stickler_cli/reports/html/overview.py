"""The summary of the page: figures with their intervals, groups, what the schema says, options."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Final

from stickler_cli.reports import summary
from stickler_cli.reports.figures import number_of, setting, visible
from stickler_cli.reports.groups import group_rows
from stickler_cli.reports.html.fields import Figure, Reading, figure, reading_of
from stickler_cli.score.record import Run
from stickler_cli.score.validity import Validity
from stickler_cli.score.verdict import Verdict, verdict_of

MOST_VIOLATIONS: Final = 20
"""Kinds of violations of the schema that are listed for a side: a screen."""


@dataclass(frozen=True, slots=True)
class Card:
    """One of the figures at the top."""

    title: str
    figure: Figure
    explanation: str


@dataclass(frozen=True, slots=True)
class Group:
    """The documents of one group."""

    name: str
    documents: int
    f1: Figure
    leaves: Figure
    score: Figure


@dataclass(frozen=True, slots=True)
class Groups:
    """The documents of a run by one key."""

    key: str
    groups: Sequence[Group]


@dataclass(frozen=True, slots=True)
class SideVerdict:
    """What the schema says of the documents of one side."""

    side: str
    share: Figure
    validity: Validity
    violations: Sequence[tuple[str, str, int, int]]
    """Keyword, field, how often and in how many documents."""
    more: int
    """Violations that are left out."""


def cards(run: Run) -> list[Card]:
    """Give the figures that a reader looks at first."""
    limits = summary.gate_limits(run)
    whole = readings(run)[0]
    bounds = summary.intervals(run)
    score = figure(run.evaluation.overall_score, limits, bounds.score if bounds else None)
    with_fd = run.options.recall_with_fd
    to_find = "of what there was to find, how much was found"
    recall = f"{to_find}; wrong values count as not found" if with_fd else to_find
    return [
        Card("F1", whole.f1, "harmonic mean of precision and recall"),
        Card("Precision", whole.precision, "of what was predicted, how much is right"),
        Card("Recall", whole.recall, recall),
        Card("Mean score", score, "of the documents, by the weights in the schema"),
    ]


def readings(run: Run) -> list[Reading]:
    """Give the three readings of the whole."""
    limits, bounds = summary.gate_limits(run), summary.intervals(run)
    return [
        reading_of(name, counts, rates, limits, bounds)
        for name, (counts, rates) in summary.readings(run).items()
    ]


def groups(run: Run) -> list[Groups]:
    """List the groups by each key."""
    limits = summary.gate_limits(run)
    return [
        Groups(
            visible(key),
            [
                Group(
                    visible(row.name),
                    row.documents,
                    figure(row.f1, limits, row.interval),
                    figure(row.leaves, limits),
                    figure(row.score, limits),
                )
                for row in groups
            ],
        )
        for key, groups in group_rows(run).items()
    ]


def verdicts(run: Run) -> list[SideVerdict]:
    """Say how many documents of each side that was checked are what the schema says."""
    return [
        SideVerdict(
            _SIDES[side],
            figure(validity.share, frozenset()),
            validity,
            [
                (keyword, visible(path), violated.count, violated.documents)
                for keyword, path, violated in validity.most_frequent()[:MOST_VIOLATIONS]
            ],
            max(len(validity.violated) - MOST_VIOLATIONS, 0),
        )
        for side, validity in sorted(run.evaluation.validity.items(), reverse=True)
    ]


_SIDES: Final[Mapping[str, str]] = {"gt": "Ground truths", "pred": "Predictions"}


def settings(run: Run) -> list[tuple[str, str]]:
    """Say under what the run was made."""
    options = [
        (name.replace("_", " "), _option_text(name, value))
        for name, value in asdict(run.options).items()
    ]
    bootstrap = run.evaluation.bootstrap
    bounds = bootstrap.settings.view() if bootstrap else {}
    return [
        ("schema", visible(run.schema.path)),
        ("schema digest", run.schema.digest),
        *options,
        *((f"intervals: {name}", str(value)) for name, value in bounds.items()),
        ("made by", f"stickler {run.version}"),
    ]


def _option_text(name: str, value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return setting(value)
    return _MEANINGS.get((name, str(value)), str(value))


_MEANINGS: Final[Mapping[tuple[str, str], str]] = {
    ("extra_fields", "fa"): "false alarms",
    ("extra_fields", "ignore"): "ignored",
    ("missing", "fn"): "all values missed",
    ("missing", "skip"): "left out",
    ("missing", "error"): "failed documents",
}


def verdict(run: Run) -> tuple[str, str] | None:
    """Give the verdict beside the title, good or bad; None where nobody asked for one."""
    found = verdict_of(run.evaluation, run.gates, strict=run.options.strict)
    if run.partial or found is Verdict.INCOMPLETE:
        return "bad", "interrupted" if run.partial else "documents could not be evaluated"
    if not run.gates:
        return None
    failed = sum(not result.passed for result in run.gates)
    if failed:
        return "bad", f"{failed} of {number_of(len(run.gates), 'gate')} failed"
    return "good", "all gates passed"

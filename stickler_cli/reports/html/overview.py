"""The summary of the page: figures with their intervals, groups, what the schema says, options."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from stickler_cli.metrics.record import Run
from stickler_cli.metrics.validity import Validity
from stickler_cli.reports import summary
from stickler_cli.reports.figures import setting, visible
from stickler_cli.reports.groups import group_rows
from stickler_cli.reports.html.fields import Figure, Reading, figure, reading_of

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
    options = run.options
    return [
        ("schema", visible(run.schema.path)),
        ("schema digest", run.schema.digest),
        ("pairing floor", setting(options.pairing_floor)),
        ("recall with FD", "yes" if options.recall_with_fd else "no"),
        ("undeclared keys of predictions", _EXTRA_FIELDS.get(options.extra_fields, "")),
        ("missing predictions", _MISSING.get(options.missing, "")),
        ("strict", "yes" if options.strict else "no"),
        ("made by", f"stickler {run.version}"),
    ]


_EXTRA_FIELDS: Final[Mapping[str, str]] = {"fa": "false alarms", "ignore": "ignored"}
_MISSING: Final[Mapping[str, str]] = {
    "fn": "all values missed",
    "skip": "left out",
    "error": "failed documents",
}

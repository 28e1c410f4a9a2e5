"""A judge held against people: pairs of values of which somebody said whether they are the same.

The format is `stickler-judge-check/1`.
"""

from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Final, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from stickler_cli import __version__
from stickler_cli.clients.client import AnswerCache, cache_directory
from stickler_cli.comparators.base import meets
from stickler_cli.compare.columns import Columns
from stickler_cli.compare.leaf import LeafNode
from stickler_cli.compare.plan import Mode, Options
from stickler_cli.core.figures import number_of, rate
from stickler_cli.core.json_values import brief
from stickler_cli.core.locations import field_path
from stickler_cli.core.problems import ComparisonError, Problem, UsageError
from stickler_cli.core.rules import Count, Fraction, FractionOrNone, NumberOrNone
from stickler_cli.core.sections import INDENT, Figure, Figures, Report, Section, Text
from stickler_cli.runs.assembly import client_of, comparing, policy_of
from stickler_cli.runs.evaluate import refuse_runaway
from stickler_cli.score.intervals import IntervalSettings
from stickler_cli.score.record import Verdict
from stickler_cli.settings.deciding import ComparisonOptions, FindingOptions
from stickler_cli.studies.answering import (
    AT_ONCE,
    Answer,
    Desk,
    VerdictLine,
    held_to,
    judging_node,
    read_verdicts,
    shares_by_unit,
)
from stickler_cli.studies.study import StudyRecord
from .question import JudgeSettings

Kind = Literal["false_accept", "false_reject", "failed"]


@dataclass(frozen=True, slots=True)
class JudgeAccount:
    """How a judge and people agree on the pairs of one field, or of all."""

    field: str
    """Empty of all fields together."""
    model: str
    """Whom the field asks."""
    pairs: Count
    """Pairs on which both said something."""
    failed: Count
    """Pairs on which the judge said nothing; they count nowhere else."""
    same: Count
    """Those of which people say that they are the same."""
    false_accepts: Count
    """Pairs that differ to people, and match to the judge."""
    false_rejects: Count
    """Pairs that are the same to people, and do not match to the judge."""
    agreement: FractionOrNone
    """The share of pairs on which both say the same."""
    agreement_interval: list[float] | None
    """Where that may lie by chance; null of fewer than two units."""
    kappa: NumberOrNone
    """Agreement beyond chance; null where chance alone would agree on all."""
    false_accept_rate: FractionOrNone
    """The share of pairs that differ to people which match to the judge."""
    false_accept_interval: list[float] | None
    """Where that may lie by chance; null of fewer than two units."""


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A pair on which judge and people disagree, or of which the judge said nothing."""

    field: str
    """The field, without list indexes."""
    kind: Kind
    """Who says what: the judge accepts what differs, or rejects what is the same, or failed."""
    gt: str
    """As JSON, cut where it is long."""
    pred: str
    """As JSON, cut where it is long."""
    similarity: FractionOrNone
    """What the judge gave them; null where it said nothing."""
    reason: str
    """What the judge said, or what went wrong."""


@dataclass(frozen=True, slots=True)
class JudgeReport(StudyRecord):
    """How far judges agree with people, as `stickler judge-check` writes it in JSON."""

    format: Literal["stickler-judge-check/1"]
    schema: str
    """The file of the schema."""
    model_name: str
    """What the schema calls its documents."""
    level: Fraction
    """The level of the intervals."""
    total: JudgeAccount
    """All fields together."""
    fields: list[JudgeAccount]
    """Each field that has pairs and asks a model, in the order of the pairs."""
    disagreements: list[Disagreement]
    """Matches that are none to people first, as they do most harm; at most a thousand."""
    usage: str
    """What asking took."""
    notes: list[str]
    """What was left out."""


SHOWN: Final = 10
"""Disagreements that are shown; JSON has more."""

_FIGURES: Final = (
    Figure("field", "field", str, shown=lambda it: it.field or "all"),
    Figure("model", "model", str, 4, shown=lambda it: it.model if it.field else ""),
    Figure("pairs", "pairs", int, 1),
    Figure("agreement", "agreement", rank=2),
    Figure("interval", "agreement_interval", list, 3),
    Figure("kappa", "kappa"),
    Figure(
        "false accepts",
        "false_accepts",
        int,
        shown=lambda it: f"{it.false_accepts}/{it.pairs - it.same}",
    ),
    Figure("interval", "false_accept_interval", list, 3),
    Figure(
        "false rejects", "false_rejects", int, 2, shown=lambda it: f"{it.false_rejects}/{it.same}"
    ),
    Figure("failed", "failed", int, 1),
)
_SAID: Final = {
    "false_accept": "match, but are different",
    "false_reject": "do not match, but are the same",
    "failed": "have no verdict",
}


def report_of(record: JudgeReport) -> Report:
    """Return how judges agree with people as a report."""
    head = f"{record.model_name} ({record.schema}), {number_of(record.total.pairs, 'judged pair')}"
    rows = [*record.fields, *([record.total] if len(record.fields) > 1 else [])]
    usage = [Text(f"models: {record.usage}", indent=INDENT)] if record.usage else []
    table = Figures(_FIGURES, rows)
    parts = [Text(_verdict(record))], [table], _disagreements(record.disagreements), usage
    return Report.of(record, head, *parts, rows=table)


def _verdict(record: JudgeReport) -> str:
    total = record.total
    different = total.pairs - total.same
    return (
        f"agrees with people on {rate(total.agreement)} of pairs, kappa {rate(total.kappa)}; "
        f"accepts {total.false_accepts} of {different} that differ, "
        f"rejects {total.false_rejects} of {total.same} that are the same"
    )


def _disagreements(found: list[Disagreement]) -> Section:
    lines = []
    for it in found[:SHOWN]:
        told = f"{it.field}: {it.gt} and {it.pred} {_SAID[it.kind]}"
        lines.append(Text(told, indent=INDENT, margin=INDENT))
        if it.reason:
            lines.append(Text(it.reason, "dim", margin=2 * INDENT))
    if len(found) > SHOWN:
        lines.append(Text(f"and {len(found) - SHOWN} more, which JSON has", "dim"))
    return Section("disagreements" if found else "", lines)


MOST_DISAGREEMENTS: Final = 1000  # that are kept


def answer(settings: JudgeSettings, desk: Desk) -> Answer:
    """Ask judges about labelled pairs."""
    loaded = desk.schema()
    client = client_of(loaded.plan, policy_of(settings))
    if client is None:
        expected = "a field with LLMComparator, or another that asks a model"
        raise UsageError([Problem(settings.schema, "no field asks a model", expected)])
    if settings.clear_cache and settings.offline:
        found = "--offline is given too, which has no other answers"
        raise UsageError([Problem("--clear-cache", found, "one of the two")])
    options = comparing(loaded.plan, ComparisonOptions(), client)
    lines, _ = read_verdicts(settings.pairs, loaded.plan, FindingOptions.max_document_size)
    if settings.clear_cache:
        with closing(AnswerCache(cache_directory())) as cache:
            desk.tell(f"{number_of(cache.clear(), 'answer')} cleared from {cache.path}")
    named, level = (loaded.path, loaded.name), settings.ci
    if client.policy.may_ask:
        with client.rehearsing() as counting:
            judge_report(named, lines, replace(options, client=counting), level)
            refuse_runaway(counting, f"of {len(lines)} lines")
    record = judge_report(named, lines, options, level)
    report, total = report_of(record), record.total
    if total.failed or not total.pairs:
        labelled = total.failed + total.pairs
        why = f"error: {total.failed} of {labelled} pairs were not judged"
        return Answer(report, Verdict.INCOMPLETE, [why])
    return held_to(report, settings.fail_under, "kappa", total.kappa)


@dataclass(frozen=True, slots=True)
class _Said:
    """One pair, judged."""

    line: VerdictLine
    node: LeafNode
    similarity: float | None
    """None where there is no verdict."""
    reason: str

    @property
    def matches(self) -> bool:
        return self.similarity is not None and meets(self.similarity, self.node.threshold)

    @property
    def disagreement(self) -> Kind | None:
        """The kind of disagreement; None where judge and people agree."""
        if self.similarity is None:
            return "failed"
        if self.matches == self.line.same:
            return None
        return "false_accept" if self.matches else "false_reject"

    def told(self, kind: Kind) -> Disagreement:
        """Return the pair as a disagreement of a kind."""
        path, gt, pred = field_path(self.line.names), brief(self.line.gt), brief(self.line.pred)
        return Disagreement(path, kind, gt, pred, self.similarity, self.reason)


def judge_report(
    schema: tuple[str, str], lines: Iterable[VerdictLine], options: Options, level: float
) -> JudgeReport:
    """Ask judges about labelled pairs, and return how far they agree with people.

    `schema` is its path and the name of its model; lines of fields that ask nobody are left out.
    """
    by_node: dict[int, tuple[LeafNode, list[VerdictLine]]] = {}
    left_out = 0
    for line in lines:
        node = judging_node(line)
        if isinstance(node, LeafNode) and node.comparator.asks_models:
            by_node.setdefault(id(node), (node, []))[1].append(line)
        else:
            left_out += 1
    said = [
        each
        for node, some in by_node.values()
        for start in range(0, len(some), AT_ONCE)
        for each in _asked(node, some[start : start + AT_ONCE], options)
    ]
    paths: dict[str, list[_Said]] = {}
    for each in said:
        paths.setdefault(field_path(each.line.names), []).append(each)
    settings = IntervalSettings(level)
    wrong = [(kind, each) for each in said if (kind := each.disagreement) is not None]
    wrong.sort(key=lambda entry: get_args(Kind).index(entry[0]))
    return JudgeReport(
        "stickler-judge-check/1",
        __version__,
        *schema,
        level,
        _account("", said, settings),
        [_account(path, some, settings) for path, some in paths.items()],
        [it.told(kind) for kind, it in wrong[:MOST_DISAGREEMENTS]],
        "" if options.client is None else str(options.client.usage),
        [f"left out, of fields that ask no model: {left_out}"] if left_out else [],
    )


def _asked(node: LeafNode, lines: Sequence[VerdictLine], options: Options) -> list[_Said]:
    """Ask about some pairs together; where one has no verdict, in halves, down to it."""
    columns = Columns([line.gt for line in lines], [line.pred for line in lines])
    at = np.arange(len(lines))
    try:
        scores = node.similarity(columns, at, at, options, Mode.FINAL)
    except ComparisonError as error:
        if len(lines) == 1:
            return [_Said(lines[0], node, None, str(error))]
        half = len(lines) // 2
        return [*_asked(node, lines[:half], options), *_asked(node, lines[half:], options)]
    return [
        _Said(line, node, float(similarity), scores.reasons.get(number, ""))
        for number, (line, similarity) in enumerate(zip(lines, scores.similarity, strict=True))
    ]


def _account(path: str, said: Sequence[_Said], settings: IntervalSettings) -> JudgeAccount:
    known = [each for each in said if each.similarity is not None]
    both = np.array([(each.line.same, each.matches) for each in known], bool).reshape(-1, 2)
    same, matches = both[:, 0], both[:, 1]
    models = dict.fromkeys(
        model.title for each in said if (model := each.node.comparator.asked_model) is not None
    )
    units, at = np.unique([each.line.unit for each in known], return_inverse=True)
    parts = {
        "agreement": (same == matches, np.ones_like(same)),
        "false_accepts": (~same & matches, ~same),
    }
    shares = shares_by_unit(parts, at, len(units), settings)
    return JudgeAccount(
        path,
        ", ".join(models),
        len(known),
        len(said) - len(known),
        int(same.sum()),
        int((~same & matches).sum()),
        int((same & ~matches).sum()),
        *shares["agreement"],
        kappa(same, matches),
        *shares["false_accepts"],
    )


def kappa(one: NDArray[np.bool_], other: NDArray[np.bool_]) -> float | None:
    """Return the agreement of two raters beyond chance; None where chance alone agrees on all.

    Args:
        one: (n,), what one says of each.
        other: (n,), what the other says.

    Source:
        Cohen (1960), doi:10.1177/001316446002000104.
    """
    if not len(one):
        return None
    shares = one.mean(), other.mean()
    chance = shares[0] * shares[1] + (1 - shares[0]) * (1 - shares[1])
    return None if chance == 1 else float(((one == other).mean() - chance) / (1 - chance))

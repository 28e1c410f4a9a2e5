"""Compare the verdicts of judges and people on the same pairs of values.

The format of the result is `stickler-judge-check/1`.
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
from stickler_cli.core.sections import INDENT, FigureColumn, Figures, Report, Section, Text
from stickler_cli.runs.assembly import client_of, comparing, policy_of
from stickler_cli.runs.evaluate import refuse_runaway
from stickler_cli.score.intervals import IntervalSettings
from stickler_cli.score.record import RunVerdict
from stickler_cli.settings.deciding import ComparisonOptions, FindingOptions
from stickler_cli.studies.answering import (
    AT_ONCE,
    Desk,
    StudyAnswer,
    VerdictLine,
    check_gate,
    judging_node,
    read_verdicts,
    shares_by_unit,
)
from stickler_cli.studies.study import StudyRecord
from .question import JudgeSettings

DisagreementKind = Literal["false_accept", "false_reject", "failed"]


@dataclass(frozen=True, slots=True)
class JudgeAccount:
    """How often a judge agrees with people, on the pairs of one field or of all fields."""

    field: str
    """Path of the field; empty for all fields together."""
    model: str
    """The model that judges the field."""
    pairs: Count
    """Number of pairs on which both a person and the judge gave a verdict."""
    failed: Count
    """Number of pairs on which the judge gave no verdict. They are in no other figure."""
    same: Count
    """Number of pairs that people call the same."""
    false_accepts: Count
    """Number of pairs that the judge calls the same although people call them different."""
    false_rejects: Count
    """Number of pairs that the judge calls different although people call them the same."""
    agreement: FractionOrNone
    """Share of the pairs on which judge and people agree."""
    agreement_interval: list[float] | None
    """Confidence interval of `agreement`. Null if there are fewer than two documents (or other
    units of resampling)."""
    kappa: NumberOrNone
    """Agreement beyond chance (Cohen's kappa). Null if all answers are the same."""
    false_accept_rate: FractionOrNone
    """Share of false accepts among the pairs that people call different."""
    false_accept_interval: list[float] | None
    """Confidence interval of `false_accept_rate`. Null if there are fewer than two documents (or
    other units of resampling)."""


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A pair on which the judge and people disagree, or on which the judge gave no verdict."""

    field: str
    """Path of the field, without list indexes."""
    kind: DisagreementKind
    """What the judge did: it accepted different values, rejected equal values, or failed."""
    gt: str
    """The true value as JSON, shortened if it is long."""
    pred: str
    """The predicted value as JSON, shortened if it is long."""
    similarity: FractionOrNone
    """Similarity of the two values, as the judge sees it. Null if the judge gave no verdict."""
    reason: str
    """Reason that the judge gave, or the reason of its failure."""


@dataclass(frozen=True, slots=True)
class JudgeReport(StudyRecord):
    """How often judges agree with people, as `stickler judge-check --format json` writes it."""

    format: Literal["stickler-judge-check/1"]
    schema: str
    """The file of the schema."""
    model_name: str
    """A name for the documents, such as `Invoice`: the title or the model name in the schema, or
    else the name of the schema's file."""
    level: Fraction
    """Confidence level of the intervals."""
    total: JudgeAccount
    """Agreement in all fields together."""
    fields: list[JudgeAccount]
    """Agreement in each field in which a model judged pairs. Fields are in the order of the file of
    verdicts."""
    disagreements: list[Disagreement]
    """At most a thousand disagreements. False accepts come first, because they do most harm."""
    usage: str
    """Requests, tokens and cost of the models as text. Empty if no model was asked."""
    notes: list[str]
    """Notes on omitted pairs."""


MAX_SHOWN: Final = 10
"""The report shows at most this many disagreements. The JSON record has more of them."""

_FIGURES: Final = (
    FigureColumn("field", "field", str, shown=lambda account: account.field or "all"),
    FigureColumn(
        title="model",
        value="model",
        kind=str,
        rank=4,
        shown=lambda account: account.model if account.field else "",
    ),
    FigureColumn(title="pairs", value="pairs", kind=int, rank=1),
    FigureColumn("agreement", "agreement", rank=2),
    FigureColumn(title="interval", value="agreement_interval", kind=list, rank=3),
    FigureColumn("kappa", "kappa"),
    FigureColumn(
        "false accepts",
        "false_accepts",
        int,
        shown=lambda account: f"{account.false_accepts}/{account.pairs - account.same}",
    ),
    FigureColumn(title="interval", value="false_accept_interval", kind=list, rank=3),
    FigureColumn(
        title="false rejects",
        value="false_rejects",
        kind=int,
        rank=2,
        shown=lambda account: f"{account.false_rejects}/{account.same}",
    ),
    FigureColumn(title="failed", value="failed", kind=int, rank=1),
)
_PREDICATES: Final = {
    "false_accept": "match, but are different",
    "false_reject": "do not match according to the judge, but people say they are the same",
    "failed": "have no verdict",
}


def make_report(record: JudgeReport) -> Report:
    """Return the report of the agreement of judges with people."""
    head = f"{record.model_name} ({record.schema}), {number_of(record.total.pairs, 'judged pair')}"
    rows = [*record.fields, *([record.total] if len(record.fields) > 1 else [])]
    usage = [Text(f"models: {record.usage}", indent=INDENT)] if record.usage else []
    table = Figures(_FIGURES, rows)
    return Report.of_study(
        record,
        head,
        [Text(_verdict_sentence(record))],
        [table],
        _disagreement_section(record.disagreements),
        usage,
        rows=table,
    )


def _verdict_sentence(record: JudgeReport) -> str:
    """Return a sentence on the agreement of the judges with people."""
    total = record.total
    different = total.pairs - total.same
    return (
        f"the judges agree with people on {rate(total.agreement)} of pairs, kappa "
        f"{rate(total.kappa)}; they accept {total.false_accepts} of {different} pairs "
        f"that people call different, and reject {total.false_rejects} of {total.same} "
        "pairs that people call the same"
    )


def _disagreement_section(disagreements: list[Disagreement]) -> Section:
    """Return the section that lists the first disagreements."""
    lines = []
    for disagreement in disagreements[:MAX_SHOWN]:
        values = f"{disagreement.gt} and {disagreement.pred}"
        sentence = f"{disagreement.field}: {values} {_PREDICATES[disagreement.kind]}"
        lines.append(Text(sentence, indent=INDENT, margin=INDENT))
        if disagreement.reason:
            lines.append(Text(disagreement.reason, "dim", margin=2 * INDENT))
    if len(disagreements) > MAX_SHOWN:
        n_more = len(disagreements) - MAX_SHOWN
        lines.append(Text(f"and {n_more} more; the JSON report lists all of them", "dim"))
    return Section("disagreements" if disagreements else "", lines)


MAX_DISAGREEMENTS: Final = 1000  # the record has more


def answer(settings: JudgeSettings, desk: Desk) -> StudyAnswer:
    """Ask judges about labelled pairs, compare their verdicts with those of people, and report."""
    loaded = desk.schema()
    client = client_of(loaded.plan, policy_of(settings))
    if client is None:
        expected = "a field with LLMComparator or another comparator that asks a model"
        raise UsageError([Problem(settings.schema, "no field asks a model", expected)])
    if settings.clear_cache and settings.offline:
        finding = (
            "--offline is also given, but --offline needs the answers that --clear-cache deletes"
        )
        raise UsageError([Problem("--clear-cache", finding, "either --clear-cache or --offline")])
    options = comparing(loaded.plan, ComparisonOptions(), client)
    lines, _ = read_verdicts(settings.pairs, loaded.plan, FindingOptions.max_document_size)
    if settings.clear_cache:
        with closing(AnswerCache(cache_directory())) as cache:
            desk.tell(f"{number_of(cache.clear(), 'answer')} cleared from {cache.path}")
    schema, level = (loaded.path, loaded.name), settings.ci
    if client.policy.may_ask:
        # Count the questions first, so that far too many are refused before any is asked.
        with client.rehearsing() as counting_client:
            check_judges(schema, lines, replace(options, client=counting_client), level)
            refuse_runaway(counting_client, f"of {len(lines)} lines")
    record = check_judges(schema, lines, options, level)
    report, total = make_report(record), record.total
    if total.failed or not total.pairs:
        n_labelled = total.failed + total.pairs
        message = f"error: {total.failed} of {n_labelled} pairs were not judged"
        return StudyAnswer(report, RunVerdict.INCOMPLETE, [message])
    return check_gate(report, settings.fail_under, "kappa", total.kappa)


@dataclass(frozen=True, slots=True)
class _JudgedPair:
    """A pair of values, with a person's verdict and a judge's verdict."""

    line: VerdictLine
    node: LeafNode
    similarity: float | None
    """Similarity of the values, as the judge sees it. None if the judge gave no verdict."""
    reason: str

    @property
    def matches(self) -> bool:
        """Whether the judge calls the values the same."""
        return self.similarity is not None and meets(self.similarity, self.node.threshold)

    @property
    def disagreement(self) -> DisagreementKind | None:
        """The kind of disagreement; None if judge and people agree."""
        if self.similarity is None:
            return "failed"
        if self.matches == self.line.same:
            return None
        return "false_accept" if self.matches else "false_reject"

    def make_record(self, kind: DisagreementKind) -> Disagreement:
        """Return this pair as an entry in the list of disagreements."""
        return Disagreement(
            field=field_path(self.line.names),
            kind=kind,
            gt=brief(self.line.gt),
            pred=brief(self.line.pred),
            similarity=self.similarity,
            reason=self.reason,
        )


def check_judges(
    schema: tuple[str, str], lines: Iterable[VerdictLine], options: Options, level: float
) -> JudgeReport:
    """Ask model judges about pairs that people judged; return how often judges and people agree.

    `schema` is (path of the schema, name of its model). Fields without a judge are left out.
    """
    lines_by_node: dict[int, tuple[LeafNode, list[VerdictLine]]] = {}
    n_omitted = 0
    for line in lines:
        node = judging_node(line)
        if isinstance(node, LeafNode) and node.comparator.asks_models:
            lines_by_node.setdefault(id(node), (node, []))[1].append(line)
        else:
            n_omitted += 1
    pairs: list[_JudgedPair] = []
    for node, lines_of_node in lines_by_node.values():
        for start in range(0, len(lines_of_node), AT_ONCE):
            pairs += _ask_judge(node, lines_of_node[start : start + AT_ONCE], options)

    pairs_by_field: dict[str, list[_JudgedPair]] = {}
    for pair in pairs:
        pairs_by_field.setdefault(field_path(pair.line.names), []).append(pair)
    settings = IntervalSettings(level)
    disagreements = [(kind, pair) for pair in pairs if (kind := pair.disagreement) is not None]
    disagreements.sort(key=lambda entry: get_args(DisagreementKind).index(entry[0]))
    path, model_name = schema
    return JudgeReport(
        format="stickler-judge-check/1",
        version=__version__,
        schema=path,
        model_name=model_name,
        level=level,
        total=_make_account("", pairs, settings),
        fields=[
            _make_account(field, field_pairs, settings)
            for field, field_pairs in pairs_by_field.items()
        ],
        disagreements=[pair.make_record(kind) for kind, pair in disagreements[:MAX_DISAGREEMENTS]],
        usage="" if options.client is None else str(options.client.usage),
        notes=[f"{number_of(n_omitted, 'pair')} skipped, because the field asks no model"]
        if n_omitted
        else [],
    )


def _ask_judge(node: LeafNode, lines: Sequence[VerdictLine], options: Options) -> list[_JudgedPair]:
    """Ask a judge about all pairs in one batch. If the batch fails, ask about each half of it.

    Failed halves are halved again, down to single pairs. A single pair that fails gets no verdict.
    """
    columns = Columns([line.gt for line in lines], [line.pred for line in lines])
    slots = np.arange(len(lines))
    try:
        scores = node.similarity(columns, slots, slots, options, Mode.FINAL)
    except ComparisonError as error:
        if len(lines) == 1:
            return [_JudgedPair(line=lines[0], node=node, similarity=None, reason=str(error))]
        half = len(lines) // 2
        first_half = _ask_judge(node, lines[:half], options)
        return [*first_half, *_ask_judge(node, lines[half:], options)]
    return [
        _JudgedPair(
            line=line,
            node=node,
            similarity=float(similarity),
            reason=scores.reasons.get(position, ""),
        )
        for position, (line, similarity) in enumerate(zip(lines, scores.similarity, strict=True))
    ]


def _make_account(
    field: str, pairs: Sequence[_JudgedPair], settings: IntervalSettings
) -> JudgeAccount:
    """Return how often the judge and people agree on some pairs, with confidence intervals."""
    judged = [pair for pair in pairs if pair.similarity is not None]
    is_same = np.array([pair.line.same for pair in judged], bool)
    is_match = np.array([pair.matches for pair in judged], bool)
    models = dict.fromkeys(
        model.title for pair in pairs if (model := pair.node.comparator.asked_model) is not None
    )
    units, unit_of_pair = np.unique([pair.line.unit for pair in judged], return_inverse=True)
    quotients = {
        "agreement": (is_same == is_match, np.ones_like(is_same)),
        "false_accepts": (~is_same & is_match, ~is_same),
    }
    shares = shares_by_unit(quotients, unit_of_pair, len(units), settings)
    return JudgeAccount(
        field=field,
        model=", ".join(models),
        pairs=len(judged),
        failed=len(pairs) - len(judged),
        same=int(is_same.sum()),
        false_accepts=int((~is_same & is_match).sum()),
        false_rejects=int((is_same & ~is_match).sum()),
        agreement=shares["agreement"].value,
        agreement_interval=shares["agreement"].interval,
        kappa=kappa(is_same, is_match),
        false_accept_rate=shares["false_accepts"].value,
        false_accept_interval=shares["false_accepts"].interval,
    )


def kappa(first: NDArray[np.bool_], second: NDArray[np.bool_]) -> float | None:
    """Return Cohen's kappa: how much two raters agree beyond chance.

    Return None if there are no answers, or if both raters always give the same single answer.
    `first` and `second` are the answers of the two raters, shape (n,).

    Source:
        Cohen (1960), doi:10.1177/001316446002000104.
    """
    if not len(first):
        return None
    first_share, second_share = first.mean(), second.mean()
    chance = first_share * second_share + (1 - first_share) * (1 - second_share)
    return None if chance == 1 else float(((first == second).mean() - chance) / (1 - chance))

"""Acceptance policies: values that pass unseen, and outcomes on labelled documents.

Thresholds are those whose error is bounded by a test. A document's loss is the share of its
accepted values that are wrong. A threshold is taken if the hypothesis that the expected loss is too
great is rejected for it; testing many is paid for. docs/accepting.md says what is promised, and
shows by simulation that it is kept.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from math import ceil, e, log, log1p
from typing import Any, Final, Literal, NamedTuple

import numpy as np

from stickler_cli.compare.columns import Floats, Indexes, Mask
from stickler_cli.core.json_values import json_line
from stickler_cli.core.locations import parse_field_path
from stickler_cli.core.rules import Count, Fraction, FractionOrNone, encoded
from .confidence.confidences import ConfidenceUnits
from .evaluation import NO_GROUP, Evaluation, Results
from .intervals import Level

POLICY_FORMAT: Final = "stickler-policy/1"
_POSITION: Final = re.compile(r"line \d+")

PASSING: Final = (
    ("pass", "pass: the share of values at or above the confidence in the column from"),
    ("wrong", "wrong: the share of wrong values among those of a document that pass, the mean"),
)
"""What explains a table of values that pass: a column, and a text."""


@dataclass(frozen=True, slots=True)
class Promise:
    """What a policy promises."""

    max_error: Level
    """The expected share of wrong values among those of a document that pass, at most."""
    assurance: Level
    """With at least this probability over the draw of the labelled documents."""
    together: bool = False
    """Whether that holds for all fields at once, or for each by itself."""


@dataclass(frozen=True, slots=True)
class FieldPolicy:
    """The values of a field, or of its part in a group, that may pass unseen."""

    field: str
    """Its path without list indexes."""
    group: str | None
    """None for all documents."""
    values: Count
    """Values that predictions have, with a confidence or without."""
    documents: Count
    """Documents that have one with a confidence."""
    threshold: FractionOrNone
    """The lowest confidence from which values may pass; None where no promise can be kept."""
    accepted: Fraction
    """The share of the values that passes."""
    error: FractionOrNone
    """The mean over documents with such a value of the share that is wrong."""
    bound: FractionOrNone
    """What that share does not exceed, at the level of the test."""
    needed: Count
    """The least number of documents without an error that keep the promise."""
    curve: Sequence[Sequence[Fraction]]
    """Share of values that pass and mean share of wrong ones, at ever lower thresholds."""


@dataclass(frozen=True, slots=True)
class PolicyPlace:
    """A field of the schema."""

    field: str
    """Its path without list indexes."""
    kind: str
    """`leaf`, `object`, `list` and so on, as a run says."""


@dataclass(frozen=True, slots=True)
class AcceptancePolicy:
    """From which confidences values may pass, and on what evidence."""

    format: Literal["stickler-policy/1"]
    """This format; the number goes up when a key changes its meaning or goes away."""
    version: str
    """Of the program that made it."""
    semantics: Count
    """The version of what is counted, and how, under which it was made."""
    schema: str
    """The digest of the schema, under which the documents were compared."""
    inferred: str | None
    """The digest of annotations that were inferred."""
    places: Sequence[PolicyPlace]
    """The fields of the schema."""
    options: Mapping[str, Any]
    """Those that decide what is right."""
    asked: Promise
    """What it promises."""
    by: str | None
    """What documents are grouped by."""
    fields: Sequence[FieldPolicy]
    """Each field, of each group if there are any."""
    documents: Sequence[str]
    """Digests of the ids of the documents that it was made of, sorted."""
    digest: str
    """SHA-256 of all of this."""

    def threshold(self, field: str, group: str | None) -> float | None:
        """Return from which confidence the values of a field may pass; None where none may."""
        return next(
            (it.threshold for it in self.fields if (it.field, it.group) == (field, group)), None
        )


def sign_policy(policy: AcceptancePolicy) -> AcceptancePolicy:
    """Return a policy with its digest."""
    said = json_line(encoded(replace(policy, digest="")))
    return replace(policy, digest=sha256(said).hexdigest())


@dataclass(frozen=True, slots=True)
class FieldOutcome:
    """What a policy comes to for the values of a field, on labelled documents."""

    field: str
    """Its path without list indexes."""
    group: str | None
    """None for all documents."""
    threshold: FractionOrNone
    """The lowest confidence from which values pass; None where none do."""
    values: Count
    """Values that predictions have, with a confidence or without."""
    accepted: Count
    """How many of them pass."""
    wrong: Count
    """How many of those are wrong."""
    documents: Count
    """Documents with a value that passes."""
    error: FractionOrNone
    """The mean over these documents of the share that is wrong; None of no documents."""


def field_label(it: FieldPolicy | FieldOutcome) -> str:
    """Return the field, and the group if there is one."""
    return it.field if it.group is None else f"{it.field} ({it.group})"


@dataclass(frozen=True, slots=True)
class PolicyOutcome:
    """What a policy comes to on the documents of a run."""

    digest: str
    """Of the policy."""
    max_error: Fraction
    """What it promises not to exceed in expectation."""
    assurance: Fraction
    """How sure that is, over the documents that it was made of."""
    overlap: Count
    """Documents whose ids those have too: nothing is checked by them."""
    fields: Sequence[FieldOutcome]
    """In the order of the policy."""


class PolicyField(NamedTuple):
    """The values of a field, or of its part in a group."""

    field: str
    group: str | None
    units: ConfidenceUnits
    """Those that have a confidence."""
    values: int
    """How many predictions have, with a confidence or without."""


def policy_fields(results: Evaluation, by: str | None) -> Iterator[PolicyField]:
    """Yield the fields of each group."""
    groups: Mapping[str | None, Results] = {None: results}
    if by is not None:
        groups = {name: group for name, group in results.by[by].items() if name != NO_GROUP}
    for name, group in sorted(groups.items()):
        for field, units in group.confidences.by_field().items():
            values = group.sums.tally(parse_field_path(field)).n_predicted_values
            if field and values:  # else it is no field of the schema
                yield PolicyField(field, name, units, values)


def document_digest(document: str, confidences: object) -> str:
    """Return the digest by which a document is known again: of its id, if it has one."""
    known = document.encode("utf-8", "surrogatepass")
    if _POSITION.fullmatch(document):  # others have such a line too, but hardly such confidences
        known += json_line(confidences)
    return sha256(known).hexdigest()[:16]


def evaluate_policy(policy: AcceptancePolicy, evaluation: Evaluation) -> PolicyOutcome:
    """Return the outcome of a policy on the documents of an evaluation."""
    known = set(policy.documents)
    overlap = sum(document_digest(*each) in known for each in evaluation.confidences.records())
    parts = {it[:2]: it for it in policy_fields(evaluation, policy.by)}
    outcomes = [_outcome(it, parts.get((it.field, it.group))) for it in policy.fields]
    asked = policy.asked
    return PolicyOutcome(policy.digest, asked.max_error, asked.assurance, overlap, outcomes)


def _outcome(policy: FieldPolicy, part: PolicyField | None) -> FieldOutcome:
    place = policy.field, policy.group, policy.threshold, part.values if part else 0
    passing = None
    if part is not None and policy.threshold is not None:
        passing = part.units.select(part.units.confidence >= policy.threshold)
    if passing is None or not len(passing.is_right):
        return FieldOutcome(*place, 0, 0, 0, None)
    _, document = np.unique(passing.document, return_inverse=True)
    count = np.bincount(document)
    wrong = np.bincount(document, ~passing.is_right)
    error = float((wrong / count).mean())
    return FieldOutcome(*place, len(document), int(wrong.sum()), len(count), error)


MAX_THRESHOLDS: Final = 1_000
STARTS: Final = 4
"""Where sequences of tests begin: a single one ends early if one confident value is wrong."""

_ROUNDING: Final = 1e-9  # sums of shares are a little off whole numbers


class Losses(NamedTuple):
    """Losses of accepting from each threshold on, the highest first; all are (thresholds,)."""

    threshold: Floats
    n_documents: Indexes
    """Those with at least one accepted value."""
    mean_loss: Floats
    """The mean of their losses."""
    is_binary: Mask
    """Whether all of these are 0 or 1."""
    n_accepted: Indexes
    """How many values are."""

    def select(self, some: slice) -> "Losses":
        """Return some of the thresholds."""
        threshold, documents, mean, whole, accepted = self
        return Losses(threshold[some], documents[some], mean[some], whole[some], accepted[some])


@dataclass(frozen=True, slots=True)
class Acceptance:
    """The values of a field that may pass unseen, and the evidence."""

    threshold: float
    """The lowest confidence from which they may."""
    accepted: int
    """How many of these documents' values do."""
    documents: int
    """Documents with such a value."""
    error: float
    """The mean over them of the share that is wrong."""
    bound: float
    """Upper bound of the expected share, at the level of the test that was passed."""


def losses_by_threshold(document: Indexes, confidence: Floats, right: Mask) -> Losses:
    """Return the losses at each threshold, of units, an entry each."""
    order = np.argsort(-confidence, kind="stable")
    confidence, wrong, document = confidence[order], ~right[order], document[order]
    # Units of a document in their order: how many were accepted, and wrong, up to each.
    by_document = np.argsort(document, kind="stable")
    firsts = np.flatnonzero(np.diff(document[by_document], prepend=-1))
    sizes = np.diff([*firsts, len(document)])
    accepted, mistaken = np.empty(len(document)), np.empty(len(document))
    accepted[by_document] = np.arange(len(document)) - np.repeat(firsts, sizes) + 1
    running = np.cumsum(wrong[by_document])
    mistaken[by_document] = running - np.repeat((running - wrong[by_document])[firsts], sizes)
    was, had = mistaken - wrong, accepted - 1
    change = mistaken / accepted - was / np.maximum(had, 1)
    split = ((mistaken > 0) & (mistaken < accepted)).astype(int) - ((was > 0) & (was < had))

    ends = np.flatnonzero(np.append(np.diff(confidence) < 0, [True] * bool(len(confidence))))
    if len(ends) > MAX_THRESHOLDS:
        ends = ends[np.linspace(0, len(ends) - 1, MAX_THRESHOLDS).round().astype(np.intp)]
    documents = np.cumsum(had == 0)[ends]
    mean = np.cumsum(change)[ends] / documents
    return Losses(confidence[ends], documents, mean, np.cumsum(split)[ends] == 0, ends + 1)


def count_documents_needed(level: float, most: float) -> int:
    """Return the least number of documents without any loss that reject `expected loss > most`."""
    return ceil(log(level) / log1p(-most) - _ROUNDING)


def p_values(found: Losses, most: "float | Floats") -> Floats:
    """Return for each threshold the p-value of `expected loss > most`, which is in (0, 1).

    The tail of a binomial where losses are 0 or 1, else the Hoeffding-Bentkus bound.

    Source:
        Bates et al. (2021), Distribution-Free, Risk-Controlling Prediction Sets, section 3.1.
    """
    from scipy.special import bdtr  # the cumulative binomial

    n, wrong = found.n_documents, found.mean_loss * found.n_documents
    binomial = bdtr(np.rint(wrong), n, most)
    bentkus = e * bdtr(np.ceil(wrong - _ROUNDING), n, most)
    mean = np.minimum(found.mean_loss, most)
    with np.errstate(divide="ignore", invalid="ignore"):
        inner = np.where(mean > 0, mean * np.log(mean / most), 0)
    outer = (1 - mean) * np.log((1 - mean) / (1 - np.asarray(most)))
    hoeffding = np.exp(-n * (inner + outer))
    return np.where(found.is_binary, binomial, np.minimum(hoeffding, bentkus))


def reject_in_sequence(p: Floats, starts: Indexes, level: float) -> Floats:
    """Return the level at which each hypothesis of a sequence is rejected; 0 where it is not.

    Each start has an equal part of the level. What a rejected hypothesis had goes to the next one
    that is not, after the last one to the first. So the chance of any wrong rejection is at most
    the level.

    Source:
        Bretz et al. (2009), A graphical approach to sequentially rejective multiple tests.
    """
    levels, passed = np.zeros(len(p)), np.zeros(len(p))
    levels[starts] = level / len(starts)
    todo = [*starts.tolist()][::-1]
    while todo:
        at = todo.pop()
        if passed[at] or p[at] > levels[at]:
            continue
        passed[at] = levels[at]
        (left,) = (passed == 0).nonzero()
        if len(left):
            to = int(left[np.searchsorted(left, at) % len(left)])
            levels[to] += levels[at]
            todo.append(to)
    return passed


def choose_threshold(found: Losses, most: float, level: float) -> Acceptance | None:
    """Return the lowest threshold whose expected loss is at most `most`; None if none is.

    With probability at least 1 - `level` over the draw of the documents none is returned whose
    expected loss is greater. Where sequences start depends on confidences only.

    Source:
        Angelopoulos et al. (2021), Learn then Test, for testing thresholds in a fixed sequence.
    """
    total = int(found.n_documents[-1]) if len(found.n_documents) else 0
    starts = STARTS if total >= count_documents_needed(level / STARTS, most) else 1
    first = int(np.searchsorted(found.n_documents, count_documents_needed(level / starts, most)))
    left = len(found.n_documents) - first
    if not left:
        return None
    positions = np.unique(left * np.arange(starts) // starts)
    some = found.select(slice(first, None))
    levels = reject_in_sequence(p_values(some, most), positions, level)
    if not levels.any():
        return None
    at = int(np.flatnonzero(levels)[-1])
    one = some.select(slice(at, at + 1))
    return Acceptance(
        float(one.threshold[0]),
        int(one.n_accepted[0]),
        int(one.n_documents[0]),
        float(max(one.mean_loss[0], 0.0)),
        _bound(one, float(levels[at]), most),
    )


def _bound(one: Losses, level: float, most: float) -> float:
    """Return the greatest expected loss that the test of a threshold does not reject."""
    low, high = float(max(one.mean_loss[0], 0.0)), most
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (low, middle) if p_values(one, middle)[0] <= level else (middle, high)
    return high

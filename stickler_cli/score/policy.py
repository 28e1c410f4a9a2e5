"""Acceptance policies: which values can skip review, and what this costs.

A policy has a confidence threshold for each field. Values with at least this confidence are
accepted without review. The loss of a document is the share of its accepted values that are wrong.

A threshold is chosen only if a test shows that the expected loss stays below a limit: the test
rejects the hypothesis that it exceeds the limit. The level of the test is adjusted for the number
of thresholds that are tried. docs/accepting.md states what is promised, and shows by simulation
that policies keep the promise.
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
    (
        "accepted",
        "accepted: the share of values whose confidence is at least the threshold",
    ),
    (
        "wrong",
        (
            "wrong: the share of wrong values among the accepted values of a document, as an "
            "average over documents"
        ),
    ),
)
"""The columns of a table of accepted values, with an explanation of each."""


@dataclass(frozen=True, slots=True)
class Promise:
    """What a policy promises: that the expected error probably stays below a limit."""

    max_error: Level
    """Limit of the expected error. The error of a document is the share of its accepted values that
    are wrong."""
    assurance: Level
    """Minimum probability that the limit is kept. The probability refers to the random choice of
    the labelled documents."""
    together: bool = False
    """If true, `assurance` is the probability that the limit is kept for all fields at once. If
    false, it is the probability that the limit is kept for a single field."""


@dataclass(frozen=True, slots=True)
class FieldPolicy:
    """The threshold of a field, and the evidence for it.

    It may be for one group of documents only.
    """

    field: str
    """Path of the field, without list indexes."""
    group: str | None
    """The group of documents that the threshold is for; null if it is for all documents."""
    values: Count
    """Number of predicted values, with or without a confidence."""
    documents: Count
    """Number of documents that have a value with a confidence."""
    threshold: FractionOrNone
    """The lowest confidence that is accepted; null if no threshold can keep the promise."""
    accepted: Fraction
    """The share of `values` that are accepted."""
    error: FractionOrNone
    """Each document has a share of wrong values among its accepted values. This is the average of
    these shares; null if no value is accepted."""
    bound: FractionOrNone
    """Upper bound of the expected error, with the confidence level of the test; null if no value is
    accepted."""
    needed: Count
    """Minimum number of documents with which a test can choose a threshold. With fewer documents,
    no threshold can be shown to keep the promise, even if no document has an error."""
    curve: Sequence[Sequence[Fraction]]
    """Pairs (share of accepted values, mean error). There is one for each threshold, and the
    highest threshold comes first."""


@dataclass(frozen=True, slots=True)
class PolicyPlace:
    """A field of the schema and its kind."""

    field: str
    """Path of the field, without list indexes."""
    kind: str
    """`leaf`, `object`, `list` or another kind, as in run files."""


@dataclass(frozen=True, slots=True)
class AcceptancePolicy:
    """The thresholds of all fields, and the evidence for them."""

    format: Literal["stickler-policy/1"]
    """The name of the file format. It ends with a number, which rises when a key is removed or
    changes its meaning."""
    version: str
    """Version of the program that made the policy."""
    semantics: Count
    """Version of the rules by which the documents were counted."""
    schema: str
    """Digest of the schema of the documents."""
    inferred: str | None
    """Digest of the inferred annotations; null if no annotations were inferred."""
    places: Sequence[PolicyPlace]
    """The fields of the schema."""
    options: Mapping[str, Any]
    """The options that decide which values are right."""
    asked: Promise
    """The promise that the user asked for, and that the policy keeps."""
    by: str | None
    """The key by which documents are grouped; null if they are not grouped."""
    fields: Sequence[FieldPolicy]
    """An entry for each field, or for each field in each group."""
    documents: Sequence[str]
    """Digests of the document ids from which the policy was made, sorted."""
    digest: str
    """SHA-256 of the policy without the entry `digest`."""

    def threshold(self, field: str, group: str | None) -> float | None:
        """Return the lowest confidence that a field accepts, or None if no value is accepted."""
        for field_policy in self.fields:
            if (field_policy.field, field_policy.group) == (field, group):
                return field_policy.threshold
        return None


def sign_policy(policy: AcceptancePolicy) -> AcceptancePolicy:
    """Compute the digest of a policy, and return a copy of the policy that contains the digest."""
    content = json_line(encoded(replace(policy, digest="")))
    return replace(policy, digest=sha256(content).hexdigest())


@dataclass(frozen=True, slots=True)
class FieldOutcome:
    """The effect of a field's threshold on labelled documents.

    It counts the values that the threshold accepts, and how many of these are wrong.
    """

    field: str
    """Path of the field, without list indexes."""
    group: str | None
    """The group of documents that the threshold is for; null if it is for all documents."""
    threshold: FractionOrNone
    """The lowest confidence that is accepted; null if no value is accepted."""
    values: Count
    """Number of predicted values, with or without a confidence."""
    accepted: Count
    """Number of accepted values."""
    wrong: Count
    """Number of accepted values that are wrong."""
    documents: Count
    """Number of documents with an accepted value."""
    error: FractionOrNone
    """Mean error rate of the documents that have accepted values. A document's error rate is the
    share of wrong values among its accepted values. Null if no value was accepted."""


def field_label(entry: FieldPolicy | FieldOutcome) -> str:
    """Return the path of an entry's field, followed by its group if it has one."""
    return entry.field if entry.group is None else f"{entry.field} ({entry.group})"


@dataclass(frozen=True, slots=True)
class PolicyOutcome:
    """The outcome of a policy on the documents of a run."""

    digest: str
    """Digest of the policy."""
    max_error: Fraction
    """The highest expected error that the policy promises."""
    assurance: Fraction
    """The promised minimum probability that `max_error` holds. The probability is over the random
    choice of the documents from which the policy was made."""
    overlap: Count
    """Number of documents in the run that were also used to make the policy. These documents are no
    independent check of the policy."""
    fields: Sequence[FieldOutcome]
    """The outcome of each field, in the order of the policy."""


class PolicyField(NamedTuple):
    """The predicted values of a field, or of a field in one group of documents."""

    field: str
    group: str | None
    units: ConfidenceUnits
    """The values that have a confidence."""
    n_values: int
    """Number of predicted values, with or without a confidence."""


def policy_fields(evaluation: Evaluation, by: str | None) -> Iterator[PolicyField]:
    """Yield the predicted values of each field.

    If `by` is given, documents are grouped by this key, and every field is yielded once for each
    group.
    """
    groups: Mapping[str | None, Results] = {None: evaluation}
    if by is not None:
        groups = {name: group for name, group in evaluation.by[by].items() if name != NO_GROUP}
    for name, group in sorted(groups.items()):
        for field, units in group.confidences.by_field().items():
            n_values = group.sums.tally(parse_field_path(field)).n_predicted_values
            if field and n_values:  # skip undeclared keys, which have no counts
                yield PolicyField(field=field, group=name, units=units, n_values=n_values)


def document_digest(document: str, confidences: object) -> str:
    """Return a digest that identifies the document in other runs.

    It is the digest of the document's id. If the id is only a line number, the digest includes the
    document's confidences.
    """
    content = document.encode("utf-8", "surrogatepass")
    if _POSITION.fullmatch(document):
        content += json_line(confidences)
    return sha256(content).hexdigest()[:16]


def evaluate_policy(policy: AcceptancePolicy, evaluation: Evaluation) -> PolicyOutcome:
    """Apply a policy to the documents of an evaluation; count accepted and wrong values."""
    policy_documents = set(policy.documents)
    overlap = sum(
        document_digest(id_, confidences) in policy_documents
        for id_, confidences in evaluation.confidences.records()
    )
    values_by_key = {
        (values.field, values.group): values for values in policy_fields(evaluation, policy.by)
    }
    return PolicyOutcome(
        digest=policy.digest,
        max_error=policy.asked.max_error,
        assurance=policy.asked.assurance,
        overlap=overlap,
        fields=[
            _evaluate_field(entry, values_by_key.get((entry.field, entry.group)))
            for entry in policy.fields
        ],
    )


def _evaluate_field(policy: FieldPolicy, values: PolicyField | None) -> FieldOutcome:
    """Count accepted and wrong values of one field.

    If the field has no values, all counts are 0.
    """
    outcome = FieldOutcome(
        field=policy.field,
        group=policy.group,
        threshold=policy.threshold,
        values=values.n_values if values else 0,
        accepted=0,
        wrong=0,
        documents=0,
        error=None,
    )
    if values is None or policy.threshold is None:
        return outcome
    accepted = values.units.select(values.units.confidence >= policy.threshold)
    if not len(accepted.is_right):
        return outcome
    _, document = np.unique(accepted.document, return_inverse=True)
    n_accepted = np.bincount(document)
    n_wrong = np.bincount(document, ~accepted.is_right)
    return replace(
        outcome,
        accepted=len(document),
        wrong=int(n_wrong.sum()),
        documents=len(n_accepted),
        error=float((n_wrong / n_accepted).mean()),
    )


MAX_THRESHOLDS: Final = 1_000
STARTS: Final = 4
"""Number of sequences of tests. Each sequence begins at a different threshold.

A sequence ends with the first test that does not reject. With only one sequence, a single wrong
value with a high confidence could end all testing early."""

_ROUNDING: Final = 1e-9  # sums of shares that should be whole numbers are inexact


class Losses(NamedTuple):
    """The losses of documents at each of n thresholds, which are in descending order.

    At a threshold, a value is accepted if its confidence is at least the threshold. The loss of a
    document is the share of wrong values among its accepted values. Every attribute is an array of
    shape (n,).
    """

    threshold: Floats
    n_documents: Indexes
    """Number of documents with at least one accepted value, for each threshold."""
    mean_loss: Floats
    """Mean loss of the documents with an accepted value, for each threshold."""
    is_binary: Mask
    """For each threshold: true if the loss of every document with an accepted value is 0 or 1."""
    n_accepted: Indexes
    """Number of accepted values, for each threshold."""

    def select(self, selected: slice) -> "Losses":
        """Return the losses of the selected thresholds."""
        return Losses(
            threshold=self.threshold[selected],
            n_documents=self.n_documents[selected],
            mean_loss=self.mean_loss[selected],
            is_binary=self.is_binary[selected],
            n_accepted=self.n_accepted[selected],
        )


@dataclass(frozen=True, slots=True)
class Acceptance:
    """The chosen threshold of a field, and the evidence for it."""

    threshold: float
    """The lowest accepted confidence."""
    accepted: int
    """Number of accepted values."""
    documents: int
    """Number of documents with an accepted value."""
    error: float
    """Mean error rate of the documents that have accepted values. A document's error rate is the
    share of wrong values among its accepted values."""
    bound: float
    """Upper bound of the expected error. It holds at the significance level of the test that chose
    the threshold."""


def losses_by_threshold(document: Indexes, confidence: Floats, is_right: Mask) -> Losses:
    """Return the losses of documents for each possible threshold.

    Each distinct confidence is a possible threshold. If there are more than `MAX_THRESHOLDS`, only
    this number of them is used, evenly spaced. The arguments have one entry for each value.
    """
    order = np.argsort(-confidence, kind="stable")
    confidence, is_wrong, document = confidence[order], ~is_right[order], document[order]

    # For each value, count its document's accepted and wrong values when it is the last accepted.
    by_document = np.argsort(document, kind="stable")
    starts = np.flatnonzero(np.diff(document[by_document], prepend=-1))
    sizes = np.diff([*starts, len(document)])
    n_accepted, n_wrong = np.empty(len(document)), np.empty(len(document))
    n_accepted[by_document] = np.arange(len(document)) - np.repeat(starts, sizes) + 1
    running = np.cumsum(is_wrong[by_document])
    in_earlier_documents: Indexes = (running - is_wrong[by_document])[starts]
    n_wrong[by_document] = running - np.repeat(in_earlier_documents, sizes)

    # Accepting a value changes its document's loss, and whether the loss is neither 0 nor 1.
    wrong_before, accepted_before = n_wrong - is_wrong, n_accepted - 1
    loss_change = n_wrong / n_accepted - wrong_before / np.maximum(accepted_before, 1)
    is_mixed = (n_wrong > 0) & (n_wrong < n_accepted)
    was_mixed = (wrong_before > 0) & (wrong_before < accepted_before)
    mixed_change = is_mixed.astype(int) - was_mixed

    # A threshold accepts all values of its confidence: keep the last value of each confidence.
    is_last = np.append(np.diff(confidence) < 0, [True] * bool(len(confidence)))
    thresholds = np.flatnonzero(is_last)
    if len(thresholds) > MAX_THRESHOLDS:
        spaced = np.linspace(0, len(thresholds) - 1, MAX_THRESHOLDS)
        thresholds = thresholds[spaced.round().astype(np.intp)]
    n_documents = np.cumsum(accepted_before == 0)[thresholds]
    return Losses(
        threshold=confidence[thresholds],
        n_documents=n_documents,
        mean_loss=np.cumsum(loss_change)[thresholds] / n_documents,
        is_binary=np.cumsum(mixed_change)[thresholds] == 0,
        n_accepted=thresholds + 1,
    )


def count_documents_needed(level: float, max_loss: float) -> int:
    """Return how many documents are needed at least to reject `expected loss > max_loss`.

    With exactly this number, the test rejects only if no document has a loss. `level` is the
    significance level of the test.
    """
    return ceil(log(level) / log1p(-max_loss) - _ROUNDING)


def p_values(losses: Losses, max_loss: "float | Floats") -> Floats:
    """Return the p-value of the hypothesis `expected loss > max_loss` for each threshold.

    If all losses are 0 or 1, the p-value is the tail of a binomial distribution. Otherwise it is
    the Hoeffding-Bentkus bound. `max_loss` is in (0, 1).

    Source:
        Bates et al. (2021), Distribution-Free, Risk-Controlling Prediction Sets, section 3.1.
    """
    from scipy.special import bdtr  # the cumulative binomial distribution

    n = losses.n_documents
    total_loss = losses.mean_loss * n
    binomial = bdtr(np.rint(total_loss), n, max_loss)
    bentkus = e * bdtr(np.ceil(total_loss - _ROUNDING), n, max_loss)

    # Hoeffding's bound: exp(-n KL(mean, max_loss)), with the divergence of two Bernoullis.
    mean = np.minimum(losses.mean_loss, max_loss)
    with np.errstate(divide="ignore", invalid="ignore"):
        heads = np.where(mean > 0, mean * np.log(mean / max_loss), 0)
    tails = (1 - mean) * np.log((1 - mean) / (1 - np.asarray(max_loss)))
    hoeffding = np.exp(-n * (heads + tails))
    return np.where(losses.is_binary, binomial, np.minimum(hoeffding, bentkus))


def reject_in_sequence(p: Floats, starts: Indexes, level: float) -> Floats:
    """Return the level at which each hypothesis of a sequence is rejected; 0 if it is not rejected.

    `level` is divided equally among the hypotheses at the positions `starts`; all other hypotheses
    begin with a level of 0. A hypothesis is rejected if its p-value is at most its level. Its level
    is then added to the level of the next hypothesis that is not yet rejected. After the last
    hypothesis, the search for the next one continues with the first. With this procedure, the
    probability that any true hypothesis is rejected is at most `level`.

    Source:
        Bretz et al. (2009), A graphical approach to sequentially rejective multiple tests.
    """
    at_start = np.zeros(len(p))
    at_start[starts] = level / len(starts)
    p_of_hypothesis, levels, rejected_at = p.tolist(), at_start.tolist(), [0.0] * len(p)
    successors = [*range(1, len(p)), 0]
    n_remaining = len(p)
    stack = starts.tolist()[::-1]
    while stack:
        position = stack.pop()
        if rejected_at[position] or p_of_hypothesis[position] > levels[position]:
            continue
        rejected_at[position] = levels[position]
        n_remaining -= 1
        if n_remaining:
            following = successors[position]
            while rejected_at[following]:
                following = successors[following]
            # Remember it, so that later searches skip all that is rejected between the two.
            successors[position] = following
            levels[following] += levels[position]
            stack.append(following)
    return np.array(rejected_at)


def choose_threshold(losses: Losses, max_loss: float, level: float) -> Acceptance | None:
    """Return the lowest threshold whose expected loss is at most `max_loss`; None if there is none.

    Thresholds are tested in sequence, from one or more starting thresholds. Statistical tests can
    err: the expected loss of the returned threshold may be greater than `max_loss`. The probability
    of such an error is at most `level`, over the random choice of the documents. This guarantee
    requires that the starting thresholds do not depend on which values are right. They are
    therefore chosen from the confidences alone.

    Source:
        Angelopoulos et al. (2021), Learn then Test, for testing thresholds in a fixed sequence.
    """
    total = int(losses.n_documents[-1]) if len(losses.n_documents) else 0
    # Start at several positions only if their equal parts of the level suffice to reject.
    n_starts = STARTS if total >= count_documents_needed(level / STARTS, max_loss) else 1
    # No test can reject with fewer documents than needed.
    n_needed = count_documents_needed(level / n_starts, max_loss)
    first = int(np.searchsorted(losses.n_documents, n_needed))
    n_tested = len(losses.n_documents) - first
    if not n_tested:
        return None
    starts = np.unique(n_tested * np.arange(n_starts) // n_starts)
    tested = losses.select(slice(first, None))
    levels = reject_in_sequence(p_values(tested, max_loss), starts, level)
    if not levels.any():
        return None
    lowest = int(np.flatnonzero(levels)[-1])
    chosen = tested.select(slice(lowest, lowest + 1))
    return Acceptance(
        threshold=float(chosen.threshold[0]),
        accepted=int(chosen.n_accepted[0]),
        documents=int(chosen.n_documents[0]),
        error=float(max(chosen.mean_loss[0], 0.0)),
        bound=_bound_loss(chosen, float(levels[lowest]), max_loss),
    )


def _bound_loss(losses: Losses, level: float, max_loss: float) -> float:
    """Return an upper bound of the expected loss at one threshold.

    `losses` has only this threshold. The bound is the lowest limit for which a test at `level`
    rejects the hypothesis `expected loss > limit`. Bisection finds this limit between the mean loss
    and `max_loss`. For `max_loss`, the test must reject the hypothesis.
    """
    low, high = float(max(losses.mean_loss[0], 0.0)), max_loss
    for _ in range(50):
        middle = (low + high) / 2
        if p_values(losses, middle)[0] <= level:
            high = middle
        else:
            low = middle
    return high

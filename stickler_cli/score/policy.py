"""Acceptance policies: values that pass unseen, and outcomes on labelled documents."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from typing import Annotated, Any, Final, Literal, NamedTuple

import numpy as np

from stickler_cli.core.json_values import json_line
from stickler_cli.core.locations import parse_field_path
from stickler_cli.core.rules import Count, Fraction, FractionOrNone, Rule, encoded
from stickler_cli.core.values import dataclass, pattern
from .confidence.confidences import Units
from .evaluation import NO_GROUP, Evaluation, Results

POLICY_FORMAT: Final = "stickler-policy/1"
_POSITION: Final = pattern(r"line \d+")

PASSING: Final = (
    ("pass", "pass: the share of values at or above the confidence in the column from"),
    ("wrong", "wrong: the share of wrong values among those of a document that pass, the mean"),
)
"""What explains a table of values that pass: a column, and a text."""

Share = Annotated[
    float,
    Rule(
        "a number between 0 and 1",
        {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
        fits=lambda it: isinstance(it, int | float) and 0 < it < 1,
    ),
]


@dataclass(frozen=True, slots=True)
class Asked:
    """What a policy promises."""

    max_error: Share
    """The expected share of wrong values among those of a document that pass, at most."""
    assurance: Share
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
    asked: Asked
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


def signed(policy: AcceptancePolicy) -> AcceptancePolicy:
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


def name_of(it: FieldPolicy | FieldOutcome) -> str:
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


class PolicyPart(NamedTuple):
    """The values of a field, or of its part in a group."""

    field: str
    group: str | None
    units: Units
    """Those that have a confidence."""
    values: int
    """How many predictions have, with a confidence or without."""


def policy_parts(results: Evaluation, by: str | None) -> Iterator[PolicyPart]:
    """Yield the fields of each group."""
    groups: Mapping[str | None, Results] = {None: results}
    if by is not None:
        groups = {name: group for name, group in results.by[by].items() if name != NO_GROUP}
    for name, group in sorted(groups.items()):
        for field, units in group.confidences.by_field().items():
            values = group.sums.at(parse_field_path(field)).predicted
            if field and values:  # else it is no field of the schema
                yield PolicyPart(field, name, units, values)


def digest_of(document: str, confidences: object) -> str:
    """Return the digest by which a document is known again: of its id, if it has one."""
    known = document.encode("utf-8", "surrogatepass")
    if _POSITION.fullmatch(document):  # others have such a line too, but hardly such confidences
        known += json_line(confidences)
    return sha256(known).hexdigest()[:16]


def outcome_of(policy: AcceptancePolicy, evaluation: Evaluation) -> PolicyOutcome:
    """Return the outcome of a policy on the documents of an evaluation."""
    known = set(policy.documents)
    overlap = sum(digest_of(*each) in known for each in evaluation.confidences.records())
    parts = {it[:2]: it for it in policy_parts(evaluation, policy.by)}
    outcomes = [_outcome(it, parts.get((it.field, it.group))) for it in policy.fields]
    asked = policy.asked
    return PolicyOutcome(policy.digest, asked.max_error, asked.assurance, overlap, outcomes)


def _outcome(policy: FieldPolicy, part: PolicyPart | None) -> FieldOutcome:
    place = policy.field, policy.group, policy.threshold, part.values if part else 0
    passing = None
    if part is not None and policy.threshold is not None:
        passing = part.units.among(part.units.confidence >= policy.threshold)
    if passing is None or not len(passing.right):
        return FieldOutcome(*place, 0, 0, 0, None)
    _, document = np.unique(passing.document, return_inverse=True)
    count = np.bincount(document)
    wrong = np.bincount(document, ~passing.right)
    error = float((wrong / count).mean())
    return FieldOutcome(*place, len(document), int(wrong.sum()), len(count), error)

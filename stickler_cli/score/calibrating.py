"""Labelled documents made into a policy, and a policy held against labelled documents."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from hashlib import sha256
from typing import Final, TypeAlias

import numpy as np

from stickler_cli import __version__
from stickler_cli.core.json_values import json_line
from stickler_cli.core.locations import field_path, parse_field_path
from stickler_cli.core.option import part_of
from stickler_cli.core.problems import Problem, UsageError
from stickler_cli.settings.deciding import DecidingOptions
from .accepting import accept, losses, needed
from .confident import Units
from .evaluation import Evaluation
from .policy import (
    POLICY_FORMAT,
    AcceptancePolicy,
    Asked,
    FieldOutcome,
    FieldPolicy,
    PolicyOutcome,
    PolicyPlace,
    signed,
)
from .record import Run
from .results import NO_GROUP, Results
from .tally import predicted

_MOST_POINTS: Final = 60  # of a curve
_POSITION: Final = re.compile(r"line \d+")

Part: TypeAlias = tuple[str, str | None, Units, int]
"""A field, the group, its values that have a confidence, and how many values it has."""


def calibrate(run: Run, asked: Asked, by: str | None = None) -> AcceptancePolicy:
    """Return the policy that the labelled documents of a run allow.

    Raises:
        UsageError: no prediction has a confidence, or there are too few documents.
    """
    evaluation = run.evaluation
    parts = [*_parts(evaluation, by)]
    least = needed(1 - asked.assurance, asked.max_error)
    if not parts:
        hint = "--wrapped says in which form they are, --confidence where they are"
        raise UsageError([Problem("", "no prediction has a confidence", "confidences", hint)])
    most = max(len(np.unique(units.document)) for _, _, units, _ in parts)
    if most < least:
        found = f"the documents with confidences are {most}"
        expected = f"at least {least}, for a share of {asked.max_error:g} at {asked.assurance:g}"
        hint = "a greater --max-error or a lower --assurance needs fewer"
        raise UsageError([Problem("", found, expected, hint)])
    level = (1 - asked.assurance) / (len(parts) if asked.together else 1)
    fields = [_policy(part, level, asked) for part in parts]
    return signed(
        AcceptancePolicy(
            format=POLICY_FORMAT,
            version=__version__,
            semantics=evaluation.semantics,
            schema=run.schema.digest,
            inferred=run.schema.inferred,
            places=[PolicyPlace(field_path(info.path), info.kind) for info in run.fields],
            options=asdict(part_of(run.options, DecidingOptions)),
            asked=asked,
            by=by,
            fields=fields,
            documents=sorted(digest_of(*each) for each in evaluation.confidences.records()),
            digest="",
        )
    )


def _parts(results: Evaluation, by: str | None) -> Iterator[Part]:
    """Yield each field of each group, its units, and how many values predictions have."""
    groups: Mapping[str | None, Results] = {None: results}
    if by is not None:
        groups = {name: group for name, group in results.by[by].items() if name != NO_GROUP}
    for name, group in sorted(groups.items()):
        for field, units in group.confidences.by_field().items():
            values = predicted(group.tally, parse_field_path(field))
            if field and values:  # else it is no field of the schema
                yield field, name, units, values


def _policy(part: Part, level: float, asked: Asked) -> FieldPolicy:
    field, group, units, values = part
    tried = losses(units.document, units.confidence, units.right)
    found = accept(tried, asked.max_error, level)
    evidence: tuple[float | None, float, float | None, float | None] = None, 0.0, None, None
    if found is not None:
        evidence = found.threshold, found.accepted / values, found.error, found.bound
    few = np.linspace(0, len(tried.mean) - 1, min(_MOST_POINTS, len(tried.mean))).astype(np.intp)
    curve = np.stack([tried.accepted[few] / values, np.maximum(tried.mean[few], 0)], axis=1)
    documents, least = len(np.unique(units.document)), needed(level, asked.max_error)
    return FieldPolicy(field, group, values, documents, *evidence, least, curve.tolist())


def digest_of(document: str, confidences: object) -> str:
    """Return the digest by which a document is known again: of its id, if it has one."""
    known = document.encode("utf-8", "surrogatepass")
    if _POSITION.fullmatch(document):  # others have such a line too, but hardly such confidences
        known += json_line(confidences)
    return sha256(known).hexdigest()[:16]


def outcome_of(policy: AcceptancePolicy, evaluation: Evaluation) -> PolicyOutcome:
    """Return what a policy comes to on the documents of an evaluation."""
    known = set(policy.documents)
    overlap = sum(digest_of(*each) in known for each in evaluation.confidences.records())
    parts = {(field, group): (units, n) for field, group, units, n in _parts(evaluation, policy.by)}
    outcomes = [_outcome(it, *parts.get((it.field, it.group), (None, 0))) for it in policy.fields]
    asked = policy.asked
    return PolicyOutcome(policy.digest, asked.max_error, asked.assurance, overlap, outcomes)


def _outcome(policy: FieldPolicy, units: Units | None, values: int) -> FieldOutcome:
    place = policy.field, policy.group, policy.threshold, values
    passing = None
    if units is not None and policy.threshold is not None:
        passing = units.among(units.confidence >= policy.threshold)
    if passing is None or not len(passing.right):
        return FieldOutcome(*place, 0, 0, 0, None)
    _, document = np.unique(passing.document, return_inverse=True)
    count = np.bincount(document)
    wrong = np.bincount(document, ~passing.right)
    error = float((wrong / count).mean())
    return FieldOutcome(*place, len(document), int(wrong.sum()), len(count), error)

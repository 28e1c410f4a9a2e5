"""Confidences from which values may pass: a policy made of labelled documents."""

from dataclasses import asdict
from typing import Final

import numpy as np

from stickler_cli import __version__
from stickler_cli.core.locations import field_path
from stickler_cli.core.option import part_of
from stickler_cli.core.problems import Problem, UsageError
from stickler_cli.runs.job import DIRECTORY, MARK, OutputsRequested
from stickler_cli.score.confidence.selective_prediction import accept, losses, needed
from stickler_cli.score.policy import (
    POLICY_FORMAT,
    AcceptancePolicy,
    Asked,
    FieldPolicy,
    PolicyPart,
    PolicyPlace,
    digest_of,
    policy_parts,
    signed,
)
from stickler_cli.score.record import Run
from stickler_cli.settings.deciding import DecidingOptions
from stickler_cli.settings.of_commands import as_of_eval
from stickler_cli.studies.answering import Answer, Desk
from .question import AcceptSettings
from .routing import applied
from .sections import report_of

_MOST_POINTS: Final = 60  # of a curve


def answer(settings: AcceptSettings, desk: Desk) -> Answer:
    """Make a policy of labelled documents, or apply one to predictions."""
    for key in settings.by:
        if not key.startswith(MARK):
            expected = f"{DIRECTORY} or {MARK}COLUMN of the --by-file: known without ground truth"
            raise UsageError([Problem(f"--by {key}", "it is a field of documents", expected)])
    if len(settings.by) > 1:
        raise UsageError([Problem("--by", f"there are {len(settings.by)}", "one at most")])
    if settings.apply:
        return applied(settings.apply, settings, desk)
    if not settings.gt:
        expected, hint = "stickler accept [SCHEMA] GT PRED", "or --apply POLICY PRED"
        raise UsageError([Problem("", "GT missing", expected, hint)])
    if settings.format != "json" and not any(it.endswith(".json") for it in settings.output):
        raise UsageError(
            [Problem("--output", "no policy is written", "a file for it: -o policy.json")]
        )
    run = desk.run(as_of_eval(settings, ci="none"), OutputsRequested())
    asked = Asked(settings.max_error, settings.assurance, settings.together)
    return Answer(report_of(calibrate(run, asked, *settings.by)))


def calibrate(run: Run, asked: Asked, by: str | None = None) -> AcceptancePolicy:
    """Return the policy that the labelled documents of a run allow.

    Raises:
        UsageError: no prediction has a confidence, or there are too few documents.
    """
    evaluation = run.evaluation
    parts = [*policy_parts(evaluation, by)]
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
            places=[PolicyPlace(field_path(info.field), info.kind) for info in run.fields],
            options=asdict(part_of(run.options, DecidingOptions)),
            asked=asked,
            by=by,
            fields=fields,
            documents=sorted(digest_of(*each) for each in evaluation.confidences.records()),
            digest="",
        )
    )


def _policy(part: PolicyPart, level: float, asked: Asked) -> FieldPolicy:
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

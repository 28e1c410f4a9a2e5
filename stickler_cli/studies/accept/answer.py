"""Confidences from which values may pass: a policy made of labelled documents."""

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from stickler_cli import __version__
from stickler_cli.compare.result import SEMANTICS
from stickler_cli.core.figures import rate
from stickler_cli.core.json_values import (
    OBJECTS,
    JsonObject,
    JsonValue,
    is_absent,
    json_line,
    least,
)
from stickler_cli.core.locations import Path, field_path, parse_field_path
from stickler_cli.core.option import options_record, part_of
from stickler_cli.core.problems import Problem, UsageError
from stickler_cli.core.sections import Curve, Curves, Figure, Figures, Report, Section, Text
from stickler_cli.documents.document import Reference
from stickler_cli.documents.document_pair import Shape, shape_of
from stickler_cli.documents.pairs import open_documents
from stickler_cli.documents.wrappers import Names, Unwrapped, Unwrapper
from stickler_cli.runs.job import (
    DIRECTORY,
    MARK,
    Grouping,
    OutputsRequested,
    group_of_id,
    parse_groupings,
    unwrapper_of,
)
from stickler_cli.runs.process import room_for_depth
from stickler_cli.runs.saved import load_policy
from stickler_cli.score.policy import (
    PASSING,
    POLICY_FORMAT,
    AcceptancePolicy,
    Asked,
    FieldPolicy,
    PolicyPart,
    PolicyPlace,
    accept,
    digest_of,
    losses,
    name_of,
    needed,
    policy_parts,
    signed,
)
from stickler_cli.score.record import Run, Verdict
from stickler_cli.settings.deciding import DecidingOptions
from stickler_cli.settings.of_commands import as_of_eval
from stickler_cli.studies.answering import Answer, Desk
from .question import AcceptSettings


def report_of(policy: AcceptancePolicy) -> Report:
    """Return a policy as a report."""
    grouped = Figure(f"by {policy.by}", "group", str, shown=lambda it: it.group or "")
    figures = [
        Figure("field", "field", str),
        *([grouped] if policy.by is not None else []),
        Figure("values", "values", int, 5),
        Figure("documents", "documents", int, 4),
        Figure("from", "threshold", rank=1),
        Figure("pass", "accepted", tone="title"),
        Figure("wrong", "error", rank=2),
        Figure("bound", "bound", rank=3),
    ]
    table = Figures(figures, policy.fields, PASSING)
    title = "error as ever less confident values pass"
    curves = Curves(title, [*map(_curve, policy.fields)], policy.asked.max_error)
    nothing = [
        Text(f"{name_of(it)}: {_outcome_of(it)}") for it in policy.fields if it.threshold is None
    ]
    promise = Text(_promise_of(policy))
    if len(nothing) == len(policy.fields):
        told = "nothing may pass: confident values are wrong too often, or too few are sure enough"
        return Report(policy, [Section("", [promise, Text(told)])], table)
    return Report(policy, [Section("", [promise, table, curves, *nothing])], table)


def _curve(it: FieldPolicy) -> Curve:
    end = None if it.error is None or it.bound is None else (it.error, it.bound)
    return Curve(name_of(it), _outcome_of(it), it.curve, it.accepted, end)


def _promise_of(policy: AcceptancePolicy) -> str:
    """Return the promise of a policy in words."""
    asked, documents = policy.asked, len(policy.documents)
    each = "all fields at once" if asked.together else "each field by itself"
    return (
        f"at most {asked.max_error:g} of the values that pass are wrong, in the mean over "
        f"documents: {asked.assurance:g} sure for {each}, from {documents} labelled documents"
    )


def _outcome_of(it: FieldPolicy) -> str:
    """Return in words which values of a field pass."""
    if it.threshold is None:
        return f"nothing may pass; {_reason(it)}"
    share, error, bound = rate(it.accepted), rate(it.error), rate(it.bound)
    return f"from {rate(it.threshold)} on: {share} of values pass, {error} wrong, {bound} at most"


def _reason(it: FieldPolicy) -> str:
    if it.documents < it.needed:
        return f"it takes {it.needed} documents with values, all right; there are {it.documents}"
    return "confident values are wrong too often, or too few are sure to be right"


_LEAF: Final = "leaf"


def applied(name: str, settings: AcceptSettings, desk: Desk) -> Answer:
    """Write for each prediction which of its values pass by a policy."""
    if settings.pairs is not None:
        raise UsageError([Problem("--pairs", "a policy is applied to predictions", "PRED")])
    policy = load_policy(name)
    if [*settings.by] != [*filter(None, [policy.by])]:
        asked = f"--by {policy.by}" if policy.by else "no --by"
        raise UsageError([Problem(name, f"the policy was made with {asked}", "the same here")])
    names = Names.of(parse_field_path(place.field) for place in policy.places)
    kinds = ("array",) if any(not it.field for it in policy.places) else OBJECTS
    router = _Router(
        policy,
        unwrapper_of(names, settings),
        shape_of(settings, kinds),
        parse_groupings(settings.by, settings.by_file),
    )
    documents = open_documents(settings.pred, settings, "pred")
    unusable = 0

    def lines() -> Iterator[bytes]:
        nonlocal unusable
        for document, reference in documents.refs():
            line = router.line(document, reference)
            unusable += "problem" in line
            yield json_line(line)

    desk.write(lines(), ("document", "pass", "review", "problem"))
    notes = [*map(str, documents.problems)]
    if not unusable:
        return Answer(None, why=notes)
    why = f"{unusable} predictions cannot be used: they go to review as a whole"
    return Answer(None, Verdict.INCOMPLETE, [*notes, why])


class _Router:
    """Routes values of predictions by a policy."""

    def __init__(
        self,
        policy: AcceptancePolicy,
        unwrapper: Unwrapper | None,
        shape: Shape,
        groupings: Sequence[Grouping],
    ) -> None:
        self._thresholds = {
            (parse_field_path(it.field), it.group): it.threshold
            for it in policy.fields
            if it.threshold is not None
        }
        self._whole = {parse_field_path(it.field) for it in policy.places if it.kind == _LEAF}
        self._unwrapper, self._shape, self._groupings = unwrapper, shape, groupings

    def line(self, document: str, reference: Reference) -> JsonObject:
        """Return where the values of a prediction go; never raises for what is in it."""
        try:
            with room_for_depth():
                value = self._shape.read(reference, "pred").value
                if value is not None and not isinstance(value, Problem):
                    return self._of(document, value)
                problem = value or Problem(document, "there is no prediction")
        except RecursionError:
            problem = Problem(document, "the document is nested too deeply")
        return {"document": document, "problem": str(problem), "pass": [], "review": []}

    def _of(self, document: str, value: JsonValue) -> JsonObject:
        group = group_of_id(document, self._groupings[0]) if self._groupings else None
        bare = self._unwrapper(value) if self._unwrapper else Unwrapped(value)
        passing, review = list[JsonValue](), list[JsonValue]()
        for field, path, confidence in self._leaves(bare.value, bare.confidences, (), ()):
            threshold = self._thresholds.get((field, group))
            passes = threshold is not None and confidence is not None and confidence >= threshold
            (passing if passes else review).append(field_path(path))
        return {"document": document, "pass": passing, "review": review}

    def _leaves(
        self, value: JsonValue, known: JsonValue, field: Path, path: Path
    ) -> Iterator[tuple[Path, Path, float | None]]:
        """Yield field, path and confidence of each value that is compared as one."""
        if is_absent(value):
            return
        if isinstance(value, dict) and field not in self._whole:
            for name, part in value.items():
                inside = known.get(name) if isinstance(known, dict) else None
                yield from self._leaves(part, inside, (*field, name), (*path, name))
        elif isinstance(value, list) and field not in self._whole:
            for at, part in enumerate(value):
                inside = known[at] if isinstance(known, list) else None
                yield from self._leaves(part, inside, field, (*path, at))
        else:
            yield field, path, least(known)


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
            semantics=SEMANTICS,
            schema=run.schema.digest,
            inferred=run.schema.inferred,
            places=[PolicyPlace(field_path(info.field), info.kind) for info in run.fields],
            options=options_record(part_of(run.options, DecidingOptions)),
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

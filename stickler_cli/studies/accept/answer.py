"""Find confidence thresholds above which values can skip human review, and apply them."""

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from stickler_cli import __version__
from stickler_cli.compare.result import SEMANTICS
from stickler_cli.core.figures import number_of, rate
from stickler_cli.core.json_values import (
    OBJECTS,
    JsonObject,
    JsonValue,
    is_absent,
    json_line,
    least,
)
from stickler_cli.core.locations import Path, field_path, parse_field_path
from stickler_cli.core.option import options_record, select_settings
from stickler_cli.core.problems import Problem, UsageError
from stickler_cli.core.sections import Curve, Curves, FigureColumn, Figures, Report, Section, Text
from stickler_cli.documents.document import Reference
from stickler_cli.documents.document_pair import PairShape, shape_of
from stickler_cli.documents.pairs import open_documents
from stickler_cli.documents.wrappers import FieldNameTree, Unwrapped, Unwrapper
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
    FieldPolicy,
    PolicyField,
    PolicyPlace,
    Promise,
    choose_threshold,
    count_documents_needed,
    document_digest,
    field_label,
    losses_by_threshold,
    policy_fields,
    sign_policy,
)
from stickler_cli.score.record import Run, RunVerdict
from stickler_cli.settings.deciding import DecidingOptions
from stickler_cli.settings.of_commands import as_of_eval
from stickler_cli.studies.answering import Desk, StudyAnswer
from .question import AcceptSettings


def make_report(policy: AcceptancePolicy) -> Report:
    """Return the report of an acceptance policy: its promise, and the threshold of each field."""
    grouped = FigureColumn(f"by {policy.by}", "group", str, shown=lambda field: field.group or "")
    figures = [
        FigureColumn("field", "field", str),
        *([grouped] if policy.by is not None else []),
        FigureColumn(title="values", value="values", kind=int, rank=5),
        FigureColumn(title="documents", value="documents", kind=int, rank=4),
        FigureColumn("threshold", "threshold", rank=1),
        FigureColumn("accepted", "accepted", tone="title"),
        FigureColumn("wrong", "error", rank=2),
        FigureColumn("upper bound", "bound", rank=3),
    ]
    bound_text = (
        f"upper bound: with probability {policy.asked.assurance:.4g}, the share of wrong values "
        "in similar documents is at most this number"
    )
    table = Figures(figures, policy.fields, (*PASSING, ("upper bound", bound_text)))
    title = (
        "share of wrong values among the accepted values; from left to right, more and more values "
        "are accepted, in the order of their confidence, highest first"
    )
    curves = Curves(title, [*map(_make_curve, policy.fields)], policy.asked.max_error)
    fields_without_threshold = [
        Text(f"{field_label(field)}: {_outcome_sentence(field)}")
        for field in policy.fields
        if field.threshold is None
    ]
    promise = Text(_promise_sentence(policy))
    if len(fields_without_threshold) == len(policy.fields):
        reason = (
            "no value can skip review, because too many confident values are wrong, or there are "
            "too few confident values"
        )
        return Report(policy, [Section("", [promise, Text(reason)])], table)
    section = Section("", [promise, table, curves, *fields_without_threshold])
    return Report(policy, [section], table)


def _make_curve(field: FieldPolicy) -> Curve:
    """Return the curve of a field.

    It shows how the error rate grows as more values are accepted.
    """
    end = None
    if field.error is not None and field.bound is not None:
        end = (field.error, field.bound)
    return Curve(
        name=field_label(field),
        description=_outcome_sentence(field),
        points=field.curve,
        passing=field.accepted,
        end=end,
    )


def _promise_sentence(policy: AcceptancePolicy) -> str:
    """Return a sentence on what a policy promises: how many accepted values are wrong at most."""
    requirement, n_documents = policy.asked, len(policy.documents)
    event = (
        "every field stays within this limit"
        if requirement.together
        else "a field stays within this limit"
    )
    return (
        f"limit for each field: at most {100 * requirement.max_error:.4g}% of its accepted values "
        "are wrong, as an average over documents; "
        f"probability that {event}: at least {requirement.assurance:.4g}; "
        f"based on {number_of(n_documents, 'labelled document')}"
    )


def _outcome_sentence(field: FieldPolicy) -> str:
    """Return a sentence that says which values of a field are accepted without review."""
    if field.threshold is None:
        return f"no value can skip review, because {_reason_clause(field)}"
    share, error, bound = rate(field.accepted), rate(field.error), rate(field.bound)
    return (
        f"at a confidence of {rate(field.threshold)} or more: {share} of values are "
        f"accepted, {error} of these are wrong (upper bound {bound})"
    )


def _reason_clause(field: FieldPolicy) -> str:
    """Say why no value of a field can skip review, as part of a sentence."""
    if field.documents < field.needed:
        needed_documents = (
            f"at least {field.needed} documents with values are needed, even if all values "
            "are right"
        )
        return f"{needed_documents}, but there are only {field.documents}"
    return "too many confident values are wrong, or there are too few confident values"


_LEAF: Final = "leaf"


def apply_policy(file: str, settings: AcceptSettings, desk: Desk) -> StudyAnswer:
    """Apply the policy in `file` to predictions.

    For each prediction, write a line that lists the values that pass and the values to review.
    """
    if settings.pairs is not None:
        raise UsageError(
            [
                Problem(
                    "--pairs",
                    (
                        "--pairs gives ground truth and predictions, but a policy is applied "
                        "to predictions alone"
                    ),
                    "PRED",
                )
            ]
        )
    policy = load_policy(file)
    if [*settings.by] != [*filter(None, [policy.by])]:
        option = f"with --by {policy.by}" if policy.by else "without --by"
        raise UsageError([Problem(file, f"the policy was made {option}", "the same option here")])
    names = FieldNameTree.from_paths(parse_field_path(place.field) for place in policy.places)
    has_root = any(not place.field for place in policy.places)
    kinds = ("array",) if has_root else OBJECTS
    router = _Router(
        policy,
        unwrapper=unwrapper_of(names, settings),
        shape=shape_of(settings, kinds),
        groupings=parse_groupings(settings.by, settings.by_file),
    )
    documents = open_documents(settings.pred, settings, "pred")
    n_unusable = 0

    def route_documents() -> Iterator[bytes]:
        nonlocal n_unusable
        for document, reference in documents.refs():
            line = router.route_document(document, reference)
            n_unusable += "problem" in line
            yield json_line(line)

    desk.write(route_documents(), ("document", "pass", "review", "problem"))
    notes = [*map(str, documents.problems)]
    if not n_unusable:
        return StudyAnswer(None, why=notes)
    predictions = number_of(n_unusable, "prediction")
    message = f"{predictions} cannot be used, so all their values go to review"
    return StudyAnswer(None, RunVerdict.INCOMPLETE, [*notes, message])


class _Router:
    """Applies a policy to predictions: decides which values pass and which need review."""

    def __init__(
        self,
        policy: AcceptancePolicy,
        unwrapper: Unwrapper | None,
        shape: PairShape,
        groupings: Sequence[Grouping],
    ) -> None:
        self._thresholds = {
            (parse_field_path(field.field), field.group): field.threshold
            for field in policy.fields
            if field.threshold is not None
        }
        self._leaf_fields = {
            parse_field_path(place.field) for place in policy.places if place.kind == _LEAF
        }
        self._unwrapper, self._shape, self._groupings = unwrapper, shape, groupings

    def route_document(self, document: str, reference: Reference) -> JsonObject:
        """Return the output line of a prediction.

        It lists the paths of values that pass or need review.

        If the prediction is unreadable or missing, both lists are empty, and the line has the
        problem.
        """
        try:
            with room_for_depth():
                value = self._shape.read_side(reference, "pred").value
                if value is not None and not isinstance(value, Problem):
                    return self._route_values(document, value)
                problem = value or Problem(document, "there is no prediction")
        except RecursionError:
            problem = Problem(document, "the document is nested too deeply")
        return {"document": document, "problem": str(problem), "pass": [], "review": []}

    def _route_values(self, document: str, value: JsonValue) -> JsonObject:
        """Return the output line of a readable prediction: the paths that pass and need review."""
        group = group_of_id(document, self._groupings[0]) if self._groupings else None
        unwrapped = self._unwrapper(value) if self._unwrapper else Unwrapped(value)
        passing, review = list[JsonValue](), list[JsonValue]()
        for field, path, confidence in self._list_leaves(
            unwrapped.value, unwrapped.confidences, (), ()
        ):
            threshold = self._thresholds.get((field, group))
            passes = threshold is not None and confidence is not None and confidence >= threshold
            (passing if passes else review).append(field_path(path))
        return {"document": document, "pass": passing, "review": review}

    def _list_leaves(
        self, value: JsonValue, confidences: JsonValue, field: Path, path: Path
    ) -> Iterator[tuple[Path, Path, float | None]]:
        """Yield (field path, path with list indexes, confidence) for each leaf value.

        A leaf is a value that is compared as a whole. The confidence is None if the value has none.
        """
        if is_absent(value):
            return
        is_leaf = field in self._leaf_fields
        if isinstance(value, dict) and not is_leaf:
            for name, child in value.items():
                stated = confidences.get(name) if isinstance(confidences, dict) else None
                yield from self._list_leaves(child, stated, (*field, name), (*path, name))
        elif isinstance(value, list) and not is_leaf:
            for index, child in enumerate(value):
                stated = confidences[index] if isinstance(confidences, list) else None
                yield from self._list_leaves(child, stated, field, (*path, index))
        else:
            yield field, path, least(confidences)


_MAX_POINTS: Final = 60  # points that a curve keeps


def answer(settings: AcceptSettings, desk: Desk) -> StudyAnswer:
    """Make a policy from labelled documents, or apply an existing policy to predictions."""
    for key in settings.by:
        if not key.startswith(MARK):
            expected = (
                f"{DIRECTORY} or {MARK}COLUMN of the --by-file, because predictions to be "
                "accepted have no ground truth"
            )
            raise UsageError(
                [Problem(f"--by {key}", "this key is a field of the ground truth", expected)]
            )
    if len(settings.by) > 1:
        finding = f"the option is given {len(settings.by)} times"
        raise UsageError([Problem("--by", finding, "at most one key")])
    if settings.apply:
        return apply_policy(settings.apply, settings, desk)
    if not settings.gt:
        expected, hint = "stickler accept [SCHEMA] GT PRED -o policy.json", "or --apply POLICY PRED"
        raise UsageError([Problem(source="", found="GT is missing", expected=expected, hint=hint)])
    if settings.format != "json" and not any(file.endswith(".json") for file in settings.output):
        raise UsageError(
            [
                Problem(
                    "--output",
                    "the policy would not be saved anywhere",
                    "a .json file for the policy, such as -o policy.json",
                )
            ]
        )
    run = desk.run(as_of_eval(settings, ci="none"), OutputsRequested(repeats=True))
    requirement = Promise(settings.max_error, settings.assurance, settings.together)
    return StudyAnswer(make_report(calibrate(run, requirement, *settings.by)))


def calibrate(run: Run, requirement: Promise, by: str | None = None) -> AcceptancePolicy:
    """Return the policy that meets a requirement on the labelled documents of a run.

    Raises:
        UsageError: no prediction has a confidence, or too few documents have one.
    """
    evaluation = run.evaluation
    fields_and_groups = [*policy_fields(evaluation, by)]
    min_documents = count_documents_needed(1 - requirement.assurance, requirement.max_error)
    if not fields_and_groups:
        hint = (
            "if the predictions contain confidences, name their keys with --wrapped "
            "VALUE_KEY:CONFIDENCE_KEY; if another file or directory contains them, name it with "
            "--confidence"
        )
        raise UsageError(
            [
                Problem(
                    source="",
                    found="no prediction has a confidence",
                    expected="predictions with confidences",
                    hint=hint,
                )
            ]
        )
    n_documents = max(len(np.unique(units.document)) for _, _, units, _ in fields_and_groups)
    if n_documents < min_documents:
        finding = f"only {n_documents} documents have confidences"
        promise = f"--max-error {requirement.max_error:g} and --assurance {requirement.assurance:g}"
        expected = f"at least {min_documents} for {promise}"
        hint = "fewer documents are enough with a greater --max-error or a lower --assurance"
        raise UsageError([Problem(source="", found=finding, expected=expected, hint=hint)])
    n_promises = len(fields_and_groups) if requirement.together else 1
    level = (1 - requirement.assurance) / n_promises
    fields = [_calibrate_field(entry, level, requirement) for entry in fields_and_groups]
    return sign_policy(
        AcceptancePolicy(
            format=POLICY_FORMAT,
            version=__version__,
            semantics=SEMANTICS,
            schema=run.schema.digest,
            inferred=run.schema.inferred,
            places=[PolicyPlace(field_path(info.field), info.kind) for info in run.fields],
            options=options_record(select_settings(run.options, DecidingOptions)),
            asked=requirement,
            by=by,
            fields=fields,
            documents=sorted(document_digest(*entry) for entry in evaluation.confidences.records()),
            digest="",
        )
    )


def _calibrate_field(entry: PolicyField, level: float, requirement: Promise) -> FieldPolicy:
    """Choose the confidence threshold of one field in one group of documents.

    `level` is the probability with which the promise may be broken. Returns the threshold and its
    figures.
    """
    field, group, units, n_values = entry
    error_curve = losses_by_threshold(units.document, units.confidence, units.is_right)
    accepted = choose_threshold(error_curve, requirement.max_error, level)
    n_points = len(error_curve.mean_loss)
    points = np.linspace(0, n_points - 1, min(_MAX_POINTS, n_points)).astype(np.intp)
    curve = np.stack(
        [error_curve.n_accepted[points] / n_values, np.maximum(error_curve.mean_loss[points], 0)],
        axis=1,
    )
    return FieldPolicy(
        field=field,
        group=group,
        values=n_values,
        documents=len(np.unique(units.document)),
        threshold=None if accepted is None else accepted.threshold,
        accepted=0.0 if accepted is None else accepted.accepted / n_values,
        error=None if accepted is None else accepted.error,
        bound=None if accepted is None else accepted.bound,
        needed=count_documents_needed(level, requirement.max_error),
        curve=curve.tolist(),
    )

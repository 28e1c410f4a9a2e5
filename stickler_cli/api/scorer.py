"""`Scorer` compiles a schema once, to score many predictions."""

from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import cached_property, lru_cache
from typing import Any, Final, TypeAlias, cast

from pydantic import BaseModel
from pydantic_core import to_jsonable_python

from stickler_cli.compare.engine import rename_keys
from stickler_cli.compare.field_listing import field_listing, known_paths
from stickler_cli.compare.plan import Options
from stickler_cli.compare.result import TP
from stickler_cli.compare.units import FieldNames
from stickler_cli.core.figures import number_of
from stickler_cli.core.json_values import (
    Gold,
    JsonDocument,
    describe_python_type,
    json_line,
    kind_of,
)
from stickler_cli.core.locations import ANY_KEY, Path, field_path
from stickler_cli.core.problems import (
    ComparisonError,
    Problem,
    UsageError,
    WorkLimitError,
    did_you_mean,
)
from stickler_cli.documents.document import read_plain, read_text
from stickler_cli.documents.reading import expected_of, parse_document
from stickler_cli.documents.wrappers import PlaceWithFields, Unwrapped, Unwrapper, has_any_of
from stickler_cli.reports.feedback import BUDGET, REVEALS, Reveal, Teller
from stickler_cli.schema.inference.observation import FIRST, Observed
from stickler_cli.schema.loading import LoadedSchema
from stickler_cli.score.batch import Batch
from stickler_cli.score.blocks import Blocks
from stickler_cli.score.document_result import DocumentResult, Status
from stickler_cli.score.errors.error_rows import Error
from stickler_cli.score.evaluation import Conditions
from stickler_cli.score.field_counts import LEAVES
from stickler_cli.score.gates import (
    OF,
    Aim,
    check_paths,
    document_rewards,
    field_rewards,
    has_no_error,
    omit_added_limit,
    parse_aim,
)
from stickler_cli.score.intervals import IntervalSettings
from stickler_cli.score.ledger import Ledger
from stickler_cli.settings.deciding import DecidingOptions
from .eval_result import EvalResult, choices_table, compared, pair_of
from .evaluation_views import Evaluation
from .fields import json_of, values_of
from .ruled import ADVICE, AnySchema, FieldRules, Ruled, ruled

DocumentLike: TypeAlias = BaseModel | Mapping[str, Any] | list[Any]
"""A document: a model instance, or JSON values; a list if the schema is for arrays."""

MAX_SCORERS: Final = 64
"""Maximum number of cached scorers. Different ground truths can lead to different inferred rules,
and each set of rules needs its own scorer."""
# How problems name texts, which are in no file.
_ANSWER: Final = "the answer of the model"
_TRUTH: Final = "the ground truth"


class Scorer:
    """Scores predictions by a schema, which is compiled only once.

    A scorer can be pickled, and several threads can use it at once.
    """

    def __init__(  # noqa: PLR0913 - a keyword for each option
        self,
        schema: AnySchema | LoadedSchema | Ruled,
        *documents: object,
        fields: Mapping[str, FieldRules] | None = None,
        of: str = "f1",
        reveal: Reveal = "all",
        budget: int = BUDGET,
        options: Options | None = None,
    ) -> None:
        """Compile a schema.

        Args:
            schema: a pydantic class, a JSON Schema or the file of one.
            documents: must be empty. It exists only for an error message; to compare two documents,
                call `evaluate`.
            fields: rules for single fields, in the form that `evaluate` takes.
            of: the figure to use as the score: `f1`, `overall_score`, or any figure that a gate may
                name, such as `items.price.recall`. With a limit, as in `f1>=0.9`, `passed` says
                whether the score reaches the limit.
            reveal: how much the feedback tells about the ground truth. `all` reveals every value;
                `shape` only the kinds of values and how predictions differ; `none` only the names
                of wrong fields.
            budget: maximum length of feedback in characters.
            options: options of the comparison.

        Raises:
            TypeError: `schema` is not a schema, or `documents` is not empty.
            SchemaError: the schema cannot be used.
            UsageError: there is no such field, rule or figure.
        """
        _check(documents, reveal, budget)
        self.plan, self.inferred, self.name = (
            schema if isinstance(schema, Ruled) else ruled(schema, fields or {})
        )
        is_stated = any(field.source == "annotation" for field in self.inferred)
        # A field without a description is known only after values have been seen.
        is_open = not is_stated and any(not field.comparator for field in self.inferred)
        is_inferred = is_open or any(field.source == "inferred" for field in self.inferred)
        self._source: tuple[AnySchema, Mapping[str, FieldRules]] | None = None
        if is_inferred and not isinstance(schema, Ruled | LoadedSchema):
            self._source = schema, fields or {}
        self.aim = _read_aim(of, known_paths(self.plan))
        self.reveal, self.budget, self.options = reveal, budget, options

    @cached_property
    def _lists_values(self) -> bool:
        """Whether a list in a ground truth can be a list of alternative right values."""
        return has_any_of(self.plan.root)

    @cached_property
    def _by_values(self) -> dict[Hashable, "Scorer"]:
        """Cached scorers. Each key summarizes the ground-truth values used for inference."""
        return {}

    def _seeing(self, truths: Sequence[JsonDocument]) -> "Scorer":
        """Return a scorer whose rules are inferred from these ground truths.

        `stickler eval` infers rules in the same way.

        If the schema needs no inference, return this scorer.
        """
        if self._source is None:
            return self
        seen = self._observe(truths[:FIRST])
        key = seen.summary()
        scorer = self._by_values.pop(key, None)
        if scorer is None:
            scorer = copy(self)
            scorer.__dict__ = {**self.__getstate__(), "_source": None}
            scorer.plan, scorer.inferred, scorer.name = ruled(*self._source, seen)
        self._by_values[key] = scorer  # the newest entry is last
        for oldest in [*self._by_values][:-MAX_SCORERS]:
            self._by_values.pop(oldest, None)
        return scorer

    def __call__(self, gt: object, pred: object) -> "Scored":
        """Score one prediction, as `score` does."""
        return self.score(gt, pred)

    def __repr__(self) -> str:
        fields, of = number_of(len(self.fields), "field"), self.aim.gate.text
        return f"{type(self).__name__}({self.name!r}, {fields}, of={of!r})"

    def score(self, gt: object, pred: object) -> "Scored":
        """Score one prediction; see `score_batch`."""
        (scored,) = self.score_batch([gt], [pred])
        return scored

    def score_batch(self, gts: Iterable[object], preds: Iterable[object]) -> list["Scored"]:
        """Score many predictions in one batch, which is faster than one by one.

        Args:
            gts: the ground truths: instances, JSON values, or JSON text.
            preds: the predictions in any form. In text, JSON is found inside code fences, prose and
                lists with one element. If a prediction contains no document, its score is 0 and it
                has a problem.

        Raises:
            TypeError: a ground truth is not a document.
            ValueError: the numbers of ground truths and predictions differ.
        """
        truths = [self._truth(gt) for gt in gts]
        answers = [self._answer(pred) for pred in preds]
        if len(truths) != len(answers):
            raise ValueError(
                f"there are {len(truths)} ground truths but {len(answers)} predictions"
            )
        readable = [row for row, answer in enumerate(answers) if not isinstance(answer, Problem)]
        scorer = self._seeing(truths)
        scored = scorer._scored(truths, answers, readable)  # noqa: SLF001 - its own class
        return [
            Scored(0.0, scorer, passed=False, problem=str(answer))
            if isinstance(answer, Problem)
            else next(scored)
            for answer in answers
        ]

    def feedback(self, scored: Iterable["Scored"]) -> str:
        """Describe what caused the errors in several documents, as feedback in words."""
        judgements = [*scored]
        errors = [judgement.errors for judgement in judgements if not judgement.problem]
        return self.teller.describe_documents(errors, len(judgements) - len(errors))

    def evaluate(self, gt: DocumentLike, pred: DocumentLike) -> EvalResult:
        """Compare a prediction with the ground truth.

        Each document is an instance of any class, or a dict with the names of the fields as keys.

        Raises:
            TypeError: `gt` or `pred` is something else.
            ComparisonError: a comparator failed on a pair of values.
            WorkLimitError: the pair exceeds the work limit of the options.
        """
        (result,) = self.evaluate_batch([(gt, pred)])
        return result

    def evaluate_batch(
        self, pairs: Iterable[tuple[DocumentLike, DocumentLike]]
    ) -> list[EvalResult]:
        """Compare many predictions with their ground truths, faster than one by one.

        Args:
            pairs: pairs (ground truth, prediction), each in a form that `evaluate` takes.

        Raises:
            TypeError: a document is something else.
            ComparisonError: a comparator failed on a pair of values.
        """
        values = [(self._values(gt, "gt"), self._values(pred, "pred")) for gt, pred in pairs]
        if not values:
            return []
        scorer = self._seeing([gt for gt, _ in values])
        batch = scorer._compared(*zip(*values, strict=True))  # noqa: SLF001 - its own class
        return [
            EvalResult(batch=batch, document=row, plan=scorer.plan, inferred=scorer.inferred)
            for row in range(len(values))
        ]

    def seen_in(self, gt: DocumentLike) -> Observed:
        """Return statistics of the values in a ground truth. Inference uses them."""
        return self._observe([self._values(gt, "gt")])

    def _observe(self, truths: Sequence[JsonDocument]) -> Observed:
        bare, _ = bare_truths(truths, self.plan.root, lists_values=self._lists_values)
        seen = Observed()
        for truth in bare:
            seen.add(rename_keys(truth, self.plan.renames or {}))
        return seen

    def explain(self) -> str:
        """Return a table with a row for each field: how the field is compared, and why."""
        return choices_table(self.inferred)

    def evaluation(self, scored: Mapping[str, "Scored"]) -> Evaluation:
        """Return scored documents as an evaluation, like that of a run.

        Keys of `scored` are document ids.

        The evaluation includes the result of each document, so that `stickler diff` can compare it.
        """
        evaluation = Evaluation(
            ledger=Ledger(blocks=Blocks()), interval_settings=IntervalSettings()
        )
        for name, document in scored.items():
            evaluation.add(document.with_id(name))
        evaluation.conditions = Conditions(DecidingOptions(), field_listing(self.plan))
        return evaluation

    @cached_property
    def teller(self) -> Teller:
        """Describes errors in words.

        It reveals no more of the ground truth than `reveal` allows.
        """
        weights = {row.field: row.weight for row in field_listing(self.plan)}
        return Teller(weights, self.reveal, self.budget)

    @cached_property
    def fields(self) -> tuple[FieldNames, ...]:
        """The fields that each result has a figure for.

        An object has no figure of its own, but its fields do. A map has one figure for all its
        keys.
        """
        paths = [path for path in self.teller.weights if ANY_KEY not in path]
        parents = {path[:-1] for path in paths}
        return tuple(tuple(map(str, path)) for path in paths if path and path not in parents)

    def __getstate__(self) -> dict[str, Any]:
        # Recreated when they are needed.
        derived_names = ("teller", "fields", "_by_values", "_lists_values")
        return {name: value for name, value in self.__dict__.items() if name not in derived_names}

    def _truth(self, gt: object) -> JsonDocument:
        if isinstance(gt, str | bytes):
            data = gt.encode("utf-8", "replace") if isinstance(gt, str) else gt
            blank = self._blank_problem(data, _TRUTH)
            truth = blank or parse_document(data, _TRUTH, kinds=(self.plan.kind,))
            if isinstance(truth, Problem):
                raise UsageError([_of_text(truth)])
            return truth
        return self._values(gt, "gt")

    def _blank_problem(self, data: bytes, source: str) -> Problem | None:
        """Return a problem if a text is blank or empty. `source` is the name of the text."""
        if data.strip():
            return None
        finding = f"the text is {'blank' if data else 'empty'}"
        return Problem(source, finding, expected_of((self.plan.kind,)))

    def _answer(self, pred: object) -> JsonDocument | Problem:
        """Convert a prediction of any form to a JSON document.

        Return a problem if that is impossible.
        """
        kind = self.plan.kind
        if isinstance(pred, str | bytes | bytearray):
            data = pred.encode("utf-8", "replace") if isinstance(pred, str) else bytes(pred)
            return self._blank_problem(data, _ANSWER) or self._parse_answer(data)
        if pred is None:
            return {} if kind == "object" else []
        try:
            values = json_of(pred)
        except RecursionError:
            return Problem(_ANSWER, "the JSON is nested too deeply")
        if kind == "object" and isinstance(values, list) and len(values) == 1:
            values = values[0]
        if kind_of(values) != kind:
            finding = f"the value is of type {kind_of(values)}"
            return Problem(_ANSWER, finding, expected_of((kind,)))
        return cast("JsonDocument", values)

    def _parse_answer(self, data: bytes) -> JsonDocument | Problem:
        """Parse a prediction that is text. Return a problem if the text has no document."""
        kinds = (self.plan.kind,)
        reading = read_plain(data, kinds) or read_text(data, _ANSWER, None, "taken", kinds)
        if isinstance(reading.value, Problem):
            return _of_text(reading.value)
        return cast("JsonDocument", reading.value)  # not None, as there is a text

    def _scored(
        self, truths: Sequence[Any], answers: Sequence[Any], rows: Sequence[int]
    ) -> Iterator["Scored"]:
        """Yield the score of each prediction. `rows` are the indexes of the predictions to score.

        These predictions are compared together. If the comparison fails, each half of them is
        compared separately, and so on. A prediction that fails on its own has the score 0.
        """
        if not rows:
            return
        gts, preds = [truths[row] for row in rows], [answers[row] for row in rows]
        try:
            batch = self._compared(gts, preds)
        except (ComparisonError, RecursionError, WorkLimitError) as error:
            if len(rows) == 1:
                yield Scored(0.0, self, passed=False, problem=self._why(error))
                return
            half = len(rows) // 2
            for half_rows in (rows[:half], rows[half:]):
                yield from self._scored(truths, answers, half_rows)
            return
        compared_documents = _Compared(self, batch)
        judged = zip(
            compared_documents.figures(self.aim),
            has_no_error(compared_documents.counts),
            strict=True,
        )
        for row, (score, right) in enumerate(judged):
            passed = self.aim.passes(score) if self.aim.has_limit else right
            yield Scored(score, self, passed=passed, among=compared_documents, row=row)

    def _why(self, error: Exception) -> str:
        if isinstance(error, RecursionError):
            return f"{_ANSWER} is nested too deeply to be compared"
        # The comparator names the two values on which it failed.
        return str(error) if self.reveal == "all" else f"{_ANSWER} could not be compared"

    def _compared(self, gts: Sequence[JsonDocument], preds: Sequence[JsonDocument]) -> Batch:
        """Remove the wrappers of documents, then compare the documents."""
        truths, gold = bare_truths(gts, self.plan.root, lists_values=self._lists_values)
        predictions = _bare_predictions(preds, self.plan.root)
        return compared(self.plan, truths, predictions, self.options, (), gold)

    def _values(self, side: object, name: str) -> JsonDocument:
        """Return the JSON values of one side.

        Raises:
            TypeError: the side is not a document of the schema's type.
        """
        values: Any = side
        if isinstance(side, BaseModel):
            partial = self.options is not None and self.options.partial_gt
            values = values_of(side, only_given=partial and name == "gt")
        elif isinstance(side, Mapping | list):
            plain = side if isinstance(side, list) else dict(side)
            values = to_jsonable_python(plain, by_alias=False, fallback=str)
        if kind_of(values) != self.plan.kind:
            expected, empty = ("dict", "{}") if self.plan.kind == "object" else ("list", "[]")
            raise TypeError(
                f"{name} is {describe_python_type(side)}; give an instance of a pydantic "
                f"model or a {expected} ({empty} if there is no document)"
            )
        document: JsonDocument = values
        return document


EvalSpec = Scorer  # its name earlier


@lru_cache
def scorer_for(schema: str, of: str = "f1") -> Scorer:
    """Return a scorer for a schema file, and cache it.

    This is for frameworks that can pass only the name of a file.
    """
    return Scorer(schema, of=of)


def bare_truths(
    truths: Sequence[JsonDocument],
    root: PlaceWithFields | None = None,
    *,
    lists_values: bool = False,
) -> tuple[Sequence[Any], Sequence[Gold | None]]:
    """Remove the wrappers of ground truths, such as `{"value": 5, "confidence": 0.9}`.

    Args:
        truths: the ground truths.
        root: describes the documents.
        lists_values: whether a list in a ground truth may list alternative right values.

    Returns:
        (values, gold). The gold of a ground truth is what its wrappers say about its values, such
        as alternative right values. `gold` is empty if no ground truth has wrappers.
    """
    unwrapper = Unwrapper(root, reads_any_of=lists_values)
    if not _may_be_wrapped(truths, unwrapper):
        return truths, ()
    bare = [_bare(unwrapper, truth, is_truth=True) for truth in truths]
    return [document.value for document in bare], [document.gold for document in bare]


def _bare_predictions(
    predictions: Sequence[JsonDocument], root: PlaceWithFields | None
) -> Sequence[Any]:
    """Return the predictions without wrappers; unchanged if no prediction can have wrappers."""
    unwrapper = Unwrapper(root, reads_any_of=False)
    if not _may_be_wrapped(predictions, unwrapper):
        return predictions
    return [_bare(unwrapper, prediction).value for prediction in predictions]


def _bare(unwrapper: Unwrapper, document: JsonDocument, *, is_truth: bool = False) -> Unwrapped:
    """Remove the wrappers of a document.

    The document stays unchanged if removing wrappers would change its JSON type, for example from
    object to number.

    Raises:
        UsageError: a ground truth has a list of right values inside another such list.
    """
    bare = unwrapper(document, is_truth=is_truth)
    if bare.nested_lists:
        raise UsageError(bare.nested_lists)
    return bare if kind_of(bare.value) == kind_of(document) else Unwrapped(document)


def _may_be_wrapped(documents: Sequence[JsonDocument], unwrapper: Unwrapper) -> bool:
    """Return whether any of the documents may have wrappers.

    A document may have wrappers if its text contains a key that wrappers have, or if it cannot be
    written as text.
    """
    try:
        text = json_line([*documents])
    except ValueError:  # a number with more digits than Python writes
        return True
    return any(mark in text for mark in unwrapper.marks)


class _Compared:
    """Documents that were compared together, with their figures."""

    def __init__(self, scorer: Scorer, batch: Batch) -> None:
        self.scorer, self.batch = scorer, batch
        self.counts: Any = batch.counts  # not None, as there is at least one document

    @cached_property
    def fields(self) -> dict[str, list[float]]:
        """Maps the path of each field to its figures, one for each document."""
        size, rate = len(self.batch.results), self.scorer.aim.rate
        return {
            field_path(path): field_rewards(self.counts, path, rate, size).tolist()
            for path in self.scorer.fields
        }

    def figures(self, aim: Aim) -> list[float]:
        """Return the figure that `aim` selects, for each document."""
        if aim.is_score:
            scores: list[float] = self.batch.scores.tolist()
            return scores
        return document_rewards(aim, self.counts, len(self.batch.results))

    @cached_property
    def _right(self) -> list[tuple[str, set[int]]]:
        """For each top-level field, (name, indexes of the documents with a right value in it)."""
        counts = self.counts
        right = counts.units[LEAVES, :, TP] > 0
        return [
            (field_path(path), {*counts.documents[rows][right[rows]].tolist()})
            for path, rows in counts.fields()
            if len(path) == 1
        ]

    def feedback_on(self, row: int, errors: Sequence[Error]) -> str:
        """Return the feedback text for the document with the index `row`."""
        # Rows of whole documents come first.
        tp, fd, _, fn, _ = self.counts.units[LEAVES, row].tolist()
        named = [] if errors else [name for name, right in self._right if row in right]
        return self.scorer.teller.describe_document(errors, tp, tp + fd + fn, named)


class Scored:
    """The score of one prediction; errors and feedback are computed when they are first read."""

    score: float
    """The score, in [0, 1]; 1.0 if both sides are empty."""
    passed: bool
    """Whether the score reaches the limit in `of`. If `of` has no limit: whether the prediction has
    no error."""
    problem: str
    """The reason why nothing could be compared; empty if the prediction was compared."""

    def __init__(  # noqa: PLR0913 - all of them are needed
        self,
        score: float,
        scorer: Scorer,
        *,
        passed: bool,
        problem: str = "",
        among: _Compared | None = None,
        row: int = 0,
    ) -> None:
        """Create the result of a problem, or of one document that was compared with others.

        For a problem, `among` is None. For a document, `among` has all documents that were compared
        together, and `row` is the index of the document among them.
        """
        self.score, self.passed, self.problem = score, passed, problem
        self._scorer, self._among, self._at = scorer, among, row

    @cached_property
    def fields(self) -> dict[str, float]:
        """Maps the path of each field to the F1 of the field in this document.

        If the score of the scorer is another rate, such as recall, the dict has this rate instead
        of F1. If neither side has a value in a field, the rate is 1.0. If nothing could be
        compared, all rates are 0.0. An object has no rate, but the fields inside it do.
        """
        if self._among is None:
            return dict.fromkeys(map(field_path, self._scorer.fields), 0.0)
        return {name: values[self._at] for name, values in self._among.fields.items()}

    @cached_property
    def errors(self) -> tuple[Error, ...]:
        """Every error with both values, regardless of `reveal`."""
        return () if self._among is None else (*self._among.batch.errors(self._at),)

    @cached_property
    def feedback(self) -> str:
        """The errors in words, the worst first, at most as long as the budget allows."""
        if self._among is None:
            return f"Nothing to compare: {self.problem}."[: self._scorer.teller.budget]
        return self._among.feedback_on(self._at, self.errors)

    def judged(self, gate: str) -> tuple[float, bool]:
        """Return the value of another figure, and whether this value passes.

        `gate` is written like the argument `of` of `Scorer`, such as `f1>=0.9`. If it has no limit,
        the second member is `passed`.
        """
        aim = _read_aim(gate, known_paths(self._scorer.plan))
        value = 0.0 if self._among is None else self._among.figures(aim)[self._at]
        return value, aim.passes(value) if aim.has_limit else self.passed

    def explain(self, width: int | None = 100) -> str:
        """Return the errors as text that `stickler compare --only-errors` would print.

        If nothing could be compared, return the feedback instead.
        """
        if self._among is None:
            return self.feedback
        plan, options = self._scorer.plan, self._scorer.options
        pair = pair_of(self._among.batch, self._at, plan, options)
        return pair.explain("errors", width)

    def with_id(self, name: str) -> Batch:
        """Return a batch that contains only this document, under the given id."""
        if self._among is None:
            problems = (Problem(name, self.problem),)
            return Batch(
                [DocumentResult(id=name, status=Status.FAILED, score=None, problems=problems)]
            )
        batch = self._among.batch
        result = replace(batch.results[self._at], id=name)
        return Batch([result], batch.table.select(batch.table.document_rows[[self._at]]))

    def __getstate__(self) -> dict[str, Any]:
        names = ("score", "passed", "problem", "fields", "errors", "feedback")
        return {name: getattr(self, name) for name in names}

    def __repr__(self) -> str:
        why = f", problem={self.problem!r}" if self.problem else ""
        return f"Scored(score={self.score!r}, passed={self.passed}{why})"


def _of_text(problem: Problem) -> Problem:
    """Return the problem of a file as the problem of a text. Only the wording changes.

    The line and the column are given in words: in `answer:1:1`, the name of the text would look
    like the name of a file. Advice on files and on options of the command is left out.
    """
    advises_command = "--" in problem.hint or ".jsonl" in problem.hint
    hint = "" if advises_command else problem.hint
    if problem.line is None:
        return replace(problem, hint=hint)
    source = f"{problem.source}, line {problem.line}, column {problem.column or 1}"
    return replace(problem, source=source, hint=hint, line=None, column=None)


def _read_aim(text: str, schema_paths: Collection[Path]) -> Aim:
    """Parse an aim, and check that its field is in the schema.

    Raises:
        UsageError: the text is not an aim, or there is no such field.
    """
    aim = parse_aim(text)
    try:
        check_paths([aim.gate], schema_paths, OF)
    except UsageError as error:
        raise (error if aim.has_limit else omit_added_limit(error)) from None
    return aim


def _check(documents: tuple[object, ...], reveal: str, budget: object) -> None:
    """Raise an error for an invalid argument.

    If documents are given, the message names the function that compares two documents.
    """
    if documents:
        raise TypeError(f"Scorer takes only a schema and keyword arguments; {ADVICE}")
    if reveal not in REVEALS:
        hint = did_you_mean(str(reveal), REVEALS)
        expected = f"one of {', '.join(REVEALS)}"
        raise UsageError([Problem("argument 'reveal'", f"the value is {reveal!r}", expected, hint)])
    if not isinstance(budget, int) or budget < 0:
        expected = "the maximum length of the feedback: a number of characters, at least 0"
        raise UsageError([Problem("argument 'budget'", f"the value is {budget!r}", expected)])

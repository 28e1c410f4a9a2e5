"""ANLS*, a similarity of two values of any shape. It compares their keys, items and texts."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from math import inf, nextafter
from typing import Any, ClassVar, Final, NamedTuple, TypeAlias

from rapidfuzz.distance import Levenshtein

from stickler_cli.core.json_values import JsonValue
from stickler_cli.metrics import MeasuredDocument, Metric
from .base import BaseComparator, Lengths, checked_fraction, is_number, text_of

LEAF_THRESHOLD: Final = 0.5
"""Texts with a lower similarity count as completely different, with score 0. Source: Biten et al.
(2019), arXiv:1905.13648."""
UNIT: Final = 1 << 60
"""Number of units in a score of 1. Scores are added as whole numbers of units, so that the order of
the documents does not change the sum."""
Likeness: TypeAlias = Callable[[Any, Any], float]
"""A function that returns the similarity of two values in [0, 1]. The values are not objects or
lists."""
STEPS: Final = 100
"""Nanoseconds to compare one letter of a value with one letter of the other value, both written as
JSON. This also covers list items, because there are never more pairs of items than of letters."""


class ANLSStarComparator(BaseComparator):
    """Compare values of any shape by ANLS*: keys by name, items in pairs, texts by letters."""

    takes: ClassVar[frozenset[str]] = frozenset({"array", "object"})
    same_value = True

    def __init__(self, threshold: float = 0.7, leaf_threshold: float = LEAF_THRESHOLD) -> None:
        """Set the thresholds.

        Args:
            threshold: the threshold of `binary_compare`, in [0, 1].
            leaf_threshold: minimum similarity of two texts inside the values, in [0, 1]. A lower
                similarity counts as 0.
        """
        super().__init__(threshold)
        self.leaf_threshold = checked_fraction("leaf_threshold", leaf_threshold)

    def similarity(self, gt: Any, pred: Any) -> float:
        """Return the ANLS* of two values, in [0, 1]."""
        return _compare_values(gt, pred, _by_value(self.leaf_threshold)).mean

    def steps(self, gt: Lengths, pred: Lengths) -> int:
        """Return the approximate time to compare pairs of values, in nanoseconds.

        `gt` and `pred` have the lengths of the values, written as JSON.
        """
        return STEPS * int((gt * pred).sum())


@dataclass(frozen=True, slots=True)
class KeyScore:
    """The ANLS* of a key. If several items of a list have the key, it is the mean of the items."""

    name: str
    score: float | None = None
    """The score of the key, in [0, 1]; None if the object only holds `children`."""
    children: dict[str, "KeyScore"] = field(default_factory=dict)


def anls_score(
    gt: Any,
    pred: Any,
    return_gt: bool = False,
    return_key_scores: bool = False,
    threshold: float | None = None,
) -> Any:
    """Return the ANLS* of two values, in [0, 1]. The result is that of the authors' package.

    The package is called `anls_star`. All values are compared as texts, even numbers: 12345 and
    12346 score 0.8. `anls_star_numbers` compares numbers by value. An absent key counts as null. A
    key with an empty value (null, an empty text, list or object) does not change the score if only
    the ground truth has it. The key lowers the score if only the prediction has it.

    Args:
        gt: the ground truth: JSON values. A tuple in it has alternative values that are all right.
            A list of texts counts as such a tuple if the prediction is a text.
        pred: the prediction, without tuples.
        return_gt: whether to return the ground truth, too, in the form nearest to the prediction.
            It has the nearest alternative of each tuple, and its lists have the order of the
            prediction.
        return_key_scores: whether to return a dict, too, that maps each top-level key to its
            `KeyScore`.
        threshold: minimum similarity of two texts, in [0, 1]. A lower similarity counts as 0. None
            means 0.5.

    Raises:
        ValueError: the ground truth has an empty tuple.
        TypeError: the prediction has a tuple.

    Source: Peer et al. (2024), arXiv:2402.03848, and its package `anls_star`.
    """
    likeness = partial(_text_likeness, threshold=_check_threshold(threshold))
    score = _compare_values(_with_choices(gt, pred), pred, likeness)
    return _select_results(score, return_gt=return_gt, return_key_scores=return_key_scores)


def anls_star_numbers(
    gt: Any,
    pred: Any,
    return_gt: bool = False,
    return_key_scores: bool = False,
    threshold: float | None = None,
) -> Any:
    """Return what `anls_score` returns, but compare numbers by value: equal ones score 1, others 0.

    A number and a text are compared as texts. Arguments, results and errors are the same as those
    of `anls_score`. The metric `--metric anls_star_numbers` is the mean of this score over
    documents.
    """
    score = _compare_values(_with_choices(gt, pred), pred, _by_value(_check_threshold(threshold)))
    return _select_results(score, return_gt=return_gt, return_key_scores=return_key_scores)


def _with_choices(gt: Any, pred: Any) -> Any:
    """Convert a ground truth to a tuple if it is a list of alternatives.

    If the prediction is a text, a list of texts is a list of alternatives. Any other ground truth
    is returned unchanged.
    """
    is_texts = isinstance(gt, list) and all(isinstance(item, str) for item in gt)
    return tuple(gt) if is_texts and isinstance(pred, str) else gt


def _check_threshold(threshold: float | None) -> float:
    return LEAF_THRESHOLD if threshold is None else checked_fraction("threshold", threshold)


def _select_results(comparison: "_Comparison", *, return_gt: bool, return_key_scores: bool) -> Any:
    """Return the mean score, or a tuple that has the mean score and the requested extra results.

    For `return_gt`, the extra result is the form of the ground truth that is nearest to the
    prediction. For `return_key_scores`, it is a dict with the scores of the top-level keys.
    """
    extras = [comparison.closest] if return_gt else []
    extras += [_tree(comparison.keys)] if return_key_scores else []
    return (comparison.mean, *extras) if extras else comparison.mean


class _Comparison(NamedTuple):
    """The result of comparing two values."""

    total: float
    """The sum of the similarities of all paired single values, such as texts and numbers."""
    length: int
    """Number of single values that are paired, missed or invented."""
    closest: Any
    """The ground truth. Each tuple of alternatives is replaced by the nearest alternative."""
    keys: Sequence[tuple[tuple[str, ...], float]] = ()
    """For each key, (path as a tuple of keys, score). A path occurs several times if several list
    items have the key."""

    @property
    def mean(self) -> float:
        return self.total / self.length if self.length else 1.0


def _compare_values(gt: Any, pred: Any, likeness: Likeness) -> _Comparison:
    _check_no_tuples(pred)
    return _compare(gt, pred, likeness)


def _check_no_tuples(pred: Any) -> None:
    match pred:
        case tuple():
            raise TypeError("a prediction must be a single value; only ground truth may be a tuple")
        case dict():
            for value in pred.values():
                _check_no_tuples(value)
        case list():
            for value in pred:
                _check_no_tuples(value)


def _compare(gt: Any, pred: Any, likeness: Likeness) -> _Comparison:
    match gt, pred:
        case tuple(), _:
            return _compare_choices(gt, pred, likeness)
        case dict(), dict():
            return _compare_objects(gt, pred, likeness)
        case list(), list():
            return _compare_lists(gt, pred, likeness)
        case None, _:
            is_absent = _is_empty(pred)
            return _Comparison(float(is_absent), max(1, _size(pred)), pred if is_absent else None)
    if pred is None or isinstance(gt, dict | list) or isinstance(pred, dict | list):
        return _Comparison(0.0, max(_size(gt), _size(pred)), gt)
    return _Comparison(likeness(gt, pred), 1, gt)


def _compare_choices(gt: tuple[Any, ...], pred: Any, likeness: Likeness) -> _Comparison:
    comparisons = (_compare(choice, pred, likeness) for choice in _check_choices(gt))
    return max(comparisons, key=lambda comparisons: (comparisons.mean, comparisons.closest == pred))


def _check_choices(choices: tuple[Any, ...]) -> tuple[Any, ...]:
    if not choices:
        raise ValueError("the ground truth is an empty tuple, so it contains no correct value")
    return choices


def _size(value: Any) -> int:
    """Return how many texts are missed if a value has no counterpart.

    For a tuple of alternatives, return the number for the alternative with the most texts.
    """
    match value:
        case dict():
            return sum(map(_size, value.values()))
        case list():
            return sum(map(_size, value))
        case tuple():
            return max(map(_size, _check_choices(value)))
    return 1


def _text_likeness(gt: Any, pred: Any, *, threshold: float) -> float:
    """Return the similarity of two values, compared as texts.

    It is 0 if it is below the threshold.
    """
    gt_text, pred_text = (" ".join(text_of(value).lower().split()) for value in (gt, pred))
    similarity = Levenshtein.normalized_similarity(gt_text, pred_text)
    return similarity if similarity >= threshold else 0.0


def _number_likeness(gt: Any, pred: Any, *, threshold: float) -> float:
    """Return the similarity of two values.

    Two numbers are compared by value, other values as texts.
    """
    if is_number(gt) and is_number(pred):
        return float(gt == pred)
    return _text_likeness(gt, pred, threshold=threshold)


def _by_value(threshold: float) -> Likeness:
    return partial(_number_likeness, threshold=threshold)


def _compare_objects(
    gt: Mapping[str, Any], pred: Mapping[str, Any], likeness: Likeness
) -> _Comparison:
    total, length = 0.0, 0
    closest: dict[str, Any] = {}
    keys: list[tuple[tuple[str, ...], float]] = []
    for key in dict.fromkeys((*gt, *pred)):
        comparison = _compare(gt.get(key), pred.get(key), likeness)
        length += comparison.length
        if key not in gt and _is_empty(pred[key]):
            continue
        total += comparison.total
        if key in pred or not _is_empty(comparison.closest):
            closest[key] = comparison.closest
        keys += (((str(key), *names), score) for names, score in comparison.keys)
        keys.append(((str(key),), comparison.mean))
    return _Comparison(total=total, length=length, closest=closest, keys=keys)


def _is_empty(value: Any) -> bool:
    return value is None or value in ("", [], {})


def _compare_lists(gt: Sequence[Any], pred: Sequence[Any], likeness: Likeness) -> _Comparison:
    if not gt or not pred:
        return _Comparison(0.0, sum(map(_size, (*gt, *pred))), gt)
    from scipy.optimize import linear_sum_assignment  # late: few schemas need it

    comparisons = [[_compare(gt_item, pred_item, likeness) for pred_item in pred] for gt_item in gt]
    # Prefer a pair of equal items to another pair of the same similarity.
    gains = [
        [
            nextafter(pair.mean, inf) if pair.closest == pred_item else pair.mean
            for pair, pred_item in zip(row, pred, strict=True)
        ]
        for row in comparisons
    ]
    rows, columns = linear_sum_assignment(gains, maximize=True)
    pred_and_gt_indexes = sorted(zip(columns.tolist(), rows.tolist(), strict=True))
    chosen = [comparisons[row][column] for column, row in pred_and_gt_indexes]
    paired_gt = {row for _, row in pred_and_gt_indexes}
    paired_pred = {column for column, _ in pred_and_gt_indexes}
    missed = [item for index, item in enumerate(gt) if index not in paired_gt]
    invented = [item for index, item in enumerate(pred) if index not in paired_pred]
    return _Comparison(
        total=sum(pair.total for pair in chosen),
        length=sum(pair.length for pair in chosen) + sum(map(_size, (*missed, *invented))),
        closest=[*(pair.closest for pair in chosen), *missed],
        keys=[entry for pair in chosen for entry in pair.keys],
    )


def _tree(keys: Sequence[tuple[tuple[str, ...], float]]) -> dict[str, KeyScore]:
    """Return the scores of the top-level keys.

    Each score contains the scores of the keys inside it.

    `keys` has (path of the key, score). If a path occurs several times, its score is the mean.
    """
    scores: dict[tuple[str, ...], list[float]] = {}
    for names, score in keys:
        scores.setdefault(names, []).append(score)
    tree: dict[tuple[str, ...], KeyScore] = {}
    for names in sorted(scores, key=len):
        mean = sum(scores[names]) / len(scores[names])
        tree[names] = KeyScore(names[-1], mean)
        if names[:-1]:
            tree[names[:-1]].children[names[-1]] = tree[names]
    return {names[0]: score for names, score in tree.items() if len(names) == 1}


class AnlsStarNumbers(Metric):
    """The mean ANLS* over documents, with numbers compared by value.

    A document without a prediction scores 0.
    """

    def __init__(self) -> None:
        """Begin without documents."""
        self.documents = 0
        self.units = "0"  # text, as it may have more digits than a JSON number

    def add(self, document: MeasuredDocument) -> None:
        """Add the score of a document."""
        score = 0.0 if document.pred is None else self.score(document.gt, document.pred)
        self.documents += 1
        self.units = str(int(self.units) + round(Fraction(score) * UNIT))

    @staticmethod
    def score(gt: JsonValue, pred: JsonValue) -> float:
        """Return the ANLS* of a document, with numbers compared by value."""
        score: float = anls_star_numbers(gt, pred)
        return score

    def merge(self, other: "AnlsStarNumbers") -> None:
        """Add the scores that another object has collected."""
        self.documents += other.documents
        self.units = str(int(self.units) + int(other.units))

    def result(self) -> float | None:
        """Return the mean, in [0, 1]; None if there are no documents."""
        return int(self.units) / (self.documents * UNIT) if self.documents else None


class AnlsStar(AnlsStarNumbers):
    """The mean ANLS* over documents, with numbers compared as texts, as in the paper."""

    @staticmethod
    def score(gt: JsonValue, pred: JsonValue) -> float:
        """Return the ANLS* of a document, with numbers compared as texts."""
        score: float = anls_score(gt, pred)
        return score

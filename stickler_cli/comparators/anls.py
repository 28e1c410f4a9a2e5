"""ANLS*: the similarity of two values of any shape, by their keys, items and texts."""

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
"""Similarity below which two texts count as wholly different, with a score of 0. Source: Biten et
al. (2019), arXiv:1905.13648."""
UNIT: Final = 1 << 60
"""Number of units in a score of 1. Scores are added as whole numbers of such units, so the sum does
not depend on the order of the documents."""
Likeness: TypeAlias = Callable[[Any, Any], float]
"""A function that takes two values, neither objects nor lists, and returns their similarity in [0,
1]."""
STEPS: Final = 100
"""Nanoseconds to compare a letter of one value with a letter of the other, both written as JSON.
There are never more pairs of list items than pairs of letters."""


class ANLSStarComparator(BaseComparator):
    """Compare values of any shape by ANLS*: keys by name, items in pairs, texts by letters."""

    takes: ClassVar[frozenset[str]] = frozenset({"array", "object"})
    same_value = True

    def __init__(self, threshold: float = 0.7, leaf_threshold: float = LEAF_THRESHOLD) -> None:
        """Set the thresholds.

        Args:
            threshold: the threshold of `binary_compare`, in [0, 1].
            leaf_threshold: minimum similarity of two texts inside the values, in [0, 1]; lower
                similarities count as 0.
        """
        super().__init__(threshold)
        self.leaf_threshold = checked_fraction("leaf_threshold", leaf_threshold)

    def similarity(self, gt: Any, pred: Any) -> float:
        """Return the ANLS* of two values, in [0, 1]."""
        return _compare_values(gt, pred, _by_value(self.leaf_threshold)).mean

    def steps(self, gt: Lengths, pred: Lengths) -> int:
        """Return the approximate time to compare pairs of values, in nanoseconds.

        `gt` and `pred` are the lengths of the values as JSON.
        """
        return STEPS * int((gt * pred).sum())


@dataclass(frozen=True, slots=True)
class KeyScore:
    """The ANLS* of a key; the mean over the items of a list if several items have the key."""

    name: str
    score: float | None = None
    """The score, in [0, 1]; None for a key that is only there to hold its children."""
    children: dict[str, "KeyScore"] = field(default_factory=dict)


def anls_score(
    gt: Any,
    pred: Any,
    return_gt: bool = False,
    return_key_scores: bool = False,
    threshold: float | None = None,
) -> Any:
    """Return the ANLS* of two values, in [0, 1], as the authors' package `anls_star` does.

    Values are compared as texts, numbers too: 12345 and 12346 score 0.8. `anls_star_numbers`
    compares numbers by value. An absent key is the same as null. A key with an empty value (null,
    an empty text, list or object) does not change the score if only the ground truth has it. The
    key lowers the score if only the prediction has it.

    Args:
        gt: the ground truth: JSON values, and tuples of alternatives, each of which is right. A
            list of texts counts as such a tuple if the prediction is a text.
        pred: the prediction, without tuples.
        return_gt: also return the ground truth in the form nearest to the prediction: with the
            nearest alternative of each tuple, and lists in the prediction's order.
        return_key_scores: also return a dict that maps each top-level key to its `KeyScore`.
        threshold: minimum similarity of two texts, in [0, 1]; less counts as 0. Default: 0.5.

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
    """Return what `anls_score` does, but compare two numbers by value: 1 if equal, else 0.

    A number and a text are compared as texts. Arguments, results and errors are the same as those
    of `anls_score`. `--metric anls_star_numbers` is the mean of this score over documents.
    """
    score = _compare_values(_with_choices(gt, pred), pred, _by_value(_check_threshold(threshold)))
    return _select_results(score, return_gt=return_gt, return_key_scores=return_key_scores)


def _with_choices(gt: Any, pred: Any) -> Any:
    """Return the ground truth with alternatives as a tuple.

    A list of texts is a list of alternatives if the prediction is a text. Anything else is returned
    unchanged.
    """
    is_texts = isinstance(gt, list) and all(isinstance(item, str) for item in gt)
    return tuple(gt) if is_texts and isinstance(pred, str) else gt


def _check_threshold(threshold: float | None) -> float:
    return LEAF_THRESHOLD if threshold is None else checked_fraction("threshold", threshold)


def _select_results(comparison: "_Comparison", *, return_gt: bool, return_key_scores: bool) -> Any:
    """Return the mean score, alone or in a tuple with the other results that the flags ask for."""
    extras = [comparison.closest] if return_gt else []
    extras += [_tree(comparison.keys)] if return_key_scores else []
    return (comparison.mean, *extras) if extras else comparison.mean


class _Comparison(NamedTuple):
    """The result of comparing two values."""

    total: float
    """The sum of the similarities of the texts in the values."""
    length: int
    """Number of texts that are paired, missed or invented."""
    closest: Any
    """The ground truth, in which the nearest alternative replaces each tuple of alternatives."""
    keys: Sequence[tuple[tuple[str, ...], float]] = ()
    """(Path of names, score) of each key; a key in several list items occurs several times."""

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

    For alternatives, this is the number of the alternative with most texts.
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
    """Return the similarity of two values as texts; 0 if it is below the threshold."""
    gt_text, pred_text = (" ".join(text_of(value).lower().split()) for value in (gt, pred))
    similarity = Levenshtein.normalized_similarity(gt_text, pred_text)
    return similarity if similarity >= threshold else 0.0


def _number_likeness(gt: Any, pred: Any, *, threshold: float) -> float:
    """Return the similarity of two values: by value if both are numbers, else as texts."""
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
    """Return a dict that maps each top-level key to its score, which contains those of inner keys.

    `keys` has (path of names, score) of each key. If a path occurs several times, its score is the
    mean.
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

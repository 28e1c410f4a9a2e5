"""What every comparator is: a judge of two values that gives a similarity in [0, 1].

Work is split so that lists are fast: `prepare` normalises one value once, `similarity` compares
two prepared values, and `matrix` compares every prepared value of one side with every one of the
other in a single call. A comparator of a user's own needs only `compare`.
"""

import inspect
from collections.abc import Sequence
from typing import Any, ClassVar, Final, final

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]
"""(n, m): ground truth by prediction, each value in [0, 1]."""


EQUAL_WITHIN: Final = 1e-9
"""Similarities are sums of floats; nearer than this they are equal. Source: docs/semantics.md."""


class KeywordError(ValueError):
    """A constructor keyword with a value that a comparator cannot use."""

    def __init__(self, keyword: str | None, found: str, expected: str, hint: str = "") -> None:
        super().__init__(keyword, found, expected, hint)
        self.keyword = keyword
        """The keyword at fault; None where the configuration as a whole is."""
        self.found = found
        self.expected = expected
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.found}, expected {self.expected}" + (f"; {self.hint}" if self.hint else "")


class BaseComparator:
    """The family of comparators.

    A subclass overrides either `compare`, on values as they are in the documents, or `similarity`
    (with `prepare`), on prepared values. Constructor keywords are kept as attributes of the same
    name; `config` and equality are read from them.
    """

    takes: ClassVar[frozenset[str]] = frozenset()
    """JSON types beyond scalars that are one value to this comparator: `array`, `object`."""

    threshold: float

    def __init__(self, threshold: float = 0.7) -> None:
        """Set the threshold in [0, 1] that `binary_compare` uses.

        Raises:
            KeywordError: the threshold is not a number in [0, 1].
        """
        number: object = threshold
        if isinstance(number, bool) or not isinstance(number, int | float) or not 0 <= number <= 1:
            raise KeywordError("threshold", f"threshold is {threshold!r}", "a number in [0, 1]")
        self.threshold = threshold

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if cls.compare is BaseComparator.compare and cls.similarity is BaseComparator.similarity:
            raise TypeError(f"{cls.__name__} must define compare(gt, pred) or similarity(gt, pred)")

    @property
    def name(self) -> str:
        """The name under which a schema asks for this comparator."""
        return type(self).__name__

    @property
    def config(self) -> dict[str, Any]:
        """The constructor keywords whose values differ from their defaults."""
        config = {}
        for keyword, parameter in inspect.signature(type(self)).parameters.items():
            value = getattr(self, keyword, parameter.default)
            if value is not parameter.default and value != parameter.default:
                config[keyword] = value
        return config

    def prepare(self, value: Any) -> Any:
        """Turn one present value into the form that `similarity` and `matrix` take."""
        return value

    def similarity(self, gt: Any, pred: Any) -> float:
        """Compare two prepared values; in [0, 1]."""
        return self.compare(gt, pred)

    def matrix(self, gts: Sequence[Any], preds: Sequence[Any]) -> Matrix:
        """Compare every prepared value of `gts` with every one of `preds`; shape (n, m)."""
        return np.array(
            [[self.similarity(gt, pred) for pred in preds] for gt in gts], dtype=np.float64
        ).reshape(len(gts), len(preds))

    def compare(self, gt: Any, pred: Any) -> float:
        """Compare two values as they are in the documents; in [0, 1].

        Both None is 1.0 and one None is 0.0.
        """
        if gt is None or pred is None:
            return 1.0 if gt is pred else 0.0
        return self.similarity(self.prepare(gt), self.prepare(pred))

    @final
    def __call__(self, gt: Any, pred: Any) -> float:
        """Compare two values, as `compare` does."""
        return self.compare(gt, pred)

    @final
    def binary_compare(self, gt: Any, pred: Any) -> tuple[int, int]:
        """Count a match against this comparator's own threshold: (1, 0), else (0, 1)."""
        matched = self.compare(gt, pred) >= self.threshold - EQUAL_WITHIN
        return (1, 0) if matched else (0, 1)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, BaseComparator)
            and type(self) is type(other)
            and self.config == other.config
        )

    __hash__ = None  # type: ignore[assignment] # a value with a mutable config is no key

    def __repr__(self) -> str:
        keywords = ", ".join(f"{keyword}={value!r}" for keyword, value in self.config.items())
        return f"{self.name}({keywords})"

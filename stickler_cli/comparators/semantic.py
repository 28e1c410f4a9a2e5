"""Closeness in meaning, by the embeddings of two texts."""

from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from stickler_cli.comparators.base import (
    BaseComparator,
    KeywordError,
    Matrix,
    checked_choice,
    checked_text,
    text_of,
)
from stickler_cli.errors import Problem, UnavailableError
from stickler_cli.json_values import brief

MODEL_ID: Final = "amazon.titan-embed-text-v2:0"
SIM_FUNCTIONS: Final = ("cosine_similarity",)

Vector: TypeAlias = NDArray[np.float64]


class SemanticComparator(BaseComparator):
    """Compare meanings: the cosine of the embeddings of two texts, negative ones as 0."""

    def __init__(
        self,
        model_id: str = MODEL_ID,
        sim_function: str = SIM_FUNCTIONS[0],
        embedding_function: Callable[[str], Sequence[float]] | None = None,
        threshold: float = 0.7,
    ) -> None:
        """Choose where embeddings come from.

        Args:
            model_id: of the embedding model; not used where a function is given.
            sim_function: `cosine_similarity`.
            embedding_function: gives the embedding of a text; can only be given in Python.
            threshold: in [0, 1], for `binary_compare`.

        Raises:
            KeywordError: a keyword of the wrong type.
        """
        super().__init__(threshold)
        self.model_id = checked_text("model_id", model_id)
        self.sim_function = checked_choice("sim_function", sim_function, SIM_FUNCTIONS)
        if embedding_function is not None and not callable(embedding_function):
            raise KeywordError(
                "embedding_function",
                f"embedding_function is {brief(embedding_function)}",
                "a Python function, which a schema cannot hold",
            )
        self.embedding_function = embedding_function

    def require(self) -> None:
        """Raise unless an embedding function is given.

        Raises:
            UnavailableError: this version cannot reach an embedding model.
        """
        self._embedding_function()

    def prepare(self, value: Any) -> str:
        """Turn a value into text."""
        return text_of(value)

    def similarity(self, gt: str, pred: str) -> float:
        """Compare two texts: the cosine of their embeddings, 0.0 where it is negative.

        An embedding of zeros has no direction: 0.0.

        Raises:
            UnavailableError: there is no embedding function.
            ValueError: what the function gives is not a list of finite numbers of equal length.
        """
        return float(self.matrix([gt], [pred])[0, 0])

    def matrix(self, gts: Sequence[str], preds: Sequence[str]) -> Matrix:
        """Compare all with all, and embed each distinct text once."""
        embed = self._embedding_function()
        directions = {text: _direction(embed(text)) for text in dict.fromkeys([*gts, *preds])}
        # One dot product a pair: a product of matrices rounds differently by their shape.
        cosines = [[_dot(directions[gt], directions[pred]) for pred in preds] for gt in gts]
        matrix: Matrix = np.array(cosines, dtype=np.float64).reshape(len(gts), len(preds))
        return np.clip(matrix, 0.0, 1.0)

    def _embedding_function(self) -> Callable[[str], Sequence[float]]:
        if self.embedding_function is None:
            raise UnavailableError(
                [
                    Problem(
                        source="",
                        found="SemanticComparator has no embedding model in this version",
                        expected="an embedding_function, which can be given in Python only",
                        hint="in a schema, FuzzyComparator with token_set_ratio needs no model",
                    )
                ]
            )
        return self.embedding_function


def _direction(embedding: Sequence[float]) -> Vector:
    """Scale an embedding to length 1; one of zeros stays as it is.

    Raises:
        ValueError: it is not a sequence of finite numbers, or is empty.
    """
    vector = np.asarray(embedding, dtype=np.float64)
    if vector.ndim != 1 or not vector.size or not np.isfinite(vector).all():
        raise ValueError("embedding_function gave no sequence of finite numbers")
    largest = np.abs(vector).max()
    if largest == 0:
        return vector
    scaled: Vector = vector / largest  # so that no square is beyond the range of floats
    direction: Vector = scaled / np.linalg.norm(scaled)
    return direction


def _dot(gt: Vector, pred: Vector) -> float:
    if gt.size != pred.size:
        raise ValueError(f"embedding_function gave embeddings of {gt.size} and {pred.size} numbers")
    return float(np.dot(gt, pred))

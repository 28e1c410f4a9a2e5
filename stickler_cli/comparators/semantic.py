"""Closeness in meaning, by the embeddings of two texts."""

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Final

import numpy as np

from stickler_cli.clients.backend import ModelError
from stickler_cli.clients.desk import desk
from stickler_cli.clients.embeddings import Embedder, FunctionEmbedder, Vector, embedder
from stickler_cli.clients.rounds import answers
from stickler_cli.comparators.base import (
    BaseComparator,
    KeywordError,
    Matrix,
    checked_choice,
    checked_text,
    text_of,
)
from stickler_cli.core.json_values import brief

MODEL_ID: Final = "amazon.titan-embed-text-v2:0"
SIM_FUNCTIONS: Final = ("cosine_similarity",)

DIGITS: Final = 6
"""Of a model's cosines: a model gives the same text another seventh digit in another batch."""


class SemanticComparator(BaseComparator):
    """Compare meanings: the cosine of the embeddings of two texts, negative ones as 0."""

    asks_models: ClassVar[bool] = True

    def __init__(
        self,
        model_id: str = MODEL_ID,
        sim_function: str = SIM_FUNCTIONS[0],
        embedding_function: Callable[[str], Sequence[float]] | None = None,
        threshold: float = 0.7,
    ) -> None:
        """Choose where embeddings come from.

        Args:
            model_id: `openai:NAME`, `st:PATH_OR_NAME`, `model2vec:PATH_OR_NAME`, or of Amazon
                Bedrock; not used where a function is given.
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

    @property
    def _backend(self) -> Embedder:
        if self.embedding_function is None:
            return embedder(self.model_id)
        return FunctionEmbedder(self.embedding_function)

    def require(self) -> None:
        """Raise where the model cannot be asked from here.

        Raises:
            UnavailableError: a library, a setting or a file is missing.
        """
        if desk().policy.may_ask:
            self._backend.require()

    def prepare(self, value: Any) -> str:
        """Turn a value into text."""
        return text_of(value)

    def similarity(self, gt: str, pred: str) -> float:
        """Compare two texts: the cosine of their embeddings, 0.0 where it is negative.

        An embedding of zeros has no direction: 0.0. A blank text is like another blank one only.

        Raises:
            ModelError: there is no embedding of one of them, with the cause.
        """
        return float(self.matrix([gt], [pred])[0, 0])

    def matrix(self, gts: Sequence[str], preds: Sequence[str]) -> Matrix:
        """Compare all with all; each distinct text is embedded once.

        Raises:
            ModelError: there is no embedding of one of them, with the cause.
        """
        texts = [text for text in dict.fromkeys([*gts, *preds]) if text.strip()]
        directions = dict(zip(texts, map(_direction, answers(self._backend, texts)), strict=True))
        # One dot product a pair: a product of matrices rounds differently by their shape.
        cosines = [[_cosine(directions, gt, pred) for pred in preds] for gt in gts]
        matrix: Matrix = np.array(cosines, dtype=np.float64).reshape(len(gts), len(preds))
        if self.embedding_function is None:
            matrix = np.round(matrix, DIGITS)
        return np.clip(matrix, 0.0, 1.0)


def _direction(vector: Vector) -> Vector:
    """Scale an embedding to length 1; one of zeros stays as it is."""
    largest = np.abs(vector).max()
    if largest == 0:
        return vector
    scaled: Vector = vector / largest  # so that no square is beyond the range of floats
    direction: Vector = scaled / np.linalg.norm(scaled)
    return direction


def _cosine(directions: dict[str, Vector], gt: str, pred: str) -> float:
    if gt not in directions or pred not in directions:
        return float(gt not in directions and pred not in directions)
    one, other = directions[gt], directions[pred]
    if one.size != other.size:
        raise ModelError(f"the model gave embeddings of {one.size} and {other.size} numbers")
    return float(np.dot(one, other))

"""Closeness in meaning, by the embeddings of two texts."""

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from stickler_cli.clients.embeddings import Embedder, FunctionEmbedder, Vector, embedder
from stickler_cli.clients.model import ModelError
from .base import text_of
from .keywords import KeywordError, checked_choice, checked_text
from .model_comparator import ModelComparator

SIM_FUNCTIONS: Final = ("cosine_similarity",)


class SemanticComparator(ModelComparator):
    """Compare meanings: the cosine of the embeddings of two texts, negative ones as 0."""

    same_value = True

    def __init__(
        self,
        model_id: str = "amazon.titan-embed-text-v2:0",
        sim_function: str = SIM_FUNCTIONS[0],
        embedding_function: Callable[[str], Sequence[float]] | None = None,
        threshold: float = 0.7,
    ) -> None:
        """Choose where embeddings come from.

        Args:
            threshold: in [0, 1], for `binary_compare`.
            model_id: `openai:NAME`, `st:PATH_OR_NAME`, `model2vec:PATH_OR_NAME`, or of Amazon
                Bedrock; not used where a function is given.
            sim_function: `cosine_similarity`.
            embedding_function: gives the embedding of a text; can only be given in Python.
        """
        super().__init__(threshold)
        self.model_id = checked_text("model_id", model_id)
        self.sim_function = checked_choice("sim_function", sim_function, SIM_FUNCTIONS)
        if embedding_function is not None and not callable(embedding_function):
            raise KeywordError.of(
                "embedding_function",
                embedding_function,
                "a Python function, which a schema cannot hold",
            )
        self.embedding_function = embedding_function
        # A model gives the same text another seventh digit in another batch.
        self._digits = 6 if embedding_function is None else None

    @property
    def _model(self) -> Embedder:
        if self.embedding_function is None:
            return embedder(self.model_id)
        return FunctionEmbedder(self.embedding_function)

    def prepare(self, value: Any) -> str:
        """Return a value as text."""
        return text_of(value)

    def _questions(self, gt: str, pred: str) -> Sequence[str]:
        return (gt, pred) if gt.strip() and pred.strip() else ()

    def _read(self, answer: Vector) -> Vector:
        """Return an embedding scaled to length 1; one of zeros stays as it is."""
        largest = np.abs(answer).max()
        if largest == 0:
            return answer
        scaled: Vector = answer / largest  # so that no square is beyond the range of floats
        direction: Vector = scaled / np.linalg.norm(scaled)
        return direction

    def _judged(self, gt: str, pred: str, answers: Sequence[Vector]) -> tuple[float, str]:
        """Return the cosine of two embeddings; a blank text is like another blank one only."""
        if not answers:
            return float(not gt.strip() and not pred.strip()), ""
        one, other = answers
        if one.size != other.size:
            raise ModelError(f"the model gave embeddings of {one.size} and {other.size} numbers")
        # One dot product a pair: a product of matrices rounds differently by their shape.
        return float(one.dot(other)), ""

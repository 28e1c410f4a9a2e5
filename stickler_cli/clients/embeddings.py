"""Embedding models by their id: what its prefix says of where the model is."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib import import_module
from typing import ClassVar, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from stickler_cli.clients.backend import Backend, GarbledError, Reply

Vector: TypeAlias = NDArray[np.float64]

_HERE: Final = "stickler_cli.clients"

BACKENDS: Final[Mapping[str, str]] = {
    "bedrock": f"{_HERE}.bedrock_embeddings:BedrockEmbedder",
    "openai": f"{_HERE}.openai_embeddings:OpenAIEmbedder",
    "st": f"{_HERE}.local_embeddings:SentenceTransformerEmbedder",
    "model2vec": f"{_HERE}.local_embeddings:Model2VecEmbedder",
}
"""Prefix -> where the class is; an id without one of them is Amazon Bedrock's."""


class Embedder(Backend[str, Vector]):
    """A model that turns a text into a vector."""

    kind: ClassVar[str] = "embedding"

    def text(self, question: str) -> str:
        """Write a question: the text itself."""
        return question

    def pack(self, answer: Vector) -> bytes:
        """Write an embedding for the cache; no model's own precision is higher."""
        return answer.astype("<f4").tobytes()

    def unpack(self, packed: bytes) -> Vector:
        """Read an embedding from the cache."""
        return np.frombuffer(packed, dtype="<f4").astype(np.float64)


class FunctionEmbedder(Embedder):
    """A Python function that turns a text into a vector; what it does is not for the cache."""

    is_local: ClassVar[bool] = True

    def __init__(self, function: Callable[[str], Sequence[float]]) -> None:
        self.model = getattr(function, "__name__", "embedding_function")
        self._function = function

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FunctionEmbedder) and self._function is other._function

    def __hash__(self) -> int:
        return id(self._function)

    @property
    def identity(self) -> None:
        """Nothing tells whether a function still does the same."""
        return

    def require(self) -> None:
        """Need nothing more."""

    def call(self, questions: Sequence[str], timeout: float) -> Reply[Vector]:
        """Call the function once a text."""
        return Reply([vector_of(self._function(text)) for text in questions])


@cache
def embedder(model_id: str) -> Embedder:
    """Give the embedding model of an id; the same object for the same id."""
    prefix, _, name = model_id.partition(":")
    if prefix not in BACKENDS:
        prefix, name = "bedrock", model_id
    module, _, class_name = BACKENDS[prefix].partition(":")
    found: Embedder = getattr(import_module(module), class_name)(name, model_id)
    return found


def vector_of(embedding: object, size: int | None = None) -> Vector:
    """Check what a model gave for a text; of `size` numbers, if that is known.

    Raises:
        GarbledError: it is no sequence of finite numbers, or has another size.
    """
    try:
        vector = np.asarray(embedding, dtype=np.float64)
    except (TypeError, ValueError):
        vector = np.empty(0)
    if vector.ndim != 1 or not vector.size or not np.isfinite(vector).all():
        raise GarbledError("the model gave no sequence of finite numbers")
    if size is not None and vector.size != size:
        raise GarbledError(f"the model gave embeddings of {size} and {vector.size} numbers")
    return vector

"""Embedding models by their id: what its prefix says of where the model is."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import ClassVar, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from stickler_cli.clients.connections import Connections
from stickler_cli.clients.model import GarbledError, Model, Reply, Usage

Vector: TypeAlias = NDArray[np.float64]

_HERE: Final = "stickler_cli.clients"

EMBEDDERS: Final[Mapping[str, str]] = {
    "bedrock": f"{_HERE}.bedrock_models:BedrockEmbedder",
    "openai": f"{_HERE}.openai_models:OpenAIEmbedder",
    "st": f"{_HERE}.local_models:SentenceTransformerEmbedder",
    "model2vec": f"{_HERE}.local_models:Model2VecEmbedder",
}
"""Prefix -> where the class is; an id without one of them is Amazon Bedrock's."""


class Embedder(Model[str, Vector]):
    """A model that turns a text into a vector."""

    kind: ClassVar[str] = "embedding"
    comparator: ClassVar[str] = "SemanticComparator"

    def text(self, question: str) -> str:
        """Return the text itself."""
        return question

    def pack(self, answer: Vector) -> bytes:
        """Return an embedding as the cache keeps it; no model's own precision is higher."""
        return answer.astype("<f4").tobytes()

    def unpack(self, packed: bytes) -> Vector:
        """Return an embedding that the cache kept."""
        return np.frombuffer(packed, dtype="<f4").astype(np.float64)


@dataclass(frozen=True)
class NamedEmbedder(Embedder):
    """An embedding model that a schema can name."""

    model_id: str
    name: str
    """Without the prefix that says where it is."""

    @property
    def title(self) -> str:
        """Its id."""
        return self.model_id


@dataclass(frozen=True, eq=False)
class FunctionEmbedder(Embedder):
    """A Python function that turns a text into a vector; what it does is not for the cache."""

    is_local: ClassVar[bool] = True

    function: Callable[[str], Sequence[float]]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FunctionEmbedder) and self.function is other.function

    def __hash__(self) -> int:
        return id(self.function)

    @property
    def title(self) -> str:
        """The name of the function."""
        return getattr(self.function, "__name__", "embedding_function")

    @property
    def identity(self) -> None:
        """Nothing tells whether a function still does the same."""
        return

    def require(self) -> None:
        """Need nothing more."""

    def call(
        self, questions: Sequence[str], connections: Connections, timeout: float
    ) -> Reply[Vector]:
        """Call the function once a text."""
        return Reply([vector_of(self.function(text)) for text in questions])


def embedder(model_id: str) -> Embedder:
    """Return the embedding model of an id."""
    prefix, _, name = model_id.partition(":")
    if prefix not in EMBEDDERS:
        prefix, name = "bedrock", model_id
    module, _, class_name = EMBEDDERS[prefix].partition(":")
    found: Embedder = getattr(import_module(module), class_name)(model_id, name)
    return found


def vector_of(embedding: object, size: int | None = None) -> Vector:
    """Return what a model gave for a text as a vector; of `size` numbers, if that is known.

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


def priced(provider: str | None, model: str, tokens: int) -> Usage:
    """Return the usage of one call for embeddings; without a provider its price is not known."""
    try:
        import genai_prices

        if provider is not None:
            usage = genai_prices.Usage(input_tokens=tokens)
            spent = genai_prices.calc_price(usage, model, provider_id=provider)
            return Usage(input_tokens=tokens, nano_dollars=round(float(spent.total_price) * 10**9))
    except (ImportError, LookupError):  # it comes with the judge's library, and knows some models
        pass
    return Usage(input_tokens=tokens, unpriced=1)

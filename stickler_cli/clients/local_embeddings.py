"""Embeddings of models that run in this process, loaded once."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, ClassVar

from stickler_cli.clients.backend import Reply, Usage, require_package
from stickler_cli.clients.embeddings import Embedder, Vector, vector_of
from stickler_cli.clients.local_files import (
    fingerprint,
    local_name,
    quiet_transformers,
    require_model_path,
)

if TYPE_CHECKING:
    from model2vec import StaticModel
    from sentence_transformers import SentenceTransformer


class LocalEmbedder(Embedder):
    """A model of the disk, or of a hub's cache on it."""

    batch_size: ClassVar[int] = 256
    is_local: ClassVar[bool] = True
    package: ClassVar[str]
    extra: ClassVar[str]

    def __init__(self, name: str, model: str) -> None:
        self.model = model
        self._name = name

    @property
    def identity(self) -> Mapping[str, object]:
        """Name the library and the model, and its files where it is a directory."""
        return {"backend": self.package, "model": self._name, "files": fingerprint(self._name)}

    def require(self) -> None:
        """Raise without the package, or where the path of the model leads nowhere.

        Raises:
            UnavailableError: with what to install or to mend.
        """
        require_package(self.package, self.extra, "SemanticComparator", self.model)
        require_model_path("SemanticComparator", self._name)


class SentenceTransformerEmbedder(LocalEmbedder):
    """A model of sentence-transformers, by path or by its name on the hub."""

    package: ClassVar[str] = "sentence_transformers"
    extra: ClassVar[str] = "semantic"

    def call(self, questions: Sequence[str], timeout: float) -> Reply[Vector]:
        """Embed a batch of texts."""
        rows = _sentence_transformer(self._name).encode(
            list(questions), show_progress_bar=False, convert_to_numpy=True
        )
        return Reply([vector_of(row) for row in rows], Usage())


class Model2VecEmbedder(LocalEmbedder):
    """A static model: a table of words, without a network to run; quick, and nearly as good."""

    package: ClassVar[str] = "model2vec"
    extra: ClassVar[str] = "model2vec"

    def call(self, questions: Sequence[str], timeout: float) -> Reply[Vector]:
        """Embed a batch of texts."""
        rows = _static_model(self._name).encode(list(questions), show_progress_bar=False)
        return Reply([vector_of(row) for row in rows], Usage())


@cache
def _sentence_transformer(name: str) -> "SentenceTransformer":
    from sentence_transformers import SentenceTransformer  # brings torch

    quiet_transformers()
    return SentenceTransformer(local_name(name))


@cache
def _static_model(name: str) -> "StaticModel":
    from model2vec import StaticModel

    return StaticModel.from_pretrained(local_name(name))

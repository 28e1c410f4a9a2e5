"""Models that run in this process, loaded once: their embeddings, and what all of them need."""

import hashlib
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from stickler_cli.clients.connections import Connections
from stickler_cli.clients.embeddings import NamedEmbedder, Vector, vector_of
from stickler_cli.clients.model import Reply
from stickler_cli.core.problems import Problem, UnavailableError


class LocalEmbedder(NamedEmbedder):
    """A model of the disk, or of a hub's cache on it."""

    batch_size: ClassVar[int] = 256
    is_local: ClassVar[bool] = True
    package: ClassVar[str]
    extra: ClassVar[str]

    @property
    def identity(self) -> Mapping[str, object]:
        """The library and the model, and its files where it is a directory."""
        return {"backend": self.package, "model": self.name, "files": fingerprint(self.name)}

    def require(self) -> None:
        """Raise without the package, or where the path of the model leads nowhere."""
        self.require_package(self.package, self.extra)
        require_model_path(self.comparator, self.name)

    @abstractmethod
    def load(self) -> Any:
        """Load the model into memory."""

    def call(
        self, questions: Sequence[str], connections: Connections, timeout: float
    ) -> Reply[Vector]:
        """Embed a batch of texts."""
        model = connections.opened(self, self.load)
        rows = model.encode(list(questions), show_progress_bar=False)
        return Reply([vector_of(row) for row in rows])


class SentenceTransformerEmbedder(LocalEmbedder):
    """A model of sentence-transformers, by path or by its name on the hub."""

    package: ClassVar[str] = "sentence_transformers"
    extra: ClassVar[str] = "semantic"

    def load(self) -> Any:
        """Load the model into memory."""
        from sentence_transformers import SentenceTransformer  # brings torch

        quiet_transformers()
        return SentenceTransformer(local_name(self.name))


class Model2VecEmbedder(LocalEmbedder):
    """A static model: a table of words, without a network to run; quick, and nearly as good."""

    package: ClassVar[str] = "model2vec"
    extra: ClassVar[str] = "model2vec"

    def load(self) -> Any:
        """Load the model into memory."""
        from model2vec import StaticModel

        return StaticModel.from_pretrained(local_name(self.name))


def require_model_path(comparator: str, name: str) -> None:
    """Make sure that a model named by a path is there; a hub's name is looked up when it is used.

    Raises:
        UnavailableError: there is no such directory.
    """
    if name.startswith((".", "/", "~")) and not Path(name).expanduser().is_dir():
        found = f"{comparator} finds no model at {name}"
        raise UnavailableError([Problem("", found, "the directory of a model")])


def fingerprint(name: str) -> str | None:
    """Return the state of a model's directory: names, sizes and times; None of a hub's name."""
    directory = Path(name).expanduser()
    if not directory.is_dir():
        return None
    states = []
    for file in sorted(path for path in directory.rglob("*") if path.is_file()):
        state = file.stat()
        states.append(f"{file.relative_to(directory)} {state.st_size} {state.st_mtime_ns}")
    return hashlib.blake2b("\n".join(states).encode(), digest_size=20).hexdigest()


def local_name(name: str) -> str:
    """Return a path or a hub's name as the libraries take it.

    >>> local_name("sentence-transformers/all-MiniLM-L6-v2")
    'sentence-transformers/all-MiniLM-L6-v2'
    """
    return str(Path(name).expanduser()) if name.startswith("~") else name


def quiet_transformers() -> None:
    """Keep progress bars and reports of loading a model off standard error."""
    from transformers.utils import logging

    logging.set_verbosity_error()
    logging.disable_progress_bar()

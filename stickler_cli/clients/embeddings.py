"""Embedding models, which are given by an id such as `openai:NAME`, and BERTScore.

BERTScore is computed by the library bert-score, which is no longer maintained. If it stops working,
code in this module can replace it. BERTScore pairs the tokens of two texts by the cosine similarity
of their embeddings.
"""

import hashlib
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stderr
from dataclasses import dataclass
from functools import partial
from io import StringIO
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, ClassVar, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from stickler_cli.core.problems import Problem, UnavailableError
from .connections import Connections
from .model import GarbledError, Model, Reply
from .servers import LONGEST_ANSWER, ServedModel, believed

Vector: TypeAlias = NDArray[np.float64]

UNREADABLE: Final = (AttributeError, GarbledError, IndexError, KeyError, TypeError, ValueError)
"""Errors that are raised if an invalid answer is parsed."""


class Embedder(Model[str, Vector]):
    """A model that turns a text into a vector."""

    kind: ClassVar[str] = "embedding"
    comparator: ClassVar[str] = "SemanticComparator"

    def text(self, question: str) -> str:
        """Return the question, which is a text already."""
        return question

    def pack(self, answer: Vector) -> bytes:
        """Return an embedding as bytes for the cache. A number takes 32 bits, as in the models."""
        return answer.astype("<f4").tobytes()

    def unpack(self, packed: bytes) -> Vector:
        """Return the embedding that `pack` made into bytes for the cache.

        Raise ValueError if the bytes are invalid.
        """
        embedding = np.frombuffer(packed, dtype="<f4").astype(np.float64)
        if not len(embedding) or not np.isfinite(embedding).all():
            raise ValueError("the cached data is not an embedding")
        return embedding


@dataclass(frozen=True, eq=False)
class FunctionEmbedder(Embedder):
    """A Python function that turns a text into a vector. Its results are not stored on disk."""

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
        """Always None, because the function may have changed since a result was stored."""
        return

    def require(self) -> None:
        """Do nothing, because a function is always available."""

    def call(self, questions: Sequence[str], connections: Connections) -> Reply[Vector]:
        """Call the function for each text."""
        return Reply([vector_of(self.function(text)) for text in questions])


@dataclass(frozen=True)
class NamedEmbedder(Embedder):
    """An embedding model that a schema can name."""

    model_id: str
    name: str  # the id without its prefix

    @property
    def title(self) -> str:
        """The id of the model."""
        return self.model_id


@dataclass(frozen=True)
class ServerEmbedder(ServedModel[str, Vector], NamedEmbedder):
    """An embedding model on a server."""

    backend: ClassVar[str]

    @property
    def place(self) -> tuple[str, str]:
        """The prefix of the server, such as `openai`, and the name of the model there.

        The prefix is also the name of the extra that installs the library.
        """
        return self.extra, self.name

    @property
    def identity(self) -> Mapping[str, object]:
        """The protocol, the server address and the model.

        The region of a server is not included.
        """
        return {"backend": self.backend, "server": self.address, "model": self.name}

    def _garbled(self, found: str, error: Exception, tokens: int) -> Reply[Vector]:
        """Return a reply for an unreadable answer.

        It counts the tokens of the answer, which are charged.
        """
        garbled = GarbledError(f"{found} ({error})")
        return Reply((), self.priced(tokens), garbled, is_charged=True)


class BedrockEmbedder(ServerEmbedder):
    """A model of Titan or Cohere on Amazon Bedrock.

    Each call has one text, because Titan allows only one.
    """

    backend: ClassVar[str] = "bedrock"
    extra: ClassVar[str] = "bedrock"

    def call(self, questions: Sequence[str], connections: Connections) -> Reply[Vector]:
        """Embed one text."""
        (text,) = questions
        is_cohere = "cohere.embed" in self.name
        request: dict[str, object] = {"inputText": text}
        if is_cohere:
            request = {"texts": [text], "input_type": "clustering"}
        runtime = self.server.reached(connections)

        def invoke() -> bytes:
            answer = runtime.invoke_model(modelId=self.name, body=json.dumps(request))
            content: bytes = answer["body"].read(LONGEST_ANSWER)
            return content

        body = connections.run_blocking(invoke)
        tokens = self.tokens(text)
        try:
            content = json.loads(body)
            tokens = believed(content.get("inputTextTokenCount"), tokens)
            raw = content["embeddings"][0] if is_cohere else content["embedding"]
            vectors = [vector_of(raw)]
        except UNREADABLE as error:
            return self._garbled("the model's answer contains no embedding", error, tokens)
        return Reply(vectors, self.priced(tokens))


class OpenAIEmbedder(ServerEmbedder):
    """An embedding model on a server with `/v1/embeddings`."""

    backend: ClassVar[str] = "openai-embeddings"
    extra: ClassVar[str] = "openai"
    batch_size: ClassVar[int] = 128  # OpenAI accepts 2048 texts, but only 300,000 tokens in total

    def call(self, questions: Sequence[str], connections: Connections) -> Reply[Vector]:
        """Embed a batch of texts in one request."""
        api = self.server.reached(connections).embeddings
        reply: Any = connections.run(
            api.create(model=self.name, input=list(questions), encoding_format="float")
        )
        tokens = sum(map(self.tokens, questions))
        try:
            tokens = believed(getattr(reply.usage, "prompt_tokens", None), tokens)
            rows = sorted(reply.data, key=lambda row: row.index)
            first = vector_of(rows[0].embedding)
            vectors = [first, *(vector_of(row.embedding, first.size) for row in rows[1:])]
            if [row.index for row in rows] != list(range(len(questions))):
                raise GarbledError(
                    f"the model returned {len(rows)} embeddings for {len(questions)} texts"
                )
        except UNREADABLE as error:
            return self._garbled("the model's answer contains no embeddings", error, tokens)
        return Reply(vectors, self.priced(tokens))


@dataclass(frozen=True)
class LocalEmbedder(NamedEmbedder):
    """A local model, given by its path or by its name on a model hub.

    A model with a name must be in the hub's cache on this machine.
    """

    batch_size: ClassVar[int] = 256
    is_local: ClassVar[bool] = True

    load: str  # function of the library that loads a model, as `package:function`

    @property
    def package(self) -> str:
        """The name of the library that loads the model."""
        return self.load.partition(":")[0]

    @property
    def identity(self) -> Mapping[str, object]:
        """The library and the model. If the model is a directory, also a digest of its files."""
        return {"backend": self.package, "model": self.name, "files": fingerprint(self.name)}

    def require(self) -> None:
        """Raise UnavailableError if the package or the directory of the model is missing."""
        extra = {"sentence_transformers": "semantic"}.get(self.package, self.package)
        self.require_package(self.package, extra)
        require_model_path(self.comparator, self.name)

    def call(self, questions: Sequence[str], connections: Connections) -> Reply[Vector]:
        """Embed a batch of texts."""
        model = connections.opened(self, lambda: loaded_by(self.load)(local_name(self.name)))
        rows = model.encode(list(questions), show_progress_bar=False)
        return Reply([vector_of(row) for row in rows])


EMBEDDERS: Final[Mapping[str, Callable[[str, str], Embedder]]] = {
    "bedrock": BedrockEmbedder,
    "openai": OpenAIEmbedder,
    "st": partial(LocalEmbedder, load="sentence_transformers:SentenceTransformer"),
    # Static word vectors without a neural network: fast, and nearly as good.
    "model2vec": partial(LocalEmbedder, load="model2vec:StaticModel.from_pretrained"),
}
"""Maps the prefix of an id to the class that makes the embedder. An id without a prefix is a model
of Amazon Bedrock."""

LARGEST: Final = float(np.finfo(np.float32).max)


def embedder(model_id: str) -> Embedder:
    """Return the embedding model that has the id `model_id`, such as `openai:NAME`."""
    prefix, _, name = model_id.partition(":")
    if prefix not in EMBEDDERS:
        prefix, name = "bedrock", model_id
    return EMBEDDERS[prefix](model_id, name)


def vector_of(embedding: object, size: int | None = None) -> Vector:
    """Return the embedding in a model's answer as a vector of floats.

    Raises:
        GarbledError: the embedding is not a list of numbers, or there are not `size` of them.
    """
    try:
        vector = np.asarray(embedding, dtype=np.float64)
    except (TypeError, ValueError):
        vector = np.empty(0)
    if vector.ndim != 1 or not vector.size or not np.isfinite(vector).all():
        raise GarbledError("the model did not return a sequence of finite numbers")
    largest = np.abs(vector).max()
    # Infinite numbers would come back from the cache; scaling keeps the angles.
    if largest > LARGEST:
        vector = vector / largest
    if size is not None and vector.size != size:
        raise GarbledError(
            f"the model returned embeddings of different lengths, {size} and {vector.size}"
        )
    return vector


TextPair = tuple[str, str]  # sorted, as F1 is symmetric


@dataclass(frozen=True)
class BertScore(Model[TextPair, float]):
    """BERTScore F1 for pairs of texts, computed by a local model with certain settings."""

    kind: ClassVar[str] = "score"
    comparator: ClassVar[str] = "BERTComparator"
    batch_size: ClassVar[int] = 256
    is_local: ClassVar[bool] = True

    name: str | None  # name or path of the model; None for the default of the language
    layers: int | None  # layer whose embeddings are compared; None for the default of the model
    rescaled: bool  # whether scores are rescaled by a baseline for model and language
    language: str

    @property
    def title(self) -> str:
        """The name of the model."""
        return self.name or f"bert-score's default model for {self.language}"

    @property
    def identity(self) -> Mapping[str, object]:
        """The library, the model with a digest of its files, and the settings."""
        return {
            "backend": "bert-score",
            "model": self.name,
            "files": fingerprint(self.name) if self.name else None,
            "settings": [self.layers, self.rescaled, self.language],
        }

    def require(self) -> None:
        """Raise UnavailableError if the library is missing or does not know enough about the model.

        If the settings do not name the layer to use, the library must know it. To rescale scores,
        the library must have a baseline for the model.
        """
        self.require_package("bert_score", "bert")
        if self.name is None:
            return
        require_model_path(self.comparator, self.name)
        if self.layers is not None and not self.rescaled:
            return
        if self.name not in resolve_name("bert_score.utils:model2layers"):
            description = f"bert-score has no baseline for {self.name}"
            hint = "set rescale_with_baseline to false in the comparator-config"
            if self.layers is None:
                description = f"bert-score does not know which layer of {self.name} to use"
                hint = "set num_layers in the comparator-config"
            raise UnavailableError([Problem("", description, expected="", hint=hint)])

    def unpack(self, packed: bytes) -> float:
        """Return the score from its bytes in the cache.

        Raise ValueError if it is not a finite number.
        """
        score = super().unpack(packed)
        if type(score) in {int, float} and np.isfinite(score):
            return score
        raise ValueError("this is not a score")

    def call(self, questions: Sequence[TextPair], connections: Connections) -> Reply[float]:
        """Score a batch of pairs of texts."""

        def load() -> Any:
            return loaded_by("bert_score:BERTScorer")(
                model_type=local_name(self.name) if self.name else None,
                num_layers=self.layers,
                lang=self.language,
                rescale_with_baseline=self.rescaled,
            )

        scorer = connections.opened(self, load)
        firsts, seconds = zip(*questions, strict=True)
        # It warns on standard error of texts without tokens, which score 0.
        with redirect_stderr(StringIO()):
            _, _, f1 = scorer.score(list(firsts), list(seconds), batch_size=64)
        return Reply([float(score) for score in f1])


def require_model_path(comparator: str, name: str) -> None:
    """Raise UnavailableError if a name is a path, but there is no directory at this path.

    A name on a model hub is not checked here.
    """
    if name.startswith((".", "/", "~")) and not Path(name).expanduser().is_dir():
        description = f"{comparator} finds no model in {name}"
        raise UnavailableError([Problem("", description, "the directory of a model")])


def fingerprint(name: str) -> str | None:
    """Return a digest of the names, sizes and times of all files of a local model.

    None if the name is not a directory but the name of a model on a hub.
    """
    directory = Path(name).expanduser()
    if not directory.is_dir():
        return None
    states = []
    for file in sorted(path for path in directory.rglob("*") if path.is_file()):
        state = file.stat()
        states.append(f"{file.relative_to(directory)} {state.st_size} {state.st_mtime_ns}")
    return hashlib.blake2b("\n".join(states).encode(), digest_size=20).hexdigest()


def local_name(name: str) -> str:
    """Return the path or name of a model in the form that libraries accept, without `~`."""
    return str(Path(name).expanduser()) if name.startswith("~") else name


def loaded_by(location: str) -> Any:
    """Import the function or class that loads the models of a library, and return it.

    An example of `location` is `sentence_transformers:SentenceTransformer`. The import may take
    seconds, because it may import torch.
    """
    load = resolve_name(location)
    # Keep progress bars and messages of loading off standard error.
    if "transformers" in sys.modules:
        logging = resolve_name("transformers.utils:logging")
        logging.set_verbosity_error()
        logging.disable_progress_bar()
    return load

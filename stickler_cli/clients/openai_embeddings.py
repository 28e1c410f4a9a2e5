"""Embeddings of any server that speaks OpenAI's protocol."""

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

from stickler_cli.clients.backend import GarbledError, Reply, require_package
from stickler_cli.clients.clients import client
from stickler_cli.clients.embeddings import Embedder, Vector, vector_of
from stickler_cli.clients.endpoints import NO_KEY, OPENAI_KEY, OPENAI_URL, require_openai_key
from stickler_cli.clients.prices import priced

if TYPE_CHECKING:
    from openai import OpenAI


class OpenAIEmbedder(Embedder):
    """A model behind `/v1/embeddings`; where, and with which key, the environment says."""

    batch_size: ClassVar[int] = 128  # OpenAI takes 2048 texts, but 300,000 tokens in all

    def __init__(self, name: str, model: str) -> None:
        self.model = model
        self._name = name

    @property
    def identity(self) -> Mapping[str, object]:
        """Name the protocol, the server and the model."""
        server = os.environ.get(OPENAI_URL, "")
        return {"backend": "openai-embeddings", "server": server, "model": self._name}

    def require(self) -> None:
        """Raise without the package `openai`, or without a key.

        Raises:
            UnavailableError: with what to install or to set.
        """
        require_package("openai", "openai", "SemanticComparator", self.model)
        require_openai_key("SemanticComparator", self.model)

    def call(self, questions: Sequence[str], timeout: float) -> Reply[Vector]:
        """Embed a batch of texts in one request.

        Raises:
            GarbledError: the answer is not what the protocol says.
        """
        reply = (
            _client()
            .with_options(timeout=timeout)
            .embeddings.create(model=self._name, input=list(questions), encoding_format="float")
        )
        try:
            rows = sorted(reply.data, key=lambda row: row.index)
            first = vector_of(rows[0].embedding)
            vectors = [first, *(vector_of(row.embedding, first.size) for row in rows[1:])]
            indexes = [row.index for row in rows]
            tokens = int(getattr(reply.usage, "prompt_tokens", 0))
        except (AttributeError, IndexError, TypeError, ValueError) as error:
            raise GarbledError(f"the answer holds no embeddings ({error})") from None
        if indexes != list(range(len(questions))):
            raise GarbledError(f"the answer holds {len(rows)} embeddings of {len(questions)}")
        provider = None if os.environ.get(OPENAI_URL) else "openai"
        return Reply(vectors, priced(provider, self._name, tokens))


def _client() -> "OpenAI":
    url, key = os.environ.get(OPENAI_URL), os.environ.get(OPENAI_KEY)

    def make() -> "OpenAI":
        from openai import OpenAI  # 0.8 s, for those who use it

        return OpenAI(base_url=url, api_key=key or NO_KEY, max_retries=0)

    return client(("openai", url, key), make, lambda made: made.close())

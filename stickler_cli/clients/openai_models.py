"""Models of servers that speak OpenAI's protocol, Ollama's too: embeddings and judges."""

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Final

from stickler_cli.clients.connections import Connections
from stickler_cli.clients.embeddings import NamedEmbedder, Vector, priced, vector_of
from stickler_cli.clients.model import GarbledError, Model, Reply

if TYPE_CHECKING:
    from openai import OpenAI

OPENAI_URL: Final = "OPENAI_BASE_URL"
OPENAI_KEY: Final = "OPENAI_API_KEY"
OLLAMA_URL: Final = "OLLAMA_BASE_URL"
OLLAMA_HERE: Final = "http://localhost:11434/v1"
"""Where Ollama listens unless it is told otherwise. Source: its documentation."""
OLLAMA_KEY: Final = "OLLAMA_API_KEY"

NO_KEY: Final = "none"
"""What a server that needs no key is told; the library insists on one."""


class OpenAIEmbedder(NamedEmbedder):
    """A model behind `/v1/embeddings`; where, and with which key, the environment says."""

    batch_size: ClassVar[int] = 128  # OpenAI takes 2048 texts, but 300,000 tokens in all

    @property
    def identity(self) -> Mapping[str, object]:
        """The protocol, the server and the model."""
        return {"backend": "openai-embeddings", "server": openai_address(), "model": self.name}

    def require(self) -> None:
        """Raise without the package `openai`, or without a key."""
        self.require_package("openai", "openai")
        require_openai_key(self)

    def call(
        self, questions: Sequence[str], connections: Connections, timeout: float
    ) -> Reply[Vector]:
        """Embed a batch of texts in one request."""
        api = _api(connections).with_options(timeout=timeout).embeddings
        reply = api.create(model=self.name, input=list(questions), encoding_format="float")
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
        provider = None if openai_address() else "openai"
        return Reply(vectors, priced(provider, self.name, tokens))


def openai_chat(name: str, connections: Connections, timeout: float) -> Any:
    """Return pydantic-ai's model of a name; a request may take `timeout` seconds."""
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    url, key = os.environ.get(OPENAI_URL), os.environ.get(OPENAI_KEY)
    provider = OpenAIProvider(openai_client=_asynchronous_api(url, key, connections, timeout))
    return OpenAIChatModel(name, provider=provider)


def ollama_chat(name: str, connections: Connections, timeout: float) -> Any:
    """Return pydantic-ai's model of a name; a request may take `timeout` seconds."""
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.ollama import OllamaProvider

    url, key = os.environ.get(OLLAMA_URL) or OLLAMA_HERE, os.environ.get(OLLAMA_KEY)
    provider = OllamaProvider(openai_client=_asynchronous_api(url, key, connections, timeout))
    return OpenAIChatModel(name, provider=provider)


def require_openai_key(model: Model[Any, Any]) -> None:
    """Make sure that there is a key, or a server of one's own, which may need none.

    Raises:
        UnavailableError: there is neither.
    """
    if not os.environ.get(OPENAI_KEY) and not os.environ.get(OPENAI_URL):
        hint = f"set it, or set {OPENAI_URL} for a server of your own"
        raise model.unavailable(f"needs a key in {OPENAI_KEY}", hint=hint)


def openai_address() -> str:
    """Return the address of a server of one's own; empty for OpenAI's."""
    return os.environ.get(OPENAI_URL, "")


def ollama_address() -> str:
    """Return the address of Ollama."""
    return os.environ.get(OLLAMA_URL, OLLAMA_HERE)


def _api(connections: Connections) -> "OpenAI":
    url, key = os.environ.get(OPENAI_URL), os.environ.get(OPENAI_KEY)

    def make() -> "OpenAI":
        from openai import OpenAI  # 0.8 s, for those who use it

        return OpenAI(base_url=url, api_key=key or NO_KEY, max_retries=0)

    return connections.opened(("openai", url, key), make, lambda made: made.close())


def _asynchronous_api(
    url: str | None, key: str | None, connections: Connections, timeout: float
) -> Any:
    def make() -> Any:
        from openai import AsyncOpenAI

        return AsyncOpenAI(base_url=url, api_key=key or NO_KEY, max_retries=0, timeout=timeout)

    state = ("openai, asynchronous", url, key, timeout)
    return connections.opened(state, make, connections.close_asynchronous)

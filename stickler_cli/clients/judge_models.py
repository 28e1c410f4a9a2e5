"""Where judges are: the servers by prefix, what each needs, and the client's model for it."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from stickler_cli.clients.clients import client, in_background
from stickler_cli.clients.endpoints import (
    NO_KEY,
    OPENAI_KEY,
    OPENAI_URL,
    bedrock_client,
    bedrock_server,
    require_aws,
    require_openai_key,
)
from stickler_cli.core.problems import Problem, UnavailableError

if TYPE_CHECKING:
    from pydantic_ai.models import Model

OLLAMA_URL: Final = "OLLAMA_BASE_URL"
OLLAMA_HERE: Final = "http://localhost:11434/v1"
"""Where Ollama listens unless it is told otherwise. Source: its documentation."""
OLLAMA_KEY: Final = "OLLAMA_API_KEY"
ANTHROPIC_URL: Final = "ANTHROPIC_BASE_URL"
ANTHROPIC_KEY: Final = "ANTHROPIC_API_KEY"


@dataclass(frozen=True, slots=True)
class Server:
    """A kind of server with language models."""

    package: str
    """What its client is made of."""
    address: Callable[[], str]
    """Where it is, unless it is where it usually is."""
    require: Callable[[str, str], None]
    """Raise `UnavailableError` without a key or the like."""
    model: Callable[[str, float], Any]
    """Make the client's model of a name; a request may take so many seconds."""


def server_of(model: str) -> tuple[str, str]:
    """Tell the server and the name there of a model; one without a prefix is Amazon Bedrock's.

    >>> server_of("ollama:llama3.2:3b"), server_of("amazon.nova-lite-v1:0")
    (('ollama', 'llama3.2:3b'), ('bedrock', 'amazon.nova-lite-v1:0'))
    """
    prefix, _, name = model.partition(":")
    return (prefix, name) if prefix in SERVERS and name else ("bedrock", model)


def chat_model(model: str, timeout: float) -> "Model":
    """Make the client's model, which never tries again by itself; `timeout` is in seconds."""
    prefix, name = server_of(model)
    made: Model = SERVERS[prefix].model(name, timeout)
    return made


def _openai(name: str, timeout: float) -> Any:
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    url, key = os.environ.get(OPENAI_URL), os.environ.get(OPENAI_KEY)
    provider = OpenAIProvider(openai_client=_openai_client(url, key, timeout))
    return OpenAIChatModel(name, provider=provider)


def _ollama(name: str, timeout: float) -> Any:
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.ollama import OllamaProvider

    url, key = os.environ.get(OLLAMA_URL) or OLLAMA_HERE, os.environ.get(OLLAMA_KEY)
    provider = OllamaProvider(openai_client=_openai_client(url, key, timeout))
    return OpenAIChatModel(name, provider=provider)


def _openai_client(url: str | None, key: str | None, timeout: float) -> Any:
    def make() -> Any:
        from openai import AsyncOpenAI

        return AsyncOpenAI(base_url=url, api_key=key or NO_KEY, max_retries=0, timeout=timeout)

    return client(("openai, asynchronous", url, key, timeout), make, _close)


def _anthropic_client(timeout: float) -> Any:
    def make() -> Any:
        from anthropic import AsyncAnthropic

        return AsyncAnthropic(max_retries=0, timeout=timeout)

    state = os.environ.get(ANTHROPIC_URL), os.environ.get(ANTHROPIC_KEY)
    return client(("anthropic", *state, timeout), make, _close)


def _close(made: Any) -> None:
    in_background(made.close())


def _anthropic(name: str, timeout: float) -> Any:
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.providers.anthropic import AnthropicProvider

    provider = AnthropicProvider(anthropic_client=_anthropic_client(timeout))
    return AnthropicModel(name, provider=provider)


def _bedrock(name: str, timeout: float) -> Any:
    from pydantic_ai.models.bedrock import BedrockConverseModel
    from pydantic_ai.providers.bedrock import BedrockProvider

    provider = BedrockProvider(bedrock_client=bedrock_client(timeout))
    return BedrockConverseModel(name, provider=provider)


def _require_anthropic_key(comparator: str, model: str) -> None:
    if not os.environ.get(ANTHROPIC_KEY):
        found = f"{comparator} with {model} needs a key in {ANTHROPIC_KEY}"
        raise UnavailableError([Problem("", found, "", "set it")])


def _require_nothing(comparator: str, model: str) -> None:
    """Need no key."""


SERVERS: Final[Mapping[str, Server]] = {
    "bedrock": Server(
        "boto3",
        bedrock_server,
        require_aws,
        _bedrock,
    ),
    "openai": Server(
        "openai",
        lambda: os.environ.get(OPENAI_URL, ""),
        require_openai_key,
        _openai,
    ),
    "anthropic": Server(
        "anthropic",
        lambda: os.environ.get(ANTHROPIC_URL, ""),
        _require_anthropic_key,
        _anthropic,
    ),
    "ollama": Server(
        "openai",
        lambda: os.environ.get(OLLAMA_URL, OLLAMA_HERE),
        _require_nothing,
        _ollama,
    ),
}
"""Prefix -> what is behind it."""

"""Where judges are: the servers by prefix, and what each needs."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from stickler_cli.clients.bedrock_models import bedrock_address, bedrock_chat, require_aws
from stickler_cli.clients.connections import Connections
from stickler_cli.clients.model import Model
from stickler_cli.clients.openai_models import (
    ollama_address,
    ollama_chat,
    openai_address,
    openai_chat,
    require_openai_key,
)

ANTHROPIC_URL: Final = "ANTHROPIC_BASE_URL"
ANTHROPIC_KEY: Final = "ANTHROPIC_API_KEY"


@dataclass(frozen=True, slots=True)
class Server:
    """A kind of server with language models."""

    package: str
    """What its library is."""
    address: Callable[[], str]
    """Where it is, unless it is where it usually is."""
    require: Callable[[Model[Any, Any]], None]
    """Raise `UnavailableError` of a model where there is no key or the like."""
    chat: Callable[[str, Connections, float], Any]
    """Return pydantic-ai's model of a name, which never tries again by itself; a request may take
    so many seconds."""


def server_of(model: str) -> tuple[str, str]:
    """Return the server and the name there of a model; one without a prefix is Amazon Bedrock's.

    >>> server_of("ollama:llama3.2:3b"), server_of("amazon.nova-lite-v1:0")
    (('ollama', 'llama3.2:3b'), ('bedrock', 'amazon.nova-lite-v1:0'))
    """
    prefix, _, name = model.partition(":")
    return (prefix, name) if prefix in SERVERS and name else ("bedrock", model)


def _anthropic_address() -> str:
    return os.environ.get(ANTHROPIC_URL, "")


def _anthropic_chat(name: str, connections: Connections, timeout: float) -> Any:
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.providers.anthropic import AnthropicProvider

    def make() -> Any:
        from anthropic import AsyncAnthropic

        return AsyncAnthropic(max_retries=0, timeout=timeout)

    state = ("anthropic", _anthropic_address(), os.environ.get(ANTHROPIC_KEY), timeout)
    api = connections.opened(state, make, connections.close_asynchronous)
    return AnthropicModel(name, provider=AnthropicProvider(anthropic_client=api))


def _require_anthropic_key(model: Model[Any, Any]) -> None:
    if not os.environ.get(ANTHROPIC_KEY):
        raise model.unavailable(f"needs a key in {ANTHROPIC_KEY}", hint="set it")


SERVERS: Final[Mapping[str, Server]] = {
    "bedrock": Server("boto3", bedrock_address, require_aws, bedrock_chat),
    "openai": Server("openai", openai_address, require_openai_key, openai_chat),
    "anthropic": Server("anthropic", _anthropic_address, _require_anthropic_key, _anthropic_chat),
    "ollama": Server("openai", ollama_address, lambda _: None, ollama_chat),
}
"""Prefix -> what is behind it."""

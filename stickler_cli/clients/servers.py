"""Servers with models: address, keys, connection and prices of each."""

import os
from abc import abstractmethod
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, ClassVar, Final, Self, TypeGuard

from .model import (
    CHARACTERS_A_TOKEN,
    A,
    GarbledError,
    Model,
    Q,
    TwinKeyError,
    Usage,
    parse_strict_json,
)

if TYPE_CHECKING:
    from botocore.session import Session

    from .connections import Connections


@dataclass(frozen=True, slots=True)
class Server:
    """A kind of server; its library is asynchronous and takes an address and a key."""

    chat: str
    """Module of pydantic-ai for its library, and the class of its language models in it."""
    provider: str
    """Module of pydantic-ai for the server, and the class in it that takes a client."""
    package: str
    """Name of its library."""
    urls: tuple[str, ...]
    """Environment variables of its address; the first that is set counts."""
    client: str = ""
    """Class of clients of its library."""
    key: str = ""
    """Environment variable of its key."""
    usual: str = ""
    """Address if no variable is set; empty if its library knows the address."""
    always_keyed: bool = False
    """Whether a server at another address needs a key, too."""
    prices: str = ""
    """Name of the provider in genai-prices; empty if its prices are not known."""

    @property
    def address(self) -> str:
        """The address of the server; empty if its library knows the address."""
        return next(filter(None, map(os.environ.get, self.urls)), self.usual)

    @property
    def pricing(self) -> str:
        """The provider whose prices apply; empty for an own server, whose prices are not known."""
        return "" if self.address else self.prices

    @property
    def key_hint(self) -> str:
        """Advice for a refused key."""
        return f"is {self.key} set to a key of this server?"

    def moved(self, address: str | None, key: str | None) -> "Server":
        """Return the server with another address, or with its key in another variable."""
        server = self if address is None else replace(self, urls=(), usual=address)
        return server if key is None else replace(server, key=key)

    def lack(self) -> tuple[str, str] | None:
        """Return a missing need of a model, such as a key, with advice."""
        if os.environ.get(self.key) or not (self.always_keyed or not self.address):
            return None
        advice = "set it"
        if not self.always_keyed:
            advice += f", or set {self.urls[0]} for a server of your own"
        return f"needs a key in {self.key}", advice

    def reached(self, connections: "Connections") -> Any:
        """Return a client of its library."""
        # OpenAI's library insists on a key, where a server needs none, too.
        key = os.environ.get(self.key) or ("none" if self.package == "openai" else None)
        address = self.address or None

        def make() -> Any:
            client = resolve_name(f"{self.package}:{self.client}")  # 0.8 s, for those who use it
            http = resolve_name(f"{self.package}:DefaultAsyncHttpxClient")
            http_options: Any = {
                "timeout": connections.timeout,
                "event_hooks": {"response": [bounded]},
            }
            return client(
                base_url=address, api_key=key, max_retries=0, http_client=http(**http_options)
            )

        state = (self.package, address, key)
        return connections.opened(state, make, connections.close_asynchronous)

    def language_model(self, name: str, connections: "Connections") -> Any:
        """Return pydantic-ai's model of a name."""
        model = resolve_name(f"pydantic_ai.models.{self.chat}")
        provider = resolve_name(f"pydantic_ai.providers.{self.provider}")
        keyword = f"{self.chat.partition(':')[0]}_client"
        return model(name, provider=provider(**{keyword: self.reached(connections)}))


class Bedrock(Server):
    """Amazon Bedrock, whose library is not asynchronous and has its own ways to find a key."""

    __slots__ = ()

    @property
    def pricing(self) -> str:
        """Whose prices it has, which do not depend on the way there."""
        return self.prices

    @property
    def key_hint(self) -> str:
        """Advice where it does not take the credentials."""
        return "may these credentials use it in this region?"

    def lack(self) -> tuple[str, str] | None:
        """Return that there is no region, no credentials, or no file that can be read."""
        try:
            session, missing = _session(), ""
            if not session.get_config_variable("region"):
                missing = "region"
            elif session.get_credentials() is None:
                missing = "credentials"
        except _botocore().exceptions.BotoCoreError as error:
            missing = f"configuration that can be read ({error})"
        if not missing:
            return None
        hint = (
            "set AWS_REGION, and AWS_PROFILE or credentials; SemanticComparator also takes "
            "openai:, st: and model2vec: models"
        )
        return f"finds no {missing} for Amazon Bedrock", hint

    def reached(self, connections: "Connections") -> Any:
        """Return boto3's client."""

        def make() -> Any:
            config = _botocore().config.Config(
                connect_timeout=connections.timeout,
                read_timeout=connections.timeout,
                retries={"mode": "standard", "total_max_attempts": 1},
                max_pool_connections=128,  # as many as --model-concurrency may ask for
            )
            runtime = _session().create_client(
                "bedrock-runtime", config=config, endpoint_url=self.usual or None
            )
            # The session that reads bodies has no public name. One of our own, which an event
            # `before-send` could use, would not have botocore's proxies and certificates.
            _bound_answers(runtime._endpoint.http_session)  # noqa: SLF001
            return runtime

        state = tuple(sorted(item for item in os.environ.items() if item[0].startswith("AWS_")))
        return connections.opened(
            ("bedrock", self.usual, state), make, lambda runtime: runtime.close()
        )


def _botocore() -> Any:
    import botocore.session  # an extra; loads its other modules too

    return botocore


def _session() -> "Session":
    """Return a session; its region is also taken from AWS_REGION, as other SDKs do."""
    session: Session = _botocore().session.Session()
    if region := os.environ.get("AWS_REGION"):
        session.set_config_variable("region", region)
    return session


SERVERS: Final[Mapping[str, Server]] = {
    "bedrock": Bedrock(
        chat="bedrock:BedrockConverseModel",
        provider="bedrock:BedrockProvider",
        package="boto3",
        urls=("AWS_ENDPOINT_URL_BEDROCK_RUNTIME", "AWS_ENDPOINT_URL"),
        prices="aws",
    ),
    "openai": Server(
        chat="openai:OpenAIChatModel",
        provider="openai:OpenAIProvider",
        package="openai",
        urls=("OPENAI_BASE_URL",),
        client="AsyncOpenAI",
        key="OPENAI_API_KEY",
        prices="openai",
    ),
    "anthropic": Server(
        chat="anthropic:AnthropicModel",
        provider="anthropic:AnthropicProvider",
        package="anthropic",
        urls=("ANTHROPIC_BASE_URL",),
        client="AsyncAnthropic",
        key="ANTHROPIC_API_KEY",
        always_keyed=True,
        prices="anthropic",
    ),
    "ollama": Server(
        chat="openai:OpenAIChatModel",
        provider="ollama:OllamaProvider",
        package="openai",
        urls=("OLLAMA_BASE_URL",),
        client="AsyncOpenAI",
        key="OLLAMA_API_KEY",
        usual="http://localhost:11434/v1",  # by Ollama's documentation
    ),
}
"""The servers by the prefix of a model's name."""


LONGEST_ANSWER: Final = 64_000_000
"""Bytes of an answer, unpacked: more than the embeddings of a batch take."""

MOST_TOKENS: Final = 10_000_000
"""Tokens that a call may be believed to take: ten times what any model reads."""


MAX_CHARACTERS_A_TOKEN: Final = 16
"""Characters that a token has at most on average; 3 to 5 are usual."""


def _is_possible(stated: object, estimate: int) -> TypeGuard[int]:
    least = -(-estimate * CHARACTERS_A_TOKEN // MAX_CHARACTERS_A_TOKEN)
    return type(stated) is int and least <= stated <= MOST_TOKENS


def believed(stated: object, estimate: int) -> int:
    """Return the tokens that a server states for a call, or the estimate if that cannot be true.

    An estimate of its own counts four characters a token.

    >>> believed(12, 10), believed(0, 10), believed(-(10**18), 10), believed("many", 10)
    (12, 10, 10, 10)
    >>> believed(3, 10), believed(2, 10)
    (3, 10)
    """
    return stated if _is_possible(stated, estimate) else estimate


LONGEST_CHECKED: Final = 1_000_000
"""Bytes of an answer whose keys are checked; a verdict has a thousand, longer ones embeddings."""


class _Meter:
    """A counter of the bytes of an answer; it keeps the body while that is short."""

    def __init__(self) -> None:
        self._size = 0
        self._body = bytearray()

    def count_chunk(self, chunk: bytes) -> bytes:
        """Count and return a chunk; ValueError if it makes the answer too long."""
        self._size += len(chunk)
        if self._size > LONGEST_ANSWER:
            raise ValueError(f"the answer has more than {LONGEST_ANSWER:,} bytes")
        if self._size <= LONGEST_CHECKED:
            self._body += chunk
        return chunk

    def check_keys(self) -> None:
        """Raise GarbledError if an object of the answer has a key twice: libraries take the last.

        Anything else about the answer is for the library to judge.
        """
        if self._size > LONGEST_CHECKED:
            return
        try:
            parse_strict_json(bytes(self._body))
        except TwinKeyError as error:
            raise GarbledError(str(error)) from None
        except (ValueError, RecursionError):
            pass


async def bounded(response: Any) -> None:
    """Have a response of httpx end with an error if its body is too long, or has a key twice.

    A redirect to another origin, which would be sent the values too, is not followed.
    """
    if response.has_redirect_location:
        asked_url = response.request.url
        target = asked_url.join(response.headers["location"])
        origins = [(url.scheme, url.host, url.port) for url in (asked_url, target)]
        if origins[0] != origins[1]:
            del response.headers["location"]
    read_chunks, meter = response.aiter_bytes, _Meter()

    async def counted(chunk_size: int | None = None) -> AsyncIterator[bytes]:
        async for chunk in read_chunks(chunk_size):
            yield meter.count_chunk(chunk)
        meter.check_keys()

    response.aiter_bytes = counted


class _Bounded:
    """A body of botocore that ends with an error if it is too long, or has a key twice."""

    def __init__(self, raw: Any) -> None:
        self._raw = raw

    def __getattr__(self, name: str) -> Any:
        return getattr(self._raw, name)

    def stream(self) -> Iterator[bytes]:
        """Yield the chunks of the body."""
        meter = _Meter()
        with closing(self._raw):
            for chunk in self._raw.stream():
                yield meter.count_chunk(chunk)
        meter.check_keys()


def _bound_answers(http: Any) -> None:
    """Make a session of botocore return bounded bodies."""
    send = http.send

    def sent(request: Any) -> Any:
        request.stream_output = True  # else all of it is read before it is returned
        response = send(request)
        response.raw = _Bounded(response.raw)
        return response

    http.send = sent


def prefix_of(model: str) -> tuple[str, str]:
    """Return the server that a model's name begins with, and its name there.

    >>> prefix_of("ollama:llama3.2:3b"), prefix_of("amazon.nova-lite-v1:0")
    (('ollama', 'llama3.2:3b'), ('bedrock', 'amazon.nova-lite-v1:0'))
    """
    prefix, _, name = model.partition(":")
    return (prefix, name) if prefix in SERVERS and name else ("bedrock", model)


@dataclass(frozen=True)
class ServedModel(Model[Q, A]):
    """A model on a server; where, and with which key, the environment says."""

    extra: ClassVar[str]

    elsewhere: Server | None = field(default=None, kw_only=True)  # where it was moved to

    @property
    @abstractmethod
    def place(self) -> tuple[str, str]:
        """The prefix of its server, and its name there."""

    @property
    def server(self) -> Server:
        """The one that it was moved to, or that of its prefix."""
        return self.elsewhere or SERVERS[self.place[0]]

    @property
    def address(self) -> str:
        """Where its server is; empty where its library knows."""
        return self.server.address

    @property
    def key_hint(self) -> str:
        """Advice of its server."""
        return self.server.key_hint

    def moved(self, address: str | None, key: str | None) -> Self:
        """Return it on another server."""
        return replace(self, elsewhere=self.server.moved(address, key))

    @property
    def is_priced(self) -> bool:
        """Whether the library of prices knows it."""
        return not self.priced(1).unpriced

    def priced(self, tokens: int) -> Usage:
        """Return the usage of one call for so many tokens; its price may not be known."""
        try:
            import genai_prices

            if provider := self.server.pricing:
                usage = genai_prices.Usage(input_tokens=tokens)
                spent = genai_prices.calc_price(usage, self.place[1], provider_id=provider)
                return Usage(1, input_tokens=tokens, nano_dollars=round(spent.total_price * 10**9))
        except (ImportError, LookupError):  # it comes with the judge, and knows some models
            pass
        return Usage(1, input_tokens=tokens, unpriced=1)

    def require(self) -> None:
        """Raise without the library, or without a key or region."""
        self.require_package(self.server.package, self.extra)
        if (lack := self.server.lack()) is not None:
            raise self.unavailable(*lack)

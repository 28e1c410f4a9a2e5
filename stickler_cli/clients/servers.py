"""The kinds of servers of models: their addresses, keys, connections and prices."""

import json
import os
from abc import abstractmethod
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, ClassVar, Final, Self, TypeGuard
from urllib.parse import urlsplit

from .model import (
    CHARACTERS_A_TOKEN,
    A,
    GarbledError,
    LongAnswerError,
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
    """A kind of server. Its Python library is asynchronous and accepts an address and a key."""

    chat: str
    """The pydantic-ai class for language models on this server, as `module:Class`."""
    provider: str
    """The pydantic-ai class that takes a client object of the server's library, as
    `module:Class`."""
    package: str
    """Name of the server's Python library."""
    urls: tuple[str, ...]
    """Environment variables that can have the address. The first one that is set is used."""
    client: str = ""
    """Name of the class in the server's library that connects to the server."""
    key: str = ""
    """Name of the environment variable that holds the API key."""
    usual: str = ""
    """Address if no variable is set; empty if the library knows the address."""
    always_keyed: bool = False
    """Whether a key is needed even at an address that the user has set."""
    prices: str = ""
    """Name of the server's provider in genai-prices; empty if prices are unknown."""

    @property
    def address(self) -> str:
        """Address of the server; empty if the library knows the address."""
        return next(filter(None, map(os.environ.get, self.urls)), self.usual)

    @property
    def pricing(self) -> str:
        """Name of the provider in genai-prices; empty if the user has set another address.

        Prices at such an address are not known.
        """
        return "" if self.address else self.prices

    @property
    def key_hint(self) -> str:
        """Advice for users if the server refuses the key."""
        return f"is {self.key} set to an API key of this server?"

    def moved(self, address: str | None, key: str | None) -> "Server":
        """Return this server with another address, or with another variable for its key.

        None leaves the address or the key as it is.
        """
        server = self if address is None else replace(self, urls=(), usual=address)
        return server if key is None else replace(server, key=key)

    def lack(self) -> tuple[str, str] | None:
        """Return (what the server lacks, such as a key; advice for the user).

        None if nothing is missing.
        """
        if os.environ.get(self.key) or not (self.always_keyed or not self.address):
            return None
        advice = "set it"
        if not self.always_keyed:
            advice += f", or set {self.urls[0]} to use your own server"
        return f"needs a key in {self.key}", advice

    def reached(self, connections: "Connections") -> Any:
        """Return a client object of the server's library that is connected to this server."""
        # The library of OpenAI requires a key even for servers that need none.
        key = os.environ.get(self.key) or ("none" if self.package == "openai" else None)
        address = self.address or None

        def make() -> Any:
            client = resolve_name(f"{self.package}:{self.client}")  # imported late: takes 0.8 s
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
        """Return the language model called `name` as an object of pydantic-ai."""
        model = resolve_name(f"pydantic_ai.models.{self.chat}")
        provider = resolve_name(f"pydantic_ai.providers.{self.provider}")
        keyword = f"{self.chat.partition(':')[0]}_client"
        return model(name, provider=provider(**{keyword: self.reached(connections)}))


class Bedrock(Server):
    """Amazon Bedrock. Its Python library is synchronous and searches for credentials itself."""

    __slots__ = ()

    @property
    def pricing(self) -> str:
        """Name of the provider in genai-prices, even if the user has set another address."""
        return self.prices

    @property
    def key_hint(self) -> str:
        """Advice for users if Bedrock refuses the credentials."""
        return "may these credentials use this model in this region?"

    def lack(self) -> tuple[str, str] | None:
        """Return (what is missing, advice for the user).

        A region, credentials or a readable configuration can be missing.

        None if nothing is missing.
        """
        try:
            session, missing = _session(), ""
            if not session.get_config_variable("region"):
                missing = "region"
            elif session.get_credentials() is None:
                missing = "credentials"
        except _botocore().exceptions.BotoCoreError as error:
            missing = f"readable configuration ({error})"
        if not missing:
            return None
        hint = (
            "set AWS_REGION, and either AWS_PROFILE or credentials; SemanticComparator "
            "can also use openai:, st: and model2vec: models"
        )
        return f"finds no {missing} for Amazon Bedrock", hint

    def reached(self, connections: "Connections") -> Any:
        """Return a client object of boto3."""

        def make() -> Any:
            config = _botocore().config.Config(
                connect_timeout=connections.timeout,
                read_timeout=connections.timeout,
                retries={"mode": "standard", "total_max_attempts": 1},
                max_pool_connections=128,  # as many connections as --model-concurrency may need
            )
            runtime = _session().create_client(
                "bedrock-runtime", config=config, endpoint_url=self.usual or None
            )
            # The session that reads bodies has no public name. A session of our own, passed through
            # the event `before-send`, would lack the proxies and certificates of botocore.
            _bound_answers(runtime._endpoint.http_session)  # noqa: SLF001
            return runtime

        state = tuple(sorted(item for item in os.environ.items() if item[0].startswith("AWS_")))
        return connections.opened(
            ("bedrock", self.usual, state), make, lambda runtime: runtime.close()
        )


def _botocore() -> Any:
    import botocore.session  # imported late: an extra that loads many modules

    return botocore


def _session() -> "Session":
    """Return a boto3 session that also reads its region from AWS_REGION, as other SDKs do."""
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
        usual="http://localhost:11434/v1",  # as recommended in the documentation of Ollama
    ),
}
"""Maps the prefix of model names, such as `openai`, to the server."""


LONGEST_ANSWER: Final = 64_000_000
"""Maximum size of an answer in bytes after decompression. The embeddings of a batch take less."""

MOST_TOKENS: Final = 10_000_000
"""Maximum number of tokens that a server can report for a call. A larger number is taken for an
error of the server, as it is ten times what any model can read."""


MAX_CHARACTERS_A_TOKEN: Final = 16
"""Maximum mean number of characters in a token; 3 to 5 are usual. If a server reports so few tokens
that the mean would be above this maximum, its report is not believed."""


def _is_possible(stated: object, estimate: int) -> TypeGuard[int]:
    least = -(-estimate * CHARACTERS_A_TOKEN // MAX_CHARACTERS_A_TOKEN)
    return type(stated) is int and least <= stated <= MOST_TOKENS


def believed(stated: object, estimate: int) -> int:
    """Return the tokens that a server reports, or `estimate` if its report is not believed.

    A reported number is not believed if it is not an integer, if it is above `MOST_TOKENS`, or if
    it means more than `MAX_CHARACTERS_A_TOKEN` characters for each token. The estimate assumes four
    characters for each token.

    >>> believed(12, 10), believed(0, 10), believed(-(10**18), 10), believed("many", 10)
    (12, 10, 10, 10)
    >>> believed(3, 10), believed(2, 10)
    (3, 10)
    """
    return stated if _is_possible(stated, estimate) else estimate


LONGEST_VERDICT: Final = 1_000_000
"""Maximum size of a verdict in bytes; a longer one is an error. A usual verdict takes a thousand
bytes. Embeddings may be longer, but they are not checked for duplicate keys."""

TOKEN_COUNTERS: Final[Mapping[str, Sequence[str]]] = {
    "choices": ("prompt_tokens", "completion_tokens", "total_tokens"),  # OpenAI
    "content": ("input_tokens", "output_tokens"),  # Anthropic
    "output": ("inputTokens", "outputTokens", "totalTokens"),  # Amazon Bedrock
}
"""Names of the token counts in the `usage` of an answer. Each protocol has its own names. Each key
of this dict stands for a protocol: it is a top-level key that only answers of this protocol
have."""

EMBEDDING_PATHS: Final = ("/embeddings", "/invoke")
"""A URL that ends in one of these computes embeddings, at OpenAI or Amazon Bedrock."""


class _Meter:
    """Counts the bytes of a server's answer. If the answer is a verdict, its body is kept."""

    def __init__(self, path: str) -> None:
        """Take the path of the requested URL, without its query."""
        self._limit = LONGEST_ANSWER if path.endswith(EMBEDDING_PATHS) else LONGEST_VERDICT
        self._size = 0
        self._body = bytearray()

    def count_chunk(self, chunk: bytes) -> None:
        """Count the bytes of a chunk. If the answer is a verdict, also keep the chunk.

        Raises:
            GarbledError: a verdict is too long. The model is then asked once more.
            LongAnswerError: an embedding is too long.
        """
        self._size += len(chunk)
        if self._size > self._limit:
            finding = f"the server's answer has more than {self._limit:,} bytes"
            raise (GarbledError if self._limit == LONGEST_VERDICT else LongAnswerError)(finding)
        if self.keeps_body:
            self._body += chunk

    def checked_body(self) -> bytes:
        """Return the body of a verdict, or raise an error if the verdict is ambiguous.

        If the library could not read the object `usage`, its token counts are set to zero. A body
        that is not a JSON object is returned unchanged, because the library rejects it.

        Raises:
            GarbledError: an object has a key twice, there are several alternative answers
                (`choices`), or there is an error beside the answer. Without this check, the library
                would raise no error. It would take the last value of the key, take the first
                alternative, or ignore the error.
        """
        try:
            body = parse_strict_json(bytes(self._body))
        except TwinKeyError as error:
            raise GarbledError(str(error)) from None
        except ValueError:
            return bytes(self._body)
        if not isinstance(body, dict):
            return bytes(self._body)
        choices = body.get("choices")
        if isinstance(choices, list) and len(choices) > 1:
            raise GarbledError(f"the server's answer has {len(choices)} choices, expected one")
        if (failure := _stated_error(body)) is not None:
            raise GarbledError(f"the server's answer has a verdict and an error: {failure}")
        counters = next((names for key, names in TOKEN_COUNTERS.items() if key in body), None)
        if counters is None or _is_readable(body.get("usage"), counters):
            return bytes(self._body)
        # No tokens are stated, so that they are estimated.
        return json.dumps({**body, "usage": dict.fromkeys(counters, 0)}).encode()

    @property
    def keeps_body(self) -> bool:
        """Whether the answer is a verdict, so that its body must be kept.

        The body of a verdict is checked before the library gets it.
        """
        return self._limit == LONGEST_VERDICT


def _stated_error(body: dict[str, Any]) -> str | None:
    """Return the error that an answer states beside its text; None if there is none.

    Gateways do so if the model fails while it answers; the text may then be cut off. An error that
    is null or empty states that nothing failed.
    """
    if not body.keys() & TOKEN_COUNTERS.keys():
        return None  # the body of a failed request, which the library reads
    choices = body.get("choices")
    holders = [body, *(choices if isinstance(choices, list) else [])]
    errors = (holder.get("error") for holder in holders if isinstance(holder, dict))
    error = next(filter(None, errors), None)
    message = error.get("message") if isinstance(error, dict) else None
    return None if error is None else str(message or error)


def _is_readable(usage: object, counters: Sequence[str]) -> bool:
    """Return whether libraries can read the object `usage` of an answer.

    All counts of tokens in `usage` must be integers, and the counts named in `counters` must exist.
    """
    if not isinstance(usage, dict) or any(type(usage.get(name)) is not int for name in counters):
        return False
    counts = [value for name, value in usage.items() if "token" in name.lower() or "cache" in name]
    for value in counts:
        details = value.values() if isinstance(value, dict) else [value]
        if not all(detail is None or type(detail) is int for detail in details):
            return False
    return True


async def bounded(response: Any) -> None:
    """Make an httpx response raise an error if its body is too long or ambiguous.

    Also prevent redirects to another origin. The request has values of documents, which only the
    chosen server may receive.
    """
    if response.has_redirect_location:
        asked_url = response.request.url
        target = asked_url.join(response.headers["location"])
        origins = [(url.scheme, url.host, url.port) for url in (asked_url, target)]
        if origins[0] != origins[1]:
            del response.headers["location"]
    read_chunks, meter = response.aiter_bytes, _Meter(response.request.url.path)

    async def counted(chunk_size: int | None = None) -> AsyncIterator[bytes]:
        async for chunk in read_chunks(chunk_size):
            meter.count_chunk(chunk)
            if not meter.keeps_body:
                yield chunk
        if meter.keeps_body:
            yield meter.checked_body()

    response.aiter_bytes = counted


class _Bounded:
    """The body of a botocore response. It raises an error if it is too long or ambiguous."""

    def __init__(self, raw: Any, path: str) -> None:
        self._raw, self._path = raw, path

    def __getattr__(self, name: str) -> Any:
        return getattr(self._raw, name)

    def stream(self) -> Iterator[bytes]:
        """Yield the chunks of the body."""
        meter = _Meter(self._path)
        with closing(self._raw):
            for chunk in self._raw.stream():
                meter.count_chunk(chunk)
                if not meter.keeps_body:
                    yield chunk
        if meter.keeps_body:
            yield meter.checked_body()


def _bound_answers(http: Any) -> None:
    """Make an HTTP session of botocore check the bodies of its responses with `_Bounded`."""
    send = http.send

    def sent(request: Any) -> Any:
        request.stream_output = True  # otherwise the complete body is read before it is returned
        response = send(request)
        response.raw = _Bounded(response.raw, urlsplit(request.url).path)
        return response

    http.send = sent


def prefix_of(model: str) -> tuple[str, str]:
    """Split the name of a model into (prefix of the server, name of the model on the server).

    >>> prefix_of("ollama:llama3.2:3b"), prefix_of("amazon.nova-lite-v1:0")
    (('ollama', 'llama3.2:3b'), ('bedrock', 'amazon.nova-lite-v1:0'))
    """
    prefix, _, name = model.partition(":")
    return (prefix, name) if prefix in SERVERS and name else ("bedrock", model)


@dataclass(frozen=True)
class ServedModel(Model[Q, A]):
    """A model on a server. Environment variables have the address and the key."""

    extra: ClassVar[str]

    # Server at another address, set by `moved`.
    elsewhere: Server | None = field(default=None, kw_only=True)

    @property
    @abstractmethod
    def place(self) -> tuple[str, str]:
        """The prefix of the server, such as `openai`, and the name of the model there."""

    @property
    def server(self) -> Server:
        """The server with the address or key that `moved` has set.

        If `moved` was not called, this is the server that belongs to the prefix of the
        model, such as `openai`.
        """
        return self.elsewhere or SERVERS[self.place[0]]

    @property
    def address(self) -> str:
        """Address of the model's server; empty if the library knows the address."""
        return self.server.address

    @property
    def key_hint(self) -> str:
        """Advice for users if the server refuses the key."""
        return self.server.key_hint

    def moved(self, address: str | None, key: str | None) -> Self:
        """Return this model with another address, or with another variable for its key."""
        return replace(self, elsewhere=self.server.moved(address, key))

    @property
    def is_priced(self) -> bool:
        """Whether genai-prices knows the price of the model."""
        return not self.priced(1).unpriced

    def priced(self, tokens: int) -> Usage:
        """Return the usage of one call with this number of tokens. The cost may be unknown."""
        try:
            import genai_prices

            if provider := self.server.pricing:
                usage = genai_prices.Usage(input_tokens=tokens)
                spent = genai_prices.calc_price(usage, self.place[1], provider_id=provider)
                return Usage(1, input_tokens=tokens, nano_dollars=round(spent.total_price * 10**9))
        # It is part of the extra for judges, and knows some models only.
        except (ImportError, LookupError):
            pass
        return Usage(1, input_tokens=tokens, unpriced=1)

    def usage_of_sent(self, questions: Sequence[Q]) -> Usage:
        """Return the estimated tokens and cost of questions that got no usable answer."""
        return replace(self.priced(sum(map(self.tokens, questions))), calls=0, unpriced=0)

    def require(self) -> None:
        """Raise UnavailableError if the library, a key or a region is missing."""
        self.require_package(self.server.package, self.extra)
        if (lack := self.server.lack()) is not None:
            raise self.unavailable(*lack)

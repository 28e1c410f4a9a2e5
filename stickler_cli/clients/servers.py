"""Servers with models: address, keys, connection and prices of each; connections that are open."""

import asyncio
import os
import threading
from collections.abc import Callable, Coroutine, Hashable, Mapping
from dataclasses import replace
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, Final, TypeVar

from stickler_cli.core.values import dataclass
from .allowance import Usage

if TYPE_CHECKING:
    from botocore.session import Session


T = TypeVar("T")


class Connections:
    """Connections and models in memory by key, each opened once, and closed together.

    Asynchronous libraries have one event loop, in a thread of its own: it serves threads and
    notebooks.
    """

    def __init__(self, timeout: float) -> None:
        self.timeout = timeout
        """Seconds that a request may take."""
        self._lock = threading.RLock()
        self._open: dict[Hashable, tuple[Any, Callable[[Any], object]]] = {}
        self._loop: asyncio.AbstractEventLoop | None = None

    def opened(
        self, key: Hashable, make: Callable[[], T], close: Callable[[T], object] = lambda _: None
    ) -> T:
        """Return the connection under a key, which has all that it is made from."""
        with self._lock:
            if key not in self._open:
                self._open[key] = make(), close
            found: T = self._open[key][0]
            return found

    def run(self, work: Coroutine[Any, Any, T], seconds: float | None = None) -> T:
        """Return the result of asynchronous work, done on the loop of all such work."""
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                threading.Thread(target=_serve, args=[self._loop], daemon=True).start()
            loop = self._loop
        return asyncio.run_coroutine_threadsafe(work, loop).result(seconds)

    def close_asynchronous(self, made: Any) -> None:
        """Close an asynchronous connection on its loop; TimeoutError if that takes long."""
        self.run(made.close(), seconds=5.0)

    def close(self) -> None:
        """Close everything; a connection that is needed again is opened again."""
        with self._lock:
            while self._open:
                _, (made, close) = self._open.popitem()
                close(made)
            if self._loop is not None:
                self._loop.call_soon_threadsafe(self._loop.stop)
                self._loop = None


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    loop.run_forever()
    loop.close()


@dataclass(frozen=True, slots=True)
class Server:
    """A kind of server, whose library is asynchronous and takes an address and a key."""

    chat: str  # pydantic-ai's module of its library, and the class there of its language models
    provider: str  # pydantic-ai's module of the server, and the class there that takes a client
    package: str  # its library
    urls: tuple[str, ...]  # the environment variables that move it; the first that is set counts
    client: str = ""  # the library's class of clients
    key: str = ""  # the environment variable of its key
    usual: str = ""  # where it is unless a variable moves it; empty where its library knows
    always_keyed: bool = False  # a server of one's own needs a key, too
    prices: str = ""  # what genai-prices calls it, where it is nobody's own

    @property
    def address(self) -> str:
        """Where it is; empty where its library knows."""
        return next(filter(None, map(os.environ.get, self.urls)), self.usual)

    @property
    def pricing(self) -> str:
        """Whose prices it has; empty of a server of one's own, which has none that are known."""
        return "" if self.address else self.prices

    @property
    def key_hint(self) -> str:
        """Advice where it does not take the key."""
        return f"is {self.key} set to a key of this server?"

    def moved(self, address: str | None, key: str | None) -> "Server":
        """Return the same at another address, or with the key in another variable."""
        there = self if address is None else replace(self, urls=(), usual=address)
        return there if key is None else replace(there, key=key)

    def lack(self) -> tuple[str, str] | None:
        """Return a missing need of a model, such as a key, with advice."""
        if os.environ.get(self.key) or not (self.always_keyed or not self.address):
            return None
        own = "" if self.always_keyed else f", or set {self.urls[0]} for a server of your own"
        return f"needs a key in {self.key}", f"set it{own}"

    def reached(self, connections: Connections) -> Any:
        """Return a client of its library."""
        # OpenAI's library insists on a key, where a server needs none, too.
        key = os.environ.get(self.key) or ("none" if self.package == "openai" else None)
        address = self.address or None

        def make() -> Any:
            client = resolve_name(f"{self.package}:{self.client}")  # 0.8 s, for those who use it
            return client(base_url=address, api_key=key, max_retries=0, timeout=connections.timeout)

        state = (self.package, address, key)
        return connections.opened(state, make, connections.close_asynchronous)

    def language_model(self, name: str, connections: Connections) -> Any:
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
        from botocore.exceptions import BotoCoreError

        try:
            session, missing = _session(), ""
            if not session.get_config_variable("region"):
                missing = "region"
            elif session.get_credentials() is None:
                missing = "credentials"
        except BotoCoreError as error:
            missing = f"configuration that can be read ({error})"
        if not missing:
            return None
        hint = (
            "set AWS_REGION, and AWS_PROFILE or credentials; SemanticComparator also takes "
            "openai:, st: and model2vec: models"
        )
        return f"finds no {missing} for Amazon Bedrock", hint

    def reached(self, connections: Connections) -> Any:
        """Return boto3's client."""

        def make() -> Any:
            from botocore.config import Config

            config = Config(
                connect_timeout=connections.timeout,
                read_timeout=connections.timeout,
                retries={"mode": "standard", "total_max_attempts": 1},
                max_pool_connections=128,  # as many as --model-concurrency may ask for
            )
            return _session().create_client(
                "bedrock-runtime", config=config, endpoint_url=self.usual or None
            )

        state = tuple(sorted(item for item in os.environ.items() if item[0].startswith("AWS_")))
        return connections.opened(("bedrock", self.usual, state), make, lambda made: made.close())


def _session() -> "Session":
    """Return a session; its region is also taken from AWS_REGION, as other SDKs do."""
    from botocore.session import Session

    session = Session()
    if region := os.environ.get("AWS_REGION"):
        session.set_config_variable("region", region)
    return session


SERVERS: Final[Mapping[str, Server]] = {
    "bedrock": Bedrock(
        "bedrock:BedrockConverseModel",
        "bedrock:BedrockProvider",
        "boto3",
        ("AWS_ENDPOINT_URL_BEDROCK_RUNTIME", "AWS_ENDPOINT_URL"),
        prices="aws",
    ),
    "openai": Server(
        "openai:OpenAIChatModel",
        "openai:OpenAIProvider",
        "openai",
        ("OPENAI_BASE_URL",),
        "AsyncOpenAI",
        "OPENAI_API_KEY",
        prices="openai",
    ),
    "anthropic": Server(
        "anthropic:AnthropicModel",
        "anthropic:AnthropicProvider",
        "anthropic",
        ("ANTHROPIC_BASE_URL",),
        "AsyncAnthropic",
        "ANTHROPIC_API_KEY",
        always_keyed=True,
        prices="anthropic",
    ),
    "ollama": Server(
        "openai:OpenAIChatModel",
        "ollama:OllamaProvider",
        "openai",
        ("OLLAMA_BASE_URL",),
        "AsyncOpenAI",
        "OLLAMA_API_KEY",
        usual="http://localhost:11434/v1",  # by Ollama's documentation
    ),
}
"""The prefix of a model's name -> what is behind it."""


def prefix_of(model: str) -> tuple[str, str]:
    """Return the server that a model's name begins with, and its name there.

    >>> prefix_of("ollama:llama3.2:3b"), prefix_of("amazon.nova-lite-v1:0")
    (('ollama', 'llama3.2:3b'), ('bedrock', 'amazon.nova-lite-v1:0'))
    """
    prefix, _, name = model.partition(":")
    return (prefix, name) if prefix in SERVERS and name else ("bedrock", model)


def priced(provider: str, model: str, tokens: int) -> Usage:
    """Return the usage of one call for embeddings; without a provider its price is not known."""
    try:
        import genai_prices

        if provider:
            usage = genai_prices.Usage(input_tokens=tokens)
            spent = genai_prices.calc_price(usage, model, provider_id=provider)
            return Usage(1, input_tokens=tokens, nano_dollars=round(spent.total_price * 10**9))
    except (ImportError, LookupError):  # it comes with the judge's library, and knows some models
        pass
    return Usage(1, input_tokens=tokens, unpriced=1)

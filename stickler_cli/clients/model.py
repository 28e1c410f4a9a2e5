"""A model as the rest of the program sees it, and the policy of a run for asking.

A question is a text (embeddings) or a pair of values (scores, verdicts).
"""

import json
from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import field, replace
from importlib.util import find_spec
from typing import TYPE_CHECKING, ClassVar, Final, Generic, Self, TypeVar

from stickler_cli.core.problems import ModelError, Problem, UnavailableError, installing
from stickler_cli.core.values import dataclass
from stickler_cli.settings.running import ModelOptions
from .servers import ONE_CALL, SERVERS, Server, Usage, priced

if TYPE_CHECKING:
    from .connections import Connections

Q = TypeVar("Q", bound=Hashable)
A = TypeVar("A")

# A usual estimate for English text; only estimates of cost rest on it.
CHARACTERS_A_TOKEN: Final = 4


class TooLargeError(ModelError):
    """A request is too large for a server; it may take parts of it."""


class UnaskedError(ModelError):
    """A question that was not asked, and may be another time."""


class GarbledError(Exception):
    """An answer that cannot be read; the next one may be better."""


@dataclass(frozen=True, slots=True)
class Reply(Generic[A]):
    """The answers and the usage of one call."""

    answers: Sequence[A]  # in the order of the questions; none where it failed
    usage: Usage = ONE_CALL
    failure: Exception | None = None  # of a call that is charged all the same


class Model(ABC, Generic[Q, A]):
    """A model and the way to it; equal objects are the same model."""

    kind: ClassVar[str]  # what its answers are: `embedding`, `score` or `verdict`
    comparator: ClassVar[str]  # the name of the comparator that asks it
    batch_size: ClassVar[int] = 1  # questions that a call takes at once
    is_local: ClassVar[bool] = False  # in this process: one call at a time, and none tried again
    is_judge: ClassVar[bool] = False  # the run's limit on judged pairs holds for it

    @property
    def server(self) -> Server | None:
        """Where it is; None of one in this process."""
        return None

    def moved(self, address: str | None, key: str | None) -> Self:
        """Return it at another address, or with the key in another variable; None changes nothing.

        Raises:
            UnavailableError: it has none.
        """
        raise self.unavailable("is in this process", "it has no address and no key")

    @property
    def is_priced(self) -> bool:
        """Whether the price of its calls is known."""
        return self.is_local

    @property
    @abstractmethod
    def title(self) -> str:
        """The model as the schema names it."""

    @property
    @abstractmethod
    def identity(self) -> Mapping[str, object] | None:
        """Everything that shapes an answer, other than the question; None: cannot be known."""

    @abstractmethod
    def require(self) -> None:
        """Raise UnavailableError where the model cannot be asked from here, without asking it."""

    def require_package(self, package: str, extra: str) -> None:
        """Raise UnavailableError if a package of an extra is not installed; nothing is loaded."""
        if find_spec(package) is None:
            found = f"needs the package {package}, which is not installed"
            raise self.unavailable(found, hint=installing(extra))

    def unavailable(self, found: str, hint: str) -> UnavailableError:
        """Return the error of a model that cannot be asked from here."""
        found = f"{self.comparator} with {self.title} {found}"
        return UnavailableError([Problem("", found, "", hint)])

    @abstractmethod
    def call(self, questions: Sequence[Q], connections: "Connections") -> Reply[A]:
        """Ask at most `batch_size` questions; GarbledError if the answer cannot be read."""

    def text(self, question: Q) -> str:
        """Return a question as text, one text a question: the cache knows it by that."""
        return json.dumps(question)

    def pack(self, answer: A) -> bytes:
        """Return an answer as the cache keeps it."""
        return json.dumps(answer).encode()

    def unpack(self, packed: bytes) -> A:
        """Return an answer that the cache kept."""
        answer: A = json.loads(packed)
        return answer

    def tokens(self, question: Q) -> int:
        """Return an estimate of the tokens that a question costs."""
        return -(-len(self.text(question)) // CHARACTERS_A_TOKEN)


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

    def moved(self, address: str | None, key: str | None) -> Self:
        """Return it on another server."""
        return replace(self, elsewhere=self.server.moved(address, key))

    @property
    def is_priced(self) -> bool:
        """Whether the library of prices knows it."""
        return not self.priced(1).unpriced

    def priced(self, tokens: int) -> Usage:
        """Return the usage of one call for so many tokens."""
        return priced(self.server.pricing, self.place[1], tokens)

    def require(self) -> None:
        """Raise without the library, or without a key or region."""
        self.require_package(self.server.package, self.extra)
        if (lack := self.server.lack()) is not None:
            raise self.unavailable(*lack)


@dataclass(frozen=True, slots=True)
class Retry:
    """How often and how long to try."""

    attempts: int = ModelOptions.model_attempts  # at least 1
    first_wait: float = 0.5  # seconds after the first failure; doubled after each further one
    longest_wait: float = 60.0  # seconds; a server that asks for more is not waited for
    timeout: float = ModelOptions.model_timeout  # seconds that one attempt may take


@dataclass(frozen=True, slots=True)
class Policy:
    """The policy of a run for asking models: which, how often, and for how much."""

    cache: bool = True  # answers are read from and kept on disk
    offline: bool = False  # only answers in the cache count
    dry_run: bool = False  # questions are counted instead of asked
    max_pairs: int = ModelOptions.max_pairs  # that judges are asked about, beside the cache's
    concurrency: int = ModelOptions.model_concurrency  # calls to one model
    retry: Retry = field(default_factory=Retry)
    per_minute: int | None = ModelOptions.requests_per_minute  # calls to one model
    max_cost: float | None = ModelOptions.max_cost  # dollars
    max_tokens: int | None = ModelOptions.max_tokens
    endpoints: Mapping[str, str] = field(default_factory=dict)  # of models: where they are
    keys: Mapping[str, str] = field(default_factory=dict)  # the variables of their keys

    @property
    def may_ask(self) -> bool:
        """Whether models are needed at all."""
        return not (self.offline or self.dry_run)


DEFAULT_POLICY: Final = Policy()

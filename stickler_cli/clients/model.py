"""A model as the rest of the program sees it; and the usage of a run.

A question is a text (embeddings) or a pair of values (scores, verdicts).
"""

import json
import threading
from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import astuple, dataclass
from importlib.util import find_spec
from operator import add
from typing import (
    TYPE_CHECKING,
    ClassVar,
    Final,
    Generic,
    NoReturn,
    Self,
    TypeVar,
)

from stickler_cli.core.problems import ModelError, Problem, UnavailableError, installing

if TYPE_CHECKING:
    from .connections import Connections

Q = TypeVar("Q", bound=Hashable)
A = TypeVar("A")

# A usual estimate for English text; only estimates of cost rest on it.
CHARACTERS_A_TOKEN: Final = 4


class TwinKeyError(ValueError):
    """An object of JSON that has a key twice."""


def parse_strict_json(text: str | bytes) -> object:
    """Parse JSON; ValueError also for a key that an object has twice, and for NaN and infinity."""
    return json.loads(text, object_pairs_hook=_without_twins, parse_constant=_refuse_constant)


def _without_twins(pairs: list[tuple[str, object]]) -> dict[str, object]:
    values = dict(pairs)
    if len(values) < len(pairs):
        raise TwinKeyError("an object of the answer has a key twice")
    return values


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


class TooLargeError(ModelError):
    """A request is too large for a server; it may take parts of it."""


class UnaskedError(ModelError):
    """A question that was not asked, and may be another time."""


class GarbledError(Exception):
    """An answer that cannot be read; the next one may be better."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Calls, tokens and cost of asking; usages add."""

    calls: int = 0  # requests to a model, or batches given to a local one; each attempt counts
    failed: int = 0  # those of them that brought no answer, or one that cannot be used
    repeated: int = 0  # those that asked again what had failed
    unasked: int = 0  # questions that were given up without being asked
    cached: int = 0  # answers that were in the cache
    input_tokens: int = 0
    output_tokens: int = 0
    nano_dollars: int = 0  # what the calls with a known price cost
    unpriced: int = 0  # calls with tokens whose price is not known; none of them to local models

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(*map(add, astuple(self), astuple(other)))

    @property
    def tokens(self) -> int:
        """Tokens of questions and answers."""
        return self.input_tokens + self.output_tokens

    def __str__(self) -> str:
        """Return it in a few words.

        >>> str(Usage(calls=3, failed=1, cached=9, input_tokens=120, nano_dollars=1_500_000))
        '3 calls (1 failed), 9 answers from the cache, 120 tokens, $0.0015'
        """
        failed = [f"{self.failed} failed"] if self.failed else []
        failed += [f"{self.repeated} asked again"] if self.repeated else []
        clauses = [f"{self.calls:,} calls" + (f" ({', '.join(failed)})" if failed else "")]
        clauses += [f"{self.unasked:,} questions given up"] if self.unasked else []
        clauses += [f"{self.cached:,} answers from the cache"]
        clauses += [f"{self.tokens:,} tokens"] if self.tokens else []
        if self.nano_dollars:
            prefix = "at least " if self.unpriced else ""
            clauses.append(f"{prefix}${self.nano_dollars / 1e9:.4f}")
        elif self.unpriced:
            clauses.append("cost unknown")
        return ", ".join(clauses)


NO_USAGE: Final = Usage()
ONE_CALL: Final = Usage(calls=1)


class Purse:
    """The budget of a run for asking, and its usage so far."""

    def __init__(self, max_cost: float | None = None, max_tokens: int | None = None) -> None:
        """Set the limits in dollars and in tokens; None for no limit."""
        self.usage = NO_USAGE
        self._max_cost = max_cost
        self._max_tokens = max_tokens
        self._lock = threading.Lock()

    def count(self, usage: Usage) -> None:
        """Add the usage of a call."""
        with self._lock:
            self.usage += usage

    @property
    def spent(self) -> str:
        """A sentence on the limit that is reached; empty while the budget lasts."""
        usage = self.usage
        if self._max_cost is not None and usage.nano_dollars >= self._max_cost * 1e9:
            return f"the ${self._max_cost:g} of --max-cost are spent"
        if self._max_tokens is not None and usage.tokens >= self._max_tokens:
            return f"the {self._max_tokens} tokens of --max-tokens are spent"
        return ""


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
    def address(self) -> str:
        """Where it is; empty in this process, or where its library knows."""
        return ""

    @property
    def key_hint(self) -> str:
        """Advice where its server does not take the key."""
        return ""

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
            lack = f"needs the package {package}, which is not installed"
            raise self.unavailable(lack, hint=installing(extra))

    def unavailable(self, lack: str, hint: str) -> UnavailableError:
        """Return the error of a model that cannot be asked from here; `lack` is its predicate."""
        description = f"{self.comparator} with {self.title} {lack}"
        return UnavailableError([Problem(source="", found=description, expected="", hint=hint)])

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
        """Return an answer that the cache kept; ValueError for other values."""
        answer: A = parse_strict_json(packed)  # type: ignore[assignment] # a subclass checks it
        return answer

    def tokens(self, question: Q) -> int:
        """Return an estimate of the tokens that a question costs."""
        return -(-len(self.text(question)) // CHARACTERS_A_TOKEN)

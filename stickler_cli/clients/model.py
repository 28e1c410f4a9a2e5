"""The interface of models that answer questions, and the usage of models in a run.

A question is a text (for embeddings) or a pair of values (for scores and verdicts).
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

# A usual estimate for English text; only estimates of cost depend on it.
CHARACTERS_A_TOKEN: Final = 4


class TwinKeyError(ValueError):
    """A JSON object has a key twice."""


def parse_strict_json(text: str | bytes) -> object:
    """Parse JSON. Raise ValueError for invalid JSON, duplicate keys, NaN and infinities."""
    try:
        return json.loads(text, object_pairs_hook=_without_twins, parse_constant=_refuse_constant)
    except RecursionError:
        raise ValueError("the JSON is nested too deeply") from None


def _without_twins(pairs: list[tuple[str, object]]) -> dict[str, object]:
    values = dict(pairs)
    if len(values) < len(pairs):
        raise TwinKeyError("the model's answer has an object with the same key twice")
    return values


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


class TooLargeError(ModelError):
    """A request is too large for the server. Smaller requests may be accepted."""


class UnaskedError(ModelError):
    """A question was not asked; it may be asked later."""


class GarbledError(Exception):
    """An answer cannot be read. Another attempt may give a readable answer."""


class LongAnswerError(ValueError):
    """An answer is too long to be read. Another attempt would give another long answer."""


@dataclass(frozen=True, slots=True)
class Usage:
    """How often models were called, and the tokens and cost. Two usages can be added."""

    calls: int = 0  # requests to servers, or batches for a local model, including repeated attempts
    failed: int = 0  # calls without an answer, or with an unusable one
    repeated: int = 0  # calls that repeated a failed one
    unasked: int = 0  # questions that were given up without being asked
    cached: int = 0  # answers that were in the cache
    input_tokens: int = 0
    output_tokens: int = 0
    nano_dollars: int = 0  # cost of the calls whose price is known
    unpriced: int = 0  # calls with tokens whose price is unknown; never those to local models

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(*map(add, astuple(self), astuple(other)))

    @property
    def tokens(self) -> int:
        """Number of tokens of questions and answers together."""
        return self.input_tokens + self.output_tokens

    def __str__(self) -> str:
        """Return the usage as a short text.

        >>> str(Usage(calls=3, failed=1, cached=9, input_tokens=120, nano_dollars=1_500_000))
        '3 calls (1 failed), 9 answers from the cache, 120 tokens, $0.0015'
        """
        failed = [f"{self.failed} failed"] if self.failed else []
        failed += [f"{self.repeated} asked again"] if self.repeated else []
        clauses = [f"{self.calls:,} calls" + (f" ({', '.join(failed)})" if failed else "")]
        clauses += [f"{self.unasked:,} questions not asked"] if self.unasked else []
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
    """The budget of a run for asking models, and what has been used of it."""

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
        """A sentence that says which limit has been reached; empty if none has."""
        usage = self.usage
        if self._max_cost is not None and usage.nano_dollars >= self._max_cost * 1e9:
            return f"the limit of --max-cost, ${self._max_cost:g}, has been reached"
        if self._max_tokens is not None and usage.tokens >= self._max_tokens:
            return f"the limit of {self._max_tokens} tokens (--max-tokens) has been reached"
        return ""


@dataclass(frozen=True, slots=True)
class Reply(Generic[A]):
    """The answers to the questions of one call, and its usage."""

    answers: Sequence[A]  # in the order of the questions; empty after a failure
    usage: Usage = ONE_CALL
    failure: Exception | None = None  # the call may be charged despite the failure
    is_charged: bool = False  # whether `usage` has the tokens of the answer that failed


class Model(ABC, Generic[Q, A]):
    """A model, and how to call it. Equal objects stand for the same model."""

    kind: ClassVar[str]  # kind of its answers: `embedding`, `score` or `verdict`
    comparator: ClassVar[str]  # name of the comparator that asks it
    batch_size: ClassVar[int] = 1  # maximum number of questions in a call
    is_local: ClassVar[bool] = False  # in this process: one call at a time, without repetition
    is_judge: ClassVar[bool] = False  # whether the run's limit on judged pairs applies

    @property
    def address(self) -> str:
        """Address of the model's server.

        The address is empty if the model is local. It is also empty if the library that calls the
        server chooses the address itself.
        """
        return ""

    @property
    def key_hint(self) -> str:
        """Advice for users if the server refuses the key."""
        return ""

    def moved(self, address: str | None, key: str | None) -> Self:
        """Return this model with another address, or with another variable for its key.

        None leaves the address or the key as it is.

        Raises:
            UnavailableError: the model is local, so it has no address and no key.
        """
        raise self.unavailable(
            "runs inside this process", "only models on servers have an address and an API key"
        )

    @property
    def is_priced(self) -> bool:
        """Whether the price of a call is known."""
        return self.is_local

    @property
    @abstractmethod
    def title(self) -> str:
        """The name of the model in the schema."""

    @property
    @abstractmethod
    def identity(self) -> Mapping[str, object] | None:
        """All settings on which an answer depends, such as the name and the files of the model.

        The question is not included. If the settings are not known, the identity is None, and
        answers are not stored on disk.
        """

    @abstractmethod
    def require(self) -> None:
        """Raise UnavailableError if the model cannot be asked.

        The model itself is not called for this.
        """

    def require_package(self, package: str, extra: str) -> None:
        """Raise UnavailableError if `package` is not installed. The package is not imported.

        `extra` is the extra of this project that installs the package.
        """
        if find_spec(package) is None:
            lack = f"needs the package {package}, which is not installed"
            raise self.unavailable(lack, hint=installing(extra))

    def unavailable(self, lack: str, hint: str) -> UnavailableError:
        """Return an error that says why a model cannot be asked.

        `lack` continues a sentence that begins with the name of the model.
        """
        model = self.title if " " in self.title else f"the model {self.title}"
        description = f"{self.comparator} with {model} {lack}"
        return UnavailableError([Problem(source="", found=description, expected="", hint=hint)])

    @abstractmethod
    def call(self, questions: Sequence[Q], connections: "Connections") -> Reply[A]:
        """Ask at most `batch_size` questions in one call. Return the answers and the usage."""

    def text(self, question: Q) -> str:
        """Return a question as text. The cache uses the text to identify the question.

        Different questions must therefore have different texts.
        """
        return json.dumps(question)

    def pack(self, answer: A) -> bytes:
        """Return an answer as bytes for the cache."""
        return json.dumps(answer).encode()

    def unpack(self, packed: bytes) -> A:
        """Return the answer from its bytes in the cache.

        Raise ValueError if the bytes are invalid.
        """
        answer: A = parse_strict_json(packed)  # type: ignore[assignment] # a subclass checks it
        return answer

    def usage_of_sent(self, questions: Sequence[Q]) -> Usage:
        """Return the estimated usage of questions that were sent but got no usable answer."""
        return Usage(input_tokens=sum(map(self.tokens, questions)))

    def tokens(self, question: Q) -> int:
        """Return the estimated number of tokens of a question."""
        return -(-len(self.text(question)) // CHARACTERS_A_TOKEN)

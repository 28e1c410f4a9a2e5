"""The policy, the usage and the budget of a run for asking models; all runs have them, few ask."""

import threading
from collections.abc import Mapping
from dataclasses import astuple, field
from operator import add
from typing import Final

from stickler_cli.core.values import dataclass
from stickler_cli.settings.running import ModelOptions


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
        """Of questions and answers."""
        return self.input_tokens + self.output_tokens

    def __str__(self) -> str:
        """Return it in a few words.

        >>> str(Usage(calls=3, failed=1, cached=9, input_tokens=120, nano_dollars=1_500_000))
        '3 calls (1 failed), 9 answers from the cache, 120 tokens, $0.0015'
        """
        failed = [f"{self.failed} failed"] if self.failed else []
        failed += [f"{self.repeated} asked again"] if self.repeated else []
        parts = [f"{self.calls} calls" + (f" ({', '.join(failed)})" if failed else "")]
        parts += [f"{self.unasked} questions given up"] if self.unasked else []
        parts += [f"{self.cached} answers from the cache"]
        parts += [f"{self.tokens} tokens"] if self.tokens else []
        if self.nano_dollars:
            known = "at least " if self.unpriced else ""
            parts.append(f"{known}${self.nano_dollars / 1e9:.4f}")
        elif self.unpriced:
            parts.append("cost unknown")
        return ", ".join(parts)


NO_USAGE: Final = Usage()
ONE_CALL: Final = Usage(calls=1)


class Purse:
    """The budget of a run for asking, and its usage so far."""

    def __init__(self, max_cost: float | None = None, max_tokens: int | None = None) -> None:
        """Set the limits, in dollars and in tokens; None is none."""
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
        """Which limit is reached, in words; empty while there is something left."""
        usage = self.usage
        if self._max_cost is not None and usage.nano_dollars >= self._max_cost * 1e9:
            return f"the ${self._max_cost:g} of --max-cost are spent"
        if self._max_tokens is not None and usage.tokens >= self._max_tokens:
            return f"the {self._max_tokens} tokens of --max-tokens are spent"
        return ""

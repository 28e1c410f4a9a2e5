"""What a run allows its client: whom to ask, how often, and how much.

A module of its own, without what asking needs, since every run has a policy and few ask.
"""

from dataclasses import dataclass, field
from typing import Final

from stickler_cli.settings import ModelOptions

MAX_PAIRS: Final = ModelOptions.max_pairs
"""Pairs that a run may have judged by default: some dollars' worth, and some hours at most."""

CONCURRENCY: Final = 8
"""Calls that are under way at once by default; as the libraries' pools of connections hold."""


@dataclass(frozen=True, slots=True)
class Retry:
    """How often and how long to try."""

    attempts: int = 5
    """At least 1."""
    first_wait: float = 0.5
    """Seconds after the first failure; doubled after each further one."""
    longest_wait: float = 60.0
    """Seconds; a server that asks for more is not waited for."""
    timeout: float = 60.0
    """Seconds that one attempt may take."""


@dataclass(frozen=True, slots=True)
class Policy:
    """What a run allows."""

    cache: bool = True
    """Whether answers are read from and kept on disk."""
    offline: bool = False
    """Whether only answers in the cache count."""
    dry_run: bool = False
    """Whether questions are counted instead of asked."""
    max_pairs: int = MAX_PAIRS
    """Pairs that judges may be asked about, those in the cache aside."""
    concurrency: int = CONCURRENCY
    """Calls to one model at once."""
    retry: Retry = field(default_factory=Retry)

    @property
    def may_ask(self) -> bool:
        """Whether models are needed at all."""
        return not (self.offline or self.dry_run)


DEFAULT_POLICY: Final = Policy()
"""Of who says nothing else."""

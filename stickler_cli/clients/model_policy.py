"""How a run may ask models. This module is imported even by runs without models."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from stickler_cli.settings.running import ModelOptions


class Retry(NamedTuple):
    """How often a failed call is repeated, and for how long."""

    attempts: int = ModelOptions.model_attempts  # maximum number of attempts, at least 1
    first_wait: float = 0.5  # seconds before the second attempt; doubled before each further one
    longest_wait: float = 60.0  # seconds; if a server asks for a longer wait, the call is given up
    timeout: float = ModelOptions.model_timeout  # seconds that one attempt may take


@dataclass(frozen=True, slots=True)
class Policy:
    """How a run asks models: its limits, and the servers and keys that it uses."""

    cache: bool = True  # whether answers are read from disk and stored there
    offline: bool = False  # whether only cached answers are used
    dry_run: bool = False  # whether questions are counted instead of asked
    # Maximum number of pairs that judges are asked about, besides cached ones.
    max_pairs: int = ModelOptions.max_pairs
    # Maximum number of concurrent calls to one model.
    concurrency: int = ModelOptions.model_concurrency
    retry: Retry = field(default_factory=Retry)
    # Maximum number of calls to one model per minute.
    per_minute: int | None = ModelOptions.requests_per_minute
    max_cost: float | None = ModelOptions.max_cost  # in dollars
    max_tokens: int | None = ModelOptions.max_tokens
    endpoints: Mapping[str, str] = field(default_factory=dict)  # addresses of servers, by model
    keys: Mapping[str, str] = field(default_factory=dict)  # environment variables of keys, by model

    @property
    def may_ask(self) -> bool:
        """Whether questions may be sent to models."""
        return not (self.offline or self.dry_run)


DEFAULT_POLICY: Final = Policy()

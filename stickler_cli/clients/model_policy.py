"""How a run asks models: which, how often, and for how much; loaded by runs without models, too."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from stickler_cli.settings.running import ModelOptions


class Retry(NamedTuple):
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

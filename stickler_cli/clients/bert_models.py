"""BERTScore by the library bert-score.

The library is dormant; should it break, BERTScore is a cosine matching of token embeddings, and
nothing outside of this module would change.
"""

from collections.abc import Mapping, Sequence
from contextlib import redirect_stderr
from dataclasses import dataclass
from io import StringIO
from typing import TYPE_CHECKING, ClassVar

from stickler_cli.clients.connections import Connections
from stickler_cli.clients.local_models import (
    fingerprint,
    local_name,
    quiet_transformers,
    require_model_path,
)
from stickler_cli.clients.model import Model, Reply
from stickler_cli.core.problems import Problem, UnavailableError

if TYPE_CHECKING:
    from bert_score import BERTScorer

Texts = tuple[str, str]
"""Two texts, in alphabetical order: F1 has no direction."""


@dataclass(frozen=True)
class BertScore(Model[Texts, float]):
    """BERTScore F1 of pairs of texts, and what decides it beside the texts."""

    kind: ClassVar[str] = "score"
    comparator: ClassVar[str] = "BERTComparator"
    batch_size: ClassVar[int] = 256
    is_local: ClassVar[bool] = True

    name: str | None
    """Of the model, or its path; None takes what the library has for the language."""
    layers: int | None
    """The layer whose embeddings are compared; None takes the library's choice for the model."""
    rescaled: bool
    """Whether scores are spread by the library's baseline for model and language."""
    language: str

    @property
    def title(self) -> str:
        """The name of the model."""
        return self.name or f"bert-score's own for {self.language}"

    @property
    def identity(self) -> Mapping[str, object]:
        """The library, the model with its files, and the settings."""
        return {
            "backend": "bert-score",
            "model": self.name,
            "files": fingerprint(self.name) if self.name else None,
            "settings": [self.layers, self.rescaled, self.language],
        }

    def require(self) -> None:
        """Raise without the library, or where it cannot do what is asked."""
        self.require_package("bert_score", "bert")
        if self.name is not None:
            require_model_path(self.comparator, self.name)
            if self.layers is None or self.rescaled:
                self._require_listed(self.name)

    def _require_listed(self, name: str) -> None:
        """Make sure that the library knows a model well enough for what is asked."""
        from bert_score.utils import model2layers  # brings torch

        if name in model2layers:
            return
        if self.layers is None:
            found = f"bert-score does not know which layer of {name} to compare"
            raise UnavailableError([Problem("", found, "num_layers in the comparator's config")])
        found = f"bert-score has no baseline for {name}"
        raise UnavailableError([Problem("", found, "rescale_with_baseline: false")])

    def call(
        self, questions: Sequence[Texts], connections: Connections, timeout: float
    ) -> Reply[float]:
        """Score a batch of pairs."""
        scorer = connections.opened(self, self._load)
        firsts, seconds = zip(*questions, strict=True)
        # What it says on standard error is of texts without tokens, which score 0.
        with redirect_stderr(StringIO()):
            _, _, f1 = scorer.score(list(firsts), list(seconds), batch_size=64)
        return Reply([float(score) for score in f1])

    def _load(self) -> "BERTScorer":
        from bert_score import BERTScorer  # brings torch

        quiet_transformers()
        return BERTScorer(
            model_type=local_name(self.name) if self.name else None,
            num_layers=self.layers,
            lang=self.language,
            rescale_with_baseline=self.rescaled,
        )

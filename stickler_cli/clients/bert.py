"""BERTScore by the library bert-score, one model load a process.

The library is dormant; should it break, BERTScore is a cosine matching of token embeddings, and
nothing outside of this module would change.
"""

import json
from collections.abc import Mapping, Sequence
from contextlib import redirect_stderr
from dataclasses import dataclass
from functools import cache
from io import StringIO
from typing import TYPE_CHECKING, ClassVar

from stickler_cli.clients.backend import Backend, Reply, require_package
from stickler_cli.clients.local_files import (
    fingerprint,
    local_name,
    quiet_transformers,
    require_model_path,
)
from stickler_cli.core.problems import Problem, UnavailableError

if TYPE_CHECKING:
    from bert_score import BERTScorer

Texts = tuple[str, str]
"""Two texts, in alphabetical order: F1 has no direction."""


@dataclass(frozen=True, slots=True)
class BertModel:
    """What decides a BERTScore, other than the texts."""

    name: str | None
    """Of the model, or its path; None takes what the library has for the language."""
    layers: int | None
    """The layer whose embeddings are compared; None takes the library's choice for the model."""
    rescaled: bool
    """Whether scores are spread by the library's baseline for model and language."""
    language: str


class BertScore(Backend[Texts, float]):
    """BERTScore F1 of pairs of texts."""

    kind: ClassVar[str] = "score"
    batch_size: ClassVar[int] = 256
    is_local: ClassVar[bool] = True

    def __init__(self, chosen: BertModel) -> None:
        self.model = chosen.name or f"bert-score's own for {chosen.language}"
        self._chosen = chosen

    @property
    def identity(self) -> Mapping[str, object]:
        """Name the library's version, the model with its files, and the settings."""
        chosen = self._chosen
        return {
            "backend": "bert-score",
            "model": chosen.name,
            "files": fingerprint(chosen.name) if chosen.name else None,
            "settings": [chosen.layers, chosen.rescaled, chosen.language],
        }

    def require(self) -> None:
        """Raise without the library, or where it cannot do what is asked.

        Raises:
            UnavailableError: with what to install or to change.
        """
        require_package("bert_score", "bert", "BERTComparator", self.model)
        name = self._chosen.name
        if name is not None:
            require_model_path("BERTComparator", name)
            if self._chosen.layers is None or self._chosen.rescaled:
                self._require_listed(name)

    def _require_listed(self, name: str) -> None:
        """Make sure that the library knows a model well enough for what is asked."""
        from bert_score.utils import model2layers  # brings torch

        if name in model2layers:
            return
        if self._chosen.layers is None:
            found = f"bert-score does not know which layer of {name} to compare"
            raise UnavailableError([Problem("", found, "num_layers in the comparator's config")])
        found = f"bert-score has no baseline for {name}"
        raise UnavailableError([Problem("", found, "rescale_with_baseline: false")])

    def call(self, questions: Sequence[Texts], timeout: float) -> Reply[float]:
        """Score a batch of pairs."""
        scorer = _scorer(self._chosen)
        firsts, seconds = [first for first, _ in questions], [second for _, second in questions]
        # What it says on standard error is of texts without tokens, which score 0.
        with redirect_stderr(StringIO()):
            _, _, f1 = scorer.score(firsts, seconds, batch_size=64)
        return Reply([float(score) for score in f1])

    def text(self, question: Texts) -> str:
        """Write a question: its texts as JSON."""
        return json.dumps(question)

    def pack(self, answer: float) -> bytes:
        """Write a score for the cache."""
        return repr(answer).encode()

    def unpack(self, packed: bytes) -> float:
        """Read a score from the cache."""
        return float(packed)


@cache
def bert_score(chosen: BertModel) -> BertScore:
    """Give the scorer of a model; the same object for the same settings."""
    return BertScore(chosen)


@cache
def _scorer(chosen: BertModel) -> "BERTScorer":
    from bert_score import BERTScorer  # brings torch

    quiet_transformers()
    return BERTScorer(
        model_type=local_name(chosen.name) if chosen.name else None,
        num_layers=chosen.layers,
        lang=chosen.language,
        rescale_with_baseline=chosen.rescaled,
    )

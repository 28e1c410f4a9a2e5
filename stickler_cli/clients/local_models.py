"""Models that run in this process, loaded once: their common needs, and BERTScore.

The library bert-score is dormant; a cosine matching of token embeddings could stand in for it.
"""

import hashlib
import sys
from collections.abc import Mapping, Sequence
from contextlib import redirect_stderr
from io import StringIO
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, ClassVar

from stickler_cli.core.problems import Problem, UnavailableError
from stickler_cli.core.values import dataclass
from .connections import Connections
from .model import Model, Reply

Texts = tuple[str, str]  # in alphabetical order: F1 has no direction


@dataclass(frozen=True)
class BertScore(Model[Texts, float]):
    """BERTScore F1 of pairs of texts, and the settings that decide it."""

    kind: ClassVar[str] = "score"
    comparator: ClassVar[str] = "BERTComparator"
    batch_size: ClassVar[int] = 256
    is_local: ClassVar[bool] = True

    name: str | None  # of the model, or its path; None takes the library's for the language
    layers: int | None  # the one whose embeddings are compared; None takes the library's choice
    rescaled: bool  # whether scores are spread by the library's baseline for model and language
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
        """Raise without the library, or where it does not know the model well enough."""
        self.require_package("bert_score", "bert")
        if self.name is None:
            return
        require_model_path(self.comparator, self.name)
        if self.layers is not None and not self.rescaled:
            return
        if self.name not in resolve_name("bert_score.utils:model2layers"):
            found = f"bert-score has no baseline for {self.name}"
            expected = "rescale_with_baseline: false"
            if self.layers is None:
                found = f"bert-score does not know which layer of {self.name} to compare"
                expected = "num_layers in the comparator's config"
            raise UnavailableError([Problem("", found, expected)])

    def call(self, questions: Sequence[Texts], connections: Connections) -> Reply[float]:
        """Score a batch of pairs."""

        def load() -> Any:
            return loaded_by("bert_score:BERTScorer")(
                model_type=local_name(self.name) if self.name else None,
                num_layers=self.layers,
                lang=self.language,
                rescale_with_baseline=self.rescaled,
            )

        scorer = connections.opened(self, load)
        firsts, seconds = zip(*questions, strict=True)
        # What it says on standard error is of texts without tokens, which score 0.
        with redirect_stderr(StringIO()):
            _, _, f1 = scorer.score(list(firsts), list(seconds), batch_size=64)
        return Reply([float(score) for score in f1])


def require_model_path(comparator: str, name: str) -> None:
    """Raise UnavailableError if a path leads to no model; a hub's name is looked up when used."""
    if name.startswith((".", "/", "~")) and not Path(name).expanduser().is_dir():
        found = f"{comparator} finds no model at {name}"
        raise UnavailableError([Problem("", found, "the directory of a model")])


def fingerprint(name: str) -> str | None:
    """Return the state of a model's directory: names, sizes and times; None of a hub's name."""
    directory = Path(name).expanduser()
    if not directory.is_dir():
        return None
    states = []
    for file in sorted(path for path in directory.rglob("*") if path.is_file()):
        state = file.stat()
        states.append(f"{file.relative_to(directory)} {state.st_size} {state.st_mtime_ns}")
    return hashlib.blake2b("\n".join(states).encode(), digest_size=20).hexdigest()


def local_name(name: str) -> str:
    """Return a path or a hub's name as the libraries take it."""
    return str(Path(name).expanduser()) if name.startswith("~") else name


def loaded_by(location: str) -> Any:
    """Return a library's loader of models, after importing it, which may bring torch."""
    load = resolve_name(location)
    if "transformers" in sys.modules:  # keeps progress and reports of loading off standard error
        logging = resolve_name("transformers.utils:logging")
        logging.set_verbosity_error()
        logging.disable_progress_bar()
    return load

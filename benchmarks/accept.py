"""Simulate how often a policy of `stickler accept` lets more errors pass than it promises.

The simulation calls the functions that make policies on confidences whose true errors are known.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from benchmarks.report import Report
from stickler_cli.score.policy import Losses, choose_threshold, losses_by_threshold

SETTINGS: Final = ((200, 0.1), (1000, 0.05))
"""The simulated settings, as (number of labelled documents, allowed share of errors)."""
SETS: Final = 1000
LEVEL: Final = 0.05
"""Chance that a policy may break its promise: 1 minus the assurance of 0.95."""

_MANY: Final = 100_000  # documents whose mean losses stand for the expected ones

Floats: TypeAlias = NDArray[np.float64]
Units: TypeAlias = tuple[NDArray[np.int64], Floats, NDArray[np.bool_]]
"""Values as three arrays of one length: the number of each value's document, the confidence of the
value, and whether the value is right."""


@dataclass(frozen=True, slots=True)
class Confidences:
    """A kind of documents with confidences: its name, and a function that draws such documents."""

    name: str
    draw: Callable[[np.random.Generator, int], Units]


def _documents(random: np.random.Generator, number: int) -> NDArray[np.int64]:
    """Return the number of each value's document.

    `number` documents are drawn. Each has at least one value, and six values on average.
    """
    return np.repeat(np.arange(number), 1 + random.poisson(5, number))


def _good(random: np.random.Generator, number: int) -> Units:
    document = _documents(random, number)
    share = random.beta(8, 1, len(document))
    return document, share, random.random(len(document)) < share


def _single(random: np.random.Generator, number: int) -> Units:
    share = random.beta(8, 1, number)
    return np.arange(number), share, random.random(number) < share


def _clustered(random: np.random.Generator, number: int) -> Units:
    """Draw values; in 3% of documents, most values are wrong whatever their confidences are."""
    document = _documents(random, number)
    share = random.beta(12, 1, len(document))
    bad = (random.random(number) < 0.03)[document]
    return document, share, random.random(len(document)) < np.where(bad, 0.3, share)


def _ties(random: np.random.Generator, number: int) -> Units:
    document, share, right = _good(random, number)
    return document, np.round(share, 1), right


def _useless(error: float) -> Callable[[np.random.Generator, int], Units]:
    def draw(random: np.random.Generator, number: int) -> Units:
        document = _documents(random, number)
        confidence = random.random(len(document))
        return document, confidence, random.random(len(document)) >= error

    return draw


KINDS: Final = (
    Confidences("good, independent errors", _good),
    Confidences("good, one value a document", _single),
    Confidences("good, 3% of documents bad", _clustered),
    Confidences("good, of one digit (ties)", _ties),
    Confidences("useless, 3% errors", _useless(0.03)),
    Confidences("useless, 5.1% errors", _useless(0.051)),
    Confidences("useless, 10.1% errors", _useless(0.101)),
)


@dataclass(frozen=True, slots=True)
class PolicyFigures:
    """How often the policies made from many sets of documents keep their promise."""

    kind: str
    broken: float
    """Share of sets whose policy accepts more errors than it promises, in [0, 1]."""
    none: float
    """Share of sets for which no policy can be made, in [0, 1]."""
    passing: float
    """Mean share of values that a policy accepts, in [0, 1]; sets without a policy count as 0."""


def simulate_policies(
    kind: Confidences, documents: int, max_error: float, sets: int, seed: int
) -> PolicyFigures:
    """Make a policy from each of many sets of documents, and check its promise."""
    true_losses = losses_by_threshold(*kind.draw(np.random.default_rng(seed + 1), _MANY))
    random = np.random.default_rng(seed)
    broken = without_policy = 0
    passing = 0.0
    for _ in range(sets):
        units = kind.draw(random, documents)
        policy = choose_threshold(losses_by_threshold(*units), max_error, LEVEL)
        if policy is None:
            without_policy += 1
        else:
            broken += _error(true_losses, policy.threshold) > max_error
            passing += policy.accepted / len(units[0])
    return PolicyFigures(
        kind=kind.name, broken=broken / sets, none=without_policy / sets, passing=passing / sets
    )


def _error(true_losses: Losses, threshold: float) -> float:
    """Return the expected share of errors if all values at or above a threshold are accepted."""
    row = int(np.searchsorted(-true_losses.threshold, -threshold, side="right")) - 1
    return float(true_losses.mean_loss[max(row, 0)])


def measure(seed: int, sets: int = SETS) -> Report:
    """Simulate policies for documents with good, useless and tied confidences."""
    cells = {
        (kind.name, documents): simulate_policies(kind, documents, max_error, sets, seed)
        for documents, max_error in SETTINGS
        for kind in KINDS
    }
    columns = [
        f"{figure}, {documents:,} documents, {max_error:g}"
        for documents, max_error in SETTINGS
        for figure in ("broken", "no policy", "passes")
    ]
    rows = [
        [
            kind.name,
            *(
                text
                for documents, _ in SETTINGS
                for text in _render_cells(cells[kind.name, documents])
            ),
        ]
        for kind in KINDS
    ]
    return Report(
        title="Policies of stickler accept that let more errors pass than they promise",
        columns=("confidences", *columns),
        rows=rows,
        record=[{"documents": documents, **asdict(cell)} for (_, documents), cell in cells.items()],
        notes=(
            (
                f"Of {sets} simulated sets of labelled documents: the share whose policy lets more"
                " errors pass than it promises, which is to be 0.05 at most; the share of which no"
                " policy could be made; and the mean share of values that pass."
            ),
        ),
    )


def _render_cells(cell: PolicyFigures) -> list[str]:
    return [f"{cell.broken:.3f}", f"{cell.none:.3f}", f"{cell.passing:.2f}"]

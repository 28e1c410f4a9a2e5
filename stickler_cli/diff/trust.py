"""How far confidences can be trusted in two runs of the same documents, and what changed."""

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from stickler_cli.core.locations import Path, field_path
from stickler_cli.core.values import dataclass
from stickler_cli.score.accounts import CONFIDENCES
from stickler_cli.score.confidence import Reliability, reliability
from stickler_cli.score.confident import FEWEST, entries, percentiles
from stickler_cli.score.intervals import Interval
from stickler_cli.score.resampling import UNIT, weights
from .changes import Change, Decision, DiffSettings, Trend
from .paired_runs import Pairs
from .significance import smallest_p

CONFIDENCE: Final = "confidence."  # before the names of such metrics
TOLD: Final = ("auroc", "ece", "brier", "aurc")
"""The figures that are told of whole documents."""

_HIGHER_IS_BETTER: Final = frozenset({"auroc", "auprc_error", "coverage"})
_SWAPS: Final = 999  # by each the values of all documents are counted anew
_SAME: Final = 1e-12

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Units:
    """The values of both runs that have a confidence; the documents of the second come last."""

    document: NDArray[np.intp]
    confidence: Floats
    right: NDArray[np.bool_]
    documents: int
    """How many there are in each run."""

    def figures(self, base: Floats, new: Floats) -> Reliability:
        """Return what they come to, by how often each document of either run counts."""
        drawn = np.concatenate([base, new])
        return reliability(self.confidence, self.right, self.document, drawn)

    @property
    def told(self) -> int:
        """How many documents have any in both runs."""
        of_base, of_new = (
            np.unique(self.document[side] % self.documents)
            for side in (self.document < self.documents, self.document >= self.documents)
        )
        return len(np.intersect1d(of_base, of_new))


def units_of(pairs: Pairs, path: Path = ()) -> Units:
    """Return the values of a field, or of whole documents; of several runs those of all."""
    found: list[tuple[int, float, bool]] = []
    for at, pair in enumerate(pairs):
        for side, accounts in enumerate(pair.accounts):
            for account in accounts:
                known = entries(account.get(CONFIDENCES, {}))
                for name, right, confidences in known:
                    if not path or name == field_path(path):
                        place = at + side * len(pairs)
                        found += ((place, confidence, right) for confidence in confidences)
    return Units(
        np.array([it[0] for it in found], np.intp),
        np.array([it[1] for it in found], np.float64),
        np.array([it[2] for it in found], np.bool_),
        len(pairs),
    )


def trust_changes(
    pairs: Pairs,
    settings: DiffSettings,
    names: Sequence[str] = TOLD,
    path: Path = (),
) -> list[Change]:
    """Return what became of figures of confidences; none where a run has no confidences.

    Intervals resample documents; p comes of swapping the runs of documents.
    """
    units = units_of(pairs, path)
    if not units.told:
        return []
    drawn = weights([pair.id for pair in pairs], settings.intervals)[:, 1:] / UNIT
    random = np.random.default_rng(settings.intervals.seed)
    swapped = random.integers(0, 2, (len(pairs), _SWAPS)).astype(np.float64)
    once, never = np.ones((len(pairs), 1)), np.zeros((len(pairs), 1))
    whole = units.figures(once, never), units.figures(never, once)
    nothing = np.zeros_like(drawn)
    replicates = units.figures(drawn, nothing), units.figures(nothing, drawn)
    swaps = units.figures(1 - swapped, swapped), units.figures(swapped, 1 - swapped)
    found = []
    for name in names:
        before, after = (float(getattr(side, name)[0]) for side in whole)
        resampled = getattr(replicates[1], name) - getattr(replicates[0], name)
        by_chance = getattr(swaps[1], name) - getattr(swaps[0], name)
        found.append(_change(name, path, (before, after), resampled, by_chance, units, settings))
    return found


def _change(  # noqa: PLR0913, PLR0917 - what it is made of
    name: str,
    path: Path,
    values: tuple[float, float],
    resampled: Floats,
    by_chance: Floats,
    units: Units,
    settings: DiffSettings,
) -> Change:
    before, after = (None if np.isnan(value) else value for value in values)
    change = None if before is None or after is None else after - before
    interval, p = None, None
    if change is not None:
        known = by_chance[~np.isnan(by_chance)]  # the change seen is one of a figure, too
        p = (1 + int((np.abs(known) >= abs(change) - _SAME).sum())) / (len(known) + 1)
        if units.told >= FEWEST:
            interval = percentiles(resampled, settings.intervals.level)
    trend, decision = _trend(name, change, interval, p, units.told, settings)
    return Change(
        path,
        "",
        f"{CONFIDENCE}{name}",
        before,
        after,
        change,
        interval=interval,
        p=p,
        corrected_p=p,
        trend=trend,
        decided_by=decision,
        documents=units.told,
        differing=units.told,
        broken=0,
        fixed=0,
        runs_before=[] if before is None else [before],
        runs_after=[] if after is None else [after],
    )


def _trend(  # noqa: PLR0913, PLR0917 - what it rests on
    name: str,
    change: float | None,
    interval: Interval | None,
    p: float | None,
    documents: int,
    settings: DiffSettings,
) -> tuple[Trend, Decision]:
    inside = interval is not None and max(map(abs, interval)) <= settings.margin
    if p is not None and change and p <= settings.alpha and not inside:
        better = (change > 0) is (name in _HIGHER_IS_BETTER)
        return (Trend.IMPROVED if better else Trend.REGRESSED), Decision.SAMPLED
    if smallest_p(documents) > settings.alpha or interval is None:
        return Trend.UNCLEAR, Decision.DOCUMENTS
    return (Trend.UNCHANGED if inside else Trend.UNCLEAR), Decision.INTERVAL

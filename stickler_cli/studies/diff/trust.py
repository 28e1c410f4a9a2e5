"""How far confidences can be trusted in two runs of the same documents, and what changed."""

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from stickler_cli.core.locations import Path
from stickler_cli.core.values import dataclass
from stickler_cli.score.confidence.calibration import Reliability, reliability
from stickler_cli.score.confidence.confidences import FEWEST
from stickler_cli.score.resampling import percentiles, resample
from .changes import Change, Decision, DiffSettings, Trend
from .joined_runs import JoinedRuns
from .measures import trend_by
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

    @property
    def identical(self) -> bool:
        """Whether both runs have the same values with the same confidences in every document."""
        columns = np.array([self.document % self.documents, self.confidence, self.right])
        before, after = (
            columns[:, side][:, np.lexsort(columns[:, side])]
            for side in (self.document < self.documents, self.document >= self.documents)
        )
        return np.array_equal(before, after)


def units_of(runs: JoinedRuns, path: Path = ()) -> Units:
    """Return the values of a field, or of whole documents; of several runs those of all."""
    documents = len(runs.ids)
    parts = [(np.zeros(0, np.intp), np.zeros(0), np.zeros(0, np.bool_))]
    for run, every in enumerate(runs.leaves):
        first = documents if run >= runs.sides[0] else 0
        for leaves in every:
            fields = [not path or it == path for it in leaves.paths]
            some = leaves.among(np.array(fields, np.bool_)[leaves.field])
            parts.append((some.document + first, some.confidence, some.right))
    document, confidence, right = map(np.concatenate, zip(*parts, strict=True))
    return Units(document, confidence, right, documents)


def trust_changes(
    runs: JoinedRuns,
    settings: DiffSettings,
    names: Sequence[str] = TOLD,
    path: Path = (),
) -> list[Change]:
    """Return what became of figures of confidences; none where a run has no confidences.

    Intervals resample documents; p comes of swapping the runs of documents.
    """
    units = units_of(runs, path)
    if not units.told:
        return []

    def figures(base: Floats, new: Floats) -> Floats:
        side = units.figures(base, new)
        return np.array([getattr(side, name) for name in names])

    def of_both(drawn: Floats) -> Floats:
        nothing = np.zeros_like(drawn)
        return np.concatenate([figures(drawn, nothing), figures(nothing, drawn)])

    before, after = np.split(
        resample(runs.ids, of_both, settings.intervals, size=len(units.right)), 2
    )
    random = np.random.default_rng(settings.intervals.seed)
    swapped = random.integers(0, 2, (len(runs.ids), _SWAPS)).astype(np.float64)
    by_chance = figures(swapped, 1 - swapped) - figures(1 - swapped, swapped)
    return [
        _change(name, path, (was, now), chance, units, settings)
        for name, was, now, chance in zip(names, before, after, by_chance, strict=True)
    ]


def _change(  # noqa: PLR0913, PLR0917 - what it is made of
    name: str,
    path: Path,
    sides: tuple[Floats, Floats],
    by_chance: Floats,
    units: Units,
    settings: DiffSettings,
) -> Change:
    before, after = (None if np.isnan(side[0]) else float(side[0]) for side in sides)
    change = None if before is None or after is None else after - before
    interval, p = None, None
    if change is not None:
        known = by_chance[~np.isnan(by_chance)]  # the change seen is one of a figure, too
        p = (1 + int((np.abs(known) >= abs(change) - _SAME).sum())) / (len(known) + 1)
        if units.told >= FEWEST:
            interval = percentiles((sides[1] - sides[0])[1:], settings.intervals.level)
    better = (change or 0) > 0
    trend, decision = trend_by(
        1.0 if p is None else p,
        interval,
        settings,
        Decision.SAMPLED,
        better=better is (name in _HIGHER_IS_BETTER),
        enough=smallest_p(units.told) <= settings.alpha,
    )
    if identical := units.identical:
        trend, decision = Trend.IDENTICAL, Decision.EQUAL
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
        differing=0 if identical else units.told,
        broken=0,
        fixed=0,
        runs_before=[] if before is None else [before],
        runs_after=[] if after is None else [after],
    )

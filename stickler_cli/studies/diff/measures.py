"""Measure how figures, fields and documents changed between the old and the new runs."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Final

import numpy as np
from numpy.typing import NDArray

from stickler_cli.compare.columns import Floats
from stickler_cli.core.locations import Path, field_path
from stickler_cli.score.confidence.calibration import reliability
from stickler_cli.score.confidence.confidences import MIN_DOCUMENTS
from stickler_cli.score.gates import SCORE
from stickler_cli.score.intervals import Interval, percentile_interval, resample
from stickler_cli.score.sums import COUNTING_MODES
from stickler_cli.settings.deciding import Counting, CountingOptions
from .joined_runs import LOST, IntArray, JoinedRuns, RunRows
from .record import (
    DIFFERENT,
    F1,
    HARD,
    WHOLLY_RIGHT,
    Change,
    Decision,
    DocumentChange,
    Figure,
    Trend,
    TrendSettings,
    excludes_zero,
)
from .significance import (
    Sample,
    change_intervals,
    holm,
    is_enumerated,
    p_values,
    smallest_p,
    variance_of_runs,
)

CONFIDENCE: Final = "confidence."  # prefix of the names of these figures
REPORTED_CONFIDENCE_FIGURES: Final = ("auroc", "ece", "brier", "aurc")
"""Figures that show how well confidences tell right values from wrong values. They are reported for
whole documents."""

_HIGHER_IS_BETTER: Final = frozenset({"auroc", "auprc_error", "coverage"})
# Fewer than for counts, as each swap computes the figures from all values again.
_SWAPS: Final = 999
_SAME: Final = 1e-12


def figures_of_whole(counting: Counting) -> list[Figure]:
    """Return the figures of whole documents that `stickler diff` compares between two sides.

    F1 in the mode `counting` comes first, then F1 in the other modes. The mean score and the share
    of wholly right documents come last.
    """
    modes = sorted(COUNTING_MODES, key=lambda mode: mode != counting)
    of_documents = (Figure((), "", metric) for metric in (SCORE, WHOLLY_RIGHT))
    return [*(Figure((), mode, F1) for mode in modes), *of_documents]


def changes(figures: Sequence[Figure], runs: JoinedRuns, settings: TrendSettings) -> list[Change]:
    """Return the change of each figure. P-values are corrected for the number of fields."""
    samples = [runs.sample(figure) for figure in figures]
    intervals = change_intervals(samples, runs.ids, settings.intervals)
    p = p_values(samples, runs.ids, settings.intervals)
    field_indexes = [index for index, figure in enumerate(figures) if figure.field]
    field_samples = [samples[index] for index in field_indexes]
    field_p = corrected_p(field_samples, [p[index] for index in field_indexes], settings)
    corrected = dict(enumerate(p)) | dict(zip(field_indexes, field_p, strict=True))
    figure_changes = []
    for index, (figure, sample) in enumerate(zip(figures, samples, strict=True)):
        before, after = (None if value is None else float(value) for value in runs.exact(figure))
        change = runs.change(figure)
        trend, decision = trend_of(sample, intervals[index], corrected[index], settings)
        is_identical = trend is Trend.IDENTICAL
        broken, fixed = _count_broken_and_fixed(figure, runs, settings)
        figure_changes.append(
            Change(
                field=figure.field,
                mode=figure.mode,
                metric=figure.metric,
                before=before,
                after=after,
                change=change,
                interval=None if change is None or is_identical else intervals[index],
                p=p[index] if sample.documents else None,
                corrected_p=corrected[index] if sample.documents else None,
                trend=trend,
                decided_by=decision,
                documents=sample.documents,
                differing=sample.differing,
                broken=broken,
                fixed=fixed,
                runs_before=[*sample.runs[0]],
                runs_after=[*sample.runs[1]],
            )
        )
    return figure_changes


def _count_broken_and_fixed(
    figure: Figure, runs: JoinedRuns, settings: TrendSettings
) -> tuple[int, int]:
    """Return (number of documents that broke, number of documents that were fixed).

    If the figure is about a field, a document broke if the field is right on the first side and
    wrong on the second. A document was fixed if the field is wrong on the first side and right on
    the second.

    If the figure is about whole documents, a document broke if it is wholly right only on the first
    side. A document was fixed if it is wholly right only on the second side.
    """
    if figure.field:
        keys = runs.fields.get(figure.field, ())
        broken, fixed = runs.broken_and_fixed(keys, figure.mode or settings.counting)
    else:
        was_right, is_right = runs.wholly_right_by_side()
        broken, fixed = was_right & ~is_right, is_right & ~was_right
    return int(broken.sum()), int(fixed.sum())


def choose_headline(
    whole: Sequence[Change], field_changes: Sequence[Change], counting: Counting
) -> Change:
    """Return the change that the report names first.

    1. If any figure fell significantly, this is the most significant loss.
    2. Otherwise, if F1 of whole documents rose significantly, this is the rise of F1.
    3. Otherwise, if any figure rose significantly, this is the most significant rise.
    4. Otherwise, this is the change of F1 of whole documents.
    """
    f1, *other_changes = (change for change in whole if change.mode in ("", counting))
    candidates = [f1, *other_changes, *field_changes]
    for trend in (Trend.REGRESSED, Trend.IMPROVED):
        decided = [change for change in candidates if change.trend is trend]
        if f1 in decided and trend is Trend.IMPROVED:
            return f1
        if decided:
            return min(decided, key=_significance_key)
    return f1


def _significance_key(change: Change) -> tuple[float, bool, float]:
    """Return a sort key: small p-values come first, then whole documents, then large changes."""
    p = 1.0 if change.corrected_p is None else change.corrected_p
    return p, bool(change.field), -abs(change.change or 0.0)


def corrected_p(
    samples: Sequence[Sample], p: Sequence[float], settings: TrendSettings
) -> list[float]:
    """Return the p-values of fields, corrected for the number of tested fields.

    Some fields differ in so few documents that no test could be significant. They cannot raise a
    false alarm, and are therefore not counted as tests. Their own p-values are still corrected.

    Source: Tarone (1990), doi:10.2307/2531456.
    """
    family = [
        index
        for index, sample in enumerate(samples)
        if smallest_p(sample.differing) <= settings.alpha
    ]
    corrected = [min(1.0, (len(family) + 1) * value) for value in p]
    for index, value in zip(family, holm([p[index] for index in family]), strict=True):
        corrected[index] = value
    return corrected


def trend_of(
    sample: Sample, interval: Interval | None, corrected_p: float, settings: TrendSettings
) -> tuple[Trend, Decision]:
    """Say whether a figure rose or fell between two sides, and which evidence decided this."""
    alike = len({*sample.runs[0], *sample.runs[1]}) <= 1
    if alike and not sample.differing:
        return Trend.IDENTICAL, Decision.EQUAL
    tested = Decision.EXACT if is_enumerated(sample) else Decision.SAMPLED
    if variance_of_runs(sample.runs) is not None:
        tested = Decision.RUNS
    better, enough = sample.change > 0, smallest_p(sample.documents) <= settings.alpha
    return trend_by(corrected_p, interval, settings, tested, better=better, enough=enough)


def trend_by(  # noqa: PLR0913 - what a trend rests on
    p: float,
    interval: Interval | None,
    settings: TrendSettings,
    tested: Decision,
    *,
    better: bool,
    enough: bool,
) -> tuple[Trend, Decision]:
    """Return the trend of a figure and the evidence for it.

    A figure rose or fell if the test is significant, the interval excludes 0, and the change may be
    larger than the margin. If there is no interval, because the divisor of the figure is 0 in one
    run, the test decides alone.

    Args:
        p: the corrected p-value of the change.
        interval: the confidence interval of the change; None if there is none.
        settings: the margin and the level of significance.
        tested: the kind of test that gave `p`.
        better: whether the figure rose.
        enough: whether there are enough documents for any test to be significant.
    """
    margin, by_interval = settings.margin, excludes_zero(interval)
    is_within_margin = (
        interval is not None and -margin <= interval.lower and interval.upper <= margin
    )
    by_test = p <= settings.alpha and not is_within_margin
    if by_test and (by_interval or interval is None):
        return (Trend.IMPROVED if better else Trend.REGRESSED), tested
    if not enough or interval is None:
        return Trend.INCONCLUSIVE, Decision.ONE_SIDED if enough else Decision.DOCUMENTS
    if is_within_margin:
        return Trend.UNCHANGED, Decision.INTERVAL
    if by_test:
        return Trend.INCONCLUSIVE, Decision.TEST_ALONE
    reason = Decision.INTERVAL_ALONE if by_interval else Decision.WIDE_INTERVAL
    return Trend.INCONCLUSIVE, reason


def confidence_changes(
    runs: JoinedRuns,
    settings: TrendSettings,
    names: Sequence[str] = REPORTED_CONFIDENCE_FIGURES,
    path: Path = (),
) -> list[Change]:
    """Return how the figures on predicted confidences, such as AUROC, changed.

    The list is empty if no document has confidences on both sides. For intervals, documents are
    resampled. For p-values, random documents are swapped between the two sides. `path` is a field,
    or empty for all fields together.
    """
    first, documents = runs.sides[0], len(runs.ids)
    base, new = (
        _collect_confident_values(runs, side, path) for side in (slice(first), slice(first, None))
    )
    n_documents = len(np.intersect1d(base[0], new[0]))
    if not n_documents:
        return []
    document, confidence, right = np.concatenate([base, new], axis=1)
    document[base.shape[1] :] += documents

    def measure(before: Floats, after: Floats) -> Floats:
        """Return the figures for several sets of weights, as an array of shape (n_figures, n_sets).

        `before` has the weights of the documents on the first side, and `after` those of the
        documents on the second side.
        """
        weights = np.concatenate([before, after])
        calibration = reliability(confidence, right > 0, document.astype(np.intp), weights)
        return np.array([getattr(calibration, name) for name in names])

    def measure_both(drawn: Floats) -> Floats:
        zeros = np.zeros_like(drawn)
        return np.concatenate([measure(drawn, zeros), measure(zeros, drawn)])

    def measure_swapped(swapped: Floats) -> Floats:
        return measure(swapped, 1 - swapped) - measure(1 - swapped, swapped)

    drawn = partial(resample, runs.ids, settings=settings.intervals, size=len(right))
    sides = np.split(drawn(measure_both), 2)
    by_chance = drawn(measure_swapped, replicates=_SWAPS, swaps=True)[:, 1:]
    same = np.array_equal(base[:, np.lexsort(base)], new[:, np.lexsort(new)])
    return [
        _confidence_change(
            Figure(path, "", f"{CONFIDENCE}{name}"),
            (was, now),
            chance,
            settings,
            documents=n_documents,
            same=same,
            moves=_count_broken_and_fixed(Figure(path, "", ""), runs, settings),
        )
        for name, was, now, chance in zip(names, *sides, by_chance, strict=True)
    ]


def _collect_confident_values(runs: JoinedRuns, side: slice, path: Path) -> Floats:
    """Return an array with a column for each value that has a confidence.

    The array has the shape (3, n_values). Its rows are the document of each value, the confidence
    of the value, and whether the value is right (1 or 0). `side` selects the runs. `path` is a
    field, or empty for all fields.
    """
    columns = [np.zeros((3, 0))]
    for leaves in (leaves for run_leaves in runs.leaves[side] for leaves in run_leaves):
        is_asked = np.array(
            [not path or value_path == path for value_path in leaves.paths], np.bool_
        )
        selected = leaves.select(is_asked[leaves.field])
        columns.append(np.array([selected.document, selected.confidence, selected.is_right]))
    return np.concatenate(columns, axis=1)


def _confidence_change(  # noqa: PLR0913 - what it is made of
    figure: Figure,
    sides: tuple[Floats, Floats],
    by_chance: Floats,
    settings: TrendSettings,
    *,
    documents: int,
    same: bool,
    moves: tuple[int, int],
) -> Change:
    before, after = (None if np.isnan(side[0]) else float(side[0]) for side in sides)
    change = None if before is None or after is None else after - before
    interval, p = None, None
    if change is not None:
        # A replicate without the figure tells nothing about chance.
        swapped_changes = by_chance[~np.isnan(by_chance)]
        p = (1 + int((np.abs(swapped_changes) >= abs(change) - _SAME).sum())) / (
            len(swapped_changes) + 1
        )
        if documents >= MIN_DOCUMENTS:
            level = settings.intervals.level
            interval = percentile_interval((sides[1] - sides[0])[1:], level)
    higher_is_better = figure.metric.removeprefix(CONFIDENCE) in _HIGHER_IS_BETTER
    trend, decision = trend_by(
        1.0 if p is None else p,
        interval,
        settings,
        Decision.SAMPLED,
        better=((change or 0) > 0) is higher_is_better,
        enough=documents >= MIN_DOCUMENTS and smallest_p(documents) <= settings.alpha,
    )
    if same:
        trend, decision, interval = Trend.IDENTICAL, Decision.EQUAL, None
    return Change(
        field=figure.field,
        mode=figure.mode,
        metric=figure.metric,
        before=before,
        after=after,
        change=change,
        interval=interval,
        p=p,
        corrected_p=p,
        trend=trend,
        decided_by=decision,
        documents=documents,
        differing=0 if same else documents,
        broken=moves[0],
        fixed=moves[1],
        runs_before=[] if before is None else [before],
        runs_after=[] if after is None else [after],
    )


def document_changes(
    runs: JoinedRuns, fields: Sequence[str] = (), counting: Counting = CountingOptions.counting
) -> list[DocumentChange]:
    """Return the documents that changed or that have errors in a run.

    The document whose score fell most comes first. Documents with the same change of score are
    sorted by the number of new errors, the most first, and then by id.

    Broken and fixed fields are listed in the order of `fields`; fields that are not in `fields`
    come last.
    """
    order = {path: index for index, path in enumerate(fields)}
    names = [field_path(path) for path in runs.paths]
    changed = defaultdict[int, tuple[list[str], list[str]]](lambda: ([], []))
    sort_keys = [
        (order.get(name, len(order)), runs.paths[index]) for index, name in enumerate(names)
    ]
    # The first path is the whole document.
    for index in sorted(range(1, len(names)), key=sort_keys.__getitem__):
        for direction, documents in enumerate(runs.broken_and_fixed([index], counting)):
            for document in np.flatnonzero(documents).tolist():
                changed[document][direction].append(names[index])
    errors = runs.of_runs((), counting)[:, LOST].sum(axis=1)
    scores = np.zeros(errors.shape)
    for run, run_scores in enumerate(scores):
        root = runs.of_field(run, 0)
        run_scores[root.document] = root.score
    differs = _find_differing_documents(runs)
    listed = [
        replace(
            _change(runs, document, scores[:, document], errors[:, document], changed[document]),
            differs=bool(differs[document]),
        )
        for document in np.flatnonzero(differs | (errors.max(axis=0) > 0)).tolist()
    ]
    return sorted(listed, key=lambda document: document.sort_key)


def _change(
    runs: JoinedRuns,
    document: int,
    scores: NDArray[np.float64],
    errors: IntArray,
    changed: tuple[list[str], list[str]],
) -> DocumentChange:
    first, lost = runs.sides[0], bool(runs.lost[document])
    sides = slice(first), slice(first, None)
    before, after = (sum(scores[side].tolist()) / len(scores[side]) for side in sides)
    errors_before, errors_after = (
        mean_of_runs(sum(errors[side].tolist()), len(errors[side])) for side in sides
    )
    change = after - before
    return DocumentChange(
        id=runs.ids[document],
        status_before=runs.status_before(document),
        status_after=runs.status_after(document),
        lost=lost,
        score_before=before,
        score_after=after,
        errors_before=errors_before,
        errors_after=errors_after,
        broken=changed[0],
        fixed=changed[1],
        change=change,
        hard=lost or change <= -HARD + DIFFERENT,
    )


def mean_of_runs(total: int, times: int) -> float:
    """Return the mean of a number over several runs, as an integer if the mean is whole.

    `total` is the sum over all runs, and `times` is the number of runs.
    """
    return total // times if total % times == 0 else total / times


def _row_keys(runs: JoinedRuns, rows: RunRows) -> IntArray:
    keys: IntArray = rows.field * len(runs.ids) + rows.document
    return keys


def _find_differing_documents(runs: JoinedRuns) -> NDArray[np.bool_]:
    """Return a mask of the documents in which the runs have different counts or scores.

    Documents that a run of the second side did not compare are included.
    """
    is_different = runs.lost.copy()
    first = runs.rows[0]
    keys = _row_keys(runs, first)
    for rows in runs.rows[1:]:
        _, first_positions, positions = np.intersect1d(
            keys, _row_keys(runs, rows), True, return_indices=True
        )
        alike = first.cell[first_positions] == rows.cell[positions]
        bits = (
            scores.view(np.int64)
            for scores in (first.score[first_positions], rows.score[positions])
        )
        alike &= np.equal(*bits)
        for run_rows, same in ((first, first_positions), (rows, positions)):
            is_left = np.ones(len(run_rows.field), np.bool_)
            is_left[same[alike]] = False
            is_different[run_rows.document[is_left]] = True
    return is_different

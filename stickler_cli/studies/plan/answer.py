"""Estimate how many documents are needed, from one run or from two runs of the same documents.

The format of the result is `stickler-plan/1`.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from math import ceil, sqrt
from typing import Final, Literal

import numpy as np
from scipy.special import chdtri, ndtr, ndtri, stdtrit

from stickler_cli import __version__
from stickler_cli.core.figures import number_of, setting
from stickler_cli.core.locations import field_path
from stickler_cli.core.problems import Problem, UsageError
from stickler_cli.core.rules import Count, Fraction, FractionOrNone, Number
from stickler_cli.core.sections import Curve, Curves, FigureColumn, Figures, Report
from stickler_cli.runs.saved import load_run, with_rows
from stickler_cli.score.gates import (
    ADDED_LIMIT,
    RIGHT_SHARE,
    SCORE,
    Gate,
    check_paths,
    fields_of_gate,
    is_about_documents,
    omit_added_limit,
    parse_gate,
)
from stickler_cli.score.gates import gate_error as refused_gate
from stickler_cli.score.intervals import (
    SCORE_SPREAD,
    Interval,
    Spread,
    rate_and_score_spreads,
    rate_intervals,
)
from stickler_cli.score.record import Run, with_counting
from stickler_cli.score.sums import RATES
from stickler_cli.settings.deciding import MARGIN
from stickler_cli.studies.answering import Desk, StudyAnswer
from stickler_cli.studies.diff.answer import check_comparable
from stickler_cli.studies.diff.joined_runs import JoinedRuns, join_runs
from stickler_cli.studies.diff.record import WHOLLY_RIGHT
from stickler_cli.studies.diff.record import Figure as ComparedFigure
from stickler_cli.studies.study import StudyRecord
from .question import USAGE, PlanSettings


@dataclass(frozen=True, slots=True)
class PlannedSize:
    """How many documents are needed to fulfil one request of the user, for one figure.

    The user requests a half width of the interval, the detection of a change, or a passed gate.
    """

    asked: str
    """What the user asked for: a half width to reach, a change to detect, or a gate to pass."""
    figure: str
    """Name of the figure, written as in gates."""
    limit: Number
    """The half width or the size of the change that the user asked for, or the limit of the
    gate."""
    now: FractionOrNone
    """Value of the figure in the run; null if its divisor is 0."""
    interval: list[Fraction] | None
    """Confidence interval of the figure in the run."""
    documents: Count | None
    """How many documents are needed. If the user asked for a half width, it is reached with this
    number. If the user asked for a change, it is detected with the probability `power`. If the user
    asked for a gate, it passes with a probability of 0.5. Null if no number of documents is enough,
    or if the run is too small for an estimate."""
    likely: Count | None
    """How many documents are needed to detect the change, or to pass the gate, with the probability
    `power`. Null if the user asked for a half width, if no number of documents is enough, or if the
    run is too small for an estimate."""
    between: list[Count | None] | None
    """For a run of fewer than ten documents, two estimates of how many documents are needed: the
    lowest and the highest. An estimate is null if no number of documents is enough. For a run of
    ten or more documents, `between` is null."""
    curve: list[list[Number]]
    """Points (number of documents, value) for a diagram. If the user asked for a half width, the
    value is the half width with this many documents. If the user asked for a change, it is the
    power: the probability of detecting the change with this many documents. Empty for a gate."""


@dataclass(frozen=True, slots=True)
class SizeReport(StudyRecord):
    """How many documents are needed, as `stickler plan --format json` writes it.

    Described in docs/planning.md.
    """

    format: Literal["stickler-plan/1"]
    run: str
    """The run, as the user named it."""
    documents: Count
    """Number of documents that the run compared."""
    level: Fraction
    """Confidence level of the intervals."""
    power: Fraction
    """Probability that a change is detected, or that a gate passes, with the number of documents in
    `PlannedSize.likely`."""
    sizes: list[PlannedSize]
    """An entry for each request and each figure. Entries are in the order of the requests."""
    notes: list[str]
    """Notes on the assumptions and limits of the figures."""


NEVER: Final = "never"
_PICTURES: Final = {"half width": "half width", "change": "power"}


def _size_text(size: PlannedSize, number: int | None) -> str:
    if size.between is None:
        return NEVER if number is None else f"{number:,}"
    low, high = (NEVER if end is None else f"{end:,}" for end in size.between)
    return f"{low} to {high}" if low != high else low


def _likely(size: PlannedSize) -> str:
    return "-" if size.asked == "half width" or size.between else _size_text(size, size.likely)


_FIGURES: Final = (
    FigureColumn("figure", "figure", str),
    FigureColumn(title="asked", value="asked", kind=str, rank=1, quoted=False),
    FigureColumn("limit", "limit", shown=lambda size: setting(size.limit)),
    FigureColumn("now", "now", rank=2),
    FigureColumn(title="interval", value="interval", kind=list, rank=3),
    FigureColumn(
        "documents",
        "documents",
        int,
        shown=lambda size: _size_text(size, size.documents),
        tone="title",
    ),
    FigureColumn(title="likely", value="likely", kind=int, rank=1, shown=_likely),
)


def report_of(record: SizeReport) -> Report:
    """Return the report that says how many documents are needed."""
    legend = (
        (
            "documents",
            (
                "documents: how many documents you need to reach the half width, detect the change "
                "or pass the gate of a row, if they are like the documents of the run; never: no "
                "number is enough"
            ),
        ),
        (
            "likely",
            (
                "likely: number of documents with which the gate passes, or the change is "
                f"detected, with a probability of {record.power:g}"
            ),
        ),
    )
    table = Figures(_FIGURES, record.sizes, legend)
    head = f"{record.run}: {number_of(record.documents, 'document')}, level {record.level:g}"
    return Report.of_study(record, head, [table], [*_pictures(record)], rows=table)


def _pictures(record: SizeReport) -> Iterator[Curves]:
    for request, value in _PICTURES.items():
        sizes = [
            size for size in record.sizes if size.asked == request and size.documents and size.curve
        ]
        if sizes:
            level = sizes[0].limit if request == "half width" else record.power
            yield Curves(
                title=f"{value} by number of documents, up to twice the needed number",
                curves=[_drawn(size, level) for size in sizes],
                level=level,
                axes=("documents", value),
                mark="the needed number of documents",
                legend=f"the dotted line is at {level:g}; the curve reaches the line at the point",
                top=None if request == "half width" else 1.0,
            )


def _drawn(size: PlannedSize, level: float) -> Curve:
    max_documents = size.curve[-1][0]
    points = [(number / max_documents, value) for number, value in size.curve]
    summary = f"{_size_text(size, size.documents)} documents"
    return Curve(
        name=size.figure,
        description=summary,
        points=points,
        passing=0.5,
        end=(level, level),
        last=f"{max_documents:,.0f}",
    )


FEWEST: Final = 10
"""If a run has fewer documents than this, a range is given instead of an estimate."""
UNEQUAL: Final = 0.75
"""If the sizes of documents vary at least this much (coefficient of variation), estimates are too
low."""
UNEQUAL_NOTE: Final = (
    "the sizes of documents differ much, so the numbers of documents for gates are too low. In "
    "simulations with such sizes, the numbers in the column 'likely' (--power 0.8) let 48 to 70% "
    "of the gates pass, instead of 80%. The numbers in the column 'documents' let 33 to 44% pass, "
    "instead of 50%"
)
FEWEST_TO_DIFFER: Final = 6  # With fewer documents, no permutation test can be significant.
MOST: Final = 10**8  # larger numbers of documents are reported as "never"
_POINTS: Final = 24  # points of a curve


def least(reached: Callable[[float], bool]) -> int | None:
    """Return the smallest number of documents for which `reached` is true, or None if it never is.

    >>> least(lambda documents: documents >= 1234.5), least(lambda documents: False)
    (1235, None)
    """
    high = 2
    while not reached(high):
        high *= 2
        if high > MOST:
            return None
    return bisect_left(range(high), True, high // 2 + 1, key=reached)


@dataclass(frozen=True, slots=True)
class Pilot:
    """One figure of a small run (a pilot). It is used to predict the figure of larger runs."""

    spread: Spread
    documents: int
    level: float
    """Confidence level of the intervals."""

    @property
    def share(self) -> float | None:
        """The value of the figure; None if its divisor is 0."""
        total = self.spread.right + self.spread.wrong
        return self.spread.right / total if total else None

    @property
    def deviation(self) -> float:
        """The standard error of the figure that is due to the choice of documents."""
        right, wrong, right_squares, products, wrong_squares, _ = self.spread
        total = (right + wrong) or 1.0
        share, other = right / total, wrong / total
        squares = other**2 * right_squares - 2 * share * other * products + share**2 * wrong_squares
        return sqrt(max(squares, 0.0)) / total

    @property
    def extremes(self) -> "tuple[Pilot, Pilot]":
        """Two pilots, each with one more document than this one.

        In the first pilot, all values of the added document are right. In the second pilot, all
        values of the added document are wrong.
        """
        right, wrong, right_squares, products, wrong_squares, all_right = self.spread
        bad = (right_squares + 2 * products + wrong_squares) / ((right + wrong) or 1.0)
        good = max(bad, all_right)
        kinder = self.spread._replace(right=right + good, right_squares=right_squares + good**2)
        harder = self.spread._replace(wrong=wrong + bad, wrong_squares=wrong_squares + bad**2)
        return replace(self, spread=kinder), replace(self, spread=harder)

    def interval(self, number: float) -> Interval | None:
        """Return the confidence interval that is expected in a run of `number` documents.

        Return None if the divisor of the figure is 0.
        """
        factor = number / self.documents
        scaled = Spread._make(
            [*(amount * factor for amount in self.spread[:5]), self.spread.all_right]
        )
        with np.errstate(all="ignore"):  # with less than one document a bound may be undefined
            return rate_intervals([scaled], self.level)[0]

    def evened(self, thirds: int) -> "Pilot":
        """Return a copy of this pilot in which the sizes of documents vary more.

        A small pilot often has too few large documents, so the sizes of its documents vary too
        little. The sums of squares are therefore increased, as if a part of one more large document
        were in the pilot. The sums of right and wrong amounts are not changed.

        The size of a large document is taken to be the mean of all sizes, weighted by the sizes.
        This size is computed separately for the right and for the wrong amounts. Each sum of
        squares is increased by `thirds` / 3 of the square of this size. The reason for thirds: in
        half of all pilots, the sum of squares is too small by at least one third of this square.

        Source: Choi (1994), doi:10.1090/S0002-9939-1994-1195477-8, for gamma distributions.
        """
        right, wrong, right_squares, products, wrong_squares, all_right = self.spread
        right_factor, wrong_factor = (
            1 + thirds / 3 * squares / total**2 if total else 1.0
            for total, squares in ((right, right_squares), (wrong, wrong_squares))
        )
        spread = Spread(
            right=right,
            wrong=wrong,
            right_squares=right_squares * right_factor,
            right_times_wrong=products * sqrt(right_factor * wrong_factor),
            wrong_squares=wrong_squares * wrong_factor,
            all_right=all_right,
        )
        return replace(self, spread=spread)

    @property
    def size_variation(self) -> float:
        """The coefficient of variation of document sizes: standard deviation divided by mean."""
        right, wrong, right_squares, products, wrong_squares, _ = self.spread
        mean_square = (right_squares + 2 * products + wrong_squares) / self.documents
        mean = (right + wrong) / self.documents
        return sqrt(max(mean_square / mean**2 - 1, 0.0)) if mean else 0.0

    def half_width(self, number: float) -> float:
        """Return half the width of the interval that is expected in a run of `number` documents."""
        lower, upper = self.evened(1).interval(number) or (0.0, 1.0)
        return (upper - lower) / 2

    def for_width(self, wanted: float) -> int | None:
        """Return how many documents are needed for an interval of half width `wanted` or less.

        Return None if no number is enough.
        """
        return least(lambda number: self.half_width(number) <= wanted)

    def for_gate(self, limit: float, power: float, *, lower_end: bool) -> int | None:
        """Return how many documents are needed to pass a gate on the interval.

        With that many documents, the gate passes with the probability `power`. If `lower_end` is
        True, the gate requires a lower bound of at least `limit`. Otherwise it requires an upper
        bound of at most `limit`. Return None if no number of documents is enough.
        """
        evened = self.evened(2)
        shift = float(ndtri(power)) * evened.deviation

        def reached(number: float) -> bool:
            unlucky = evened.shifted(shift * sqrt(self.documents / number), worse=lower_end)
            lower, upper = unlucky.interval(number) or (0.0, 1.0)
            return lower >= limit if lower_end else upper <= limit

        return least(reached)

    def shifted(self, shift: float, *, worse: bool) -> "Pilot":
        """Return a pilot whose figure is lower by `shift` if `worse` is True, and higher otherwise.

        A lower figure has more wrong values and fewer right values.
        """
        right, wrong, right_squares, products, wrong_squares, all_right = self.spread
        rarer, total = (wrong if worse else right), right + wrong
        increase = max(1 + shift * total / rarer, 0.0) if rarer else 1.0
        decrease = max(1 - (increase - 1) * rarer / (total - rarer), 0.0) if total > rarer else 1.0
        right_factor, wrong_factor = (decrease, increase) if worse else (increase, decrease)
        spread = Spread(
            right=right * right_factor,
            wrong=wrong * wrong_factor,
            right_squares=right_squares * right_factor,
            right_times_wrong=products * increase,
            wrong_squares=wrong_squares * wrong_factor,
            all_right=all_right,
        )
        return replace(self, spread=spread)


def variance_ratio_interval(documents: int, level: float) -> tuple[float, float]:
    """Return the confidence interval of a variance, as multiples of the sample's variance.

    Source: chi-squared interval for the variance of normal deviations.
    """
    freedom = max(documents - 1, 1)
    low, high = (freedom / float(chdtri(freedom, (1 + sign * level) / 2)) for sign in (-1, 1))
    return low, high


def power_of(change: float, documents: float, level: float) -> float:
    """Return the probability that a comparison of two runs detects a change of this size.

    `change` is the size in standard errors. `documents` is the number of documents in each run, and
    1 - `level` is the probability of a false alarm.
    """
    if documents < FEWEST_TO_DIFFER:
        return 0.0
    critical = -float(stdtrit(documents - 1, (1 - level) / 2))
    return float(ndtr(change - critical) + ndtr(-change - critical))


def curve_of(value: Callable[[float], float], documents: int | None) -> list[list[float]]:
    """Return points (number of documents, value) of a curve.

    `documents` is the number of documents that is needed. The curve ends at twice this number. If
    it is None, there are no points.
    """
    steps = () if documents is None else range(1, _POINTS + 1)
    numbers = [2 * (documents or 0) * step / _POINTS for step in steps]
    return [[round(number, 1), value(number)] for number in numbers]


_LOWER_END: Final = {">=": True, ">": True, "<=": False, "<": False}


def answer(settings: PlanSettings, desk: Desk) -> StudyAnswer:
    """Estimate how many documents are needed for an interval, a change or a gate."""
    base, new, name = settings.base, settings.new, settings.run or settings.new or ""
    is_complete = name and bool(base) is bool(new)
    if not is_complete or not (settings.half_width or settings.detect or settings.gate):
        hint = "for example, stickler plan run.json --half-width 0.02"
        raise UsageError([Problem("stickler plan", "arguments are missing", USAGE, hint)])
    run, pairs = with_counting(load_run(name), settings.counting), None
    if base and new:
        sides = [with_rows(source, load_run(source)) for source in (base, new)]
        check_comparable(sides[0], sides[1:])
        pairs = join_runs(sides[:1], sides[1:], run.fields, run.rule)
    documents, plan = run.evaluation.evaluated, _Planned(settings, run, pairs)
    notes = [*_remarks(settings, documents, assumed=pairs is None)]
    if documents >= FEWEST and plan.has_unequal_documents:
        notes.append(UNEQUAL_NOTE)
    level, power = settings.ci, settings.power
    sizes, version = [*plan.sizes()], __version__
    record = SizeReport(
        format="stickler-plan/1",
        version=version,
        run=name,
        documents=documents,
        level=level,
        power=power,
        sizes=sizes,
        notes=notes,
    )
    return StudyAnswer(report_of(record))


def _remarks(settings: PlanSettings, documents: int, *, assumed: bool) -> Iterator[str]:
    if documents < FEWEST:
        yield f"the run has fewer than {FEWEST} documents, so each estimate is a range"
    if settings.detect is not None and assumed:
        yield (
            "the estimate for a change assumes that the errors of both runs have a correlation "
            f"of {settings.correlation:g}; to measure the correlation, give --base and --new"
        )
    if settings.detect is not None and settings.detect <= MARGIN:
        yield (
            f"stickler diff calls a change of {settings.detect:g} improved only if its --margin "
            "is smaller"
        )


@dataclass(frozen=True, slots=True)
class _Planned:
    settings: PlanSettings
    run: Run
    pairs: JoinedRuns | None
    """The joined runs of --base and --new. None if the user did not give them."""

    def sizes(self) -> Iterator[PlannedSize]:
        """Yield the needed number of documents for each request and each figure."""
        settings = self.settings
        try:
            figures = [*self._figures(f"{settings.of}{ADDED_LIMIT}", "--of")]
        except UsageError as error:  # name the figure in the message, as the user wrote no gate
            raise omit_added_limit(error) from None
        for asked_for, limit in (("half width", settings.half_width), ("change", settings.detect)):
            if limit is not None:
                yield from (
                    self._size(asked_for, replace(figure, limit=limit)) for figure in figures
                )
        for text in settings.gate:
            yield from (self._size("gate", gate) for gate in self._figures(text, "--gate"))

    def _figures(self, text: str, option: str) -> Iterator[Gate]:
        """Parse a gate. If its path is a pattern, yield a gate for each field that matches.

        For example, `**.f1>=0.9` gives a gate on F1 of each field. Without a pattern, there is only
        one gate. A gate is left out if its figure is undefined in the run because the divisor of
        the figure is 0. If the figures of all gates are undefined, only the first gate is yielded.
        """
        gate = parse_gate(text, option, metrics=(*RATES, SCORE))
        fields = [field_info.field for field_info in self.run.fields]
        if gate.metric not in (*RATES, SCORE, RIGHT_SHARE) or gate.operator not in _LOWER_END:
            expected = (
                f"a gate with >= or <= on one of {', '.join((*RATES, SCORE))} or documents.right"
            )
            raise refused_gate(option, f"{gate.text!r} cannot be planned for", expected)
        if option == "--of" and self.settings.every_field:
            gate = replace(gate, path=("**",))
        check_paths([gate], fields, option)
        gates = [replace(gate, path=path) for path in fields_of_gate(gate, fields)]
        with_share = [figure for figure in gates if self._pilot(figure).share is not None]
        yield from with_share or gates[:1]

    @property
    def has_unequal_documents(self) -> bool:
        """Whether the sizes of documents vary so much that the estimates for gates are too low."""
        gate, *_ = self._figures(f"f1{ADDED_LIMIT}", "--of")
        return self._pilot(gate).size_variation >= UNEQUAL

    def _pilot(self, gate: Gate) -> Pilot:
        rule, evaluation = self.run.rule, self.run.evaluation
        spread = evaluation.wholly_right.spread
        if not is_about_documents(gate):
            tally = evaluation.sums.tally(gate.path)
            spreads = rate_and_score_spreads(tally, recall_with_fd=rule.recall_with_fd)
            rate = gate.mode or rule.counting, gate.metric
            spread = spreads[SCORE_SPREAD if gate.metric == SCORE else rate]
        return Pilot(spread, evaluation.evaluated, self.settings.ci)

    def _power(self, gate: Gate) -> Callable[[float], float]:
        """Return a function from a number of documents to the power of a comparison.

        The power is the probability that a comparison of two runs detects a change of the figure,
        if each run has this number of documents. The size of the change is `gate.limit`.
        """
        documents = n_with_figure = self.run.evaluation.evaluated
        pilot, spread = self._pilot(gate), self._pilot(gate).spread
        if self.pairs is None:
            deviation = pilot.deviation * sqrt(2 * (1 - self.settings.correlation))
        else:
            metric = WHOLLY_RIGHT if is_about_documents(gate) else gate.metric
            mode = gate.mode or self.pairs.rule.counting
            sample = self.pairs.sample(ComparedFigure(gate.path, mode, metric))
            documents, n_with_figure = len(self.pairs.ids), sample.documents
            deviation = sample.deviation

        # Changes of single, independent values have the smallest possible variance.
        deviation = max(deviation, sqrt(gate.limit / ((spread.right + spread.wrong) or 1.0)))

        def power(number: float) -> float:
            shift = gate.limit * sqrt(number / documents) / deviation
            return power_of(shift, number * n_with_figure / documents, self.settings.ci)

        return power

    def _size(self, asked_for: str, gate: Gate) -> PlannedSize:
        """Return the needed number of documents for one request, or a range if the run is small."""
        pilot, power = self._pilot(gate), self.settings.power
        value = self._power(gate) if asked_for == "change" else pilot.half_width

        def needed(extreme_pilot: Pilot, chance: float) -> int | None:
            match asked_for:
                case "half width":
                    return extreme_pilot.for_width(gate.limit)
                case "change":
                    return least(lambda number: value(number) >= power)
            return extreme_pilot.for_gate(gate.limit, chance, lower_end=_LOWER_END[gate.operator])

        number = likely = between = None
        if pilot.documents < FEWEST:
            ratios = variance_ratio_interval(pilot.documents, pilot.level)
            ends = (
                (needed(extreme, 0.5), ratio)
                for extreme, ratio in zip(pilot.extremes, ratios, strict=True)
            )
            between = [end and ceil(end * ratio) for end, ratio in ends]
        else:
            number = needed(pilot, 0.5)
            likely = None if asked_for == "half width" else needed(pilot, power)
        curve = [] if asked_for == "gate" else curve_of(value, number)
        name = field_path((*gate.path, gate.metric))
        name = f"{gate.mode}:{name}" if gate.mode else name
        interval = pilot.interval(pilot.documents)
        bounds = interval and [*interval]
        now, limit = pilot.share, gate.limit
        return PlannedSize(
            asked=asked_for,
            figure=name,
            limit=limit,
            now=now,
            interval=bounds,
            documents=number,
            likely=likely,
            between=between,
            curve=curve,
        )

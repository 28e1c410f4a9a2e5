"""How many documents it takes, of a run, or of how two runs differ."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from math import ceil, sqrt
from typing import Final

from stickler_cli import __version__
from stickler_cli.core.locations import field_path
from stickler_cli.core.problems import Problem, UsageError
from stickler_cli.core.values import dataclass
from stickler_cli.runs.saved import load_run, with_rows
from stickler_cli.score.counts import RATES
from stickler_cli.score.gate_verdicts import counted_as
from stickler_cli.score.gates import SCORE, Gate, asked, asks_documents, check_paths, parse_gate
from stickler_cli.score.gates import refused as refused_gate
from stickler_cli.score.intervals import SCORE_SPREAD, spreads_of
from stickler_cli.score.record import Run
from stickler_cli.settings.deciding import MARGIN
from stickler_cli.studies.answering import Answer, Desk
from stickler_cli.studies.diff.comparing import check_comparable
from stickler_cli.studies.diff.joined_runs import JoinedRuns, join_runs
from stickler_cli.studies.diff.record import WHOLLY_RIGHT, Figure
from .question import USAGE, PlanSettings
from .record import PlannedSize, SizeReport
from .sections import report_of
from .sizes import FEWEST, Pilot, chance_ratios, curve_of, least, power_of

_HOLDS: Final = ">=0"
"""Makes a gate of a figure."""
_LOWER_END: Final = {">=": True, ">": True, "<=": False, "<": False}


def answer(settings: PlanSettings, desk: Desk) -> Answer:
    """Say how many documents it takes."""
    base, new, name = settings.base, settings.new, settings.run or settings.new or ""
    whole = name and bool(base) is bool(new)
    if not whole or not (settings.half_width or settings.detect or settings.gate):
        raise UsageError([Problem("stickler plan", "too little is given", USAGE)])
    run, pairs = counted_as(load_run(name), settings.counting), None
    if base and new:
        sides = [with_rows(it, load_run(it)) for it in (base, new)]
        check_comparable(sides[0], sides[1:])
        pairs = join_runs(sides[:1], sides[1:], run.fields, run.rule)
    documents, plan = run.evaluation.evaluated, _Planned(settings, run, pairs)
    notes = [*_remarks(settings, documents, assumed=pairs is None)]
    level, power = settings.ci, settings.power
    sizes, version = [*plan.sizes()], __version__
    record = SizeReport("stickler-plan/1", version, name, documents, level, power, sizes, notes)
    return Answer(report_of(record))


def _remarks(settings: PlanSettings, documents: int, *, assumed: bool) -> Iterator[str]:
    if documents < FEWEST:
        yield f"the run has fewer than {FEWEST} documents: a wide range instead of a number"
    if settings.detect is not None and assumed:
        yield (
            f"change: a correlation of {settings.correlation:g} between the errors of both runs is "
            "assumed; --base and --new have that of two runs"
        )
    if settings.detect is not None and settings.detect <= MARGIN:
        yield f"change: diff says that it is one with a --margin below {settings.detect:g}"


@dataclass(frozen=True, slots=True)
class _Planned:
    settings: PlanSettings
    run: Run
    pairs: JoinedRuns | None
    """How two runs differ; None where nobody gave two."""

    def sizes(self) -> Iterator[PlannedSize]:
        """Yield what each thing takes."""
        settings = self.settings
        try:
            figures = [*self._figures(f"{settings.of}{_HOLDS}", "--of")]
        except UsageError as error:  # nobody wrote a gate
            texts = ((it, it.found, it.hint) for it in error.problems)
            raise UsageError(
                replace(it, found=found.replace(_HOLDS, ""), hint=hint.replace(_HOLDS, ""))
                for it, found, hint in texts
            ) from None
        for asked_for, limit in (("half width", settings.half_width), ("change", settings.detect)):
            if limit is not None:
                yield from (self._size(asked_for, replace(it, limit=limit)) for it in figures)
        for text in settings.gate:
            yield from (self._size("gate", gate) for gate in self._figures(text, "--gate"))

    def _figures(self, text: str, option: str) -> Iterator[Gate]:
        """Yield a gate for each figure that is asked for and has something to divide by."""
        gate, fields = parse_gate(text, option), [info.field for info in self.run.fields]
        if gate.metric not in (*RATES, SCORE, "right") or gate.operator not in _LOWER_END:
            expected = f"a least or most of {', '.join((*RATES, SCORE))} or documents.right"
            raise refused_gate(option, f"{gate.text!r} asks for something else", expected)
        if option == "--of" and self.settings.every_field:
            gate = replace(gate, path=("**",))
        check_paths([gate], fields, option)
        found = [replace(gate, path=path) for path in asked(gate, fields)]
        yield from [it for it in found if self._pilot(it).share is not None] or found[:1]

    def _pilot(self, gate: Gate) -> Pilot:
        rule, evaluation = self.run.rule, self.run.evaluation
        spread = evaluation.wholly_right.spread
        if not asks_documents(gate):
            tally = evaluation.sums.at(gate.path)
            spreads = spreads_of(tally, recall_with_fd=rule.recall_with_fd)
            rate = gate.mode or rule.counting, gate.metric
            spread = spreads[SCORE_SPREAD if gate.metric == SCORE else rate]
        return Pilot(spread, evaluation.evaluated, self.settings.ci)

    def _power(self, gate: Gate) -> Callable[[float], float]:
        """Return the chance that so many documents show a change, as a function of these."""
        documents = there = self.run.evaluation.evaluated
        pilot, spread = self._pilot(gate), self._pilot(gate).spread
        if self.pairs is None:
            varies = pilot.deviation * sqrt(2 * (1 - self.settings.correlation))
        else:
            metric = WHOLLY_RIGHT if asks_documents(gate) else gate.metric
            mode = gate.mode or self.pairs.rule.counting
            sample = self.pairs.sample(Figure(gate.path, mode, metric))
            documents, there, varies = len(self.pairs.ids), sample.documents, sample.deviation

        # A change that is one of single values, here and there, varies least.
        varies = max(varies, sqrt(gate.limit / ((spread.right + spread.wrong) or 1.0)))

        def power(number: float) -> float:
            shift = gate.limit * sqrt(number / documents) / varies
            return power_of(shift, number * there / documents, self.settings.ci)

        return power

    def _size(self, asked_for: str, gate: Gate) -> PlannedSize:
        """Return what a thing takes: of too few documents by the extremes that they could be of."""
        pilot, power = self._pilot(gate), self.settings.power
        value = self._power(gate) if asked_for == "change" else pilot.half_width

        def needed(its: Pilot, chance: float) -> int | None:
            match asked_for:
                case "half width":
                    return its.for_width(gate.limit)
                case "change":
                    return least(lambda number: value(number) >= power)
            return its.for_gate(gate.limit, chance, lower_end=_LOWER_END[gate.operator])

        number = likely = between = None
        if pilot.documents < FEWEST:
            ratios = chance_ratios(pilot.documents, pilot.level)
            ends = ((needed(it, 0.5), by) for it, by in zip(pilot.extremes, ratios, strict=True))
            between = [end and ceil(end * by) for end, by in ends]
        else:
            number = needed(pilot, 0.5)
            likely = None if asked_for == "half width" else needed(pilot, power)
        curve = [] if asked_for == "gate" else curve_of(value, number)
        name = field_path((*gate.path, gate.metric))
        name = f"{gate.mode}:{name}" if gate.mode else name
        interval = pilot.interval(pilot.documents)
        there = interval and [*interval]
        now, limit = pilot.share, gate.limit
        return PlannedSize(asked_for, name, limit, now, there, number, likely, between, curve)

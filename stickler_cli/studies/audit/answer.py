"""Runs beside a ground truth: suspects, agreement, and what verdicts on some places say of all."""

import json
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from math import sqrt
from pathlib import Path as File
from tempfile import TemporaryDirectory
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from stickler_cli import __version__
from stickler_cli.core.figures import number_of
from stickler_cli.core.json_values import JsonValue, json_line
from stickler_cli.core.locations import Path, Step, field_path, parse_field_path
from stickler_cli.core.problems import Problem, UsageError
from stickler_cli.documents.document_pair import PairRef, read_pair
from stickler_cli.documents.pairs import open_pairs
from stickler_cli.documents.wrappers import Unwrapper
from stickler_cli.runs.assembly import client_of, comparing, policy_of
from stickler_cli.runs.boxes import spot_of
from stickler_cli.runs.chunk import unwrapped
from stickler_cli.runs.gold_writing import GoldChange, check_directory, write_gold
from stickler_cli.runs.job import OutputsRequested, unwrapper_of
from stickler_cli.schema.loading import is_schema_file
from stickler_cli.score.errors.marks import REMOVED, new_item_index
from stickler_cli.score.gate_verdicts import judge_fields
from stickler_cli.score.gates import Gate, GateResult, check_paths, parse_gate
from stickler_cli.score.intervals import Share, beta_percentiles, intervals_of
from stickler_cli.score.record import RunVerdict
from stickler_cli.score.sums import BOUNDS
from stickler_cli.settings.of_commands import as_of_eval
from stickler_cli.studies.answering import Desk, StudyAnswer, shares_by_unit
from .question import AuditSettings
from .record import AuditedField, AuditedRun, AuditReport, Said, Suspect, page_of, report_of
from .witnesses import (
    NOT_THERE,
    AnsweredPlace,
    NewItem,
    PlaceMark,
    PlaceMarks,
    Witnesses,
    agreement,
    chance_of_difference,
    rarity,
    read_marks,
    rows_by_document,
    runs_that_share,
    votes_and_against,
)

RowPositions = NDArray[np.intp]

STRATA: Final = 3
"""Those that places are drawn from."""
KNOWN: Final = STRATA
"""The stratum of places that were looked at without being drawn: they stand for no others."""
_UNSEEN: Final = 0.75  # of a place: a whole one holds 97.5% and more, a half too little


def strata_of(votes: NDArray[np.int64], runs: int) -> RowPositions:
    """Return the stratum of each place: 2 where most runs give one other answer, 1 any, 0 none."""
    most = max(2, (runs + 1) // 2)
    return np.where(votes >= most, 2, np.minimum(votes, 1)).astype(np.intp)


def drawn(strata: RowPositions, number: int, seed: int) -> RowPositions:
    """Return places drawn at random: half of what is left to the top stratum each time."""
    # Raw bits are the same in every numpy.
    order = np.argsort(np.random.PCG64(seed).random_raw(len(strata)), kind="stable")
    found, left = order[:0], number
    for stratum in reversed(range(STRATA)):
        its = order[strata[order] == stratum]
        found = np.append(found, its[: left if not stratum else -(-left // 2)])
        left = number - len(found)
    # A lower stratum may have fewer places than were left for it.
    return np.append(found, order[~np.isin(order, found)][:left])


def weights_of(strata: RowPositions, looked_at: RowPositions) -> NDArray[np.float64] | None:
    """Return how many places each that was looked at stands for; None where a stratum has none."""
    sizes, seen = (np.bincount(it, minlength=KNOWN + 1) for it in (strata, strata[looked_at]))
    if ((sizes > 0) & (seen == 0)).any():
        return None
    weights: NDArray[np.float64] = (sizes / np.maximum(seen, 1))[strata[looked_at]]
    return weights


def wrong_share(
    strata: RowPositions,
    looked_at: RowPositions,
    wrong: NDArray[np.bool_],
    documents: RowPositions,
    level: float | None,
) -> Share:
    """Return the share of places at which this ground truth is wrong, and its interval.

    Three quarters of a place more are thought of, of the heaviest stratum that was not looked at
    as a whole: wrong for the upper end; right for the lower one, where all of it were wrong.

    Args:
        strata: of all places.
        looked_at: places with a verdict.
        wrong: of these, whether the ground truth is wrong.
        documents: of all places, which document they are in: its verdicts count as one.
        level: of the interval; None for none.

    Source:
        Cochran (1977), Sampling Techniques, sections 5.3 and 9.2, for strata and clusters;
        docs/auditing.md has what this holds in simulations.
    """
    weights = weights_of(strata, looked_at)
    if weights is None or not len(looked_at):
        return Share(None, None)
    whole, share, off = len(strata), 0.0, np.zeros(len(looked_at))
    unseen_wrong = unseen_right = 0.0
    for stratum in np.unique(strata):
        its = strata[looked_at] == stratum
        number, weight, among = int(its.sum()), float(weights[its][0]), float(wrong[its].mean())
        share += among * number * weight / whole
        left = 1 - 1 / weight
        off[its] = (wrong[its] - among) * weight * sqrt(left * number / max(number - 1, 1))
        unseen_wrong = max(unseen_wrong, weight * sqrt(left))
        if among == 1:
            unseen_right = max(unseen_right, weight * sqrt(left))
    if level is None:
        return Share(share, None)
    of_documents = np.bincount(documents[looked_at], off)
    variance = float(of_documents @ of_documents) / whole**2
    ends = ((-unseen_right / whole, (1 - level) / 2), (unseen_wrong / whole, (1 + level) / 2))
    lower, upper = (
        _beta_end(min(max(share + _UNSEEN * it, 0.0), 1.0), variance + _UNSEEN * it**2, tail)
        for it, tail in ends
    )
    return Share(share, [min(lower, share), max(upper, share)])


def _beta_end(mean: float, variance: float, tail: float) -> float:
    """Return the percentile of the beta distribution of a mean and a variance."""
    as_many = mean * (1 - mean) / variance - 1 if variance else 0.0
    if as_many <= 0:
        return mean
    first, second = np.array([mean * as_many]), np.array([(1 - mean) * as_many])
    return float(beta_percentiles(first, second, tail)[0])


_NOTHING: Final = Share(None, None)
METRICS: Final = ("wrong", "agreement", "pairwise", "alpha")
MOST_SUSPECTS: Final = 1000
COLUMNS: Final = (
    *("document", "path", "page", "box", "probability", "gt", "others", "verdict", "right"),
)
"""Those of places to look at, as a spreadsheet."""


_TABLES: Final = (".jsonl", ".ndjson", ".parquet", ".arrow", ".csv", ".tsv")


def names_documents(name: str) -> bool:
    """Return whether a name in the place of a schema is a source of documents."""
    path = File(name)
    if path.is_dir() or name.lower().removesuffix(".gz").removesuffix(".zst").endswith(_TABLES):
        return True
    return path.suffix.lower() == ".json" and path.is_file() and not is_schema_file(name)


def answer(settings: AuditSettings, desk: Desk) -> StudyAnswer:
    """Hold several runs against a ground truth, and each other."""
    if names_documents(settings.schema):
        runs = (settings.gt, *settings.runs)
        settings = replace(settings, schema="", gt=settings.schema, runs=runs)
    gt, directory, runs = settings.gt, settings.write_gold, settings.runs
    if len({gt, *runs}) <= max(2, len(runs)):
        given = f"given: {' '.join(filter(None, (settings.schema, gt, *runs)))}"
        expected = "[SCHEMA] GT RUN RUN..., each once"
        raise UsageError([Problem("stickler audit", given, expected)])
    gates = [parse_gate(text, metrics=METRICS) for text in settings.gate]
    if directory is not None:
        check_directory(directory, gt, settings.verdicts)
    said, limit = settings.verdicts, settings.max_document_size
    marks = read_marks(said, limit) if said else {}
    loaded, unfit = desk.schema(settings), False
    plan = loaded.plan
    check_paths(gates, [info.path for info in loaded.fields])
    with TemporaryDirectory() as folder:
        files = [File(folder) / f"{at}.jsonl" for at in range(len(settings.runs))]
        for at, (name, file) in enumerate(zip(settings.runs, files, strict=True)):
            made = {"values": str(file), "rows": "none", "missing": "skip", "verdicts": None}
            made["run_dir"] = settings.run_dir and str(File(settings.run_dir) / str(at))
            its = as_of_eval(settings, pred=name, ci="none", gate=(), **made)
            run = desk.run(its, OutputsRequested())
            unfit |= desk.judge(run) is RunVerdict.INCOMPLETE
        options = comparing(plan, settings, client_of(plan, policy_of(settings)))
        witnesses = Witnesses([*map(rows_by_document, files)], plan, options)
        audit = Audit(settings, witnesses, marks, loaded.path)
        refs = open_pairs(gt, runs[0], settings).refs()
        unwrapper = unwrapper_of(plan.root, settings)
        complete = RunVerdict.INCOMPLETE if unfit else RunVerdict.PASSED
        if settings.draw:
            lines = audit.lines(settings.draw)
            _add_spots(lines, refs, unwrapper)
            if desk.shows_values:
                return StudyAnswer(page_of(lines, runs), complete)
            desk.write(map(json_line, lines), COLUMNS)
            return StudyAnswer(None, complete)
        if directory is not None:
            changes_in = partial(audit.changes_in, unwrapper)
            desk.tell(write_gold(refs, changes_in, unwrapper, directory))
        record = audit.report(gates)
    failed = [f"gate failed: {it.reason}" for it in record.gates if not it.passed]
    verdict = RunVerdict.FAILED if failed and not unfit else complete
    return StudyAnswer(report_of(record), verdict, failed)


def _add_spots(
    lines: Iterable[dict[str, Any]], refs: Iterable[PairRef], unwrapper: Unwrapper | None
) -> None:
    """Say of places where they stand in their source, as far as the ground truth does."""
    documents = {it["document"] for it in lines}
    pairs = (unwrapped(unwrapper, read_pair(ref)) for ref in refs if ref.id in documents)
    metadata = {pair.id: pair.metadata[0] for pair in pairs}
    for it in lines:
        known = {field_path(path): said for path, said in metadata[it["document"]].items()}
        if it["path"] in known and (spot := spot_of(known[it["path"]], "corners")):
            it |= {"page": spot.page, "box": [*spot.box]}


ItemPlace: TypeAlias = tuple[str, Path]  # a document and the path of an item of a list in it


def item_of(place: AnsweredPlace) -> ItemPlace | None:
    """Return the innermost item of a list that a value is inside of; None without one."""
    ends = [end for end, step in enumerate(place.path, 1) if isinstance(step, int)]
    is_inside = bool(ends) and ends[-1] < len(place.path)
    return (place.document, place.path[: ends[-1]]) if is_inside else None


def is_dropped(place: AnsweredPlace) -> bool:
    """Return whether all runs that differ from the ground truth at a place have no value there."""
    return place.gt is not None and all(value is None for value, _ in place.different)


def suspect_item(suspect: Suspect, path: Path, members: Sequence[AnsweredPlace]) -> Suspect:
    """Return a suspect item, given that of its first value, and all of its values."""
    values = {field_path(place.path[len(path) :]): place.gt for place in members}
    names = tuple(step for step in path if isinstance(step, str))
    return replace(suspect, path=field_path(path), field=field_path(names), gt=values)


class Audit:
    """Places, answers and marks as numbers, and the figures that come of them."""

    def __init__(
        self, settings: AuditSettings, witnesses: Witnesses, marks: PlaceMarks, schema: str
    ) -> None:
        self.settings, self.witnesses, self.marks = settings, witnesses, marks
        self.schema = schema
        self.level = None if settings.ci == "none" else settings.ci
        self.names, runs = witnesses.documents, len(witnesses.runs)
        self.shares = len(self.names), intervals_of(settings)
        self.values = defaultdict[str, Counter[str]](Counter)  # answers where two runs say some
        self.looked_at: list[tuple[object, ...]] = []
        self.changes = defaultdict[str, list[GoldChange]](list)
        self.unsaid = 0  # wrong values of which nobody says what is right
        kinds = [("document", "i8"), ("field", "i8"), ("groups", "u1", (runs,))]
        kinds += [("there", "?", (runs,)), ("truth", "?")]
        self.fields: dict[str, int] = {}
        table = np.fromiter(self._rows(), np.dtype(kinds))
        self.documents, self.of_field = table["document"], table["field"]
        self.groups, self.there, self.truth = table["groups"], table["there"], table["truth"]
        kinds = [("at", "i8"), *((it, "?") for it in ("drawn", "wrong", "truth"))]
        kinds += [("right", "?", (runs,))]
        self.looked = np.array(self.looked_at, np.dtype(kinds))
        self.votes, self.against = votes_and_against(self.groups)
        self.rarity = rarity(self.groups, self.of_field)
        self.order = np.lexsort((self.rarity, self.against, -self.votes))
        self.strata = strata_of(self.votes, runs)
        self.strata[self.looked["at"][~self.looked["drawn"]]] = KNOWN
        self.weights = weights_of(self.strata, self.looked["at"])

    def _rows(self) -> Iterator[tuple[object, ...]]:
        """Yield all places as numbers; answers are counted, and marks looked up, on the way."""
        numbers = {name: at for at, name in enumerate(self.names)}
        for at, place in enumerate(self.witnesses.places()):
            mark = self.marks.get((place.document, field_path(place.path)))
            if mark and (fitting := mark.on(place.gt)):
                self.looked_at.append((at, mark.drawn, *self._looked(place, fitting)))
            if len(place.answers) > 1:
                for value, who in [(place.gt, place.agreeing), *place.different]:
                    if who:  # as text: bytes hold on to a whole buffer
                        self.values[place.names][json_line(value).decode()] += len(who)
            field = self.fields.setdefault(place.names, len(self.fields))
            there = [
                place.answers.get(run, (None,))[0] is not None for run in range(len(place.groups))
            ]
            yield numbers[place.document], field, place.groups, there, place.gt is not None

    def _looked(self, place: AnsweredPlace, mark: PlaceMark) -> tuple[bool, bool, list[bool]]:
        """Return whether the ground truth is wrong, there is a value in truth, and who is right.

        What the ground truth is to have instead, or beside it, is noted.
        """
        others, truth, right = place.different, place.gt, {0} if mark.gt_right else set[int]()
        known = mark.right or tuple(value for value, _ in others[: mark.by_votes])
        if known:
            values = [value for value, _ in others]
            same = self.witnesses.same(place.names, [*known] * len(others), values)
            right |= {place.groups[who[0]] for it, (_, who) in zip(same, others, strict=True) if it}
            value: Any = REMOVED if known[0] is None and not mark.gt_right else known[0]
            self.changes[place.document].append(GoldChange(place.path, value, mark.gt_right))
            truth = truth if mark.gt_right else known[0]
        elif not mark.gt_right:
            self.unsaid += 1
        there = truth is not None or not (mark.gt_right or known)
        found = [it in right for it in place.groups]
        if known and not mark.gt_right and truth is not None:
            # An item that is so wrong that a run's right one went with no item of its list.
            for run, says in place.in_new_items().items():
                found[run] |= any(self.witnesses.same(place.names, [truth] * len(says), says))
        return not mark.gt_right, there, found

    def changes_in(
        self, unwrapper: Unwrapper | None, ref: PairRef, truth: JsonValue
    ) -> list[GoldChange]:
        """Return the changes of a ground truth: items that it lacks go to ends of lists.

        Of these, what is merely acceptable has no place in it, and nothing is written.
        """
        bare = unwrapper(truth, is_truth=True).value if unwrapper else truth
        found, new = list[GoldChange](), dict[Path, dict[Step, int]]()
        for it in self.changes[ref.id]:
            path: Path = ()
            for step in it.path:
                is_new = isinstance(step, NewItem)
                path = (*path, new_item_index(step, bare, path, new) if is_new else step)
            if path == it.path or not (it.accepted or it.value is REMOVED):
                found.append(it._replace(path=path))
        return found

    def _chosen(self, chosen: Sequence[int]) -> list[AnsweredPlace]:
        """Return places by their positions, in that order: documents are gone through again."""
        wanted = {*chosen}
        found = {at: it for at, it in enumerate(self.witnesses.places()) if at in wanted}
        return [found[it] for it in chosen]

    def lines(self, number: int) -> list[dict[str, Any]]:
        """Return places to look at, drawn, in the order of suspicion."""
        at = drawn(self.strata, number, self.settings.seed)
        sizes, taken = (np.bincount(it, minlength=3) for it in (self.strata, self.strata[at]))
        chosen = self.order[np.isin(self.order, at)].tolist()
        shares = (taken / np.maximum(sizes, 1))[self.strata[chosen]].tolist()
        return [
            place.line(self.settings.runs)
            | {"page": None, "box": None, "probability": share, "verdict": None}
            for place, share in zip(self._chosen(chosen), shares, strict=True)
        ]

    def report(self, gates: Sequence[Gate]) -> AuditReport:
        """Return all that there is to say, without lines."""
        settings = self.settings
        chosen = self.order[self.votes[self.order] > 1][:MOST_SUSPECTS].tolist()
        chances = np.array([*map(self._by_chance, self.fields)])
        fields = [
            self._field(name, self.of_field == at, chances) for name, at in self.fields.items()
        ]
        whole = self._field("", np.ones(len(self.votes), np.bool_), chances)
        return AuditReport(
            "stickler-audit/1",
            __version__,
            self.schema,
            settings.gt,
            len(self.names),
            self.level,
            whole,
            fields,
            [*self._runs()],
            self._suspects(chosen),
            [_judged(gate, [whole, *fields]) for gate in gates],
            [*self._notes()],
        )

    def _notes(self) -> Iterator[str]:
        yield "mistakes that all runs share with the ground truth have no votes; --draw has some"
        if unmet := len(self.marks) - len(self.looked):
            yield f"left out: {number_of(unmet, 'verdict')} on no place of this ground truth"
        if known := int((~self.looked["drawn"]).sum()):
            yield f"{number_of(known, 'verdict')} on places that were not drawn stand for no others"
        if self.unsaid and self.settings.write_gold:
            yield f"{self.unsaid} wrong values stay as they are: no verdict says what is right"
        if len(self.looked) and self.weights is None:
            yield "a stratum of places has no verdict: nothing is estimated"

    def _by_chance(self, name: str) -> float:
        counts = self.values[name]
        same = partial(self.witnesses.same, name)
        values = [*map(json.loads, counts)]
        return chance_of_difference(values, [*counts.values()], same, self.settings.seed)

    def _suspects(self, chosen: Sequence[int]) -> list[Suspect]:
        """Return suspect places, with one row for an item that the same runs do not have."""
        places: dict[int, AnsweredPlace] = {}
        n_places_by_item = Counter[ItemPlace]()
        wanted = {*chosen}
        for position, place in enumerate(self.witnesses.places()):
            if (item := item_of(place)) is not None:
                n_places_by_item[item] += 1
            if position in wanted:
                places[position] = place

        members_by_item = defaultdict[ItemPlace, list[AnsweredPlace]](list)
        for position in chosen:
            item = item_of(places[position])
            if item is not None and is_dropped(places[position]):
                members_by_item[item].append(places[position])
        dropped = {
            item: members
            for item, members in members_by_item.items()
            if 1 < len(members) == n_places_by_item[item]
            and len({tuple(place.different[0][1]) for place in members}) == 1
        }
        suspects: list[Suspect] = []
        for position in chosen:
            place, suspect = places[position], self._suspect(places[position], position)
            item = item_of(place)
            if item is None or item not in dropped:
                suspects.append(suspect)
            elif place is dropped[item][0]:
                suspects.append(suspect_item(suspect, item[1], dropped[item]))
        return suspects

    def _suspect(self, place: AnsweredPlace, at: int) -> Suspect:
        others = [Said(value, who) for value, who in place.different]
        votes, against, rare = int(self.votes[at]), int(self.against[at]), float(self.rarity[at])
        path = field_path(place.path)
        return Suspect(place.document, path, place.names, place.gt, others, votes, against, rare)

    def _field(
        self, name: str, mask: NDArray[np.bool_], chances: NDArray[np.float64]
    ) -> AuditedField:
        documents, at = self.documents[mask], self.looked["at"]
        found = shares_by_unit(agreement(self.groups[mask]), documents, *self.shares)
        alpha = _NOTHING
        observed = found["observed"]
        # Of several fields, the chance is that of two answers of one field.
        its, times = np.unique(self.of_field[mask], return_counts=True)
        chance = float(np.average(chances[its], weights=times)) if len(its) else 0.0
        if chance > 0 and observed.value is not None:
            ends = observed.interval and [1 - (1 - it) / chance for it in observed.interval]
            alpha = Share(1 - (1 - observed.value) / chance, ends)
        some = self.looked[mask[at]]
        positions = (np.cumsum(mask) - 1)[some["at"]]
        wrong = wrong_share(self.strata[mask], positions, some["wrong"], documents, self.level)
        suspects = int((self.votes[mask] > 1).sum())
        shares = (*found["agreement"], *found["pairwise"], *alpha)
        return AuditedField(name, int(mask.sum()), suspects, *shares, len(some), *wrong)

    def _runs(self) -> Iterator[AuditedRun]:
        looked, at, share = self.looked, self.looked["at"], runs_that_share(self.groups)
        for run, name in enumerate(self.settings.runs):
            there, its = self.there[:, run], self.groups[:, run]
            known, same = its < NOT_THERE, its == 0
            parts = {"as it is": self._parts(there, self.truth & known, same)}
            if self.weights is not None:
                truth, right = looked["truth"] & known[at], looked["right"][:, run]
                old, new = parts["as it is"], self._parts(there[at], truth, right)
                parts["right"] = old + [
                    np.bincount(at, self.weights * it, len(its)) for it in new - old[:, at]
                ]
            shares = shares_by_unit(parts, self.documents, *self.shares)
            differing = float((known & ~same).sum() / max(known.sum(), 1))
            mended = shares.get("right", _NOTHING)
            if not 0 <= (mended.value or 0) <= 1:  # verdicts that stand for too many places
                mended = _NOTHING
            yield AuditedRun(name, differing, *shares["as it is"], *mended, share[run])

    def _parts(
        self, there: NDArray[np.bool_], truth: NDArray[np.bool_], same: NDArray[np.bool_]
    ) -> NDArray[np.float64]:
        """Return the parts of F1 that values add, above and below its line."""
        to_find = truth if self.settings.recall_with_fd else truth & (same | ~there)
        parts: NDArray[np.float64] = np.array([2.0 * (truth & same), 1.0 * there + to_find])
        return parts


def _judged(gate: Gate, fields: Collection[AuditedField]) -> GateResult:
    """Return whether a figure is what a gate asks for."""
    named = {parse_field_path(it.field) if it.field else (): it for it in fields}

    def value(path: Path) -> tuple[float | None, str]:
        it = named.get(path)
        if it is None:
            return None, "no run says anything of it"
        ends = getattr(it, f"{gate.metric}_interval") if gate.bound else None
        found = ends and ends[BOUNDS.index(gate.bound)] if gate.bound else getattr(it, gate.metric)
        return found, "no verdicts, or nothing to divide by"

    return judge_fields(gate, filter(None, named), value)

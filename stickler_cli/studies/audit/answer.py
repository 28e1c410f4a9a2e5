"""Compare several runs with a ground truth, to find values at which the ground truth may be wrong.

A place is the path of a value in a document. A suspect is a place where several runs agree on an
answer that the ground truth does not have. The share of wrong values is estimated from verdicts.
"""

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
from .record import AuditedField, AuditedRun, AuditReport, Said, Suspect, make_page, make_report
from .witnesses import (
    NO_DOCUMENT,
    AnsweredPlace,
    NewItem,
    PlaceMark,
    PlaceMarks,
    Witnesses,
    agreement,
    count_votes,
    expected_disagreement,
    find_sharing_runs,
    rarity,
    read_marks,
    rows_by_document,
)

RowPositions = NDArray[np.intp]

MIN_RUNS: Final = 2  # fewer cannot agree on another value than the ground truth
N_STRATA: Final = 3
"""Number of strata from which places to check are drawn. A stratum is a group of places with
similar numbers of votes."""
NOT_DRAWN: Final = N_STRATA
"""Stratum of the places that were not drawn at random but have a verdict. Such a place represents
only itself."""
_UNSEEN_PLACES: Final = 0.75
"""The upper bound of an interval assumes this many wrong places besides those that verdicts show.

With 0.75 places, the upper bound covers the true share in 97.5 % or more of simulations. With 0.5
places, it covers the true share too rarely."""


def stratify(votes: NDArray[np.int64], n_runs: int) -> RowPositions:
    """Return the stratum (0, 1 or 2) of each place.

    The votes of a place are the number of runs that give its most frequent wrong answer. Places
    without votes are in stratum 0. A place is in stratum 2 if it has at least two votes, and at
    least half as many votes as there are runs. All other places are in stratum 1.
    """
    min_votes = max(2, (n_runs + 1) // 2)
    return np.where(votes >= min_votes, 2, np.minimum(votes, 1)).astype(np.intp)


def draw_places(strata: RowPositions, number: int, seed: int) -> RowPositions:
    """Draw `number` places at random, and return their positions.

    `strata` has the stratum of each place (see `stratify`). Half of the places are drawn from
    stratum 2, a quarter from stratum 1 and a quarter from stratum 0. If a stratum has too few
    places, more are drawn from the other strata.
    """
    # Raw bits are the same in every version of numpy.
    order = np.argsort(np.random.PCG64(seed).random_raw(len(strata)), kind="stable")
    places, n_left = order[:0], number
    for stratum in reversed(range(N_STRATA)):
        of_stratum = order[strata[order] == stratum]
        n_wanted = n_left if not stratum else -(-n_left // 2)  # half, rounded up
        places = np.append(places, of_stratum[:n_wanted])
        n_left = number - len(places)
    # A stratum may have too few places; draw the remaining ones from all other places.
    return np.append(places, order[~np.isin(order, places)][:n_left])


def weigh_places(strata: RowPositions, looked_at: RowPositions) -> NDArray[np.float64] | None:
    """Return the weight of each place with a verdict: how many places of its stratum it stands for.

    Return None if a stratum has places but no verdicts.
    """
    n_places = np.bincount(strata, minlength=NOT_DRAWN + 1)
    n_looked_at = np.bincount(strata[looked_at], minlength=NOT_DRAWN + 1)
    if ((n_places > 0) & (n_looked_at == 0)).any():
        return None
    weights: NDArray[np.float64] = (n_places / np.maximum(n_looked_at, 1))[strata[looked_at]]
    return weights


def estimate_wrong_share(
    strata: RowPositions,
    looked_at: RowPositions,
    is_wrong: NDArray[np.bool_],
    documents: RowPositions,
    level: float | None,
) -> Share:
    """Estimate the share of places at which the ground truth is wrong, with its interval.

    The bounds allow for places without a verdict. For the upper bound, 0.75 wrong places are added
    to the stratum in which this has the greatest effect. For the lower bound, 0.75 right places are
    added to a stratum in which all verdicts say "wrong".

    Args:
        strata: the stratum of each place.
        looked_at: the positions of places with a verdict.
        is_wrong: whether the ground truth is wrong, for each place in `looked_at`.
        documents: the document of each place. All verdicts in a document form one cluster.
        level: the confidence level of the interval; None for no interval.

    Source:
        Cochran (1977), Sampling Techniques, sections 5.3 and 9.2, for strata and clusters;
        docs/auditing.md has the coverage of the interval in simulations.
    """
    weights = weigh_places(strata, looked_at)
    if weights is None or not len(looked_at):
        return Share(None, None)
    n_places, share, deviations = len(strata), 0.0, np.zeros(len(looked_at))
    unseen_wrong = unseen_right = 0.0
    for stratum in np.unique(strata):
        in_stratum = strata[looked_at] == stratum
        number, weight = int(in_stratum.sum()), float(weights[in_stratum][0])
        wrong_rate = float(is_wrong[in_stratum].mean())
        share += wrong_rate * number * weight / n_places
        unseen_share = 1 - 1 / weight  # the finite population correction
        scale = sqrt(unseen_share * number / max(number - 1, 1))
        deviations[in_stratum] = (is_wrong[in_stratum] - wrong_rate) * weight * scale
        unseen_wrong = max(unseen_wrong, weight * sqrt(unseen_share))
        if wrong_rate == 1:
            unseen_right = max(unseen_right, weight * sqrt(unseen_share))
    if level is None:
        return Share(share, None)
    document_deviations = np.bincount(documents[looked_at], deviations)
    variance = float(document_deviations @ document_deviations) / n_places**2

    def find_bound(change: float, tail: float) -> float:
        mean = min(max(share + _UNSEEN_PLACES * change, 0.0), 1.0)
        return _beta_percentile(mean, variance + _UNSEEN_PLACES * change**2, tail)

    lower = find_bound(-unseen_right / n_places, (1 - level) / 2)
    upper = find_bound(unseen_wrong / n_places, (1 + level) / 2)
    return Share(share, [min(lower, share), max(upper, share)])


def _beta_percentile(mean: float, variance: float, tail: float) -> float:
    """Return the percentile at `tail` of the beta distribution with this mean and variance."""
    size = mean * (1 - mean) / variance - 1 if variance else 0.0  # alpha + beta
    if size <= 0:
        return mean
    alpha, beta = np.array([mean * size]), np.array([(1 - mean) * size])
    return float(beta_percentiles(alpha, beta, tail)[0])


_NO_SHARE: Final = Share(None, None)
METRICS: Final = ("wrong", "agreement", "pairwise", "alpha")
MAX_SUSPECTS: Final = 1000
COLUMNS: Final = (
    *("document", "path", "page", "box", "probability", "gt", "others", "verdict", "right"),
)
"""The columns of the spreadsheet in which people check drawn places."""


_TABLES: Final = (".jsonl", ".ndjson", ".parquet", ".arrow", ".csv", ".tsv")


def names_documents(name: str) -> bool:
    """Return whether the first argument is a path of documents, and not of a schema."""
    path = File(name)
    if path.is_dir() or name.lower().removesuffix(".gz").removesuffix(".zst").endswith(_TABLES):
        return True
    return path.suffix.lower() == ".json" and path.is_file() and not is_schema_file(name)


def _check_sources(gt: str, runs: Sequence[str]) -> None:
    """Raise UsageError if fewer than two runs are given, or if a source is named twice."""
    sources = (gt, *runs)
    if repeated := [source for source in sources if sources.count(source) > 1]:
        finding = f"{repeated[0]!r} is given twice"
        raise UsageError([Problem("stickler audit", finding, "GT and each run given only once")])
    if len(runs) < MIN_RUNS:
        finding = f"{number_of(len(runs), 'run')} given"
        expected = "two runs or more: stickler audit [SCHEMA] GT RUN RUN..."
        raise UsageError([Problem("stickler audit", finding, expected)])


def answer(settings: AuditSettings, desk: Desk) -> StudyAnswer:
    """Compare several runs with a ground truth and with each other, and return the report."""
    if settings.schema and names_documents(settings.schema):
        runs = (settings.gt, *settings.runs)
        settings = replace(settings, schema="", gt=settings.schema, runs=runs)
    gt, directory, runs = settings.gt, settings.write_gold, settings.runs
    _check_sources(gt, runs)
    gates = [parse_gate(text, metrics=METRICS) for text in settings.gate]
    if directory is not None:
        check_directory(directory, gt, settings.verdicts)
    verdicts, limit = settings.verdicts, settings.max_document_size
    marks = read_marks(verdicts, limit) if verdicts else {}
    loaded, is_incomplete = desk.schema(settings), False
    plan = loaded.plan
    check_paths(gates, [field.path for field in loaded.fields])
    with TemporaryDirectory() as folder:
        files = [File(folder) / f"{number}.jsonl" for number in range(len(settings.runs))]
        for number, (name, file) in enumerate(zip(settings.runs, files, strict=True)):
            own_settings = {"values": str(file), "rows": "none", "missing": "skip"}
            run_dir = settings.run_dir and str(File(settings.run_dir) / str(number))
            run_settings = as_of_eval(
                settings,
                pred=name,
                ci="none",
                gate=(),
                verdicts=None,
                run_dir=run_dir,
                **own_settings,
            )
            run = desk.run(run_settings, OutputsRequested())
            is_incomplete |= desk.judge(run) is RunVerdict.INCOMPLETE
        options = comparing(plan, settings, client_of(plan, policy_of(settings)))
        witnesses = Witnesses([*map(rows_by_document, files)], plan, options)
        audit = Audit(settings=settings, witnesses=witnesses, marks=marks, schema=loaded.path)
        refs = open_pairs(gt, runs[0], settings).refs()
        unwrapper = unwrapper_of(plan.root, settings)
        verdict = RunVerdict.INCOMPLETE if is_incomplete else RunVerdict.PASSED
        if settings.draw:
            lines = audit.draw_lines(settings.draw)
            _add_spots(lines, refs, unwrapper)
            if desk.shows_values:
                return StudyAnswer(make_page(lines, runs), verdict)
            desk.write(map(json_line, lines), COLUMNS)
            return StudyAnswer(None, verdict)
        if directory is not None:
            find_changes = partial(audit.find_changes, unwrapper)
            desk.tell(write_gold(refs, find_changes, unwrapper, directory))
        record = audit.make_record(gates)
    failures = [f"gate failed: {gate.reason}" for gate in record.gates if not gate.passed]
    if failures and not is_incomplete:
        verdict = RunVerdict.FAILED
    return StudyAnswer(make_report(record), verdict, failures)


def _add_spots(
    lines: Iterable[dict[str, Any]], refs: Iterable[PairRef], unwrapper: Unwrapper | None
) -> None:
    """For each line whose value has a box in the ground truth, add the box and its page number."""
    documents = {line["document"] for line in lines}
    pairs = (unwrapped(unwrapper, read_pair(ref)) for ref in refs if ref.id in documents)
    metadata = {pair.id: pair.metadata[0] for pair in pairs}
    for line in lines:
        by_path = {field_path(path): stated for path, stated in metadata[line["document"]].items()}
        spot = spot_of(by_path[line["path"]], "corners") if line["path"] in by_path else None
        if spot:
            line |= {"page": spot.page, "box": [*spot.box]}


ItemPlace: TypeAlias = tuple[str, Path]  # id of the document, path of a list item


def item_of(place: AnsweredPlace) -> ItemPlace | None:
    """Return the innermost list item that contains a value, or None if no list item contains it."""
    ends = [end for end, step in enumerate(place.path, 1) if isinstance(step, int)]
    is_inside = bool(ends) and ends[-1] < len(place.path)
    return (place.document, place.path[: ends[-1]]) if is_inside else None


def is_dropped(place: AnsweredPlace) -> bool:
    """Return whether there is a true value, and every wrong answer is "no value"."""
    return place.gt is not None and all(value is None for value, _ in place.different)


def suspect_item(suspect: Suspect, path: Path, members: Sequence[AnsweredPlace]) -> Suspect:
    """Return one suspect that stands for a whole list item.

    `path` is the path of the item, and `members` are the places of all values in the item. One of
    these values already has a record, `suspect`. The result has the votes and the other figures of
    this record, but the path of the item and all its true values.
    """
    values = {field_path(place.path[len(path) :]): place.gt for place in members}
    names = tuple(step for step in path if isinstance(step, str))
    return replace(suspect, path=field_path(path), field=field_path(names), gt=values)


class Audit:
    """The answers that runs and people give at all places, and the figures computed from them.

    A place is the path of a value in a document.
    """

    def __init__(
        self, settings: AuditSettings, witnesses: Witnesses, marks: PlaceMarks, schema: str
    ) -> None:
        self.settings, self.witnesses, self.marks = settings, witnesses, marks
        self.schema = schema
        self.level = None if settings.ci == "none" else settings.ci
        self.document_ids, n_runs = witnesses.documents, len(witnesses.runs)
        self.intervals = intervals_of(settings)
        self.answer_counts = defaultdict[str, Counter[str]](Counter)
        """How often runs gave each answer at the places of a field. The number for an answer is
        `answer_counts[field][answer]`. Documents that fewer than two runs have are not counted."""
        self.changes = defaultdict[str, list[GoldChange]](list)
        """Changes of the ground truth that follow from verdicts. The keys are document ids."""
        self.n_without_right_value = 0
        """Number of wrong values for which no verdict gives the right value."""
        self.fields: dict[str, int] = {}
        """Maps the path of each field to its index in the arrays."""
        self._verdict_rows: list[tuple[object, ...]] = []
        place_types: list[tuple[Any, ...]] = [
            ("document", "i8"),
            ("field", "i8"),
            ("groups", "u1", (n_runs,)),
        ]
        place_types += [("is_present", "?", (n_runs,)), ("has_truth", "?")]
        places = np.fromiter(self._read_places(), np.dtype(place_types))
        self.documents, self.field_numbers = places["document"], places["field"]
        self.groups, self.is_present = places["groups"], places["is_present"]
        """Two arrays of shape (n_places, n_runs). `groups` has a number for the answer of each run
        at each place. Equal answers at a place have the same number. An answer that agrees with the
        ground truth has the number 0. If the run lacks the document, the number is `NO_DOCUMENT`.
        `is_present` is true where the run has a value."""
        self.has_truth = places["has_truth"]
        mark_types: list[tuple[Any, ...]] = [
            ("place", "i8"),
            ("drawn", "?"),
            ("wrong", "?"),
            ("truth", "?"),
        ]
        mark_types += [("right", "?", (n_runs,))]
        self.verdicts = np.array(self._verdict_rows, np.dtype(mark_types))
        """A row for each verdict: the position of the place that the verdict is about, whether this
        place was drawn at random, and the three results of `_apply_mark`."""
        self.votes, self.against = count_votes(self.groups)
        self.rarity = rarity(self.groups, self.field_numbers)
        self.order = np.lexsort((self.rarity, self.against, -self.votes))
        """Indexes that sort the places: the most suspect place comes first."""
        self.strata = stratify(self.votes, n_runs)
        self.strata[self.verdicts["place"][~self.verdicts["drawn"]]] = NOT_DRAWN
        self.weights = weigh_places(self.strata, self.verdicts["place"])

    def _read_places(self) -> Iterator[tuple[object, ...]]:
        """Yield a row for each place, which is the path of a value in a document.

        A row is (number of the document, number of the field, `groups`, `is_present`, whether there
        is a true value). `groups` and `is_present` have an entry for each run. While places are
        read, their answers are counted, and people's verdicts are applied.
        """
        document_numbers = {name: number for number, name in enumerate(self.document_ids)}
        for position, place in enumerate(self.witnesses.list_places()):
            mark = self.marks.get((place.document, field_path(place.path)))
            fitting = mark.apply_to(place.gt) if mark else None
            if mark and fitting:
                self._verdict_rows.append((position, mark.drawn, *self._apply_mark(place, fitting)))
            if len(place.answers) > 1:
                counts = self.answer_counts[place.names]
                for value, runs in [(place.gt, place.agreeing), *place.different]:
                    if runs:  # keep text: each small bytes object would keep a large buffer alive
                        counts[json_line(value).decode()] += len(runs)
            field = self.fields.setdefault(place.names, len(self.fields))
            is_present = [
                place.answers.get(run, (None,))[0] is not None for run in range(len(place.groups))
            ]
            document = document_numbers[place.document]
            yield document, field, place.groups, is_present, place.gt is not None

    def _apply_mark(self, place: AnsweredPlace, mark: PlaceMark) -> tuple[bool, bool, list[bool]]:
        """Apply a person's verdict to a place.

        Return (whether the ground truth is wrong, whether the place should have a value at all, a
        list that says for each run whether it is right). If the verdict gives the right value, the
        change is added to `changes`.
        """
        other_answers, truth = place.different, place.gt
        right_groups = {0} if mark.gt_right else set[int]()
        right_values = mark.right
        if not right_values:
            right_values = tuple(value for value, _ in other_answers[: mark.by_votes])
        if right_values:
            are_matches = self.witnesses.match_values(
                place.names,
                [*right_values] * len(other_answers),
                [value for value, _ in other_answers],
            )
            right_groups |= {
                place.groups[runs[0]]
                for is_match, (_, runs) in zip(are_matches, other_answers, strict=True)
                if is_match
            }
            is_gone = right_values[0] is None and not mark.gt_right
            value: Any = REMOVED if is_gone else right_values[0]
            self.changes[place.document].append(GoldChange(place.path, value, mark.gt_right))
            truth = truth if mark.gt_right else right_values[0]
        elif not mark.gt_right:
            self.n_without_right_value += 1
        has_right_value = truth is not None or not (mark.gt_right or right_values)
        is_right = [group in right_groups for group in place.groups]
        if right_values and not mark.gt_right and truth is not None:
            # A badly wrong item is not paired with the right item of a run, which then looks
            # invented.
            for run, values in place.answers_in_new_items().items():
                repeated_truth = [truth] * len(values)
                are_matches = self.witnesses.match_values(place.names, repeated_truth, values)
                is_right[run] |= any(are_matches)
        return not mark.gt_right, has_right_value, is_right

    def find_changes(
        self, unwrapper: Unwrapper | None, ref: PairRef, truth: JsonValue
    ) -> list[GoldChange]:
        """Return the changes of a document's ground truth that follow from verdicts.

        If a verdict is about a value in an item that the ground truth lacks, the value can only be
        added. A change that would remove it, or accept an alternative to it, is left out.
        """
        bare_truth = unwrapper(truth, is_truth=True).value if unwrapper else truth
        changes, new_indexes = list[GoldChange](), dict[Path, dict[Step, int]]()
        for change in self.changes[ref.id]:
            path: Path = ()
            for step in change.path:
                if isinstance(step, NewItem):
                    path = (*path, new_item_index(step, bare_truth, path, new_indexes))
                else:
                    path = (*path, step)
            if path == change.path or not (change.accepted or change.value is REMOVED):
                changes.append(change._replace(path=path))
        return changes

    def _find_places(self, positions: Sequence[int]) -> list[AnsweredPlace]:
        """Read all documents again, and return the places at `positions`, in that order."""
        wanted = {*positions}
        places = {
            position: place
            for position, place in enumerate(self.witnesses.list_places())
            if position in wanted
        }
        return [places[position] for position in positions]

    def draw_lines(self, number: int) -> list[dict[str, Any]]:
        """Draw places for people to check. Return a line for each place, the most suspect first."""
        drawn = draw_places(self.strata, number, self.settings.seed)
        n_places = np.bincount(self.strata, minlength=3)
        n_drawn = np.bincount(self.strata[drawn], minlength=3)
        positions = self.order[np.isin(self.order, drawn)].tolist()
        probabilities = (n_drawn / np.maximum(n_places, 1))[self.strata[positions]].tolist()
        return [
            place.make_line(self.settings.runs)
            | {"page": None, "box": None, "probability": probability, "verdict": None}
            for place, probability in zip(self._find_places(positions), probabilities, strict=True)
        ]

    def make_record(self, gates: Sequence[Gate]) -> AuditReport:
        """Return the record of the audit with all figures."""
        settings = self.settings
        suspects = self.order[self.votes[self.order] > 1][:MAX_SUSPECTS].tolist()
        expected = np.array([*map(self._expected_disagreement, self.fields)])
        fields = [
            self._make_field(path, self.field_numbers == number, expected)
            for path, number in self.fields.items()
        ]
        total = self._make_field("", np.ones(len(self.votes), np.bool_), expected)
        return AuditReport(
            format="stickler-audit/1",
            version=__version__,
            schema=self.schema,
            gt=settings.gt,
            documents=len(self.document_ids),
            level=self.level,
            whole=total,
            fields=fields,
            runs=[*self._make_runs()],
            suspects=self._make_suspects(suspects),
            gates=[_check_gate(gate, [total, *fields]) for gate in gates],
            notes=[*self._list_notes()],
        )

    def _list_notes(self) -> Iterator[str]:
        """Yield notes on the limits of the figures and on omitted verdicts."""
        yield (
            "an error in the ground truth stays hidden if all runs make the same error; "
            "therefore some of the values that --draw writes are values on which all runs agree"
        )
        if n_unused := len(self.marks) - len(self.verdicts):
            yield (
                f"skipped: {number_of(n_unused, 'verdict')} on values that this ground "
                "truth does not have"
            )
        if n_not_drawn := int((~self.verdicts["drawn"]).sum()):
            verdicts = number_of(n_not_drawn, "verdict")
            yield (
                f"{verdicts} on values that were not drawn at random; these say nothing about "
                "other values"
            )
        if self.n_without_right_value and self.settings.write_gold:
            yield (
                f"{self.n_without_right_value} wrong values were not corrected, because "
                "no verdict gives the right value"
            )
        if len(self.verdicts) and self.weights is None:
            yield "no estimate: one group of the drawn values (stratum) has no verdict"

    def _expected_disagreement(self, path: str) -> float:
        """Return how often two answers of a field, picked at random, would differ, in [0, 1]."""
        counts = self.answer_counts[path]
        match_values = partial(self.witnesses.match_values, path)
        values = [*map(json.loads, counts)]
        return expected_disagreement(values, [*counts.values()], match_values, self.settings.seed)

    def _make_suspects(self, positions: Sequence[int]) -> list[Suspect]:
        """Return the suspects at the places with the given positions.

        If some runs lack a whole list item, there is one suspect for the item and not one for each
        of its values.
        """
        places: dict[int, AnsweredPlace] = {}
        n_places_by_item = Counter[ItemPlace]()
        wanted = {*positions}
        for position, place in enumerate(self.witnesses.list_places()):
            if (item := item_of(place)) is not None:
                n_places_by_item[item] += 1
            if position in wanted:
                places[position] = place

        members_by_item = defaultdict[ItemPlace, list[AnsweredPlace]](list)
        for position in positions:
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
        for position in positions:
            place = places[position]
            suspect, item = self._make_suspect(place, position), item_of(place)
            if item is None or item not in dropped:
                suspects.append(suspect)
            elif place is dropped[item][0]:
                suspects.append(suspect_item(suspect, item[1], dropped[item]))
        return suspects

    def _make_suspect(self, place: AnsweredPlace, position: int) -> Suspect:
        """Return the record of a suspect place."""
        return Suspect(
            document=place.document,
            path=field_path(place.path),
            field=place.names,
            gt=place.gt,
            others=[Said(value, runs) for value, runs in place.different],
            votes=int(self.votes[position]),
            against=int(self.against[position]),
            rarity=float(self.rarity[position]),
        )

    def _make_field(
        self, path: str, is_selected: NDArray[np.bool_], expected: NDArray[np.float64]
    ) -> AuditedField:
        """Return the figures of one field, or of the whole audit.

        `is_selected` is a mask of the places of the field, or of all places. `path` is the path of
        the field, or empty. `expected` has, for each field, how often two random answers differ.
        """
        documents = self.documents[is_selected]
        shares = shares_by_unit(
            agreement(self.groups[is_selected]), documents, len(self.document_ids), self.intervals
        )
        alpha = _NO_SHARE
        observed = shares["observed"]
        # For several fields, average the chances of the single fields.
        fields, n_places = np.unique(self.field_numbers[is_selected], return_counts=True)
        expected_disagreement = (
            float(np.average(expected[fields], weights=n_places)) if len(fields) else 0.0
        )
        if expected_disagreement > 0 and observed.value is not None:
            bounds = observed.interval and [
                1 - (1 - bound) / expected_disagreement for bound in observed.interval
            ]
            alpha = Share(1 - (1 - observed.value) / expected_disagreement, bounds)

        verdicts = self.verdicts[is_selected[self.verdicts["place"]]]
        # Positions of the places with a verdict among the selected places.
        judged_places = (np.cumsum(is_selected) - 1)[verdicts["place"]]
        wrong = estimate_wrong_share(
            self.strata[is_selected], judged_places, verdicts["wrong"], documents, self.level
        )
        return AuditedField(
            field=path,
            places=int(is_selected.sum()),
            suspects=int((self.votes[is_selected] > 1).sum()),
            agreement=shares["agreement"].value,
            agreement_interval=shares["agreement"].interval,
            pairwise=shares["pairwise"].value,
            pairwise_interval=shares["pairwise"].interval,
            alpha=alpha.value,
            alpha_interval=alpha.interval,
            looked_at=len(verdicts),
            wrong=wrong.value,
            wrong_interval=wrong.interval,
        )

    def _make_runs(self) -> Iterator[AuditedRun]:
        """Yield the figures of each run."""
        verdicts, judged_places = self.verdicts, self.verdicts["place"]
        sharing_runs = find_sharing_runs(self.groups)
        for run, name in enumerate(self.settings.runs):
            is_present, groups = self.is_present[:, run], self.groups[:, run]
            has_document, agrees = groups < NO_DOCUMENT, groups == 0
            present = self._f1_sums(is_present, self.has_truth & has_document, agrees)
            quotients = {"present": present}
            if self.weights is not None:
                corrected = self._f1_sums(
                    is_present[judged_places],
                    verdicts["truth"] & has_document[judged_places],
                    verdicts["right"][:, run],
                )
                # A place with a verdict represents several places: scale its effect on the sums.
                quotients["corrected"] = present + [
                    np.bincount(judged_places, self.weights * change, len(groups))
                    for change in corrected - present[:, judged_places]
                ]
            shares = shares_by_unit(
                quotients, self.documents, len(self.document_ids), self.intervals
            )
            right_f1 = shares.get("corrected", _NO_SHARE)
            if not 0 <= (right_f1.value or 0) <= 1:  # verdicts represent too many places
                right_f1 = _NO_SHARE
            n_different = (has_document & ~agrees).sum()
            yield AuditedRun(
                run=name,
                differing=float(n_different / max(has_document.sum(), 1)),
                f1=shares["present"].value,
                f1_interval=shares["present"].interval,
                right_f1=right_f1.value,
                right_f1_interval=right_f1.interval,
                shares_with=sharing_runs[run],
            )

    def _f1_sums(
        self,
        is_present: NDArray[np.bool_],
        has_truth: NDArray[np.bool_],
        agrees: NDArray[np.bool_],
    ) -> NDArray[np.float64]:
        """Return what each place adds to the dividend and to the divisor of F1.

        The result is an array of shape (2, n_places), with the dividend in its first row.
        """
        to_find = has_truth
        if not self.settings.recall_with_fd:
            to_find = has_truth & (agrees | ~is_present)
        sums: NDArray[np.float64] = np.array(
            [2.0 * (has_truth & agrees), 1.0 * is_present + to_find]
        )
        return sums


def _check_gate(gate: Gate, fields: Collection[AuditedField]) -> GateResult:
    """Evaluate a gate on the fields that it names."""
    by_path = {parse_field_path(field.field) if field.field else (): field for field in fields}

    def find_value(path: Path) -> tuple[float | None, str]:
        """Look up the figure that the gate checks in one field.

        Return (figure, reason why it is None). The reason has a meaning only if the figure is None.
        """
        field = by_path.get(path)
        if field is None:
            return None, "no run has a value for this field"
        undefined = "there are no verdicts, or the divisor is 0"
        if not gate.bound:
            return getattr(field, gate.metric), undefined
        bounds = getattr(field, f"{gate.metric}_interval")
        return bounds and bounds[BOUNDS.index(gate.bound)], undefined

    return judge_fields(gate, filter(None, by_path), find_value)

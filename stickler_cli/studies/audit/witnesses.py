"""Places of documents: the answers of several runs at each, and verdicts of people on some.

Runs are read from their rows of values, and answers put together where they match. An item that a
run has instead of one of the ground truth stands where that one does; items that only runs have are
put together among runs.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import combinations, groupby
from pathlib import Path as File
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from stickler_cli.compare.columns import Columns
from stickler_cli.compare.engine import record_pairs
from stickler_cli.compare.field_listing import node_at
from stickler_cli.compare.list import ListNode
from stickler_cli.compare.one_of import follow_references
from stickler_cli.compare.plan import Mode, Node, Options, Plan
from stickler_cli.compare.result import TP
from stickler_cli.compare.units import listed
from stickler_cli.core.json_values import JsonObject, JsonValue, json_key, json_line
from stickler_cli.core.locations import Path, field_path, parse_field_path
from stickler_cli.core.problems import Problem
from stickler_cli.documents.document import LineReference
from stickler_cli.documents.lines import TABLE_SUFFIX, ById
from stickler_cli.records.account_format import VERDICT_FORMAT
from stickler_cli.score.errors.marks import VERDICTS, set_value
from stickler_cli.studies.answering import AT_ONCE, read_lines

AnswerRow: TypeAlias = Mapping[str, Any]
AnswerItem: TypeAlias = dict[Path, AnswerRow]
"""The values of an item, by their places in it."""

NOT_THERE: Final = 255
"""The group of a run that has no such document."""


class NewItem(str):
    """The step of an item that only runs have: `+0`, `+1`."""

    __slots__ = ()


@dataclass(slots=True)
class AnsweredPlace:
    """A place that has a value in the ground truth or a run."""

    document: str
    path: Path
    names: str
    """The path of its field."""
    gt: JsonValue = None
    answers: dict[int, tuple[JsonValue, bool]] = field(default_factory=dict)
    """By run: its answer, None where it is absent, and whether that is the ground truth's."""
    groups: list[int] = field(default_factory=list)
    """By run: 0 where it agrees with the ground truth, others where they agree, `NOT_THERE`."""
    beside: "Mapping[Path, AnsweredPlace]" = field(default_factory=dict)
    """All places of the document."""

    @property
    def agreeing(self) -> list[int]:
        """The runs that agree with the ground truth."""
        return [run for run, group in enumerate(self.groups) if group == 0]

    def line(self, runs: Sequence[str]) -> dict[str, Any]:
        """Return what is said here, by runs of these names, as a line of JSON has it."""
        said = [
            {"answer": value, "runs": [runs[it] for it in who]} for value, who in self.different
        ]
        return {
            "document": self.document,
            "path": field_path(self.path),
            "field": self.names,
            "gt": self.gt,
            "agree": [runs[it] for it in self.agreeing],
            "others": said,
        }

    def in_new_items(self) -> Mapping[int, Sequence[JsonValue]]:
        """Return by run what it says in items that the ground truth lacks, if it is absent here."""
        found: dict[int, list[JsonValue]] = {}
        for path, place in self.beside.items():
            at = next((at for at, step in enumerate(path) if isinstance(step, NewItem)), len(path))
            own = self.path[at : at + 1]
            if path[at:] and path == (*self.path[:at], path[at], *self.path[at + 1 :]):
                for run, (value, _) in place.answers.items() if isinstance(own[0], int) else ():
                    if value is not None and self.answers.get(run, (0, False))[0] is None:
                        found.setdefault(run, []).append(value)
        return found

    @property
    def different(self) -> list[tuple[JsonValue, list[int]]]:
        """The other answers, and who gives them; that of most runs first, of those as they come."""
        found: dict[int, list[int]] = {}
        for run, group in enumerate(self.groups):
            if group not in (0, NOT_THERE):
                found.setdefault(group, []).append(run)
        answers = [(self.answers[runs[0]][0], runs) for runs in found.values()]
        return sorted(answers, key=lambda said: -len(said[1]))


def rows_by_document(file: File) -> Mapping[str, LineReference]:
    """Return the rows of a run by document, on disk where they are many."""
    with file.open("rb") as lines:
        of_documents = groupby(lines, lambda line: str(json.loads(line)["document"]))
        return ById(
            (name, LineReference(str(file), 1, 0, None, b"".join(rows)))
            for name, rows in of_documents
        )


@dataclass(frozen=True, slots=True)
class Witnesses:
    """Several runs of the same documents."""

    runs: Sequence[Mapping[str, LineReference]]
    plan: Plan
    options: Options

    @property
    def documents(self) -> list[str]:
        """The documents that any run has."""
        return [*dict.fromkeys(name for run in self.runs for name in run)]

    def places(self) -> Iterator[AnsweredPlace]:
        """Yield all places, the answers put together: of some documents at a time."""
        documents = self.documents
        for start in range(0, len(documents), AT_ONCE):
            found = [it for name in documents[start : start + AT_ONCE] for it in self._of(name)]
            self._put_together(found)
            yield from found

    def same(
        self, names: str, ones: Sequence[JsonValue], others: Sequence[JsonValue]
    ) -> list[bool]:
        """Return whether the comparator of a field takes values for the same, pair by pair.

        Absent is the same as absent, and nothing else is.
        """
        node = node_at(self.plan, parse_field_path(names))
        pairs = [*zip(ones, others, strict=True)]
        if node is None:
            return [json_key(one) == json_key(other) for one, other in pairs]
        while isinstance(node, ListNode):
            node = follow_references(node.items)
        at = np.arange(len(pairs))
        columns = Columns([*ones], [*others])
        outcomes = node.similarity(columns, at, at, self.options, Mode.FINAL).outcome
        return [
            it == TP or one is other is None
            for it, (one, other) in zip(outcomes.tolist(), pairs, strict=True)
        ]

    def _of(self, document: str) -> Iterable[AnsweredPlace]:
        found: dict[Path, AnsweredPlace] = {}
        read = [run.get(document) for run in self.runs]
        rows = [[*map(json.loads, it.data.splitlines())] if it and it.data else [] for it in read]
        for run, path, row in self._placed(rows):
            place = found.setdefault(path, AnsweredPlace(document, path, row["field"]))
            if row["outcome"] != "FA":
                place.gt = row["ground_truth_value"]
            place.answers[run] = row["prediction_value"], row["outcome"] == "TP"
        there = [run for run, its in enumerate(read) if its is not None]
        for place in found.values():
            absent = dict.fromkeys(there, (None, place.gt is None))
            place.answers = absent | place.answers
            place.groups = [0 if run in absent else NOT_THERE for run in range(len(read))]
            place.beside = found
        return found.values()

    def _placed(self, read: Iterable[Sequence[AnswerRow]]) -> Iterator[tuple[int, Path, AnswerRow]]:
        """Yield the rows of all runs with their places, those of items that only runs have last."""
        invented: dict[Path, list[tuple[int, AnswerItem]]] = {}
        for run, rows in enumerate(read):
            pairs, items = _paired_items(rows), dict[Path, AnswerItem]()
            for row in rows:
                path, rest = _in_ground_truth(row, pairs)
                if rest:
                    items.setdefault((*path, rest[0]), {})[rest[1:]] = row
                else:
                    yield run, path, row
            for at, its in items.items():
                invented.setdefault(at[:-1], []).append((run, its))
        for path, run, its in self._same_items(invented):
            yield from ((run, (*path, *rest), row) for rest, row in its.items())

    def _same_items(
        self, invented: Mapping[Path, Iterable[tuple[int, AnswerItem]]]
    ) -> Iterator[tuple[Path, int, AnswerItem]]:
        """Yield the items that only runs have, under names of their own: paired as lists are."""
        for path, several in invented.items():
            names = tuple(step for step in path if isinstance(step, str))
            node, known = node_at(self.plan, names), list[JsonValue]()
            for run, of_run in groupby(several, lambda item: item[0]):
                items = [rows for _, rows in of_run]
                values = [_item_of(rows) for rows in items]
                partner = self._partners(node, known, values)
                for at, (rows, value) in enumerate(zip(items, values, strict=True)):
                    number = partner.get(at, len(known))
                    if at not in partner:
                        known.append(value)
                    yield (*path, NewItem(f"+{number}")), run, rows

    def _partners(
        self, node: Node | None, known: list[JsonValue], values: list[JsonValue]
    ) -> dict[int, int]:
        """Return the known item that each goes with, by its position."""
        if not known or not isinstance(node, ListNode):
            return {}
        table = record_pairs(node, Columns([[*known]], [values]), self.options)
        partners: dict[int, int] = {}
        for batch in table.batches:
            if batch.is_item and batch.container is table.batches[0]:
                gt_index, pred_index = listed(batch.gt_index, batch.size), batch.pred_index
                sides = zip(gt_index, listed(pred_index, batch.size), strict=True)
                partners |= {pred: gt for gt, pred in sides if gt >= 0 and pred >= 0}
        return partners

    def _put_together(self, places: Iterable[AnsweredPlace]) -> None:
        """Give the answers of each place their groups: a run joins the first that it matches."""
        asked: dict[str, list[tuple[AnsweredPlace, int, int, JsonValue, JsonValue]]] = {}
        for place in places:
            groups, different = dict[bytes, int](), dict[int, JsonValue]()
            for run, (value, same) in place.answers.items():
                group = 0 if same else groups.setdefault(json_line(value), len(groups) + 1)
                place.groups[run] = group
                if group:
                    different[group] = value
            for (one, value), (other, its) in combinations(different.items(), 2):
                asked.setdefault(place.names, []).append((place, one, other, value, its))
        for names, pairs in asked.items():
            same_values = self.same(names, [it[3] for it in pairs], [it[4] for it in pairs])
            for same, (place, one, other, *_) in zip(same_values, pairs, strict=True):
                if same and one in place.groups and other in place.groups:  # neither has joined
                    place.groups = [one if it == other else it for it in place.groups]


def _paired_items(rows: Iterable[AnswerRow]) -> dict[Path, Path]:
    """Return the items of the ground truth by those of the prediction that go with them."""
    found: dict[Path, Path] = {}
    for row in rows:
        if row["outcome"] in ("TP", "FD"):
            gt = parse_field_path(row["path"])
            pred = parse_field_path(row["prediction_path"] or row["path"])
            for at, step in enumerate(pred, 1):
                if isinstance(step, int):
                    found[pred[:at]] = gt[:at]
    return found


def _in_ground_truth(row: AnswerRow, pairs: Mapping[Path, Path]) -> tuple[Path, Path]:
    """Return where the place of a row is in the ground truth, and the rest that this has not."""
    path: Path = parse_field_path(row["path"])
    known: Path = ()
    if row["outcome"] != "FA":
        return path, ()
    for at, step in enumerate(path):
        if isinstance(step, int) and path[: at + 1] not in pairs:
            return known, path[at:]
        known = pairs[path[: at + 1]] if isinstance(step, int) else (*known, step)
    return known, ()


def _item_of(rows: AnswerItem) -> JsonValue:
    value: JsonValue = None
    for path, row in rows.items():
        value = set_value(value, path, row["prediction_value"])
    return value


class PlaceMark(NamedTuple):
    """A verdict on a place."""

    gt_right: bool
    right: tuple[JsonValue, ...]
    """What else is right, or is instead; empty where the verdict does not say it."""
    by_votes: bool = False
    """Whether that is the answer of most runs."""
    seen: tuple[JsonValue, ...] = ()
    """The ground truth that was judged, if it is known."""
    drawn: bool = True
    """Whether the place was drawn, and stands for others."""

    def on(self, gt: JsonValue) -> "PlaceMark | None":
        """Return what the verdict says of a ground truth; None if it was on another one."""
        if not self.seen or json_key(self.seen[0]) == json_key(gt):
            return self
        mended = json_key(gt) in map(json_key, self.right)
        return self._replace(gt_right=True, right=()) if mended else None


PlaceMarks: TypeAlias = Mapping[tuple[str, str], PlaceMark]
"""Verdicts by document and path."""


def read_marks(file: str, limit: int) -> PlaceMarks:
    """Read verdicts; lines without one are left out, of several on a place the last one counts.

    Raises:
        UsageError: with every line that is none.
    """
    is_table = TABLE_SUFFIX.search(file) is not None

    def mark(line: JsonObject) -> tuple[tuple[str, str], PlaceMark] | Problem | None:
        said = _of_cells(line) if is_table else line
        match said.get("document"), said.get("path"), said.get("verdict"):
            case str(), str(), None:
                return None
            case str(document), str(path), str(verdict) if verdict in VERDICTS:
                return (document, path), _mark_of(said, verdict)
        expected = f"document, path and one of {', '.join(VERDICTS)}"
        return Problem("", "this is no verdict", expected)

    return dict(read_lines(file, limit, mark))


def _of_cells(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row of a spreadsheet, which may have written `gt` in its own way; no empty cells."""
    said = {key: cell for key, cell in row.items() if cell is not None and key != "gt"}
    said["document"] = str(said.get("document")).removeprefix("'")  # before "=1"
    for key in ("right", "others"):
        with suppress(KeyError, ValueError):  # text is as good as JSON
            said[key] = json.loads(str(said[key]))
    return said


def _mark_of(said: Mapping[str, Any], verdict: str) -> PlaceMark:
    gt_right, other_right = VERDICTS[verdict]
    right: tuple[JsonValue, ...] = ()
    by_votes = False
    if "right" in said and (other_right or not gt_right):
        right = (said["right"],)
    elif other_right and said.get("format") == VERDICT_FORMAT:
        right = (said["pred"],) if "pred" in said else ()
    elif other_right and isinstance(said.get("others"), list):
        right = tuple(it["answer"] for it in said["others"][:1])
    else:
        by_votes = other_right
    seen = (said["gt"],) if "gt" in said else ()
    return PlaceMark(gt_right, right, by_votes, seen, said.get("probability") is not None)


Groups = NDArray[np.uint8]
"""By place and run, the group that its answer is in: 0 agrees with the ground truth."""
VoteCounts = NDArray[np.int64]

ALL_PAIRS: Final = 300  # distinct values of a field of which all pairs are compared
_DRAWN: Final = 20_000  # pairs of values, of more: the chance of a match is then off by 0.004
_TIMES: Final = 3  # as many shared answers as other pairs of runs have are far more than chance
_FEWEST: Final = 10  # shared answers, below which nothing is said


def votes_and_against(groups: Groups) -> tuple[VoteCounts, VoteCounts]:
    """Return how many runs give the same other answer, and how many agree with the ground truth."""
    sizes = _sizes(groups)
    return sizes[1:].max(axis=0), sizes[0]


def rarity(groups: Groups, fields: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return how often the runs that vote at each place differ in its field, on average."""
    said, first = groups < NOT_THERE, np.argmax(_sizes(groups)[1:], axis=0) + 1
    voting, rates = groups == first[:, np.newaxis], np.zeros(groups.shape)
    for run, known in enumerate(said.T):
        other = np.bincount(fields, known & (groups[:, run] > 0))
        rates[:, run] = (other / np.maximum(np.bincount(fields, known), 1))[fields]
    found: NDArray[np.float64] = (voting * rates).sum(axis=1) / np.maximum(voting.sum(axis=1), 1)
    return found


def _sizes(groups: Groups) -> VoteCounts:
    """Return how many runs are in each group, (groups, places)."""
    most = int(groups[groups < NOT_THERE].max(initial=0))
    sizes: VoteCounts = np.array([(groups == it).sum(axis=1) for it in range(max(most, 1) + 1)])
    return sizes


def agreement(groups: Groups) -> dict[str, tuple[NDArray[Any], NDArray[Any]]]:
    """Return the parts of shares that each place adds, above and below their line.

    These are places on which all agree, pairs of runs that agree, and the answers that are
    observed to agree, as alpha counts them: all of places where two runs or more say something.
    """
    sizes = _sizes(groups)
    there = sizes.sum(axis=0)
    both = there > 1
    pairs, alike = there * (there - 1), (sizes * (sizes - 1)).sum(axis=0)
    observed = np.where(both, alike / np.maximum(there - 1, 1), 0.0)
    return {
        "agreement": (both & (sizes.max(axis=0) == there), both),
        "pairwise": (alike // 2, pairs // 2),
        "observed": (observed, np.where(both, there, 0)),
    }


def chance_of_difference(
    values: Sequence[JsonValue],
    counts: Sequence[int],
    same: Callable[[Sequence[JsonValue], Sequence[JsonValue]], Sequence[bool]],
    seed: int,
) -> float:
    """Return the share of pairs of answers of a field that differ, whatever places they are of.

    `counts` is how often each of the distinct values occurs; None among them is an absent one.

    Source:
        Krippendorff (2004), Content Analysis, chapter 11: the disagreement that is expected.
    """
    times = np.array(counts, np.int64)
    whole = int(times.sum())
    if len(values) < 2:
        return 0.0
    if len(values) <= ALL_PAIRS:
        one, other = np.triu_indices(len(values), 1)
        weights = times[one] * times[other]
    else:
        random, ends = np.random.default_rng(seed), np.cumsum(times)
        drawn = np.searchsorted(ends, random.integers(0, whole, (2, _DRAWN)), side="right")
        one, other = drawn[:, drawn[0] != drawn[1]]
        weights = np.ones(len(one), np.int64)
    ones, others = ([values[it] for it in its.tolist()] for its in (one, other))
    alike = np.array(same(ones, others), np.bool_)
    repeated = float((times * (times - 1)).sum()) / (whole * (whole - 1))
    return (1 - repeated) * (1 - float(np.average(alike, weights=weights)))


def runs_that_share(groups: Groups) -> list[list[int]]:
    """Return for each run those with which it shares other answers far more often than others do.

    Looked at are places at which two runs alone give an answer: a ground truth that is wrong is
    contradicted by more. Of two runs nothing can be said.
    """
    found: list[list[int]] = [[] for _ in groups.T]
    shared = {}
    for one, other in combinations(range(len(found)), 2):
        its = groups[:, one]
        both = (its == groups[:, other]) & (its > 0) & (its < NOT_THERE)
        alone = (groups == its[:, np.newaxis]).sum(axis=1) == 2
        shared[one, other] = int((both & alone).sum())
    for (one, other), times in shared.items():
        others = [count for pair, count in shared.items() if pair != (one, other)]
        if others and times >= _FEWEST and times > _TIMES * (float(np.median(others)) + 1):
            found[one].append(other)
            found[other].append(one)
    return found

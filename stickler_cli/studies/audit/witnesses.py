"""Collect the answers of several runs and the verdicts of people for each place.

A place is the path of a value in a document. Matching answers at a place form a group. A predicted
list item gets the path of the true item with which it is paired. If the ground truth lacks an item,
the runs' items are paired with each other.
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
from stickler_cli.compare.units import column_values
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
"""A predicted list item. Maps the path of each value inside the item to the row of the value in the
table of the run's values."""

NO_DOCUMENT: Final = 255
"""Group number of runs that lack the document. Real groups have smaller numbers."""


class NewItem(str):
    """A step in a path, such as `+0` or `+1`.

    It leads to a list item that the ground truth lacks.
    """

    __slots__ = ()


@dataclass(slots=True)
class AnsweredPlace:
    """The path of a value in a document, with its ground truth and the answers of all runs."""

    document: str
    path: Path
    names: str
    """The path of the field, without list indexes."""
    gt: JsonValue = None
    answers: dict[int, tuple[JsonValue, bool]] = field(default_factory=dict)
    """The answer of each run, as (value, whether it matches the ground truth). Keys are the
    positions of the runs that have the document. The value is None if the run has no value here."""
    groups: list[int] = field(default_factory=list)
    """The group number of each run's answer. Runs with matching answers have the same number: 0 if
    the answer matches the ground truth, and `NO_DOCUMENT` if the run lacks the document."""
    places_of_document: "Mapping[Path, AnsweredPlace]" = field(default_factory=dict)
    """All places of the same document, by path."""

    @property
    def agreeing(self) -> list[int]:
        """The positions of the runs whose answers match the ground truth."""
        return [run for run, group in enumerate(self.groups) if group == 0]

    def make_line(self, run_names: Sequence[str]) -> dict[str, Any]:
        """Return the place as a line for output: its path, the ground truth and all answers."""
        other_answers = [
            {"answer": value, "runs": [run_names[run] for run in runs]}
            for value, runs in self.different
        ]
        return {
            "document": self.document,
            "path": field_path(self.path),
            "field": self.names,
            "gt": self.gt,
            "agree": [run_names[run] for run in self.agreeing],
            "others": other_answers,
        }

    def answers_in_new_items(self) -> Mapping[int, Sequence[JsonValue]]:
        """Return values that may belong to this place, but are in another list item.

        If a predicted list item is badly wrong, it is not paired with its true item. It then counts
        as a new item, which the ground truth lacks, and the run has no answer at this place.

        The keys of the result are the positions of runs without an answer at this place. The values
        are taken from the new items of the run. For example, the price of item 0 may be the price
        of the new item `+0` or `+1`.
        """
        answers: dict[int, list[JsonValue]] = {}
        for path, place in self.places_of_document.items():
            # Position of the first new item in the path; here this place must have a list index.
            new_items = (index for index, step in enumerate(path) if isinstance(step, NewItem))
            index = next(new_items, len(path))
            if path[index:] and path == (*self.path[:index], path[index], *self.path[index + 1 :]):
                is_index = index < len(self.path) and isinstance(self.path[index], int)
                for run, (value, _) in place.answers.items() if is_index else ():
                    if value is not None and self.answers.get(run, (0, False))[0] is None:
                        answers.setdefault(run, []).append(value)
        return answers

    @property
    def different(self) -> list[tuple[JsonValue, list[int]]]:
        """The wrong answers, as (answer, positions of the runs that gave the answer).

        The most frequent answer is first. Wrong answers that match each other are listed as one.
        """
        runs_by_group: dict[int, list[int]] = {}
        for run, group in enumerate(self.groups):
            if group not in (0, NO_DOCUMENT):
                runs_by_group.setdefault(group, []).append(run)
        answers = [(self.answers[runs[0]][0], runs) for runs in runs_by_group.values()]
        return sorted(answers, key=lambda answer: -len(answer[1]))


def rows_by_document(file: File) -> Mapping[str, LineReference]:
    """Read the values of a run. Return a dict from document id to the lines of the document.

    The lines of a large file stay on disk.
    """
    with file.open("rb") as lines:
        lines_by_document = groupby(lines, lambda line: str(json.loads(line)["document"]))
        return ById(
            (name, LineReference(file=str(file), line=1, size=0, offset=None, data=b"".join(rows)))
            for name, rows in lines_by_document
        )


@dataclass(frozen=True, slots=True)
class Witnesses:
    """Several runs of the same documents, and the plan with which their answers are compared."""

    runs: Sequence[Mapping[str, LineReference]]
    plan: Plan
    options: Options

    @property
    def documents(self) -> list[str]:
        """The ids of the documents that at least one run has."""
        return [*dict.fromkeys(name for run in self.runs for name in run)]

    def list_places(self) -> Iterator[AnsweredPlace]:
        """Yield all places.

        The answers at each place are already grouped. Documents are read in batches.
        """
        documents = self.documents
        for start in range(0, len(documents), AT_ONCE):
            places: list[AnsweredPlace] = []
            for document in documents[start : start + AT_ONCE]:
                places += self._read_places(document)
            self._group_answers(places)
            yield from places

    def match_values(
        self, names: str, first_values: Sequence[JsonValue], second_values: Sequence[JsonValue]
    ) -> list[bool]:
        """Return whether each pair of values matches, by the rules for comparing a field.

        `names` is the path of the field. If the field is a list, the rules for its items are used.
        An absent value matches only an absent value.
        """
        node = node_at(self.plan, parse_field_path(names))
        pairs = [*zip(first_values, second_values, strict=True)]
        if node is None:
            return [json_key(first) == json_key(second) for first, second in pairs]
        while isinstance(node, ListNode):
            node = follow_references(node.items)
        slots = np.arange(len(pairs))
        columns = Columns([*first_values], [*second_values])
        outcomes = node.similarity(columns, slots, slots, self.options, Mode.FINAL).outcome
        return [
            outcome == TP or (first is None and second is None)
            for outcome, (first, second) in zip(outcomes.tolist(), pairs, strict=True)
        ]

    def _read_places(self, document: str) -> Iterable[AnsweredPlace]:
        """Return the places of one document with the answers of all runs."""
        places: dict[Path, AnsweredPlace] = {}
        references = [run.get(document) for run in self.runs]
        rows_by_run = [
            [*map(json.loads, reference.data.splitlines())] if reference and reference.data else []
            for reference in references
        ]
        for run, path, row in self._locate_rows(rows_by_run):
            place = places.setdefault(path, AnsweredPlace(document, path, row["field"]))
            if row["outcome"] != "FA":
                place.gt = row["ground_truth_value"]
            place.answers[run] = row["prediction_value"], row["outcome"] == "TP"

        # A run that has the document but no row at a place answers "no value".
        runs_with_document = [
            run for run, reference in enumerate(references) if reference is not None
        ]
        for place in places.values():
            no_value = None, place.gt is None
            place.answers = dict.fromkeys(runs_with_document, no_value) | place.answers
            place.groups = [NO_DOCUMENT if reference is None else 0 for reference in references]
            place.places_of_document = places
        return places.values()

    def _locate_rows(
        self, rows_by_run: Iterable[Sequence[AnswerRow]]
    ) -> Iterator[tuple[int, Path, AnswerRow]]:
        """Yield (position of the run, path, row) for each value of each run.

        A row describes one compared value of a run. The path leads to the place of the value in the
        ground truth. Values in list items that the ground truth lacks come last. Their paths have a
        `NewItem` in place of the index of the item.
        """
        new_items: dict[Path, list[tuple[int, AnswerItem]]] = {}
        for run, rows in enumerate(rows_by_run):
            pairs, items_of_run = _paired_items(rows), dict[Path, AnswerItem]()
            for row in rows:
                path, path_in_new_item = _in_ground_truth(row, pairs)
                if path_in_new_item:
                    index, *inner_path = path_in_new_item
                    items_of_run.setdefault((*path, index), {})[tuple(inner_path)] = row
                else:
                    yield run, path, row
            for item_path, item in items_of_run.items():
                new_items.setdefault(item_path[:-1], []).append((run, item))
        for path, run, item in self._pair_new_items(new_items):
            yield from ((run, (*path, *inner_path), row) for inner_path, row in item.items())

    def _pair_new_items(
        self, new_items: Mapping[Path, Iterable[tuple[int, AnswerItem]]]
    ) -> Iterator[tuple[Path, int, AnswerItem]]:
        """Give a path to each predicted list item that the ground truth lacks (a new item).

        New items of different runs are paired with each other. Paired items get the same path,
        whose last step is a `NewItem` such as `+0`. Yield (path, position of the run, item) for
        each new item. The keys of `new_items` are paths of lists. The value of a key has the new
        items of that list, as (position of the run, item).
        """
        for path, items_of_list in new_items.items():
            names = tuple(step for step in path if isinstance(step, str))
            node, placed_values = node_at(self.plan, names), list[JsonValue]()
            for run, entries in groupby(items_of_list, lambda entry: entry[0]):
                items = [item for _, item in entries]
                values = [_value_of_item(item) for item in items]
                partners = self._find_partners(node, placed_values, values)
                for position, (item, value) in enumerate(zip(items, values, strict=True)):
                    number = partners.get(position, len(placed_values))
                    if position not in partners:
                        placed_values.append(value)
                    yield (*path, NewItem(f"+{number}")), run, item

    def _find_partners(
        self, node: Node | None, placed_values: list[JsonValue], values: list[JsonValue]
    ) -> dict[int, int]:
        """Pair the items of a run with items of other runs that already have a path.

        Return a dict from positions in `values` to the positions of their partners in
        `placed_values`.
        """
        if not placed_values or not isinstance(node, ListNode):
            return {}
        table = record_pairs(node, Columns([[*placed_values]], [values]), self.options)
        partners: dict[int, int] = {}
        for batch in table.batches:
            if batch.is_item and batch.container is table.batches[0]:
                positions = np.arange(batch.size)
                gt_indexes = column_values(batch.gt_index, positions)
                pred_indexes = column_values(batch.pred_index, positions)
                sides = zip(gt_indexes, pred_indexes, strict=True)
                partners |= {pred: gt for gt, pred in sides if gt >= 0 and pred >= 0}
        return partners

    def _group_answers(self, places: Iterable[AnsweredPlace]) -> None:
        """Set the groups of each place. Answers that match are put into the same group."""
        pairs_by_field: dict[str, list[_GroupPair]] = {}
        for place in places:
            group_of_value, value_of_group = dict[bytes, int](), dict[int, JsonValue]()
            for run, (value, matches_gt) in place.answers.items():
                group = 0
                if not matches_gt:
                    group = group_of_value.setdefault(json_line(value), len(group_of_value) + 1)
                    value_of_group[group] = value
                place.groups[run] = group
            for (first, first_value), (second, second_value) in combinations(
                value_of_group.items(), 2
            ):
                pair = _GroupPair(place, first, second, first_value, second_value)
                pairs_by_field.setdefault(place.names, []).append(pair)
        for names, pairs in pairs_by_field.items():
            are_matches = self.match_values(
                names, [pair.first_value for pair in pairs], [pair.second_value for pair in pairs]
            )
            for is_match, pair in zip(are_matches, pairs, strict=True):
                groups = pair.place.groups
                # Skip a pair if one of its groups has joined another group already.
                if is_match and pair.first in groups and pair.second in groups:
                    pair.place.groups = [
                        pair.first if group == pair.second else group for group in groups
                    ]


class _GroupPair(NamedTuple):
    """Two groups of answers at one place. They are merged if their values match."""

    place: AnsweredPlace
    first: int
    second: int
    first_value: JsonValue
    second_value: JsonValue


def _paired_items(rows: Iterable[AnswerRow]) -> dict[Path, Path]:
    """Return a dict from the path of each predicted list item to the path of its true item.

    Items without a true item are left out.
    """
    gt_of_pred: dict[Path, Path] = {}
    for row in rows:
        if row["outcome"] in ("TP", "FD"):
            gt = parse_field_path(row["path"])
            pred = parse_field_path(row["prediction_path"] or row["path"])
            for length, step in enumerate(pred, 1):
                if isinstance(step, int):
                    gt_of_pred[pred[:length]] = gt[:length]
    return gt_of_pred


def _in_ground_truth(row: AnswerRow, pairs: Mapping[Path, Path]) -> tuple[Path, Path]:
    """Translate the path of a predicted value to the ground truth. Return (path, rest).

    Usually, the path leads to the value, and the rest is empty. If the value is in a list item that
    the ground truth lacks, the path leads only to the list. The rest then begins with the index of
    the predicted item. `pairs` maps paths of predicted items to paths of true items.
    """
    path: Path = parse_field_path(row["path"])
    gt_path: Path = ()
    if row["outcome"] != "FA":
        return path, ()
    for position, step in enumerate(path):
        item_path = path[: position + 1]
        if isinstance(step, int) and item_path not in pairs:
            return gt_path, path[position:]
        gt_path = pairs[item_path] if isinstance(step, int) else (*gt_path, step)
    return gt_path, ()


def _value_of_item(item: AnswerItem) -> JsonValue:
    """Return the predicted item as one JSON value, built from its rows."""
    value: JsonValue = None
    for path, row in item.items():
        value = set_value(value, path, row["prediction_value"])
    return value


class PlaceMark(NamedTuple):
    """A person's verdict on a place.

    It says whether the ground truth is right, and may give a value that is right.
    """

    gt_right: bool
    right: tuple[JsonValue, ...]
    """The right value, as the only element. Empty if the verdict gives no value. If the ground
    truth is wrong, this value replaces it. If the ground truth is right, this value is accepted,
    too."""
    by_votes: bool = False
    """Whether the verdict says that the answer of most runs is right. It matters only if `right` is
    empty."""
    seen: tuple[JsonValue, ...] = ()
    """The ground truth at the time of the verdict, as the only element. Empty if it is unknown."""
    drawn: bool = True
    """Whether the place was drawn at random. If so, it represents other places, too."""

    def apply_to(self, gt: JsonValue) -> "PlaceMark | None":
        """Return the verdict on the present ground truth `gt`, which may have changed.

        If the ground truth has not changed, or if the verdict does not record the ground truth of
        its time, this verdict is returned. If the ground truth was corrected to the value that the
        verdict gives, the result is a verdict that the ground truth is right. After any other
        change, the result is None, because this verdict no longer applies.
        """
        if not self.seen or json_key(self.seen[0]) == json_key(gt):
            return self
        is_corrected = json_key(gt) in map(json_key, self.right)
        return self._replace(gt_right=True, right=()) if is_corrected else None


PlaceMarks: TypeAlias = Mapping[tuple[str, str], PlaceMark]
"""Verdicts. Keys are (id of the document, path of the value)."""


def read_marks(file: str, limit: int) -> PlaceMarks:
    """Read a file of verdicts on places. If a place has several verdicts, the last one is used.

    Lines without a verdict are skipped.

    Raises:
        UsageError: lists every line that cannot be read.
    """
    is_table = TABLE_SUFFIX.search(file) is not None

    def parse_mark(line: JsonObject) -> tuple[tuple[str, str], PlaceMark] | Problem | None:
        record = _parse_cells(line) if is_table else line
        match record.get("document"), record.get("path"), record.get("verdict"):
            case str(), str(), None:
                return None
            case str(document), str(path), str(verdict) if verdict in VERDICTS:
                return (document, path), _make_mark(record, verdict)
        expected = f"the keys document and path, and one of {', '.join(VERDICTS)}"
        return Problem("", "this is not a verdict", expected)

    return dict(read_lines(file, limit, parse_mark))


def _parse_cells(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the filled cells of a row, except `gt`, which a spreadsheet may have changed."""
    record = {key: cell for key, cell in row.items() if cell is not None and key != "gt"}
    # Written before "=1" to keep spreadsheets from evaluating it.
    record["document"] = str(record.get("document")).removeprefix("'")
    for key in ("right", "others"):
        with suppress(KeyError, ValueError):  # a text that is not JSON is used as it is
            record[key] = json.loads(str(record[key]))
    return record


def _make_mark(record: Mapping[str, Any], verdict: str) -> PlaceMark:
    """Convert a line of a verdict file to a verdict.

    `record` is the line, and `verdict` is the word in it, such as "wrong".
    """
    gt_right, other_right = VERDICTS[verdict]
    right: tuple[JsonValue, ...] = ()
    by_votes = False
    if "right" in record and (other_right or not gt_right):
        right = (record["right"],)
    elif other_right and record.get("format") == VERDICT_FORMAT:
        right = (record["pred"],) if "pred" in record else ()
    elif other_right and isinstance(record.get("others"), list):
        right = tuple(other["answer"] for other in record["others"][:1])
    else:
        by_votes = other_right
    return PlaceMark(
        gt_right=gt_right,
        right=right,
        by_votes=by_votes,
        seen=(record["gt"],) if "gt" in record else (),
        drawn=record.get("probability") is not None,
    )


Groups = NDArray[np.uint8]
"""The group number of each run's answer at each place, in an array of shape (n_places, n_runs).

Runs with matching answers have the same number. Answers in group 0 match the ground truth."""
VoteCounts = NDArray[np.int64]

MAX_EXHAUSTIVE_VALUES: Final = 300
"""If a field has at most this many distinct values, all pairs of values are compared."""
_N_DRAWN_PAIRS: Final = 20_000
"""If a field has too many distinct values, this many random pairs of answers are compared.

The standard error of the share that matches is then at most 0.004."""
_MIN_SHARING_RATIO: Final = 3
"""Two runs are reported if they share more than this many times the usual number of wrong answers.
The usual number is the median over all other pairs of runs, plus 1."""
_MIN_SHARED: Final = 10
"""Minimum number of wrong answers that two runs must share to be reported."""


def count_votes(groups: Groups) -> tuple[VoteCounts, VoteCounts]:
    """Count runs at each place. Return (runs with the most frequent wrong answer, right runs).

    An answer is wrong if it does not match the ground truth. Both results are arrays of shape
    (n_places,).
    """
    sizes = _group_sizes(groups)
    return sizes[1:].max(axis=0), sizes[0]


def rarity(groups: Groups, fields: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return, for each place, the mean error rate of the runs with the most frequent wrong answer.

    The error rate of a run belongs to a field. It is the share of the places of this field at which
    the run differs from the ground truth. Places in documents that the run lacks do not count.

    The result is an array of shape (n_places,) with values in [0, 1]. It is 0 at places without a
    wrong answer. `fields` has the index of the field of each place.
    """
    voted_group = np.argmax(_group_sizes(groups)[1:], axis=0) + 1
    is_voting, rates = groups == voted_group[:, np.newaxis], np.zeros(groups.shape)
    for run, has_document in enumerate((groups < NO_DOCUMENT).T):
        n_different = np.bincount(fields, has_document & (groups[:, run] > 0))
        n_places = np.maximum(np.bincount(fields, has_document), 1)
        rates[:, run] = (n_different / n_places)[fields]
    n_voting = np.maximum(is_voting.sum(axis=1), 1)
    mean_rates: NDArray[np.float64] = (is_voting * rates).sum(axis=1) / n_voting
    return mean_rates


def _group_sizes(groups: Groups) -> VoteCounts:
    """Return the number of runs in each group of answers at each place.

    The result is an array of shape (n_groups, n_places). Its first row is group 0: the number of
    right answers.
    """
    last_group = max(int(groups[groups < NO_DOCUMENT].max(initial=0)), 1)
    sizes: VoteCounts = np.array([(groups == group).sum(axis=1) for group in range(last_group + 1)])
    return sizes


def agreement(groups: Groups) -> dict[str, tuple[NDArray[Any], NDArray[Any]]]:
    """Return three measures of agreement, as a dict from name to (dividends, divisors).

    To get a measure, divide the sum of its dividends by the sum of its divisors. Both arrays have
    one entry for each place. The measures are:

    - `agreement`: the share of places at which all runs agree.
    - `pairwise`: the share of pairs of runs that agree.
    - `observed`: the observed agreement of Krippendorff's alpha.

    Places at which only one run has an answer do not count.
    """
    sizes = _group_sizes(groups)
    n_runs = sizes.sum(axis=0)
    is_comparable = n_runs > 1
    # Ordered pairs of runs, and those within a group.
    n_pairs, n_agreeing = n_runs * (n_runs - 1), (sizes * (sizes - 1)).sum(axis=0)
    observed = np.where(is_comparable, n_agreeing / np.maximum(n_runs - 1, 1), 0.0)
    all_agree = is_comparable & (sizes.max(axis=0) == n_runs)
    return {
        "agreement": (all_agree, is_comparable),
        "pairwise": (n_agreeing // 2, n_pairs // 2),
        "observed": (observed, np.where(is_comparable, n_runs, 0)),
    }


def expected_disagreement(
    values: Sequence[JsonValue],
    counts: Sequence[int],
    match_values: Callable[[Sequence[JsonValue], Sequence[JsonValue]], Sequence[bool]],
    seed: int,
) -> float:
    """Return how often two answers of a field differ, if they are picked at random from all places.

    The result is in [0, 1]. `values` are the distinct answers of all runs (None is "no value"), and
    `counts` says how often each answer was given.

    Source:
        Krippendorff (2004), Content Analysis, chapter 11: expected disagreement.
    """
    if len(values) < 2:
        return 0.0
    n_answers = np.array(counts, np.int64)
    total = int(n_answers.sum())
    if len(values) <= MAX_EXHAUSTIVE_VALUES:
        first, second = np.triu_indices(len(values), 1)
        weights = n_answers[first] * n_answers[second]
    else:
        random = np.random.default_rng(seed)
        answers = random.integers(0, total, (2, _N_DRAWN_PAIRS))
        pairs = np.searchsorted(np.cumsum(n_answers), answers, side="right")
        first, second = pairs[:, pairs[0] != pairs[1]]
        weights = np.ones(len(first), np.int64)
    first_values, second_values = (
        [values[position] for position in side.tolist()] for side in (first, second)
    )
    is_match = np.array(match_values(first_values, second_values), np.bool_)
    share_of_equal_values = float((n_answers * (n_answers - 1)).sum()) / (total * (total - 1))
    match_rate = float(np.average(is_match, weights=weights))
    return (1 - share_of_equal_values) * (1 - match_rate)


def find_sharing_runs(groups: Groups) -> list[list[int]]:
    """Return, for each run, the runs that share suspiciously many wrong answers with it.

    Only wrong answers that exactly two runs give are counted. If more runs give an answer, it may
    be right, and the ground truth wrong. If there are only two runs, the lists are empty, because
    there is no other pair of runs to compare with.
    """
    sharing_runs: list[list[int]] = [[] for _ in groups.T]
    n_shared = {}
    for first, second in combinations(range(len(sharing_runs)), 2):
        answers = groups[:, first]
        is_shared = (answers == groups[:, second]) & (answers > 0) & (answers < NO_DOCUMENT)
        has_only_two = (groups == answers[:, np.newaxis]).sum(axis=1) == 2
        n_shared[first, second] = int((is_shared & has_only_two).sum())
    for (first, second), count in n_shared.items():
        other_counts = [other for pair, other in n_shared.items() if pair != (first, second)]
        if not other_counts or count < _MIN_SHARED:
            continue
        if count > _MIN_SHARING_RATIO * (float(np.median(other_counts)) + 1):
            sharing_runs[first].append(second)
            sharing_runs[second].append(first)
    return sharing_runs

"""The data of the page of a run: the tree of fields, heat maps, errors and documents.

Data for the script is packed as compressed text.
"""

import base64
import json
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from struct import Struct
from typing import Any, Final, NamedTuple
from urllib.parse import quote

from stickler_cli.compare.result import SEMANTICS
from stickler_cli.core.figures import number_of, percent, visible
from stickler_cli.core.json_values import json_line
from stickler_cli.core.locations import ANY_KEY, Path, field_names, field_path
from stickler_cli.core.sections import Span
from stickler_cli.core.sorted_lines import SortedLines
from stickler_cli.reports.cause_sentences import CauseText
from stickler_cli.reports.compared_values import cut_around_difference, mark_differences
from stickler_cli.reports.view import FieldRow, RunView
from stickler_cli.score.blocks import Blocks
from stickler_cli.score.detail import MAX_FIELDS, Detail, Histogram, ValuePairs
from stickler_cli.score.errors.causes import ByClass, overall, sort_by_count, split_cause_keys
from stickler_cli.score.errors.error_rows import Error
from stickler_cli.score.gates import fields_of_gate
from stickler_cli.score.intervals import FieldIntervals, Interval
from stickler_cli.score.item_places import ItemPlaceCounts, PlaceRate
from stickler_cli.score.sums import split_by_mode
from .charts import (
    Axis,
    Chart,
    HeatCell,
    HeatMap,
    axis_of,
    similarity_chart,
    threshold_curve,
)

MOST_FIELDS: Final = MAX_FIELDS  # rows of the table of fields

MOST_DOTS: Final = 20  # maximum number of fields in a drawing; the table of fields has all
MIN_PLACES: Final = 2  # number of item positions from which they are drawn
MOST_MATRICES: Final = 12  # maximum number of confusion matrices

TIMES: Final = 2
"""A field has few distinct values if each value occurs at least this many times on average.
Otherwise the field has free text."""


@dataclass(frozen=True, slots=True)
class FieldView:
    """A row of the table of fields."""

    row: FieldRow
    path: str
    end: int
    """Index of the first row after this field and all fields inside it."""
    is_innermost: bool
    """Whether no other field is inside this one."""
    intervals: FieldIntervals | None
    chart: Chart | None
    classes: ByClass
    """Number of errors in each class, of this field and all fields inside it. The most frequent
    class comes first."""

    @property
    def above(self) -> str:
        """The part of the path before the name of the field, such as `lines.` in `lines.price`.

        The page shows it when the table of fields is a flat list. When the table is a tree, rows
        are indented instead.
        """
        return visible(field_path(self.row.path).removesuffix(self.row.name))


def field_views(view: RunView, histograms: Mapping[Path, Histogram]) -> list[FieldView]:
    """Return the rows of the table of fields, at most `MOST_FIELDS`. Parents come first."""
    rows = view.rows[:MOST_FIELDS]
    row_by_path = row_by_field(view)
    classes: list[ByClass] = [Counter() for _ in rows]
    errors = view.run.evaluation.errors
    for path in {**errors.fields, **errors.units}:
        for row_index in rows_around(path, row_by_path):
            classes[row_index].update(errors.of_field(path))
    pairs: dict[int, Histogram] = {}
    for path, histogram in histograms.items():
        path_rows = rows_around(path, row_by_path)
        if path_rows and len(path_rows) == len(path):
            pairs.setdefault(path_rows[-1], Histogram()).merge(histogram)
    views = []
    for index, row in enumerate(rows):
        after = range(index + 1, len(rows))
        name = field_path(row.path)
        chart = None
        if pair := pairs.get(index):
            curve = threshold_curve(pair, row.tally.counts("overall"), view.run.rule)
            chart = similarity_chart(pair, row.threshold, curve)
        end = next(
            (row_index for row_index in after if rows[row_index].depth <= row.depth), len(rows)
        )
        views.append(
            FieldView(
                row=row,
                path=visible(name),
                end=end,
                is_innermost=end == index + 1,
                intervals=view.run.evaluation.intervals(view.run.rule, name),
                chart=chart,
                classes=sort_by_count(classes[index]),
            )
        )
    return views


def row_by_field(view: RunView) -> dict[Path, int]:
    """Return the row index of each field in the table of fields."""
    return {row.path: index for index, row in enumerate(view.rows[:MOST_FIELDS])}


def rows_around(path: Path, row_by_path: Mapping[Path, int]) -> list[int]:
    """Return the row indexes of a field and of its parents. The outermost field comes first.

    A name in the path may have no row of its own, such as the key of a map. If the table has a row
    in which `*` stands for all keys, the index of this row is used. If the table has no row for the
    name and no row with `*`, the list ends with the row of the parent.
    """
    rows: list[int] = []
    pattern: Path = ()
    for step in path:
        exact_pattern = (*pattern, step)
        pattern = exact_pattern if exact_pattern in row_by_path else (*pattern, ANY_KEY)
        if pattern not in row_by_path:
            break
        rows.append(row_by_path[pattern])
    return rows


class Dot(NamedTuple):
    """A row of the dot plot: the F1 of a field, or of all documents."""

    name: str
    f1: float
    interval: Interval | None
    gates: Sequence[tuple[float, str, bool]]
    """(Limit, text, whether it passed) for each gate on this F1."""
    lost: int | None
    """Number of wrong, invented or missed values of the field. None for all documents together."""


class DotPlot(NamedTuple):
    """The F1 of all documents together, followed by the F1 of fields, the lowest first."""

    axis: Axis
    dots: Sequence[Dot]
    left_out: int


def dot_plot(view: RunView, fields: Sequence[FieldView]) -> DotPlot:
    """Return a dot plot of the F1 of all documents, and of each field that has no fields inside."""
    values = [field for field in fields if field.is_innermost and field.row.rates.f1 is not None]
    values.sort(key=lambda field: (field.row.rates.f1 or 0.0, -field.row.lost))
    drawn_rows = [("", view.whole, view.intervals)] if view.whole.rates.f1 is not None else []
    drawn_rows += [(field.path, field.row, field.intervals) for field in values[:MOST_DOTS]]
    dots = []
    for name, row, intervals in drawn_rows:
        interval = view.shown_bounds(intervals, view.run.evaluation.evaluated)
        lost = row.lost if row.path else None
        dots.append(
            Dot(
                name=name,
                f1=row.rates.f1 or 0.0,
                interval=interval,
                gates=_gate_marks(view, row.path),
                lost=lost,
            )
        )
    lowest = [dot.interval.lower if dot.interval else dot.f1 for dot in dots]
    lowest += (limit for dot in dots for limit, _, _ in dot.gates)
    return DotPlot(axis_of(min(lowest, default=1.0)), dots, len(values[MOST_DOTS:]))


def _gate_marks(view: RunView, path: Path) -> list[tuple[float, str, bool]]:
    """Return (limit, text, whether it passed) for each gate on the F1 of a field."""
    mode = view.run.rule.counting
    return [
        (gate_result.limit, visible(gate_result.gate.text), gate_result.passed)
        for gate_result in view.run.gates
        if (gate_result.gate.metric, gate_result.gate.mode or mode) == ("f1", mode)
        and 0 <= gate_result.limit <= 1
        and path in fields_of_gate(gate_result.gate, [path])
    ]


def heat_maps(view: RunView) -> list[HeatMap]:
    """Return heat maps with a row for each field and a column for each error class.

    One heat map counts values. Another one counts items and objects. A heat map without rows is
    left out.
    """
    errors = view.run.evaluation.errors
    kinds = (
        ("Errors in values, by field and error class", "values", errors.fields),
        ("Errors in whole items and objects, by field and error class", "wholes", errors.units),
    )
    maps = (_heat_map(view, *kind) for kind in kinds)
    return [heat_map for heat_map in maps if heat_map.rows]  # errors of whole documents have no row


def _heat_map(view: RunView, title: str, kind: str, fields: Mapping[Path, ByClass]) -> HeatMap:
    row_by_path = row_by_field(view)
    by_row: dict[int, ByClass] = {}
    for path, counts in fields.items():
        # A path without a row counts for the row of its nearest parent.
        for row in rows_around(path, row_by_path)[-1:]:
            by_row.setdefault(row, Counter()).update(counts)
    ranked = sorted(by_row, key=lambda row: (-by_row[row].total(), row))
    classes = list(overall({(str(row),): counts for row, counts in by_row.items()}))
    rows = []
    for row in ranked[:MOST_DOTS]:
        name = visible(field_path(view.rows[row].path))
        query = f"at={quote(name)}&class={{}}&what={kind}".format
        rows.append(
            (
                name,
                [
                    HeatCell(by_row[row][error_class], query(error_class.value))
                    for error_class in classes
                ],
            )
        )
    names = [error_class.replace("_", " ") for error_class in classes]
    return HeatMap(
        title=title,
        corner="Field",
        columns=names,
        rows=rows,
        left_out=len(ranked[MOST_DOTS:]),
        is_of_wholes=kind == "wholes",
    )


class PlacePicture(NamedTuple):
    """A chart of the share of lost values at each position in lists, such as `4` or `5-9`."""

    rates: Sequence[PlaceRate]
    top: float
    """The share at the upper end of the chart."""
    caption: str

    def height(self, share: float) -> float:
        """Return the height of a bar for a share, in percent of the chart."""
        return 100 * share / self.top


def place_picture(view: RunView, places: ItemPlaceCounts) -> PlacePicture | None:
    """Return the chart of lost values by position in lists.

    None if lists are too short, or if no value was lost.
    """
    rates = places.rates(view.shown_level)
    if len(rates) < MIN_PLACES or not any(rate.lost for rate in rates):
        return None
    highest = max(rate.interval.upper if rate.interval else rate.share for rate in rates)
    return PlacePicture(rates, highest, describe_places(rates))


def describe_places(rates: Sequence[PlaceRate]) -> str:
    """Return a sentence on how the share of lost values varies with the position in lists.

    If the intervals of two positions do not overlap, the sentence says that the share rises or
    falls. If there are no intervals, the sentence only gives the share of lost values at all
    positions together.
    """
    with_values = [rate for rate in rates if rate.values]
    n_values = sum(rate.values for rate in with_values)
    total = percent(sum(rate.lost for rate in with_values) / n_values)
    intervals = [rate.interval for rate in with_values]
    if None in intervals:
        return f"{total} of {number_of(n_values, 'value')} in list items are wrong or missed."
    lowest_upper = min(with_values, key=lambda rate: _bounds_of(rate).upper)
    highest_lower = max(with_values, key=lambda rate: _bounds_of(rate).lower)
    if _bounds_of(highest_lower).lower <= _bounds_of(lowest_upper).upper:
        return (
            f"Evenly spread: {total} of values are lost at every position in the list, as far as "
            "the intervals show."
        )
    low = f"{percent(lowest_upper.share)} at place {lowest_upper.name}"
    high = f"{percent(highest_lower.share)} at place {highest_lower.name}"
    if with_values.index(lowest_upper) < with_values.index(highest_lower):
        return (
            f"Rising: from {low} to {high}. This is typical of lists that are cut off, which "
            "lose their last items."
        )
    return f"Falling: from {high} to {low}."


def _bounds_of(rate: PlaceRate) -> Interval:
    return rate.interval or Interval(rate.share, rate.share)


def confusion_matrices(
    fields: Sequence[FieldView], pairs: Mapping[Path, ValuePairs]
) -> list[HeatMap]:
    """Return a confusion matrix for each field with few distinct values.

    A field has no matrix if none of its values was predicted in place of another value. There are
    at most `MOST_MATRICES` matrices. The matrix with the most errors comes first.
    """
    row_by_path = {field.row.path: field_row for field_row, field in enumerate(fields)}
    by_row: dict[int, ValuePairs] = {}
    for path, value_pairs in pairs.items():
        path_rows = rows_around(path, row_by_path)
        if len(path_rows) == len(path):
            by_row.setdefault(path_rows[-1], ValuePairs()).merge(value_pairs)
    confused = [
        (fields[row], value_pairs)
        for row, value_pairs in by_row.items()
        if value_pairs.confused and fields[row].row.counts.total >= TIMES * len(value_pairs.values)
    ]
    confused.sort(key=lambda entry: -entry[1].confused)
    return [
        _confusion_matrix(field.path, value_pairs)
        for field, value_pairs in confused[:MOST_MATRICES]
    ]


def _confusion_matrix(path: str, pairs: ValuePairs) -> HeatMap:
    """Return the confusion matrix of a field: true values as rows, predictions as columns.

    A true value without errors has no row. Rows and columns are sorted by number of errors, the
    highest first. Only the first `MAX_WRONG_COLUMNS` wrong predictions have their own columns; all
    other wrong predictions share one column. The last column counts right values.
    """
    wrong_by_pred: Counter[str] = Counter()
    wrong_by_gt: Counter[str] = Counter()
    for gt, row in pairs.counts.items():
        for pred, (_, wrong) in row.items():
            wrong_by_pred[pred] += wrong
            wrong_by_gt[gt] += wrong
    preds = _most_frequent(wrong_by_pred)
    shown_preds, other_preds = preds[:MAX_WRONG_COLUMNS], preds[MAX_WRONG_COLUMNS:]
    rows = []
    for gt in _most_frequent(wrong_by_gt):
        row = pairs.counts[gt]
        wrong_in_row = Counter({pred: wrong for pred, (_, wrong) in row.items()})
        query = f"at={quote(path)}&what=values&gt={quote(gt or _ABSENT_NAME)}&pred="
        cells = [
            HeatCell(wrong_in_row[pred], query + quote(pred or _ABSENT_NAME))
            for pred in shown_preds
        ]
        if other_preds:
            n_others = sum(wrong_in_row[pred] for pred in other_preds)
            cells.append(HeatCell(n_others, query=""))
        n_right = sum(right for right, _ in row.values())
        cells.append(HeatCell(errors=0, query="", right=n_right))
        rows.append((visible(gt or _ABSENT_NAME), cells))
    columns = [visible(pred or _ABSENT_NAME) for pred in shown_preds]
    if other_preds:
        columns.append(f"{len(other_preds)} others")
    n_values_without_errors = sum(not wrong for gt, wrong in wrong_by_gt.items() if gt)
    title = f"{path}: {number_of(pairs.confused, 'value')} predicted in place of another value"
    corner = "truth\N{NO-BREAK SPACE}↓ found\N{NO-BREAK SPACE}→"
    return HeatMap(
        title=title,
        corner=corner,
        columns=[*columns, "right"],
        rows=rows,
        left_out=n_values_without_errors,
    )


def _most_frequent(counts: Mapping[str, int]) -> list[str]:
    """Return the names with a count above 0, sorted by descending count, then by name."""
    return sorted((name for name in counts if counts[name]), key=lambda name: (-counts[name], name))


MAX_WRONG_COLUMNS: Final = 12  # number of columns that fit on a page of 1440 pixels
_ABSENT_NAME: Final = "absent"  # name of an absent value in links to errors


LEVEL: Final = 6  # zlib level; 9 takes twice the time for 2% less
WORST_DOCUMENTS: Final = 10  # number of documents listed without JavaScript, and on paper
FIRST_ERRORS: Final = 200  # number of errors listed without JavaScript
FIRST_OF_CAUSE: Final = 20  # of these, each cause may list 20, or more if there are few causes
ON_PAPER: Final = 24  # number of errors listed on paper
ON_PAPER_OF_CAUSE: Final = 3
ONE_LINE: Final = 60  # total length of both values up to which they are on one line
MAX_ROWS_READ: Final = 5_000  # number of errors that are searched for those to list

_LONGEST: Final = 100
_AS_JSON: Final = json.JSONEncoder(ensure_ascii=False).encode
# The columns of an error before this one are passed to the script.
_ON_PAGE: Final = Error._fields.index("judge")
_PATHS_REMEMBERED: Final = 10_000
_SHOWN: Final = ("tp", "fd", "fa", "fn")
"""Names of the counts of a document, in the order in which the page's script reads them."""

_LOST: Final = _SHOWN[1:]

_RANK: Final = Struct(">d")  # packed numbers that are not negative sort like the numbers


@dataclass(frozen=True, slots=True)
class ListedDocuments:
    """The documents of a run, sorted by ascending score, then by id.

    Documents without a score come last.
    """

    count: int
    lines: SortedLines
    """A JSON array for each document: id, status, score, counts of values, groups, and a list of
    numbers. The list has two numbers for each innermost field that lost values: the index of the
    field's row in the table of fields, and the number of lost values."""
    lost: int
    """Number of documents that lost values."""

    def first_lines(self, max_documents: int) -> Iterator[bytes]:
        """Yield the lines of the first documents."""
        return (line for _, line in islice(self.lines, max_documents))

    @property
    def worst(self) -> list[Any]:
        """The rows of the `WORST_DOCUMENTS` documents with the lowest scores."""
        return [*map(json.loads, self.first_lines(WORST_DOCUMENTS))]


def pack_lines(lines: Iterable[bytes]) -> str:
    """Return lines of JSON as one JSON array, compressed and in base64. This is safe in HTML."""
    packer = zlib.compressobj(LEVEL, zlib.DEFLATED, 16 + zlib.MAX_WBITS)
    chunks, before = [], b"["
    for line in lines:
        chunks.append(packer.compress(before + line))
        before = b",\n"
    chunks += packer.compress(b"]" if before != b"[" else b"[]"), packer.flush()
    return base64.b64encode(b"".join(chunks)).decode("ascii")


def error_rows(
    errors: Iterable[Error], row_by_path: Mapping[Path, int], causes: Iterable[CauseText]
) -> Iterator[tuple[Any, ...]]:
    """Yield errors as rows for the page's script.

    A row has these columns:
        the row of the field in the table of fields, or -1;
        the attributes of the error that come before `judge`, a column each;
        for a swapped value, the path at which the ground truth has the predicted value;
        the origin of the predicted value;
        the position, in `causes`, of the error's own cause, or -1;
        the position of the cause under which the error is listed, or -1. An error without a cause
        of its own may be inside an item or object that failed as a whole. It is then listed under
        the cause of this item or object.
    """
    positions = {
        cause.key: position for position, text in enumerate(causes) for cause in text.causes
    }
    # Causes of failed items of the current document, by path.
    document, causes_of_items = "", dict[str, int]()

    @lru_cache(_PATHS_REMEMBERED)
    def row_of(field: str) -> int:
        return (rows_around(field_names(field), row_by_path) or [-1])[-1]

    for error in errors:
        group_key, own_key = split_cause_keys(error.cause)
        cause = positions.get(own_key, positions.get(group_key, -1))
        if error.document != document:
            document, causes_of_items = error.document, {}
        within = cause if cause >= 0 else causes_of_items.get(error.inside or "", -1)
        if error.values is not None:
            causes_of_items[error.path] = within
        yield (
            row_of(error.field),
            *error[:_ON_PAGE],
            error.swapped_with,
            error.origin,
            cause,
            within,
        )


class PrintedError(NamedTuple):
    """An error that the page lists without JavaScript. If `is_on_paper`, it is also printed."""

    document: str
    path: str
    gt: Sequence[Span]
    """The true value, cut around the first difference. Words that are missing from the prediction
    have the tone `good`."""
    pred: Sequence[Span]
    """The predicted value, cut to the same range as the true value. Words that the true value lacks
    are `bad`."""
    is_short: bool
    """Whether both values fit on one line."""
    is_on_paper: bool


class PrintedCause(NamedTuple):
    """A cause of errors with its first errors, as the page lists them without JavaScript."""

    text: str
    errors: Sequence[PrintedError]
    n_errors: int
    """Number of all errors of the cause, listed or not."""


def printed_causes(detail: Detail, texts: Sequence[CauseText]) -> list[PrintedCause]:
    """Return the causes with their first errors, to be listed without JavaScript and printed."""
    positions = {cause.key: index for index, text in enumerate(texts) for cause in text.causes}
    errors_by_cause: dict[int, list[Error]] = {}
    for error in islice(detail.errors.rows(), MAX_ROWS_READ):
        group_key, own_key = split_cause_keys(error.cause)
        cause = positions.get(own_key, positions.get(group_key, len(texts)))
        if error.cause:
            errors_by_cause.setdefault(cause, []).append(error)
    causes = []
    ranked = sorted(errors_by_cause.items())
    shares = share_printed_rows([len(errors) for _, errors in ranked])
    for (cause, errors), share in zip(ranked, shares, strict=True):
        text = texts[cause].text if cause < len(texts) else "other errors"
        n_errors = texts[cause].errors if cause < len(texts) else len(errors)
        printed_errors = [
            _print_error(error, is_on_paper=index < share.on_paper)
            for index, error in enumerate(errors[: share.listed])
        ]
        if printed_errors:
            causes.append(PrintedCause(text, printed_errors, n_errors))
    return causes


class PrintedShare(NamedTuple):
    """How many rows of a cause are listed without JavaScript, and how many of these on paper."""

    listed: int
    on_paper: int


def share_printed_rows(n_rows_by_cause: Sequence[int]) -> list[PrintedShare]:
    """Return how many rows of each cause are listed without JavaScript and on paper.

    The total is limited. Causes get their rows in the given order, so the last causes may get none.
    """
    n_causes = max(len(n_rows_by_cause), 1)
    most_of_cause = max(FIRST_OF_CAUSE, FIRST_ERRORS // n_causes)
    most_on_paper = max(ON_PAPER_OF_CAUSE, ON_PAPER // n_causes)
    shares, n_left, n_left_on_paper = [], FIRST_ERRORS, ON_PAPER
    for n_rows in n_rows_by_cause:
        n_listed = min(n_rows, n_left, most_of_cause)
        n_on_paper = min(n_listed, n_left_on_paper, most_on_paper)
        shares.append(PrintedShare(n_listed, n_on_paper))
        n_left -= n_listed
        n_left_on_paper -= n_on_paper
    return shares


def _print_error(error: Error, *, is_on_paper: bool) -> PrintedError:
    sides = cut_around_difference(*_sides(error), _LONGEST)
    gt, pred = mark_differences(*sides)
    if error.gt is None or error.pred is None:  # there is nothing to find a difference to
        gt, pred = ([Span.of(side)] for side in sides)
    return PrintedError(
        document=error.document,
        path=error.path,
        gt=gt,
        pred=pred,
        is_short=len(error.differing) < 2 and sum(map(len, sides)) <= ONE_LINE,
        is_on_paper=is_on_paper,
    )


def _sides(error: Error) -> tuple[str, str]:
    """Return the true and the predicted value of an error as text.

    For two list items, the texts show only the fields in which the items differ.
    """
    is_cut = isinstance(error.gt, list) or isinstance(error.pred, list)
    gt, pred = (side[0] if isinstance(side, list) else side for side in (error.gt, error.pred))
    if not error.differing or is_cut:
        return side_text(gt, is_cut=is_cut), side_text(pred, is_cut=is_cut)
    gt_text, pred_text = (
        "; ".join(f"{name} {_AS_JSON(item.get(name))}" for name in error.differing)
        for item in map(json.loads, (gt, pred))
    )
    return gt_text, pred_text


def side_text(side: str | None, *, is_cut: bool = False) -> str:
    """Return the true or the predicted value of an error as text.

    `side` is JSON text, or None for an absent value. Of an object, only the values are shown, not
    the keys.
    """
    if side is None:
        return _ABSENT_NAME
    if side.startswith("{") and not is_cut:
        return " · ".join(map(_AS_JSON, json.loads(side).values()))
    return side


def facts(
    view: RunView,
    detail: Detail,
    causes: Iterable[CauseText],
    documents: ListedDocuments | None,
) -> bytes:
    """Return facts about a run as JSON for the page's script.

    The facts are totals, causes, the digest of the schema, the version of the counting rules, and
    the command that explains a document. The totals count all errors of the run, including errors
    that the page does not list.
    """
    row_by_path, errors = row_by_field(view), view.run.evaluation.errors
    totals = sorted(  # sort: the order must not depend on whether the run was read from a file
        [(rows_around(path, row_by_path) or [-1])[-1], error_class.value, count]
        for path in {*errors.fields, *errors.units}
        for error_class, count in errors.of_field(path).items()
    )
    return json_line(
        {
            "total": detail.errors.total,
            "documents": documents.count if documents else 0,
            "lost": documents.lost if documents else 0,
            "totals": totals,
            "causes": [
                [
                    cause_text.key,
                    cause_text.text,
                    cause_text.errors,
                    cause_text.values,
                    cause_text.number,
                    [*cause_text.origins],
                ]
                for cause_text in causes
            ],
            "schema": view.run.schema.digest,
            "semantics": SEMANTICS,
            "explaining": view.run.explain_command,
        }
    )


def documents_of(blocks: Blocks, fields: Sequence[FieldView]) -> ListedDocuments:
    """Return the list of a run's documents, sorted by score, the lowest first.

    The list is stored in files if it is long, so a run with many documents needs no more memory.
    """
    lines = SortedLines()
    losing = 0
    row_by_path = {field.row.path: field_row for field_row, field in enumerate(fields)}

    @lru_cache(_PATHS_REMEMBERED)
    def row_of(path: str) -> int | None:
        names = field_names(path)
        path_rows = rows_around(names, row_by_path)
        is_innermost = (
            len(path_rows) == len(names) and path_rows and fields[path_rows[-1]].is_innermost
        )
        return path_rows[-1] if is_innermost else None

    for account in blocks.records():
        name, score = account["id"], account["score"]
        rank = _RANK.pack(2.0 if score is None else score).decode("latin-1")
        values = split_by_mode(account["fields"].get("", {}))[-1]
        counts = [values.get(outcome, 0) for outcome in _SHOWN]
        losing += any(counts[1:])
        lost: Counter[int] = Counter()
        for path, entry in account["fields"].items():
            row, field_counts = row_of(path), split_by_mode(entry)[-1]
            if row is not None:
                lost[row] += sum(field_counts.get(outcome, 0) for outcome in _LOST)
        cells = [number for cell in lost.items() if cell[1] for number in cell]
        columns = [name, account["status"], score, *counts, account.get("by", {}), cells]
        lines.append((rank + name, json_line(columns)[:-1]))
    return ListedDocuments(len(lines), lines, losing)

"""The comparison of one pair of documents: texts for all reports, and the report as sections.

A terminal shows a tree of units; pipes, files and Markdown have a row for each unit.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby
from operator import itemgetter
from typing import Final, Literal, TypeAlias

from rapidfuzz.distance import Levenshtein

from stickler_cli.compare.result import ERRORS, Outcome
from stickler_cli.compare.tree import TreePart
from stickler_cli.core.figures import WHOLE, cells, number_of, rate, setting, value_text
from stickler_cli.core.json_values import JsonValue, brief
from stickler_cli.core.locations import Path, field_path
from stickler_cli.core.sections import INDENT, Column, Line, Section, Span, Table, Text, Tone
from stickler_cli.score.errors.error_classes import ErrorClass
from stickler_cli.score.errors.wrong_units import ClassifiedError
from .compared_values import cut_around_difference
from .layout import LEAST_TEXT, TableStyle
from .markdown import code

ShownDetail: TypeAlias = Literal["errors", "brief", "all"]
"""How much is shown: `errors`, wrong units and their parents; `brief`, right values too, but
nothing inside right objects; `all`, everything, with values that both sides lack."""

MANY: Final = 10
"""Number of list elements above which `brief` counts right elements instead of showing them."""

ONE_SIDED: Final = (Outcome.FN, Outcome.FA)

SHORTEST_RUN: Final = 2
"""Minimum number of equal characters between two differences; shorter chance matches are hard to
read."""

LEAST_ALIKE: Final = 0.3  # edit similarity below which two texts have no marked differences

LONGEST: Final = 5_000
"""Length of texts up to which differences are searched, which takes some milliseconds."""

EQUAL_RUN: Final = 40
"""Number of equal characters above which the middle of them is left out."""

LONGEST_RUN: Final = 400  # number of characters of a one-sided run that are shown

SidesPresent: TypeAlias = Literal["both", "gt", "pred"]

_MARKS: Final = {"both": ("", ""), "gt": ("[-", "-]"), "pred": ("{+", "+}")}


Errors: TypeAlias = Mapping[tuple[Path, Outcome], ClassifiedError]


@dataclass(frozen=True, slots=True)
class ComparedPair:
    """An explained comparison of two documents, with its schema and options."""

    schema: str
    """File of the schema, as the user named it; empty without a file."""
    model_name: str
    document: str
    """Id of the document; empty without one."""
    pairing_floor: float
    extra_fields: str
    root: TreePart
    chosen: Sequence[TreePart]
    """The units to show: the root, or those that the user selected."""
    errors: Errors
    """Errors by path and outcome."""
    detail: ShownDetail = "brief"
    partial_gt: bool = False

    @property
    def title(self) -> str:
        """Document, model name and schema; without the document if it has no id."""
        is_inferred = bool(self.schema) and self.model_name == self.schema
        names = (f"schema {self.schema}",) if is_inferred else (self.model_name, self.schema)
        model_and_schema = ", ".join(filter(None, names))
        return f"{self.document} ({model_and_schema})" if self.document else model_and_schema

    @property
    def overall_score(self) -> float:
        """Score of the document, in [0, 1]."""
        return self.root.score

    def why(self, place: TreePart, floor: float) -> str:
        """Explain the outcome of a unit: error class, reason, other candidates for an element."""
        error_class, texts = self.class_of(place), []
        if error_class not in (None, ErrorClass.OTHER):
            texts.append(str(error_class).replace("_", " "))
            if swapped_place := self.swapped_with(place):
                texts[0] += f": the value of {swapped_place}"
        elif is_list(place) and not is_judged(place) and place.outcome in ONE_SIDED:
            # Each element of a list that one side lacks is an error of its own.
            noun = "missed item" if place.outcome is Outcome.FN else "invented item"
            texts.append(number_of(len(place.parts), noun))
        texts.append(place.reason)
        if place.other_alternatives:
            texts.append(f"also right: {', '.join(map(brief, place.other_alternatives))}")
        texts.append(clipping_text(place))
        if self.detail == "all" or not place.is_right:
            texts.append(pairing_text(place, floor))
        return "; ".join(filter(None, texts))

    def class_of(self, place: TreePart) -> ErrorClass | None:
        """Return the error class of a unit; None if it is right or part of a larger error."""
        error = self._error_at(place)
        return error and error.error_class

    def swapped_with(self, place: TreePart) -> str:
        """Return the path whose true value was predicted for a unit; empty if none was."""
        error = self._error_at(place)
        return field_path(error.elsewhere or ()) if error else ""

    def _error_at(self, place: TreePart) -> ClassifiedError | None:
        path = place.pred_path if place.outcome is Outcome.FA else place.gt_path
        return self.errors.get((path or (), place.outcome))

    def select_children(self, place: TreePart) -> tuple[list[TreePart], str]:
        """Return the children of a unit to show, and a text that counts the hidden children."""
        elements = place.parts
        if self.detail == "all":
            return list(elements), ""
        if place.outcome in ONE_SIDED or (place.is_right and place.gt_path):
            return [], ""
        if self.detail == "errors":
            shown_parts = [element for element in elements if not element.is_right]
        else:
            is_long_list = place.kind == "list" and len(elements) > MANY
            present_parts = (
                child
                for child in elements
                if child.outcome is not Outcome.TN or child.other_alternatives
            )
            shown_parts = [
                element for element in present_parts if not (is_long_list and element.is_right)
            ]
        n_absent = sum(child.outcome is Outcome.TN for child in elements)
        n_right = (
            len(elements) - n_absent - sum(child.outcome is not Outcome.TN for child in shown_parts)
        )
        n_absent -= sum(child.outcome is Outcome.TN for child in shown_parts)
        words = {"right": n_right, "absent on both sides": n_absent}
        return shown_parts, ", ".join(
            f"{count} {description}" for description, count in words.items() if count
        )


def by_place(errors: Iterable[ClassifiedError]) -> Errors:
    """Return errors by path and outcome."""
    return {(error.unit.path, error.unit.outcome): error for error in errors}


def all_places(root: TreePart) -> Iterator[TreePart]:
    """Yield all units of a comparison, parents first."""
    pending_places = [root]
    while pending_places:
        place = pending_places.pop()
        yield place
        pending_places += reversed(place.parts)


def places(root: TreePart, path: Path) -> list[TreePart]:
    """Return the units at a path, or of all items if the path has no list indexes.

    The index of an invented element is that in the prediction; other elements have their index in
    the ground truth.
    """
    exact_matches = [place for place in all_places(root) if place.gt_path == path]
    return exact_matches or [
        place
        for place in all_places(root)
        if tuple(step for step in place.gt_path if isinstance(step, str)) == path
        if not isinstance(place.gt_path[-1], int)
    ]


def title_of(place: TreePart, *, full_path: bool) -> str:
    """Return the name of a unit, as full path or last step, with the partner of a list element.

    An invented element has its index in the prediction, other elements have that in the ground
    truth.
    """
    name = field_path(place.gt_path if full_path else place.gt_path[-1:])
    pairing = place.pairing
    if pairing is None:
        return name
    gt, pred = pairing.ground_truth_index, pairing.prediction_index
    return f"{name} {'invented' if gt is None else 'missed' if pred is None else f'with [{pred}]'}"


def pairing_text(place: TreePart, floor: float) -> str:
    """Explain why a list element is paired or not, by its best other candidate."""
    pairing = place.pairing
    if pairing is None:
        return ""
    other = pairing.runner_up
    if other is None:
        return "" if pairing.paired else "nothing on the other side is similar"
    other_text = f"[{other.index}] at {rate(other.similarity, {floor, place.similarity})}"
    taken_text = "" if other.paired_with is None else f", which goes with [{other.paired_with}]"
    if pairing.paired:
        return f"next best {other_text}{taken_text}"
    if other.similarity <= floor:
        return f"no pair: the best is {other_text}, not above the floor of {setting(floor)}"
    return f"no pair: the best is {other_text}{taken_text}"


def clipping_text(place: TreePart) -> str:
    """Explain why the score of a unit is below its similarity; empty if it is not."""
    if place.score == place.similarity:
        return ""
    if place.score == 0.0 and place.outcome is Outcome.FD:
        return "below its threshold, so it adds nothing"
    return f"values below their thresholds lower its score to {rate(place.score)}"


def sum_text(place: TreePart) -> str:
    """Explain the score of an object or list as a sum; empty for other units."""
    total = place.sum
    if total is None:
        return ""
    if not total.divisor:
        return "nothing to compare: 1"
    divisor_name = {"object": "weight", "list": "items", "tuple": "positions"}[place.kind]
    value = rate(total.value, {place.threshold})
    text = f"sum {setting(total.total)} / {divisor_name} {setting(total.divisor)} = {value}"
    if place.floor is None:
        return text
    source_text = " (annotation)" if place.floor_source == "annotation" else ""
    return f"{text}; items are paired above {setting(place.floor)}{source_text}"


def is_list(place: TreePart) -> bool:
    """Return whether a unit is a list or a tuple."""
    return place.kind in ("list", "tuple")


def is_judged(place: TreePart) -> bool:
    """Return whether a unit has an outcome of its own.

    Documents and lists that are fields have none.
    """
    if is_list(place) and place.parts:
        return bool(place.gt_path) and isinstance(place.gt_path[-1], int)
    return bool(place.gt_path)


def figure_texts(place: TreePart) -> tuple[str, ...]:
    """Return outcome, similarity, threshold, its source, weight and contribution as texts."""
    is_counted = is_judged(place)
    threshold_decides = is_counted and place.outcome not in ONE_SIDED
    return (
        place.outcome.name if is_counted else "",
        rate(place.similarity, {place.threshold}),
        setting(place.threshold) if threshold_decides else "",
        place.threshold_source if threshold_decides else "",
        "" if place.weight is None else setting(place.weight),
        "" if place.adds is None else rate(place.adds),
    )


def differs(place: TreePart) -> bool:
    """Return whether both sides have a value, and the values are not equal."""
    gt, pred = place.own_gt, place.own_pred
    return gt is not None and pred is not None and gt != pred


@dataclass(frozen=True, slots=True)
class TextRun:
    """A run of characters that both texts have, or only one of them."""

    text: str
    side: SidesPresent


def diff_texts(gt: str, pred: str) -> list[TextRun]:
    """Split two texts into runs that both have and runs that only one has.

    >>> [(piece.text, piece.side) for piece in diff_texts("12.50 EUR", "12.80 EUR")]
    [('12.', 'both'), ('5', 'gt'), ('8', 'pred'), ('0 EUR', 'both')]
    """
    runs = [(False, gt, pred)]
    is_short = max(len(gt), len(pred)) <= LONGEST
    if is_short and Levenshtein.normalized_similarity(gt, pred) >= LEAST_ALIKE:
        codes = Levenshtein.opcodes(gt, pred)
        inner_positions = range(1, len(codes) - 1)
        runs = []
        for position, code in enumerate(codes):
            gt_text = gt[code.src_start : code.src_end]
            pred_text = pred[code.dest_start : code.dest_end]
            is_short_run = position in inner_positions and len(gt_text) < SHORTEST_RUN
            runs.append((code.tag == "equal" and not is_short_run, gt_text, pred_text))
    cut_runs: list[TextRun] = []
    for is_equal, group in groupby(runs, key=itemgetter(0)):
        _, gt_texts, pred_texts = zip(*group, strict=True)
        sides: dict[SidesPresent, Iterable[str]] = (
            {"both": gt_texts} if is_equal else {"gt": gt_texts, "pred": pred_texts}
        )
        cut_runs += [TextRun("".join(texts), side) for side, texts in sides.items() if any(texts)]
    return cut_runs


def value_run(value: JsonValue) -> TextRun:
    """Return a value as a single run of JSON text, truncated if it is long."""
    return TextRun(_truncated(_json(value)), "both")


def diff_values(gt: JsonValue, pred: JsonValue) -> list[TextRun]:
    """Split two values, as JSON text, into common and one-sided runs; long runs are shortened."""
    half = EQUAL_RUN // 2
    shortened_runs = []
    for segment in diff_texts(_json(gt), _json(pred)):
        text = segment.text
        if segment.side != "both":
            text = _truncated(text)
        elif len(text) > EQUAL_RUN:
            text = f"{text[:half]}…{text[-half:]}"
        shortened_runs.append(TextRun(text, segment.side))
    return shortened_runs


def _truncated(text: str) -> str:
    return text[:LONGEST_RUN] + "…" if len(text) > LONGEST_RUN else text


def _json(value: JsonValue) -> str:
    if value is None:
        return ""
    try:
        return json.dumps(value, ensure_ascii=False)
    # Nested too deeply, or an integer with more digits than Python prints.
    except (RecursionError, ValueError):
        return brief(value)


def join_with_marks(runs: Iterable[TextRun]) -> str:
    """Join runs into one line, with one-sided runs as `[-ground truth-]` and `{+prediction+}`."""
    return "".join(run.text.join(_MARKS[run.side]) for run in runs)


TITLES: Final = (
    *("field", "outcome", "similarity", "threshold", "from", "weight", "adds"),
    *("gt", "pred", "difference", "why"),
)
_TONES: Final[dict[str, Tone]] = {"gt": "good", "pred": "bad", "both": ""}
_NUMBERS: Final = frozenset(("similarity", "threshold", "weight", "adds"))

_COLUMNS: Final = (
    Column("field", left=True),
    Column("", left=True),
    Column("similarity", 1, short="sim"),
    Column("threshold", 2, short="thr"),
    Column("from", 6, left=True),
    Column("weight", 3),
    Column("adds", 4),
)

LEGEND: Final = (
    "adds: weight x score, or what a pair of items adds; the sum / divisor is the score above it",
    (
        "from: where the threshold is set: an annotation, the match-threshold of the items, or the "
        "default"
    ),
)


def sections_of(pair: ComparedPair, style: TableStyle, *, page: bool) -> list[Section]:
    """Return a comparison as sections: a tree for a terminal, otherwise a row for each unit."""
    score = Text(f"overall score {rate(pair.overall_score)}: {sum_text(pair.root)}")
    if page:
        title = Text(f"### {code(pair.document)} ({code(pair.model_name)})")
        table = place_table(pair)
        columns = [Column(column.title, left=True) for column in table.columns]
        return [Section("", [title, score, Table(columns, table.rows)])]
    head = Section("", [Text(pair.title, "title"), score])
    if style.plain:
        return [head, Section("", [place_table(pair)])]
    places = [
        row_and_details
        for place in pair.chosen
        for row_and_details in _tree(pair, place, style, 0, 0.0)
    ]
    legend = [(text.partition(":")[0], text) for text in LEGEND]
    tree = Table(
        columns=_COLUMNS,
        rows=[row for row, _ in places],
        legend=legend,
        below=[details for _, details in places],
    )
    return [head, Section("", [tree])]


def place_table(pair: ComparedPair) -> Table:
    """Return a table with a row for each shown unit, parents first."""
    columns = [Column(title, left=title not in _NUMBERS) for title in TITLES]
    return Table(columns, [row for place in pair.chosen for row in _place_rows(pair, place, 0.0)])


def notebook_table(pair: ComparedPair) -> Table:
    """Return a narrow table for notebooks, with a row for each shown unit, wrong ones first."""
    columns = [
        Column("field", left=True),
        Column("outcome", left=True),
        Column("similarity"),
        Column("gt", left=True),
        Column("pred", left=True),
    ]
    places = [shown_place for chosen in pair.chosen for shown_place in _shown_places(pair, chosen)]
    places.sort(key=lambda place: not _is_wrong(place))
    rows = []
    for place in places:
        gt, pred = cut_around_difference(*_side_texts(place), NOTEBOOK_LENGTH)
        row = [
            Span.of(field_path(place.gt_path) or WHOLE),
            Span(OUTCOME_WORDS[place.outcome] if is_judged(place) else ""),
            Span(rate(place.similarity, {place.threshold})),
            Span.of(gt),
            Span.of(pred, "bad" if _is_wrong(place) else ""),
        ]
        rows.append(row)
    return Table(columns, rows)


NOTEBOOK_LENGTH: Final = 60  # length of a value: three lines in a notebook
OUTCOME_WORDS: Final = {
    Outcome.TP: "right",
    Outcome.FD: "wrong",
    Outcome.FA: "invented",
    Outcome.FN: "missed",
    Outcome.TN: "absent in both",
}


def _is_wrong(place: TreePart) -> bool:
    return is_judged(place) and place.outcome in ERRORS


def _shown_places(pair: ComparedPair, place: TreePart) -> Iterator[TreePart]:
    """Yield a unit and all shown units inside it."""
    yield place
    for child in pair.select_children(place)[0]:
        yield from _shown_places(pair, child)


def _side_texts(place: TreePart) -> tuple[str, str]:
    """Return both values as text; empty for a side that is absent or has children."""
    gt, pred = place.own_gt, place.own_pred
    return "" if gt is None else value_text(gt), "" if pred is None else value_text(pred)


def _place_rows(pair: ComparedPair, place: TreePart, floor: float) -> Iterator[list[Span]]:
    gt, pred = place.own_gt, place.own_pred
    children, hidden_text = pair.select_children(place)
    value_texts = (
        "" if gt is None else value_text(gt),
        "" if pred is None else value_text(pred),
        join_with_marks(diff_values(gt, pred)) if differs(place) else "",
    )
    explanation = "; ".join(filter(None, (pair.why(place, floor), sum_text(place), hidden_text)))
    yield [
        Span.of(field_path(place.gt_path) or WHOLE),
        *map(Span, figure_texts(place)),
        *(Span.of(text, quoted=bool(text)) for text in value_texts),
        # Quote texts of models, and texts with values or keys of documents.
        Span.of(
            explanation,
            quoted=bool(place.reason or place.other_alternatives or pair.swapped_with(place)),
        ),
    ]
    for child in children:
        yield from _place_rows(pair, child, place.floor or 0.0)


def _tree(
    pair: ComparedPair, place: TreePart, style: TableStyle, depth: int, floor: float
) -> Iterator[tuple[list[Span], list[Text | Line]]]:
    """Yield the row of a unit and the rows of its shown children.

    The sum of an object or list follows its last child.
    """
    children, hidden_text = pair.select_children(place)
    margin = INDENT * (depth + 1)
    details: list[Text | Line] = [*_values(pair, place, style, margin)]
    explanation = pair.why(place, floor)
    details += [Text(explanation, "dim", margin=margin)] if explanation else []
    child_rows = [
        row_and_details
        for child in children
        for row_and_details in _tree(pair, child, style, depth + 1, place.floor or 0.0)
    ]
    last_details = child_rows[-1][1] if child_rows else details
    closing_texts = (hidden_text, sum_text(place) if children else "")
    last_details += [Text(text, "dim", margin=margin) for text in closing_texts if text]
    tone: Tone = "" if place.is_right else "bad" if place.kind == "leaf" else "warn"
    title = title_of(place, full_path=not depth) or WHOLE
    tones: tuple[Tone, ...] = (tone, tone, "dim", "dim", "dim", "")
    yield [Span.of(INDENT * depth + title, tone), *map(Span, figure_texts(place), tones)], details
    yield from child_rows


def _values(pair: ComparedPair, place: TreePart, style: TableStyle, margin: str) -> Iterator[Line]:
    gt, pred = place.own_gt, place.own_pred
    if differs(place):
        runs = diff_values(gt, pred)
        sides = {
            side: [segment for segment in runs if segment.side in (side, "both")]
            for side in ("gt", "pred")
        }
    elif place.outcome is Outcome.TN or (place.is_right and pair.detail != "all"):
        return
    else:
        segment = value_run(pred if gt is None else gt)
        side = "pred" if gt is None else "gt" if pred is None else "both"
        sides = {side: [segment]} if segment.text else {}
    for side, side_pieces in sides.items():
        # Colour shows the differences, or marks if there is no colour.
        texts_and_tones = (
            (text_run.text if style.color else join_with_marks([text_run]), _TONES[text_run.side])
            for text_run in side_pieces
        )
        spans = [Span.of(text, tone) for text, tone in texts_and_tones]
        yield from _flow(f"{margin}{side:<6}", spans, style.width)


def _flow(label: str, spans: Sequence[Span], width: int | None) -> list[Line]:
    """Return spans after a label as lines, wrapped at the width of the terminal."""
    columns = None if width is None else max(width - cells(label), LEAST_TEXT)
    lines: list[list[Span]] = [[Span(label, "dim")]]
    used_columns = 0
    for span in spans:
        text = span.text
        while columns is not None and used_columns + cells(text) > columns:
            n_fitting = sum(
                width <= columns - used_columns for width in accumulate(map(cells, text))
            )
            lines[-1].append(Span(text[:n_fitting], span.tone))
            lines.append([Span(" " * len(label), "dim")])
            text, used_columns = text[n_fitting:], 0
        lines[-1].append(Span(text, span.tone))
        used_columns += cells(text)
    return list(map(tuple, lines))

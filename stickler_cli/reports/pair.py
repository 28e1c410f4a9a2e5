"""Reports on the comparison of one pair of documents, and sentences that explain it.

A unit is a value, list item, list or object that was compared. A terminal shows a tree of units;
pipes, files and Markdown have a row for each unit.
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
from stickler_cli.core.figures import (
    INFERRED_FROM,
    WHOLE,
    cells,
    join_some,
    number_of,
    rate,
    setting,
    value_text,
)
from stickler_cli.core.json_values import JsonValue, brief
from stickler_cli.core.locations import Path, field_path
from stickler_cli.core.sections import INDENT, Column, Line, Section, Span, Table, Text, Tone
from stickler_cli.score.errors.error_classes import ErrorClass
from stickler_cli.score.errors.wrong_units import ClassifiedError
from .compared_values import cut_around_difference
from .layout import LEAST_TEXT, TableStyle
from .markdown import code

ShownDetail: TypeAlias = Literal["errors", "brief", "all"]
"""How much of a comparison is shown.

`errors` shows what is wrong, and the objects and lists around it. `brief` also shows right values,
but nothing inside right objects. `all` shows everything, even values that are absent on both sides.
"""

MANY: Final = 10
"""Lists longer than this are shortened in brief output. Only the number of right elements is shown,
not the elements."""

ONE_SIDED: Final = (Outcome.FN, Outcome.FA)

SHORTEST_RUN: Final = 2
"""Minimum number of equal characters between two marked differences. If there are fewer, both are
marked as one difference, which is easier to read."""

LEAST_ALIKE: Final = 0.3  # edit similarity below which two texts have no marked differences

LONGEST: Final = 5_000
"""Maximum number of characters of a text. In longer texts, differences are not marked. Marking the
differences of two texts of this length takes milliseconds."""

EQUAL_RUN: Final = 40
"""Longest stretch of equal characters that is shown in full. The middle of a longer stretch is left
out."""

LONGEST_RUN: Final = 400  # number of characters of a one-sided run that are shown

SidesPresent: TypeAlias = Literal["both", "gt", "pred"]

_MARKS: Final = {"both": ("", ""), "gt": ("[-", "-]"), "pred": ("{+", "+}")}


Errors: TypeAlias = Mapping[tuple[Path, Outcome], ClassifiedError]


@dataclass(frozen=True, slots=True)
class ComparedPair:
    """An explained comparison of two documents, with its schema and options."""

    schema: str
    """File of the schema, as the user named it; empty if there is no file."""
    model_name: str
    document: str
    """Id of the document; empty if there is none."""
    pairing_floor: float
    extra_fields: str
    root: TreePart
    chosen: Sequence[TreePart]
    """The values or objects to show: the whole document, or those that the user selected."""
    errors: Errors
    """Maps (path, outcome) to the error with this path and outcome."""
    detail: ShownDetail = "brief"
    partial_gt: bool = False

    @property
    def title(self) -> str:
        """Id of the document, name of the schema, and its file.

        The id is left out if there is none. So is the name of an inferred schema.
        """
        schema = self.schema or self.model_name
        if self.model_name not in ("", schema) and not schema.startswith(INFERRED_FROM):
            schema = f"{self.model_name} in {schema}"
        return f"document {self.document} (schema {schema})" if self.document else schema

    @property
    def overall_score(self) -> float:
        """Score of the document, in [0, 1]."""
        return self.root.score

    def why(self, unit: TreePart, floor: float) -> str:
        """Explain the outcome of a unit.

        The text has the error class, the reason of the outcome, and the alternatives that would be
        right, too. If necessary, it explains why the score is not the similarity, and how a list
        element is paired.

        `floor` belongs to the list that contains the unit: elements are paired if their similarity
        is above it.
        """
        error_class, texts = self.class_of(unit), []
        if error_class not in (None, ErrorClass.OTHER):
            texts.append(str(error_class).replace("_", " "))
            if swapped_path := self.swapped_with(unit):
                texts[0] += f": the value of {swapped_path}"
        elif is_list(unit) and not is_judged(unit) and unit.outcome in ONE_SIDED:
            # Each element of a list that one side lacks is an error of its own.
            noun = "missed item" if unit.outcome is Outcome.FN else "invented item"
            texts.append(number_of(len(unit.parts), noun))
        texts.append(unit.reason)
        if unit.other_alternatives:
            texts.append(f"also right: {join_some(map(brief, unit.other_alternatives))}")
        texts.append(clipping_text(unit))
        if self.detail == "all" or not unit.is_right:
            texts.append(pairing_text(unit, floor))
        return "; ".join(filter(None, texts))

    def class_of(self, unit: TreePart) -> ErrorClass | None:
        """Return the error class of a unit.

        Return None if the unit is right, or if an object or item around it already counts as the
        error.
        """
        error = self._error_at(unit)
        return error and error.error_class

    def swapped_with(self, unit: TreePart) -> str:
        """Return the path of another field whose true value was predicted for this unit.

        The text is empty if the predicted value is not the true value of another field.
        """
        error = self._error_at(unit)
        return field_path(error.elsewhere or ()) if error else ""

    def _error_at(self, unit: TreePart) -> ClassifiedError | None:
        path = unit.pred_path if unit.outcome is Outcome.FA else unit.gt_path
        return self.errors.get((path or (), unit.outcome))

    def select_children(self, unit: TreePart) -> tuple[list[TreePart], str]:
        """Return the children of a unit that are shown, and a text that counts the hidden ones."""
        elements = unit.parts
        if self.detail == "all":
            return list(elements), ""
        if unit.outcome in ONE_SIDED or (unit.is_right and unit.gt_path):
            return [], ""
        if self.detail == "errors":
            shown_parts = [element for element in elements if not element.is_right]
        else:
            is_long_list = unit.kind == "list" and len(elements) > MANY
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


def errors_by_location(errors: Iterable[ClassifiedError]) -> Errors:
    """Return a dict from (path, outcome) to the error with this path and outcome."""
    return {(error.unit.path, error.unit.outcome): error for error in errors}


def list_units(root: TreePart) -> Iterator[TreePart]:
    """Yield a unit and all units inside it, parents first."""
    pending_units = [root]
    while pending_units:
        unit = pending_units.pop()
        yield unit
        pending_units += reversed(unit.parts)


def find_units(root: TreePart, path: Path) -> list[TreePart]:
    """Return the units at a path.

    A path without list indexes selects the units in all list items. A list index in a path is the
    index of an element in the ground truth. If only the prediction has the element, it is the index
    of the element in the prediction.
    """
    exact_matches = [unit for unit in list_units(root) if unit.gt_path == path]
    return exact_matches or [
        unit
        for unit in list_units(root)
        if tuple(step for step in unit.gt_path if isinstance(step, str)) == path
        if not isinstance(unit.gt_path[-1], int)
    ]


def title_of(unit: TreePart, *, full_path: bool) -> str:
    """Return the name of a unit: its full path, or only the last step of the path.

    The name of a list element begins with its index in the ground truth, and also says how the
    element is paired, such as `[0] with [2]` or `[1] missed`. If the ground truth does not have the
    element, the name has the index in the prediction, such as `[3] invented`.
    """
    name = field_path(unit.gt_path if full_path else unit.gt_path[-1:])
    pairing = unit.pairing
    if pairing is None:
        return name
    gt, pred = pairing.ground_truth_index, pairing.prediction_index
    return f"{name} {'invented' if gt is None else 'missed' if pred is None else f'with [{pred}]'}"


def pairing_text(unit: TreePart, floor: float) -> str:
    """Explain why a list element is paired or not, and name the next best partner.

    The text is empty for units that are not list elements. Elements are paired if their similarity
    is above `floor`.
    """
    pairing = unit.pairing
    if pairing is None:
        return ""
    other = pairing.runner_up
    if other is None:
        return "" if pairing.paired else "no item on the other side is similar"
    other_text = f"[{other.index}] at {rate(other.similarity, {floor, unit.similarity})}"
    taken_text = "" if other.paired_with is None else f", which goes with [{other.paired_with}]"
    if pairing.paired:
        return f"next best {other_text}{taken_text}"
    if other.similarity <= floor:
        return (
            f"not paired: the best candidate is {other_text}, which is not above the pairing "
            f"floor of {setting(floor)}"
        )
    return f"not paired: the best candidate is {other_text}{taken_text}"


def clipping_text(unit: TreePart) -> str:
    """Explain why the score of a unit is not its similarity.

    The text is empty if both are equal.
    """
    if unit.score == unit.similarity:
        return ""
    if unit.score == 0.0 and unit.outcome is Outcome.FD:
        return "similarity is below the threshold, so the score is 0"
    return f"inner values below their thresholds lower the score to {rate(unit.score)}"


def sum_text(unit: TreePart) -> str:
    """Explain how the score of an object or list is computed, such as `sum 3 / items 4 = 0.75`.

    The text is empty for other units.
    """
    total = unit.sum
    if total is None:
        return ""
    if not total.divisor:
        return "nothing to compare: 1"
    divisor_name = {"object": "weight", "list": "items", "tuple": "positions"}[unit.kind]
    value = rate(total.value, {unit.threshold})
    text = f"sum {setting(total.total)} / {divisor_name} {setting(total.divisor)} = {value}"
    if unit.floor is None:
        return text
    source_text = " (annotation)" if unit.floor_source == "annotation" else ""
    floor = f"{setting(unit.floor)}{source_text}"
    return f"{text}; items are paired if their similarity is above {floor}"


def is_list(unit: TreePart) -> bool:
    """Return whether a unit is a list or a tuple."""
    return unit.kind in ("list", "tuple")


def is_judged(unit: TreePart) -> bool:
    """Return whether a unit has an outcome of its own.

    The whole document has no outcome. A list with elements has no outcome either, because each of
    its elements has an outcome. But if the list is itself an element of another list, it does have
    an outcome.
    """
    if is_list(unit) and unit.parts:
        return bool(unit.gt_path) and isinstance(unit.gt_path[-1], int)
    return bool(unit.gt_path)


def figure_texts(unit: TreePart) -> tuple[str, ...]:
    """Return the figures of a unit as texts. The text of a missing figure is empty.

    The figures are outcome, similarity, threshold, source of the threshold, weight and
    contribution.
    """
    is_counted = is_judged(unit)
    threshold_decides = is_counted and unit.outcome not in ONE_SIDED
    return (
        unit.outcome.name if is_counted else "",
        rate(unit.similarity, {unit.threshold}),
        setting(unit.threshold) if threshold_decides else "",
        unit.threshold_source if threshold_decides else "",
        "" if unit.weight is None else setting(unit.weight),
        "" if unit.adds is None else rate(unit.adds),
    )


def differs(unit: TreePart) -> bool:
    """Return whether both sides have a value, and the values are not equal."""
    gt, pred = unit.own_gt, unit.own_pred
    return gt is not None and pred is not None and gt != pred


@dataclass(frozen=True, slots=True)
class TextRun:
    """A stretch of characters that is in both texts, or in only one of them."""

    text: str
    side: SidesPresent


def diff_texts(gt: str, pred: str) -> list[TextRun]:
    """Split two texts into stretches that both have and stretches that only one of them has.

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
    """Return a value as a single stretch of JSON text, truncated if it is long."""
    return TextRun(_truncate(_to_json(value)), "both")


def diff_values(gt: JsonValue, pred: JsonValue) -> list[TextRun]:
    """Compare two values as JSON text.

    Return stretches that are equal, or that only one value has.

    Long stretches are shortened.
    """
    half = EQUAL_RUN // 2
    shortened_runs = []
    for segment in diff_texts(_to_json(gt), _to_json(pred)):
        text = segment.text
        if segment.side != "both":
            text = _truncate(text)
        elif len(text) > EQUAL_RUN:
            text = f"{text[:half]}…{text[-half:]}"
        shortened_runs.append(TextRun(text, segment.side))
    return shortened_runs


def _truncate(text: str) -> str:
    return text[:LONGEST_RUN] + "…" if len(text) > LONGEST_RUN else text


def _to_json(value: JsonValue) -> str:
    if value is None:
        return ""
    try:
        return json.dumps(value, ensure_ascii=False)
    # Nested too deeply, or an integer with more digits than Python prints.
    except (RecursionError, ValueError):
        return brief(value)


def join_with_marks(runs: Iterable[TextRun]) -> str:
    """Return stretches of text as one line.

    What only the ground truth has is written as `[-text-]`, and what only the prediction has as
    `{+text+}`.
    """
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
    (
        "adds: weight x score; the score of an object or list is the sum of these numbers, divided "
        "by the divisor"
    ),
    (
        "from: where the threshold comes from (an annotation in the schema, the match-threshold "
        "of the list items, or the default)"
    ),
)


def sections_of(pair: ComparedPair, style: TableStyle, *, page: bool) -> list[Section]:
    """Return a comparison as sections. A terminal gets a tree, everything else gets a table.

    A row of the table is a unit: a compared value, list item, list or object.
    """
    score = Text(f"overall score {rate(pair.overall_score)}: {sum_text(pair.root)}")
    if page:
        title = Text(f"### {code(pair.document)} ({code(pair.model_name)})")
        table = unit_table(pair)
        columns = [Column(column.title, left=True) for column in table.columns]
        return [Section("", [title, score, Table(columns, table.rows)])]
    head = Section("", [Text(pair.title, "title"), score])
    if style.plain:
        return [head, Section("", [unit_table(pair)])]
    rows_and_details = [
        row_and_details
        for unit in pair.chosen
        for row_and_details in _make_tree_rows(pair, unit, style, 0, 0.0)
    ]
    legend = [(text.partition(":")[0], text) for text in LEGEND]
    tree = Table(
        columns=_COLUMNS,
        rows=[row for row, _ in rows_and_details],
        legend=legend,
        below=[details for _, details in rows_and_details],
    )
    return [head, Section("", [tree])]


def unit_table(pair: ComparedPair) -> Table:
    """Return a table with a row for each shown value, item or object, parents first."""
    columns = [Column(title, left=title not in _NUMBERS) for title in TITLES]
    return Table(columns, [row for unit in pair.chosen for row in _unit_rows(pair, unit, 0.0)])


def notebook_table(pair: ComparedPair) -> Table:
    """Return a narrow table for notebooks, with a row for each shown value, item or object.

    Wrong rows come first.
    """
    columns = [
        Column("field", left=True),
        Column("outcome", left=True),
        Column("similarity"),
        Column("gt", left=True),
        Column("pred", left=True),
    ]
    units = [unit for chosen in pair.chosen for unit in _list_shown_units(pair, chosen)]
    units.sort(key=lambda unit: not _is_wrong(unit))
    rows = []
    for unit in units:
        gt, pred = cut_around_difference(*_side_texts(unit), NOTEBOOK_LENGTH)
        row = [
            Span.of(field_path(unit.gt_path) or WHOLE),
            Span(OUTCOME_WORDS[unit.outcome] if is_judged(unit) else ""),
            Span(rate(unit.similarity, {unit.threshold})),
            Span.of(gt),
            Span.of(pred, "bad" if _is_wrong(unit) else ""),
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


def _is_wrong(unit: TreePart) -> bool:
    return is_judged(unit) and unit.outcome in ERRORS


def _list_shown_units(pair: ComparedPair, unit: TreePart) -> Iterator[TreePart]:
    """Yield a unit and all units inside it that are shown."""
    yield unit
    for child in pair.select_children(unit)[0]:
        yield from _list_shown_units(pair, child)


def _side_texts(unit: TreePart) -> tuple[str, str]:
    """Return the true and the predicted value of a unit as text.

    The text is empty if the value is absent, or if the children of the unit are shown in its place.
    """
    gt, pred = unit.own_gt, unit.own_pred
    return "" if gt is None else value_text(gt), "" if pred is None else value_text(pred)


def _unit_rows(pair: ComparedPair, unit: TreePart, floor: float) -> Iterator[list[Span]]:
    gt, pred = unit.own_gt, unit.own_pred
    children, hidden_text = pair.select_children(unit)
    value_texts = (
        "" if gt is None else value_text(gt),
        "" if pred is None else value_text(pred),
        join_with_marks(diff_values(gt, pred)) if differs(unit) else "",
    )
    explanation = "; ".join(filter(None, (pair.why(unit, floor), sum_text(unit), hidden_text)))
    yield [
        Span.of(field_path(unit.gt_path) or WHOLE),
        *map(Span, figure_texts(unit)),
        *(Span.of(text, quoted=bool(text)) for text in value_texts),
        # Quote texts of models, and texts with values or keys of documents.
        Span.of(
            explanation,
            quoted=bool(unit.reason or unit.other_alternatives or pair.swapped_with(unit)),
        ),
    ]
    for child in children:
        yield from _unit_rows(pair, child, unit.floor or 0.0)


def _make_tree_rows(
    pair: ComparedPair, unit: TreePart, style: TableStyle, depth: int, floor: float
) -> Iterator[tuple[list[Span], list[Text | Line]]]:
    """Yield a unit and its shown children as rows of the tree.

    Each row comes with its lines of details.

    The score of an object or list is explained in a line after its last child. If the unit is a
    list element, `floor` is the similarity above which elements of this list are paired.
    """
    children, hidden_text = pair.select_children(unit)
    margin = INDENT * (depth + 1)
    details: list[Text | Line] = [*_make_value_lines(pair, unit, style, margin)]
    explanation = pair.why(unit, floor)
    details += [Text(explanation, "dim", margin=margin)] if explanation else []
    child_rows = [
        row_and_details
        for child in children
        for row_and_details in _make_tree_rows(pair, child, style, depth + 1, unit.floor or 0.0)
    ]
    last_details = child_rows[-1][1] if child_rows else details
    closing_texts = (hidden_text, sum_text(unit) if children else "")
    last_details += [Text(text, "dim", margin=margin) for text in closing_texts if text]
    tone: Tone = "" if unit.is_right else "bad" if unit.kind == "leaf" else "warn"
    title = title_of(unit, full_path=not depth) or WHOLE
    tones: tuple[Tone, ...] = (tone, tone, "dim", "dim", "dim", "")
    yield [Span.of(INDENT * depth + title, tone), *map(Span, figure_texts(unit), tones)], details
    yield from child_rows


def _make_value_lines(
    pair: ComparedPair, unit: TreePart, style: TableStyle, margin: str
) -> Iterator[Line]:
    gt, pred = unit.own_gt, unit.own_pred
    if differs(unit):
        runs = diff_values(gt, pred)
        sides = {
            side: [segment for segment in runs if segment.side in (side, "both")]
            for side in ("gt", "pred")
        }
    elif unit.outcome is Outcome.TN or (unit.is_right and pair.detail != "all"):
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
        yield from _wrap_spans(f"{margin}{side:<6}", spans, style.width)


def _wrap_spans(label: str, spans: Sequence[Span], width: int | None) -> list[Line]:
    """Break a label and spans into lines of at most `width` columns.

    With None, there is one line.
    """
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

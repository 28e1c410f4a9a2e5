"""Choose the columns with ids and documents in a table. The rules are the same for all formats."""

from collections.abc import Collection, Mapping, Sequence
from typing import Final, NamedTuple

from stickler_cli.core.figures import join_some
from stickler_cli.core.json_values import brief
from stickler_cli.core.problems import Problem, UsageError, did_you_mean
from .document import Reference, Side
from .roots import Steps, parse_root

ID: Final = "id"
SIDES: Final[Mapping[Side, tuple[str, ...]]] = {
    "gt": (
        "gt",
        "ground_truth",
        "expected",
        "expected_output",
        "reference",
        "target",
        "label",
    ),
    "pred": ("pred", "prediction", "output", "actual", "actual_output", "response"),
}
"""For each side, the usual names of the column with its documents. If a table has several of these
columns, the first one is used."""
ANY_SIDE: Final = "document"  # name of the column in a table with documents of one side only
_TITLES: Final[Mapping[Side, str]] = {"gt": "ground truth", "pred": "prediction"}


class TableColumns(NamedTuple):
    """The names of columns that the user gave. A name is None if the user did not give it."""

    id: str | None = None
    gt: str | None = None
    """Name of the column with ground truths, or a dotted path to ground truths inside a column."""
    pred: str | None = None

    def column_of(self, side: Side) -> str | None:
        """Return the name that the user gave for the column of a side, or None."""
        return self.gt if side == "gt" else self.pred


USUAL_COLUMNS: Final = TableColumns()


class LineColumns:
    """The columns with the documents of each side in a file of lines, chosen once for the file.

    In CSV and TSV, the columns are chosen from the header. In JSON Lines, they are chosen from the
    first row that has a column for a side. If another column would be chosen for a later row, this
    is a problem.
    """

    def __init__(
        self, sides: Sequence[Side], columns: TableColumns, *, has_header: bool = False
    ) -> None:
        self._sides, self._stated = sides, columns
        self._header_is_due = has_header
        self._usual_columns: dict[Side, tuple[str, int | None]] = {}
        """Maps each side to a pair: the name of the chosen column, and the line number of the row
        from which the column was chosen."""

    def column_of(self, side: Side) -> str | None:
        """Return the column of a side; None if no row so far has a column for this side."""
        return self._stated.column_of(side) or self._usual_columns.get(side, (None, None))[0]

    def check_row(self, names: Collection[str], row: Reference) -> Problem | None:
        """Return a problem if a row does not have the columns of the file.

        Raises:
            UsageError: the header has no column for a side.
        """
        if self._header_is_due:
            self._header_is_due = False
            _check_header([*names], self._sides, self._stated, row.source)
        if (
            self._stated.gt is None
            and self._stated.pred is None
            and not any(usual_columns(names, side) for side in SIDES)
        ):
            return _no_column(names, row)
        for side in self._sides:
            candidates = [] if self._stated.column_of(side) else usual_columns(names, side)
            if not candidates:
                continue
            column, first_row = self._usual_columns.setdefault(side, (candidates[0], row.line))
            if candidates[0] != column:
                return Problem(
                    source=row.source,
                    found=f"this row has its {_TITLES[side]} in the column '{candidates[0]}', but "
                    f"row {first_row} has it in the column '{column}'",
                    expected="the same columns in each row",
                    hint=f"give one column with --{side}-column",
                    line=row.line,
                )
        return None


def notes_on_columns(names: Collection[str], columns: TableColumns, source: str) -> list[Problem]:
    """Return a note for each side whose documents could be in several columns of a table.

    There is no note for a side if the user named its column.
    """
    notes = []
    for side in SIDES:
        candidates = usual_columns(names, side)
        if len(candidates) > 1 and columns.column_of(side) is None:
            names_text = " and ".join(f"'{name}'" for name in candidates)
            finding = f"the columns {names_text} could contain the {_TITLES[side]}"
            hint = f"'{candidates[0]}' is used; to use another column, give --{side}-column"
            notes.append(Problem(source=source, found=finding, expected="", hint=hint))
    return notes


def usual_columns(names: Collection[str], side: Side) -> list[str]:
    """Return the columns of a table whose names are usual for the documents of a side.

    If there are several, the first one is used.
    """
    return [name for name in SIDES[side] if name in names]


def _check_header(
    names: Sequence[str], sides: Sequence[Side], columns: TableColumns, source: str
) -> None:
    for side in sides:
        if stated_column(names, side, columns, source) is None:
            side_column(names, side, columns.id or ID, source, is_only_side=False)


def _no_column(names: Collection[str], row: Reference) -> Problem:
    expected = f"one of {', '.join(name for side in SIDES.values() for name in side)}"
    hint = (
        f"give the right columns with --gt-column and --pred-column; this table has the columns "
        f"{join_some(names)}"
    )
    return Problem(
        source=row.source,
        found="the row has no column for the ground truth or the prediction",
        expected=expected,
        hint=hint,
        line=row.line,
    )


def choose_id_column(
    names: Sequence[str], stated: str | None, source: str, *, needed: bool
) -> str | None:
    """Return the name of the column with ids.

    `stated` is the name that the user gave, or None for `id`. If the table does not have this
    column, the result is None, unless `needed` is true.

    Raises:
        UsageError: there is no such column, but one is needed.
    """
    name = stated or ID
    if name in names:
        return name
    if not needed:
        return None
    hint = f"the columns are {join_some(names)}"
    raise UsageError(
        [
            Problem(
                source=source,
                found=f"there is no column {brief(name)}",
                expected="a column with the ids",
                hint=hint,
            )
        ]
    )


def stated_column(
    names: Sequence[str], side: Side, columns: TableColumns, source: str
) -> tuple[str, Steps] | None:
    """Return (column, path of the document inside its cells) as the user gave them for a side.

    The path is empty if each cell is a document. The result is None if the user named no column.

    Raises:
        UsageError: the table does not have this column.
    """
    stated = columns.column_of(side)
    if stated is None:
        return None
    first, *steps = (stated,) if stated in names else parse_root(stated)
    if first not in names:
        hint = did_you_mean(first, names) or f"the columns are {join_some(names)}"
        finding = f"the table has no column {brief(first)}, which --{side}-column names"
        raise UsageError(
            [
                Problem(
                    source=source,
                    found=finding,
                    expected="the name of a column of the table",
                    hint=hint,
                )
            ]
        )
    return first, tuple(steps)


def side_column(
    names: Sequence[str], side: Side, ids: str | None, source: str, *, is_only_side: bool
) -> str:
    """Return the name of the column with the documents of a side."""
    usual_names: list[str] = [*SIDES[side], *([ANY_SIDE] if is_only_side else ())]
    for name in usual_names:
        if name in names:
            return name
    other_columns: list[str] = [name for name in names if name != ids]
    if is_only_side and len(other_columns) == 1:
        return other_columns[0]
    hint = (
        f"give the right column with --{side}-column; this table has the columns {join_some(names)}"
    )
    finding = f"no column contains the documents of {side.upper()}"
    raise UsageError(
        [
            Problem(
                source=source, found=finding, expected=f"one of {', '.join(usual_names)}", hint=hint
            )
        ]
    )

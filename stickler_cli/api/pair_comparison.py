"""`PairComparison`: what `comparison` returns, which can tell a person how it came about."""

from html import escape

from stickler_cli.compare.account import Account
from stickler_cli.compare.comparison import Comparison
from stickler_cli.compare.engine import compare
from stickler_cli.compare.explaining import explain
from stickler_cli.compare.plan import USUAL, Options, Plan
from stickler_cli.core.figures import rate, visible
from stickler_cli.core.json_values import JsonDocument, JsonValue
from stickler_cli.core.values import dataclass
from stickler_cli.reports.layout import TableStyle
from stickler_cli.reports.pair import ComparedPair, Detail, error_classes, sum_text
from stickler_cli.reports.pair_table import place_table, render_pair
from stickler_cli.runs.limits import room_for_depth
from stickler_cli.score.batch import batch_of
from .notebook_tables import Head, Row, html_table


@dataclass(frozen=True, slots=True, eq=False)
class PairComparison(Comparison):
    """A document compared with its ground truth."""

    model_name: str
    """What the schema calls its documents."""
    options: Options
    """What it was compared under."""

    __repr__ = Comparison.__repr__

    def explain(self, detail: Detail = "brief", width: int | None = None) -> str:
        """Return what `stickler compare` prints in a terminal: how the score came about.

        Args:
            detail: `brief`; `errors` as with `--only-errors`; `all` as with `--all`.
            width: the columns that lines may take, above 0; None for as many as they take.

        Raises:
            ComparisonError: a comparator failed on a pair of list elements that was not chosen.
        """
        return render_pair(self._explained(detail), TableStyle(width, plain=False)).rstrip("\n")

    def _explained(self, detail: Detail) -> ComparedPair:
        with room_for_depth():
            root = explain(self.account, self.options)
        return ComparedPair(
            schema="",
            model_name=self.model_name,
            document="",
            pairing_floor=self.options.pairing_floor,
            extra_fields=self.options.extra_fields,
            root=root,
            chosen=[root],
            classes=error_classes(batch_of(self).wrong_units(0)),
            detail=detail,
        )

    def _repr_html_(self) -> str:
        """Return the score, and a table with a row for each place that `explain` shows."""
        pair = self._explained("brief")
        score = f"overall score {rate(self.similarity)}: {sum_text(pair.root)}"
        table = place_table(pair)
        first, *others = table.columns
        cells = [[f"<bdi>{escape(cell.text)}</bdi>" for cell in row] for row in table.rows]
        return html_table(
            [escape(f"{visible(self.model_name)}, {score}")],
            first.title,
            [Head(column.title, left=column.left) for column in others],
            [Row(name, others) for name, *others in cells],
            "explain() gives every place.",
        )


def compared(
    plan: Plan,
    gt: JsonDocument,
    pred: JsonDocument,
    options: Options | None = None,
    confidences: JsonValue = None,
) -> PairComparison:
    """Return the comparison of one document; `confidences` are those of the prediction.

    Raises:
        ComparisonError: a comparator failed on a pair of values.
    """
    options = options or USUAL
    return pair_of(compare(plan, [gt], [pred], options, [confidences]), 0, plan, options)


def pair_of(account: Account, document: int, plan: Plan, options: Options) -> PairComparison:
    """Return the comparison of one of the documents of an account."""
    return PairComparison(*account.innermost(document), plan.model_name, options)

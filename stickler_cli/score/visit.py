"""What a walk through an account meets: fields, pairs of one place, and where each pair is."""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from stickler_cli.compare.account import (
    Account,
    BlockAccount,
    Floats,
    ListAccount,
    MismatchAccount,
    Outcomes,
    SplitAccount,
    Units,
    both_sides,
)
from stickler_cli.compare.columns import NOTHING, Indexes, Mask
from stickler_cli.compare.result import BOTH_SIDES, FA, TP
from stickler_cli.core.json_values import Alternative
from stickler_cli.core.locations import ANY_KEY, Path, Step

Weight: TypeAlias = "float | Floats"  # what a field is worth: one number, or one for each pair
Order: TypeAlias = tuple[int, ...]  # of the pairs of a document: in schema order, parents first


class FieldRows(NamedTuple):
    """Fields next to each other in objects of one place, each with as many rows as they have."""

    paths: "tuple[tuple[str, ...], ...]"
    """Names, without list indexes."""
    start: int
    """The position of the first row among those of all fields; one field comes after the other."""
    documents: Indexes
    """The document of each row of a field."""
    around: "FieldRows | None" = None
    """The one field that the objects are the values of."""
    up: Indexes | None = None
    """Which row of the field around it each row is in; None where it has the same."""
    counted: bool = True
    """Whether `aggregate` of the field around it includes them."""
    of_document: bool = False
    """Whether they are fields of whole documents, whose `overall` sums those of their fields."""

    @property
    def path(self) -> "tuple[str, ...]":
        """The path of the field, where it is one."""
        return self.paths[0]

    def one(self, at: int) -> "FieldRows":
        """Return one of the fields."""
        start = self.start + at * len(self.documents)
        return self._replace(paths=(self.paths[at],), start=start)


class Below(NamedTuple):
    """The fields of the objects of one place."""

    rows: "list[tuple[int, FieldRows]]"
    """In their order, beside the position of the first; such as only some objects count twice."""
    singles: "dict[int, Visit]"
    """Of a block of leaves, the visits of single fields that were asked for."""
    mixed: frozenset[int]
    """The positions of fields that some objects count and others do not."""

    def field(self, position: int, *, counted: bool | None = None) -> FieldRows:
        """Return the field at a position; where some objects count it only, by whether they do."""
        return next(
            rows.one(position - first)
            for first, rows in self.rows
            if counted in {None, rows.counted} and 0 <= position - first < len(rows.paths)
        )


class Inside(NamedTuple):
    """What failed as a whole, so that nothing in it is judged: a list item, or what one side lacks.

    Of several in each other, the innermost that both sides have, else the outermost of the others.
    """

    path: Path
    """Where it is: in the prediction if only that has it, else in the ground truth."""
    one_sided: bool
    """Whether all values in it are missed or invented."""


class Visit(NamedTuple):
    """Pairs of one place: values of a field, elements of lists, or what is gone into of these."""

    field: FieldRows
    account: Account
    """Of the pairs, and maybe of others; a `SplitAccount` of documents of several schemas only."""
    at: Indexes
    """The positions of the pairs in the account, (n,)."""
    rows: Indexes
    """The row of the field that each counts in, among those of all fields, (n,)."""
    live: Mask | None
    """Which pairs are judged, being behind no gate that is shut, (n,); None for all."""
    alone: Mask | None
    """Which pairs are in an object or list item that one side lacks, (n,); None for none."""
    around: "Visit | None" = None
    """None for documents."""
    of: Indexes | None = None
    """Which pair around it each is in, (n,); None where they are the same."""
    order: Any = None
    """The place among the parts of the pair around it, an int or (n,); of elements, which of the
    units each is; None of what is gone into."""
    weight: Weight = 1.0
    """What its field is worth in its object."""
    units: Units | None = None
    """Of elements, the units of their lists."""
    below: Below | None = None
    """Of a block of leaves, as many pairs of each, the fields of the objects; then `field` is that
    of these."""

    @property
    def width(self) -> int:
        """How many fields it is of."""
        account = self.account
        return len(account.block.positions) if isinstance(account, BlockAccount) else 1

    def leaves(self, pairs: Indexes) -> Indexes:
        """Return which of the fields pairs are of."""
        return pairs // (len(self.at) // self.width)

    def single(self, row: int) -> "Visit":
        """Return the visit of one of the fields."""
        account, below = self.account, self.below
        if below is None or not isinstance(account, BlockAccount):
            return self
        if (found := below.singles.get(row)) is None:
            pairs, size = len(self.at) // self.width, len(account) // self.width
            mine = slice(row * pairs, (row + 1) * pairs)
            live = None if self.live is None else self.live[mine]
            alone = None if self.alone is None else self.alone[mine]
            one, order = account.field(row), account.block.positions[row]
            at, rows, weight = self.at[mine] - row * size, self.rows[mine], one.node.weight
            part = rows, live, alone, self.around, None, order, weight
            below.singles[row] = found = Visit(below.field(order), one, at, *part)
        return found

    def each(self) -> "Iterator[Visit]":
        """Return the visits of all fields."""
        return map(self.single, range(self.width))

    @property
    def pattern(self) -> tuple[str, ...]:
        """The path of its field without list indexes; `*` for a key that only documents name."""
        names: list[str] = []
        visit: Visit | None = self
        while visit is not None:
            if visit.order is not None and visit.units is None and not visit.is_side:
                names.append(visit.field.path[-1] if isinstance(visit.order, int) else ANY_KEY)
            visit = visit.around
        return tuple(reversed(names))

    @property
    def is_document(self) -> bool:
        """Whether its pairs are whole documents."""
        return self.around is None or isinstance(self.around.account, SplitAccount)

    @property
    def is_side(self) -> bool:
        """Whether it is one side of values of different kinds, at their place."""
        return self.around is not None and isinstance(self.around.account, MismatchAccount)

    @property
    def listed(self) -> bool:
        """Whether it is in a list."""
        return self.units is not None or (self.around is not None and self.around.listed)

    @property
    def outcome(self) -> Outcomes:
        """The class of each pair as one unit."""
        of_all = self.account.outcome if self.units is None else self.units.outcome
        return of_all[self.at if self.units is None else self.order]

    @property
    def documents(self) -> Indexes:
        """The document of each pair."""
        if self.below is not None and self.around is not None:
            return self.around.documents[self.of]
        return self.field.documents[self.rows - self.field.start]

    @property
    def closed(self) -> Mask:
        """Which pairs of objects or lists are wrong as a whole, and nothing in them judged."""
        if self.units is not None:
            wrong: Mask = self.outcome != TP
            return wrong
        if isinstance(self.account, MismatchAccount):
            return np.ones(len(self.at), np.bool_)
        is_list = isinstance(self.account, ListAccount)
        return np.zeros(len(self.at), np.bool_) if is_list else ~both_sides(self.outcome)

    @property
    def alone_inside(self) -> Mask:
        """Of each pair, whether what is in it is in an object or list item that one side lacks."""
        lacking = self.closed & ~both_sides(self.outcome)
        return lacking if self.alone is None else lacking | self.alone

    @property
    def similarity(self) -> Floats:
        """The similarity of each pair, which its threshold judges."""
        return self.account.similarity[self.at]

    def some(self, which: Indexes, account: Account, at: Indexes) -> "Visit":
        """Return some of the pairs, by their positions in an account of their own."""
        live = None if self.live is None else self.live[which]
        alone = None if self.alone is None else self.alone[which]
        of = which if self.of is None else self.of[which]
        order = self.order[which] if isinstance(self.order, np.ndarray) else self.order
        part = self.rows[which], live, alone, self.around, of, order
        return Visit(self.field, account, at, *part, worth_at(self.weight, which), self.units)

    def place(self, pair: int) -> "Place":
        """Return where a pair is."""
        return self.places(np.array([pair]))[0]

    def places(self, pairs: Indexes) -> "list[Place]":
        """Return where pairs are."""
        levels, owner = [], pairs
        visit: Visit | None = self
        while visit is not None:
            if visit.order is not None:
                levels.append((visit, owner))
            owner = owner if visit.of is None else visit.of[owner]
            visit = visit.around
        levels.reverse()
        nothing: list[Any] = [()] * len(pairs)
        orders = [*zip(*[visit.orders(at) for visit, at in levels], strict=True)] or nothing
        steps = [visit.steps(at) for visit, at in levels if not visit.is_side]
        gts = [*zip(*[gt for gt, _ in steps], strict=True)] or nothing
        preds = [*zip(*[pred for _, pred in steps], strict=True)] or nothing
        inside: list[Inside | None] = [None] * len(pairs)
        if self.live is not None:
            for which in (~self.live[pairs]).nonzero()[0].tolist():
                inside[which] = self._inside(levels, which, gts[which], preds[which])
        paths = map(_path, gts), map(_path, preds)
        return [*map(Place, owner.tolist(), orders, *paths, inside)]

    def _inside(
        self, levels: "list[tuple[Visit, Indexes]]", which: int, gt: Path, pred: Path
    ) -> Inside | None:
        """Return what one of some pairs is inside of."""
        inside: Inside | None = None
        depth = 0
        for visit, at in levels:
            depth += not visit.is_side
            if visit is not self and not (inside and inside.one_sided):
                inside = visit.shut(int(at[which]), gt[:depth], pred[:depth]) or inside
        return inside

    def shut(self, pair: int, gt: Path, pred: Path) -> Inside | None:
        """Return a pair at some place as what others are inside of; None where it is judged."""
        if isinstance(self.account, SplitAccount):
            return None
        if isinstance(self.account, MismatchAccount):
            return Inside(_path(gt) or (), one_sided=True)
        outcome = (
            self.account.outcome[self.at[pair]]
            if self.units is None
            else self.units.outcome[self.order[pair]]
        )
        if outcome in BOTH_SIDES:
            is_open = self.units is None or outcome == TP
            return None if is_open else Inside(_path(gt) or (), one_sided=False)
        is_list = self.units is None and isinstance(self.account, ListAccount)
        return (
            None if is_list else Inside(_path(pred if outcome == FA else gt) or (), one_sided=True)
        )

    def alternatives(self, pair: int) -> "Iterator[tuple[int, Alternative]]":
        """Yield the alternatives that a pair is or is inside of, and the lengths of their paths."""
        visit: Visit | None = self
        while visit is not None:
            slot, known = int(visit.account.gt[visit.at[pair]]), visit.account.columns.gold
            each, taken = ((), 0) if known is None or slot < 0 else known.alternatives(slot)
            is_place = visit.around is None or visit.order is not None
            if each and is_place and not visit.is_side:
                yield len(visit.place(pair).gt_path or ()), each[taken]
            pair = pair if visit.of is None else int(visit.of[pair])
            visit = visit.around

    def orders(self, pairs: Indexes) -> list[int]:
        """Return the place of each pair among the parts of the pair around it."""
        if isinstance(self.order, int):
            return [self.order] * len(pairs)
        found: list[int] = self.order[pairs].tolist()
        return found

    def steps(self, pairs: Indexes) -> tuple[list[Step], list[Step]]:
        """Return the last steps of the paths of pairs, `NOTHING` where a side is absent."""
        if self.units is None:
            block = self.account.block.names if isinstance(self.account, BlockAccount) else None
            names: list[Step] = (
                [self.field.path[-1]] * len(pairs)
                if block is None
                else [block[leaf] for leaf in self.leaves(pairs).tolist()]
            )
            return names, names
        elements = self.order[pairs]
        return self.units.gt_place[elements].tolist(), self.units.pred_place[elements].tolist()


def singles(visits: Iterable[Visit]) -> Iterator[Visit]:
    """Return visits of single fields."""
    return (one for visit in visits for one in visit.each())


def _path(steps: Path) -> Path | None:
    """Return the path that steps make; None if one of them is absent."""
    return None if NOTHING in steps else steps


class Place(NamedTuple):
    """Where a pair is."""

    document: int
    order: Order
    gt_path: Path | None
    """Where the ground truth is, or would be; None in an invented list element."""
    pred_path: Path | None
    """Where the prediction is, or would be; None in a missed list element."""
    inside: Inside | None
    """None where the pair is judged."""


def worth_at(weight: Weight, at: Indexes) -> Weight:
    """Return the worth of a field for some of the pairs."""
    return weight[at] if isinstance(weight, np.ndarray) else weight

"""The unit table of an account: the step between nodes that account for pairs and its readers."""

from typing import Any

import numpy as np

from .account import (
    Account,
    BlockAccount,
    EntryAccount,
    ListAccount,
    MismatchAccount,
    ObjectAccount,
    SplitAccount,
    UnlabelledAccount,
    children,
    local_positions,
)
from .columns import NOTHING, Indexes, present
from .result import NOT_EVALUATED, TN
from .units import (
    LIST,
    MISMATCH,
    OBJECT,
    SCHEMAS,
    UNLABELLED,
    VALUE,
    Placement,
    UnitBatch,
    UnitTable,
)


def units_of(account: Account, documents: Indexes) -> UnitTable:
    """Record the units of documents, which are pairs of an account."""
    table = UnitTable(len(documents))
    rows = np.arange(len(documents))
    place = Placement(container=None, positions=rows, document=rows, field=0)
    _Recorder(table).record_documents(account, documents, place)
    return table


class _Recorder:
    def __init__(self, table: UnitTable) -> None:
        self.table = table

    def record_documents(self, account: Account, pairs: Indexes, place: Placement) -> None:
        """Record whole documents, which have no outcome of their own."""
        if isinstance(account, SplitAccount):
            if any(part.step for part in account.parts):
                self.record_schemas(account, pairs, place)
                return
            for part, selected, inner in account.parts_at(pairs):
                self.record_documents(part.account, inner, place.among(selected))
            return
        if not isinstance(account, ObjectAccount | ListAccount):
            self.record(account, pairs, place)
            return
        kind = OBJECT if isinstance(account, ObjectAccount) else LIST
        batch = self.add(kind, account, pairs, place)
        if isinstance(account, ObjectAccount):
            batch.outcome = np.full(len(pairs), NOT_EVALUATED, np.int8)
            self.record_fields(account, pairs, batch)
        else:
            batch.outcome = np.where(account.outcome[pairs] == TN, TN, NOT_EVALUATED)
            self.record_items(account, pairs, batch)

    def record_schemas(self, account: SplitAccount, pairs: Indexes, place: Placement) -> None:
        """Record documents of several schemas, each below the name of its schema."""
        batch = self.table.add(SCHEMAS, account.node, account.columns, place)
        batch.outcome = np.full(len(pairs), NOT_EVALUATED, np.int8)
        batch.similarity = batch.score = account.score[pairs]
        batch.gt_slot, batch.pred_slot = account.gt[pairs], account.pred[pairs]
        fields = self.table.fields
        for part, selected, inner in account.parts_at(pairs):
            number = fields.number(0, part.step)
            below = Placement(batch, selected, place.document[selected], number)
            self.record_documents(part.account, inner, below)

    def record(self, account: Account, pairs: Indexes, place: Placement) -> None:
        """Record pairs of one place, and everything inside them."""
        if isinstance(account, SplitAccount):
            for part, selected, inner in account.parts_at(pairs):
                self.record(part.account, inner, place.among(selected))
        elif isinstance(account, ObjectAccount):
            batch = self.add(OBJECT, account, pairs, place)
            self.record_fields(account, pairs, batch)
        elif isinstance(account, ListAccount):
            batch = self.add(LIST, account, pairs, place)
            self.record_items(account, pairs, batch)
        elif isinstance(account, MismatchAccount):
            batch = self.add(MISMATCH, account, pairs, place)
            side = Placement(batch, np.arange(batch.size), place.document, place.field)
            self.record(account.missed, pairs, side)
            self.record(account.invented, pairs, side)
        elif isinstance(account, UnlabelledAccount):
            self.add(UNLABELLED, account, pairs, place)
        else:
            self.add(VALUE, account, pairs, place)

    def add(self, kind: int, account: Account, pairs: Indexes, place: Placement) -> UnitBatch:
        """Add one row for each pair, with what the account says of it."""
        batch = self.table.add(kind, account.node, account.columns, place)
        batch.gt_slot, batch.pred_slot = account.gt[pairs], account.pred[pairs]
        batch.outcome = account.outcome[pairs] if place.outcome is None else place.outcome
        lists = place.container if place.is_item else None
        as_item = lists is not None and not lists.node.positional
        batch.similarity = account.similarity[pairs]
        batch.score = (account.item_score if as_item else account.score)[pairs]
        batch.threshold = account.node.threshold if place.threshold is None else place.threshold
        self.note_reasons(account, pairs, batch)
        table = self.table
        for notes, rows in (
            (account.dropped, table.n_unlabelled_items),
            (account.left_out, table.n_open_items),
            (account.extras, table.extra_keys),
            (account.undeclared, table.undeclared_keys),
        ):
            if notes:
                note(notes, pairs, batch, rows)
        if account.columns.gold is not None:
            slots = account.gt if account.slots is None else account.slots
            chosen = slots[pairs].tolist()
            table.gold_slots.update(
                (row, slot) for row, slot in enumerate(chosen, batch.start) if slot != NOTHING
            )
        return batch

    def note_reasons(self, account: Account, pairs: Indexes, batch: UnitBatch) -> None:
        """Note what judges said of the pairs."""
        if account.reasons:
            note(account.reasons, pairs, batch, self.table.reasons)

    def record_fields(self, account: ObjectAccount, pairs: Indexes, objects: UnitBatch) -> None:
        """Record the fields of the objects that either side has."""
        positions = np.arange(len(pairs))
        if not objects.is_document:
            (positions,) = (account.outcome[pairs] != TN).nonzero()
        compared = pairs[positions]
        if account.compared is not None:
            compared = local_positions(account.compared, len(account))[compared]
            positions, compared = positions[compared >= 0], compared[compared >= 0]
        if not len(positions):
            return
        parents = Placement(
            container=objects,
            positions=positions,
            document=objects.document[positions],
            field=some_of(objects.field, positions),
        )
        names = tuple(account.names)
        numbers: Any = names and self.table.fields.declared_of_each(parents.field, names)
        for part in account.parts:
            if isinstance(part, BlockAccount):
                self.record_block(part, account, compared, parents, numbers)
            else:
                position, of_field = part
                included = some_of(account.included[position], compared)
                place = parents._replace(
                    field=one_number(numbers[position]),
                    order=position,
                    in_aggregate=included,
                    weight=some_of(of_field.worth, compared),
                )
                self.record(of_field, compared, place)
        for entry in account.entries:
            self.record_entries(entry, account, pairs, objects)

    def record_block(
        self,
        block: BlockAccount,
        objects: ObjectAccount,
        compared: Indexes,
        parents: Placement,
        numbers: Any,
    ) -> None:
        """Record leaves that were compared together: all pairs of one field, then of the next."""
        n_fields, n_pairs = len(block.block.positions), len(block) // len(block.block.positions)
        layout = block.block.of_pairs(len(compared))
        included = [objects.included[position] for position in block.block.positions]
        in_aggregate: Any = included[0]
        if not all(isinstance(mask, bool) and mask is in_aggregate for mask in included):
            masks = [np.broadcast_to(some_of(mask, compared), len(compared)) for mask in included]
            in_aggregate = np.concatenate(masks)
        place = Placement(
            container=parents.container,
            positions=parents.positions[layout.pair],
            document=parents.document[layout.pair],
            field=np.broadcast_to(
                numbers[block.block.positions], (n_fields, len(compared))
            ).ravel(),
            order=layout.order,
            in_aggregate=in_aggregate,
            weight=layout.weight,
        )
        pairs = compared[layout.pair] + n_pairs * layout.leaf
        batch = self.table.add(VALUE, block.node, block.columns, place)
        codes = block.columns.codes
        gt_stride, pred_stride = len(codes.gt) // n_fields, len(codes.pred) // n_fields
        batch.gt_slot = present(block.gt[compared][layout.pair] + gt_stride * layout.leaf, codes.gt)
        batch.pred_slot = present(
            block.pred[compared][layout.pair] + pred_stride * layout.leaf, codes.pred
        )
        batch.outcome = block.outcome[pairs]
        batch.similarity, batch.score = block.similarity[pairs], block.score[pairs]
        thresholds = np.array([float(node.threshold) for node in block.block.nodes])
        batch.threshold = thresholds[layout.leaf]
        batch.nodes = block.block.nodes
        self.note_reasons(block, pairs, batch)

    def record_entries(
        self, entry: EntryAccount, account: ObjectAccount, pairs: Indexes, objects: UnitBatch
    ) -> None:
        """Record keys of maps."""
        entries, owner = children(entry.owner, pairs, len(account))
        if not len(entries):
            return
        parent_field = some_of(objects.field, owner)
        numbers = self.table.fields.keys(parent_field, entry.names, entry.key[entries])
        place = Placement(
            container=objects,
            positions=owner,
            document=objects.document[owner],
            field=numbers,
            order=len(account.names) + entry.order[entries],
            in_aggregate=some_of(entry.counted, entries),
            weight=some_of(entry.account.worth, entries),
            is_map_key=True,
        )
        self.record(entry.account, entries, place)

    def record_items(self, account: ListAccount, pairs: Indexes, lists: UnitBatch) -> None:
        """Record the items of lists that either side has."""
        units = account.units
        items, owner = children(units.owner, pairs, len(account))
        is_present = account.outcome[pairs] != TN
        if not is_present.all():
            kept = is_present[owner]
            items, owner = items[kept], owner[kept]
        if not len(items):
            return
        place = Placement(
            container=lists,
            positions=owner,
            document=lists.document[owner],
            field=some_of(lists.field, owner),
            order=items,
            is_item=True,
            weight=some_of(lists.weight, owner),
            gt_index=units.gt_place[items],
            pred_index=units.pred_place[items],
            outcome=units.outcome[items],
            threshold=units.threshold[items],
        )
        start = self.table.size
        self.record(units.account, items, place)
        if units.moved is not None:
            for batch in self.table.batches:
                if batch.start >= start and batch.is_item and batch.container is lists:
                    moved = units.moved[batch.order].nonzero()[0]
                    self.table.out_of_order.update((batch.start + moved).tolist())


def note(notes: Any, pairs: Indexes, batch: UnitBatch, rows: dict[int, Any]) -> None:
    """Note by row what an account says by the position of a pair."""
    positions = {pair: row for row, pair in enumerate(pairs.tolist(), batch.start)}
    rows.update((positions[pair], said) for pair, said in notes.items() if pair in positions)


def some_of(values: Any, selected: Indexes) -> Any:
    """Return the values of some pairs, of which there is one for all, or one for each."""
    return values[selected] if isinstance(values, np.ndarray) else values


def one_number(numbers: Indexes) -> Any:
    """Return the number of a field, or of each object if there are several."""
    return int(numbers[0]) if len(numbers) == 1 else numbers

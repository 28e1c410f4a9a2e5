"""Nodes, of which a plan is made: one for each place of a schema, and their one method.

A value of another kind than the declared one is never an error: where both sides share another
kind they are compared as that kind (`other`), else they have nothing in common.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from enum import IntEnum
from functools import cached_property, lru_cache
from operator import attrgetter
from typing import TYPE_CHECKING, ClassVar, Final, TypeAlias

import numpy as np

from stickler_cli.clients.model import DEFAULT_POLICY, Policy
from stickler_cli.core.json_values import DocumentKind, JsonValue, is_absent, labelled_part
from stickler_cli.core.locations import Step
from stickler_cli.core.values import dataclass
from stickler_cli.settings.deciding import ComparisonOptions, ExtraFields, LimitedOptions
from .account import Account, MismatchAccount, Part, Rules, UnlabelledAccount, of_each, split
from .columns import ABSENT, NOTHING, Columns, Indexes, Known, Mask
from .result import FA, FD, FN, NOT_EVALUATED, TN
from .work import CALL, PAIR

if TYPE_CHECKING:
    from stickler_cli.clients.client import Client

Renames: TypeAlias = Mapping[str, Mapping[str, tuple[str, tuple[str, ...]]]]
"""Part -> key, or JSON Pointer to a value further in -> the name of its field, and the parts that
its values may be."""

PAIRING_FLOOR: Final = ComparisonOptions.pairing_floor
"""At or below it two list elements are not the same item. Source: docs/semantics.md, Lists."""


ALIKE_WITHIN: Final = 1e-12
"""Scores of alternatives that differ by no more are equal. Source: docs/semantics.md."""


LEFT_OUT: Final = -1.0
"""In the place of a similarity: less than any similarity, and not above any pairing floor."""


class Purpose(IntEnum):
    """The purpose of a comparison of pairs."""

    DOCUMENTS = 0
    """They are whole documents, which are compared by fields even where one is empty."""
    ACCOUNT = 1
    """For the account of what happened."""
    PAIRING = 2
    """To pair list elements: only what each pair has in common is kept, and no judge is asked."""
    BOUND = 3
    """For what no similarity exceeds: lists inside count as a full match."""
    ROUGH = 4
    """For the same at less cost: leaves that are dear to compare count as a full match, too."""


@dataclass(frozen=True, slots=True)
class Options:
    """Options that a run may set; a plan leaves these open."""

    pairing_floor: float = PAIRING_FLOOR
    """In [-1, 1); for lists that set none of their own; -1 keeps every pair."""
    extra_fields: ExtraFields = ComparisonOptions.extra_fields
    """What an undeclared key of a prediction is: a false alarm, or nothing."""
    client: "Client | None" = field(default=None, compare=False, repr=False)
    """Who asks models; None is the plan's own."""
    work_limit: float | None = LimitedOptions.work_limit
    """The units of work that a pair of documents may take; None for any."""
    work_at_once: float | None = field(default=None, compare=False, repr=False)
    """Those that may be done without a look at signals."""
    partial_gt: bool = ComparisonOptions.partial_gt
    """Whether nobody labelled a declared key that a ground truth leaves out."""
    purpose: Purpose = field(default=Purpose.ACCOUNT, compare=False, repr=False)
    """Set by the engine, not by a run."""

    @property
    def pairing(self) -> bool:
        """Whether elements are being paired, so that only similarities count."""
        return self.purpose >= Purpose.PAIRING

    def to(self, purpose: Purpose) -> "Options":
        """Return the same options for another purpose, in which documents have no limits."""
        if self.purpose is purpose:
            return self
        how = self.pairing_floor, self.extra_fields
        return (
            _options(*how, purpose)
            if self.client is None
            else _options.__wrapped__(*how, purpose, self.client)
        )


@lru_cache(64)  # not of clients, which are let go with what used them
def _options(
    floor: float, extra_fields: ExtraFields, purpose: Purpose, client: "Client | None" = None
) -> Options:
    return Options(floor, extra_fields, client, None, None, False, purpose)


USUAL: Final = Options()
"""Those of who asks for none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Node(Rules, ABC):
    """One place of a schema, ready to compare the values that stand there."""

    other: "Node | None" = field(default=None, repr=False, compare=False)
    """The node for two values that share a kind other than the declared one."""

    any_of: bool = False
    """Whether a list in a ground truth has the values that are right here, one by one."""
    shows_nothing: ClassVar[bool] = False
    """Whether values that count as nothing are left for the account to look at."""

    @property
    def columnar(self) -> bool:
        """Whether to compare all pairs of two columns costs little beside a call for each."""
        return False

    def below(self, step: Step) -> "Node | None":
        """Return the node of a field or of an element; None where it has none."""
        return None

    @property
    def nested(self) -> bool:
        """Whether to compare two values may mean to pair their elements."""
        return False

    def declares(self, columns: Columns) -> tuple[Mask, Mask] | None:
        """Return which slots of either side hold the declared kind; None if all values do."""
        return None

    @abstractmethod
    def account(self, columns: Columns, gt: Indexes, pred: Indexes, options: Options) -> Account:
        """Account for pairs of values of the declared kind, `NOTHING` where one is absent."""

    def parts(self) -> "Sequence[Node]":
        """Return the nodes whose fields are those of this place: of elements, arms, positions."""
        return ()

    def named(self) -> "Iterator[tuple[str, Node]]":
        """Return the fields; `ANY_KEY` stands for those that only documents name."""
        return iter(())

    def same_place(self) -> "Iterator[Node]":
        """List this node and those whose fields are its own, each once."""
        return once_each(self, lambda node: reversed(node.parts()))

    def all_named(self) -> "Iterator[tuple[str, Node]]":
        """List the fields of this place, also of its elements and arms; a name may recur."""
        return (named for part in self.same_place() for named in part.named())

    def by_name(self) -> "dict[str, Node]":
        """Return the same by their names, the first of several."""
        return dict(reversed([*self.all_named()]))

    def is_nothing(self, value: JsonValue) -> bool:
        """Return whether a value that is there counts as nothing here."""
        return False

    def seen(self, columns: Columns, gt: Indexes, pred: Indexes) -> tuple[Indexes, Indexes]:
        """Return pairs with `NOTHING` for every value that counts as nothing here."""
        no_gt, no_pred = self.nothing(columns)
        return np.where(no_gt[gt], NOTHING, gt), np.where(no_pred[pred], NOTHING, pred)

    def present(self, columns: Columns, gt: Indexes, pred: Indexes) -> tuple[Indexes, Indexes]:
        """Return pairs with `NOTHING` for every value that is absent or counts as nothing here."""
        there, given = columns.present(gt, pred)
        if columns.place.hides and not self.shows_nothing:
            there, given = self.seen(columns, there, given)
        if columns.gold is not None:
            there = np.where(columns.gold.lacking(gt, pred >= 0) & (given < 0), NOTHING, there)
            there = np.where((given >= 0) & self.keeps(columns, columns.gold, gt, given), gt, there)
        return there, given

    def keeps(self, columns: Columns, known: Known, gt: Indexes, pred: Indexes) -> Mask | bool:
        """Return which absent ground truths say something of what is predicted in their place."""
        return False

    def chosen(self, value: JsonValue) -> "Node":
        """Return the node that a value by itself leads to: this one, or one that it chooses."""
        return self

    def compare(self, columns: Columns, gt: Indexes, pred: Indexes, options: Options) -> Account:
        """Return the account of n pairs of values of one place, in their order.

        A pair is two slots of the columns, in `gt` and `pred`, both (n,); `NOTHING` is an absent
        side, so what only one side has needs no method of its own, nor do all pairs of two lists.

        Raises:
            ComparisonError: a comparator failed, or gave no finite number in [0, 1].
        """
        columns.place.charge(CALL + PAIR * len(gt))
        if columns.gold is None:
            return self.compared(columns, gt, pred, options)
        gt = self.resolved(columns, gt, pred, options)
        found = self._settled(columns, columns.gold, gt, pred, options)
        found.note(gt)
        return found

    def resolved(self, columns: Columns, gt: Indexes, pred: Indexes, options: Options) -> Indexes:
        """Choose the most similar candidate of each ground truth; ties go to the first.

        Where nothing is predicted, choose the first absent candidate, else the first one. A
        candidate with nothing to compare in an open list is chosen only if no other one is left.
        """
        gold = columns.gold
        if gold is None or not gold.lengths[gt].any():
            return gt
        n_candidates, first_slot, chosen = gold.lengths[gt], gold.starts[gt], gt.copy()
        (pairs,) = n_candidates.nonzero()
        absent_slot = self.optional(columns)[gt[pairs]]
        chosen[pairs] = np.where(absent_slot == NOTHING, first_slot[pairs], absent_slot)

        pairs = pairs[~self.nothing(columns)[1][pred[pairs]]]
        greatest = np.full(len(gt), LEFT_OUT)
        for number in range(int(n_candidates.max())):
            pairs = pairs[(number < n_candidates[pairs]) & (greatest[pairs] < 1 - ALIKE_WITHIN)]
            if not len(pairs):
                break
            slots = first_slot[pairs] + number
            account = self._settled(columns, gold, slots, pred[pairs], options)
            is_open = gold.open[slots] | of_each(account, attrgetter("node.is_open"), np.bool_)
            is_empty = is_open & (account.outcome == TN)
            similarity = np.where(is_empty, LEFT_OUT, account.similarity)
            is_better = similarity > greatest[pairs] + ALIKE_WITHIN
            greatest[pairs[is_better]] = similarity[is_better]
            chosen[pairs[is_better]] = slots[is_better]
        return chosen

    def nothing(self, columns: Columns) -> tuple[Mask, Mask]:
        """Return which slots hold nothing, or a value that counts as nothing here."""

        def find() -> tuple[Mask, Mask]:
            gt, pred = (kinds == ABSENT for kinds in columns.kinds)
            if columns.place.hides:
                gt, pred = (
                    found | np.array([*map(self.is_nothing, side), True])
                    for found, side in ((gt, columns.gt), (pred, columns.pred))
                )
            if columns.gold is not None:  # something is there in an alternative
                gt = gt & ~columns.gold.there
            return gt, pred

        return columns.derived((id(self), "absent"), find)

    def optional(self, columns: Columns) -> Indexes:
        """Return the slot of the first absent alternative of each slot; `NOTHING` for none.

        A value in which all may be absent is one itself.
        """
        known = columns.gold
        if known is None:
            return np.full(len(columns.gt) + 1, NOTHING)

        def find() -> Indexes:
            found = known.first_of(self.nothing(columns)[0] | known.optional)
            (inside,) = (known.optional & (found == NOTHING)).nonzero()
            found[inside] = inside
            return found

        return columns.derived((id(self), "optional"), find)

    def _settled(
        self, columns: Columns, known: Known, gt: Indexes, pred: Indexes, options: Options
    ) -> Account:
        """Account for pairs of single ground truths, and pass over those that are not labelled."""
        # A document is compared field by field, whatever is left of it.
        if options.purpose is not Purpose.DOCUMENTS and (hiding := known.hiding[gt]).any():
            gt, pred = gt.copy(), pred.copy()
            for one in np.flatnonzero(hiding & (pred >= 0)).tolist():
                value = labelled_part(columns.pred[pred[one]], known.of[gt[one]])
                if is_absent(value) or self.is_nothing(value):
                    pred[one] = NOTHING
                    gt[one] = NOTHING if known.lacks[gt[one]] else gt[one]
        unlabelled = known.unlabelled[gt]
        if options.purpose is Purpose.DOCUMENTS:  # one that is passed over has no fields
            gt, pred = (np.where(unlabelled, NOTHING, side) for side in (gt, pred))
            return self.compared(columns, gt, pred, options)
        if not unlabelled.any():
            return self.compared(columns, gt, pred, options)
        (passed,), (rest,) = unlabelled.nonzero(), (~unlabelled).nonzero()
        outcome, ones = np.full(len(passed), NOT_EVALUATED, np.int8), np.ones(len(passed))
        pairs = columns, gt[passed], pred[passed], outcome, ones, ones
        parts = [Part(passed, UnlabelledAccount(self, *pairs))]
        if len(rest):
            parts.append(Part(rest, self.compared(columns, gt[rest], pred[rest], options)))
        return split(self, columns, gt, pred, parts)

    def compared(self, columns: Columns, gt: Indexes, pred: Indexes, options: Options) -> Account:
        """Account for pairs as `compare` does, of which nothing else is said."""
        if options.purpose is Purpose.DOCUMENTS:
            return self.account(columns, gt, pred, options)
        gt, pred = self.present(columns, gt, pred)
        declared = self.declares(columns)
        if declared is None:
            return self.account(columns, gt, pred, options)
        right = (declared[0][gt] | (gt < 0)) & (declared[1][pred] | (pred < 0))
        if np.count_nonzero(right) == len(gt):
            return self.account(columns, gt, pred, options)
        # Some are of another kind than the declared one.
        both = (gt >= 0) & (pred >= 0)
        unlike = both & ~right
        groups = [(self.account, right), (self._one_sided_value, ~right & ~both)]
        if self.other is not None:
            alike = columns.kinds[0][gt] == columns.kinds[1][pred]
            other = both & alike & ~declared[0][gt] & ~declared[1][pred]
            groups.append((self.other.compare, other))
            unlike &= ~other
        groups.append((self._mismatches, unlike))
        parts = []
        for compare, which in groups:
            at = np.flatnonzero(which)
            if len(at):
                parts.append(Part(at, compare(columns, gt[at], pred[at], options)))
        return split(self, columns, gt, pred, parts, self.weight)

    def _one_sided_value(
        self, columns: Columns, gt: Indexes, pred: Indexes, options: Options
    ) -> Account:
        outcome, zeros = np.where(gt == NOTHING, FA, FN).astype(np.int8), np.zeros(len(gt))
        return Account(self, columns, gt, pred, outcome, zeros, zeros)

    def _mismatches(
        self, columns: Columns, gt: Indexes, pred: Indexes, options: Options
    ) -> Account:
        """Account for pairs that have nothing in common, being of different kinds."""
        outcome, zeros = np.full(len(gt), FD, np.int8), np.zeros(len(gt))
        if options.pairing:
            return Account(self, columns, gt, pred, outcome, zeros, zeros)
        nothing = np.full(len(gt), NOTHING)
        found = MismatchAccount(self, columns, gt, pred, outcome, zeros, zeros)
        found.missed = self.compare(columns, gt, nothing, options)
        found.invented = self.compare(columns, nothing, pred, options)
        return found


def once_each(root: Node, inside: Callable[[Node], Iterable[Node]]) -> Iterator[Node]:
    """List a node and all inside it, each once, the last of several inside first."""
    waiting, met = [root], set()
    while waiting:
        node = waiting.pop()
        if id(node) not in met:
            met.add(id(node))
            yield node
            waiting += inside(node)


def client_by(policy: Policy = DEFAULT_POLICY, *, remembers_failures: bool = True) -> "Client":
    """Return a client that asks models."""
    from stickler_cli.clients.client import Client  # few plans ask models

    return Client(policy, remembers_failures=remembers_failures)


@dataclass(frozen=True)
class Plan:
    """A compiled schema: everything that the engine needs, and nothing else."""

    root: Node
    model_name: str
    """The schema's own name for its documents."""
    asks_models: bool = False
    """Whether a comparator of it asks a model."""
    kind: DocumentKind = "object"
    """What its documents are."""
    hides: bool = False
    """Whether it has values that count as nothing, or are not looked at."""
    renames: Renames | None = None
    """The keys that stand for fields of other names."""
    reads_texts: bool = False
    """Whether a predicted text of JSON is read where the ground truth has an object or list."""
    files: tuple[str, ...] = ()
    """The files that references of the schema lead to."""

    @cached_property
    def client(self) -> "Client":
        """Who asks models where no run says so; one, as comparators may ask the same model."""
        return client_by(remembers_failures=False)  # who compares again, wants it tried again

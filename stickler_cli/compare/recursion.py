"""A reference back to a node that is still being built: where a schema contains itself."""

from collections.abc import Sequence
from dataclasses import field

import numpy as np

from stickler_cli.compare.account import Account
from stickler_cli.compare.columns import Columns, Indexes
from stickler_cli.compare.one_of import ChoiceNode
from stickler_cli.compare.plan import Node, Options
from stickler_cli.core.json_values import JsonValue
from stickler_cli.core.values import dataclass


@dataclass(slots=True)
class Target:
    """What a recursion leads to; filled in once, when the node it names is complete."""

    node: Node | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RecursionNode(ChoiceNode):
    """A node that stands for one further up, so that a plan is a finite tree on paper.

    Two recursions are equal if they lead to the same place; the node there is compared where it
    stands.
    """

    place: str
    """Where the target's schema is: `file#/pointer`."""
    target: Target = field(compare=False, repr=False)

    def choose(self, value: JsonValue) -> Node:
        """Return the target."""
        if self.target.node is None:
            raise AssertionError(f"the plan of {self.place} is not complete")
        return self.target.node

    def choices(self, columns: Columns) -> tuple[Sequence[Node], Indexes, Indexes]:
        """Return the target for all slots."""
        gt, pred = (np.zeros(len(side) + 1, np.intp) for side in (columns.gt, columns.pred))
        return [self.choose(None)], gt, pred

    def compare(self, columns: Columns, gt: Indexes, pred: Indexes, options: Options) -> Account:
        """Account for pairs of values as the target does."""
        return self.choose(None).compare(columns, gt, pred, options)

"""A reference back to a node that is still being built: where a schema contains itself."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from stickler_cli.comparators.base import Matrix
from stickler_cli.compare.one_of import ChoiceNode
from stickler_cli.compare.plan import Node
from stickler_cli.core.json_values import JsonValue


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
        """Give the target."""
        if self.target.node is None:
            raise AssertionError(f"the plan of {self.place} is not complete")
        return self.target.node

    def weights(self, gts: Sequence[JsonValue], preds: Sequence[JsonValue]) -> "float | Matrix":
        """Give what every pair is worth."""
        return self.choose(None).weights(gts, preds)

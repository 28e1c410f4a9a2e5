"""What references inside a plan lead to, in one table.

A plan that refers to its own nodes directly would be pickled along its longest chain of references,
as deep as that is long. Through a table it is pickled entry by entry.
"""

from typing import Any

from stickler_cli.compare.plan import Node
from stickler_cli.compare.recursion import Target


class TableTarget(Target):
    """An entry of a table of nodes."""

    __slots__ = ("_index", "_table")

    def __init__(self, table: list[Node | None], index: int) -> None:
        self._table = table
        self._index = index

    @classmethod
    def added(cls, table: list[Node | None]) -> "TableTarget":
        """Give a new entry of a table, still empty."""
        table.append(None)
        return cls(table, len(table) - 1)

    @property
    def node(self) -> Node | None:
        """The node that a reference leads to; None while it is being built."""
        return self._table[self._index]

    @node.setter
    def node(self, node: Node | None) -> None:
        self._table[self._index] = node

    def __reduce__(self) -> tuple[Any, ...]:
        return TableTarget, (self._table, self._index)

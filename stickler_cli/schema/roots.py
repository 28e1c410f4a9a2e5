"""The root of a plan: documents are objects, whatever else a schema would allow."""

from dataclasses import replace

from stickler_cli.compare.map import MapNode
from stickler_cli.compare.object import ObjectNode
from stickler_cli.compare.one_of import OneOfNode
from stickler_cli.compare.open import OpenNode
from stickler_cli.compare.plan import Node
from stickler_cli.compare.recursion import RecursionNode


def document_node(node: Node) -> Node | None:
    """Give the part of a node that compares objects; None where it has none."""
    match node:
        case ObjectNode() | MapNode():
            return node
        case RecursionNode():
            return document_node(node.choose(None))
        case OpenNode():
            free_form = node.choose({})
            return free_form if isinstance(free_form, MapNode) else None
        case OneOfNode():
            parts = [(arm, document_node(arm.node)) for arm in node.arms]
            arms = [replace(arm, node=part) for arm, part in parts if part is not None]
            if len(arms) > 1:
                return replace(node, arms=tuple(arms))
            return arms[0].node if arms else None
        case _:
            return None

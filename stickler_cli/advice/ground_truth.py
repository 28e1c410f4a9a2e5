"""The schema that a ground truth implies: one pass over its documents."""

from stickler_cli.compare.wrappers import Unwrapper
from stickler_cli.core.json_values import OBJECTS_OR_ARRAYS
from stickler_cli.core.problems import Problem, UsageError
from stickler_cli.core.values import dataclass
from stickler_cli.documents.shapes import Shape, root_steps
from stickler_cli.documents.single import open_documents
from stickler_cli.schema.defaults import open_default
from stickler_cli.schema.inference.observation import Observed
from stickler_cli.settings.inputs import FindingOptions


@dataclass(frozen=True, slots=True)
class SeenDocuments:
    """What was seen in all documents of a source."""

    root: Observed
    unread: int
    """Documents that cannot be read: they say nothing."""


def observe(source: str, settings: FindingOptions) -> SeenDocuments:
    """Read all documents of a source, once.

    Raises:
        UsageError: the source cannot be used, or no document of it can be read.
    """
    found, root, unread = open_documents(source, settings), Observed(), 0
    shape = Shape(gt_root=root_steps(settings.gt_root), kinds=OBJECTS_OR_ARRAYS)
    unwrapper = Unwrapper(open_default(), None)
    for _, reference in found.refs:
        value = shape.read(reference, "gt").value
        if isinstance(value, Problem) or value is None:
            unread += 1
        else:
            root.add(unwrapper(value).value)
    if not root.total:
        told = f"none of its {unread} documents can be read" if unread else "there is no document"
        raise UsageError([*found.problems, Problem(source, told, "documents to infer a schema of")])
    if not root.fields and root.elements is None:
        raise UsageError([Problem(source, "its documents have no key", "documents with values")])
    return SeenDocuments(root, unread)

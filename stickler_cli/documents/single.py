"""One source by itself: all documents of it, where nothing is paired."""

from collections.abc import Iterator
from dataclasses import replace

from stickler_cli.core.problems import Problem, UsageError
from stickler_cli.core.values import dataclass
from stickler_cli.settings.inputs import FindingOptions, PairsSource
from .document import FileReference, Reference, Side
from .document_pair import PairRef
from .document_tables import documents_of_table
from .lines import documents_by_id, lines_of
from .pairs import Pairs, pairs_of_table, parse_id_field
from .reading import decoded
from .sources import Kind, id_of_file, kind_of_source, list_directory


@dataclass(frozen=True, slots=True)
class Documents:
    """All documents of one source."""

    refs: Iterator[tuple[str, Reference]]
    """The id of each and where it is; a problem where it cannot be used."""
    problems: tuple[Problem, ...] = ()
    """What seems wrong with the source as a whole."""


def with_confidences(pairs: Pairs, source: str, settings: FindingOptions) -> Pairs:
    """Return pairs with the confidences that stand in a source of their own, under the same ids.

    Raises:
        UsageError: the source cannot be used.
    """
    known = dict(open_documents(source, settings).refs)
    if pairs.single and len(known) == 1:
        known = dict.fromkeys((ref.id for ref in pairs.refs()), *known.values())

    def refs() -> Iterator[PairRef]:
        return (ref._replace(confidences=known.get(ref.id)) for ref in pairs.refs())

    return replace(pairs, refs=refs)


def open_documents(source: str, settings: FindingOptions, side: Side = "gt") -> Documents:
    """Return the documents of a source, under the ids of a run.

    Of a table they are those of a side. Where settings name it as one of pairs, of ground truth.

    Raises:
        UsageError: the source cannot be used.
    """
    if isinstance(settings, PairsSource) and settings.pairs == source:
        pairs = pairs_of_table(source, settings.max_document_size, settings.id_field)
        return Documents((ref.id, ref.gt) for ref in pairs.refs() if ref.gt is not None)
    kind, limit = kind_of_source(source), settings.max_document_size
    if isinstance(kind, Problem):
        raise UsageError([kind])
    if kind is Kind.FILE:
        reference = FileReference(source, limit)
        return Documents(iter([(id_of_file(source) or decoded(source), reference)]))
    if kind is Kind.DIRECTORY:
        listing = list_directory(source, limit)
        return Documents(iter(listing.documents.items()), listing.problems)
    if kind is Kind.TABLE:
        return Documents(documents_of_table(source, side, limit, settings.id_field))
    if settings.id_field is None:
        return Documents((f"line {line.line}", line) for line in lines_of(source, limit))
    return Documents(documents_by_id(source, "gt", parse_id_field(settings.id_field), limit))

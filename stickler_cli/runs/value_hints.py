"""Hints found in the values of a few documents: a field with ids, and useful annotations."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple, TypeAlias

from stickler_cli.compare.list import SequenceNode
from stickler_cli.compare.plan import Node
from stickler_cli.core.figures import join_some, number_of
from stickler_cli.core.json_values import JsonValue, brief, is_absent, json_line, says_nothing
from stickler_cli.core.locations import Path, field_path

MAX_NAMED: Final = 3
MIN_DOCUMENTS: Final = 2  # a single pair of documents is always paired correctly
MIN_FILLED: Final = 0.9  # share of documents that must have the field
MIN_SHARED: Final = 0.5  # share of ids of the smaller side that must occur on the other side
# Share of the common ids at equal positions from which documents are paired correctly already.
MAX_IN_PLACE: Final = 0.5
ID_DEPTH: Final = 2
MAX_DEPTH: Final = 50  # levels of documents that are searched

_ID_NAME: Final = re.compile(r"(?i)(.*[_\W])?(id|ids|uuid|guid|key|number|no|nr|file)|.*Id|.*ID")

DocumentValues: TypeAlias = tuple[JsonValue, JsonValue]  # ground truth and prediction of a pair
_Ids: TypeAlias = Mapping[Path, JsonValue]


class _Values(NamedTuple):
    """The true and the predicted value at a path of a pair of documents."""

    field: Path
    node: Node | None
    gt: JsonValue
    pred: JsonValue


def hint_id_field(pairs: Sequence[DocumentValues], *, by_name: bool = False) -> Iterator[str]:
    """Yield a hint if a field seems to identify documents, but was not used to pair them.

    Without `by_name`, documents were paired by position, and the hint recommends `--id-field`. With
    `by_name`, they were paired by the names of their files. The hint then recommends other file
    names, or JSON Lines with `--id-field`.
    """
    if len(pairs) < MIN_DOCUMENTS:
        return
    gts = [dict(_find_scalars(gt)) for gt, _ in pairs]
    preds = [dict(_find_scalars(pred)) for _, pred in pairs]
    fields = [*dict.fromkeys(field for ids in gts for field in ids)]
    shares = {field: _share_of_ids(gts, preds, field) for field in fields}
    candidates = [field for field in fields if shares[field] >= MIN_SHARED]
    if candidates:
        best = min(
            candidates, key=lambda field: (not _is_id_name(field), -shares[field], len(field))
        )
        share = f"{shares[best]:.0%} of its values occur on both sides, most of them"
        if by_name:
            yield (
                f"the field {field_path(best)} seems to identify documents: {share} in "
                "files with different names. Files are paired by name. Rename the "
                "files, or use JSON Lines with --id-field"
            )
        else:
            yield (
                f"try `--id-field {field_path(best)}` to pair documents by this field: "
                f"{share} in documents that are not paired with each other now"
            )


def _is_id_name(field: Path) -> bool:
    return _ID_NAME.fullmatch(str(field[-1])) is not None


def _find_scalars(value: JsonValue, parent: Path = ()) -> Iterator[tuple[Path, JsonValue]]:
    """Yield the path and value of each text and integer that may be an id.

    Lists are not searched, only the document and the objects in it.
    """
    for key, child in value.items() if isinstance(value, dict) else ():
        if isinstance(child, str | int) and not isinstance(child, bool) and child != "":
            yield (*parent, key), child
        elif len(parent) + 1 < ID_DEPTH:
            yield from _find_scalars(child, (*parent, key))


def _share_of_ids(gts: Sequence[_Ids], preds: Sequence[_Ids], field: Path) -> float:
    """Return the number of common ids, divided by the number of ids on the side with fewer ids.

    The ids are the values of one field. An id is common if both sides have it. The result is 0 if
    the field cannot identify documents, because an id occurs twice on a side, or because too many
    documents lack the field. The result is also 0 if at least half of the common ids are at equal
    positions on both sides: pairing by id would then change little.
    """
    gt_ids = [str(ids[field]) for ids in gts if field in ids]
    pred_ids = [str(ids[field]) for ids in preds if field in ids]
    for ids in (gt_ids, pred_ids):
        if len(ids) < MIN_FILLED * len(gts) or len({*ids}) < len(ids):
            return 0.0
    pairs = zip(gts, preds, strict=True)
    n_in_place = sum(str(gt.get(field)) == str(pred.get(field)) for gt, pred in pairs)
    n_common = len({*gt_ids} & {*pred_ids})
    if n_in_place >= MAX_IN_PLACE * n_common:
        return 0.0
    return n_common / min(len(gt_ids), len(pred_ids))


def hint_annotations(pairs: Sequence[DocumentValues], root: Node) -> Iterator[str]:
    """Yield hints that recommend a schema annotation because of the values in the documents.

    One hint is about texts, such as `N/A`, that could count as absent. The other is about lists in
    the ground truth of which the prediction has a single item, which could be a right answer.
    """
    values = [value for gt, pred in pairs for value in _walk(_Values((), root, gt, pred))]
    yield from _hint_absent_values(values)
    yield from _hint_any_of(values)


def _walk(values: _Values, depth: int = 0) -> Iterator[_Values]:
    """Yield the true and the predicted value at each path. List items are paired by position."""
    yield values
    field, node, gt, pred = values
    if depth == MAX_DEPTH:
        return
    if isinstance(gt, dict) and isinstance(pred, dict):
        nodes = node.nodes_by_name() if node is not None else {}
        for key in dict.fromkeys((*gt, *pred)):
            child = _Values((*field, key), nodes.get(key), gt.get(key), pred.get(key))
            yield from _walk(child, depth + 1)
    elif isinstance(gt, list) and isinstance(pred, list) and len(gt) == len(pred):
        for index, (gt_item, pred_item) in enumerate(zip(gt, pred, strict=True)):
            item_node = (node and node.child_node(index)) or node
            yield from _walk(_Values(field, item_node, gt_item, pred_item), depth + 1)


def _hint_absent_values(values: Sequence[_Values]) -> Iterator[str]:
    texts, fields = Counter[str](), Counter[str]()
    for field, node, gt, pred in values:
        text = gt if is_absent(pred) else pred if is_absent(gt) else None
        if (
            isinstance(text, str)
            and _is_placeholder(text)
            and not (node and node.counts_as_absent(text))
        ):
            texts[brief(text)] += 1
            fields[field_path(field)] += 1
    if texts:
        shown_texts = join_some((text for text, _ in texts.most_common()), MAX_NAMED)
        shown_fields = join_some((field for field, _ in fields.most_common()), MAX_NAMED)
        yield (
            f"the texts {shown_texts} occur where the other side has no value "
            f"({number_of(texts.total(), 'time')}, in {shown_fields}); to count these "
            "texts as absent, list them in x-aws-stickler-absent-values in the schema"
        )


def _is_placeholder(text: str) -> bool:
    return says_nothing(text) or not any(map(str.isalnum, text))


def _hint_any_of(values: Sequence[_Values]) -> Iterator[str]:
    n_lists, n_chosen = Counter[str](), Counter[str]()
    for field, node, gt, pred in values:
        if not isinstance(gt, list) or isinstance(pred, list) or is_absent(pred):
            continue
        # A declared list accepts a single value as a list of one item.
        is_compared_as_list = len(gt) == 1 and isinstance(node, SequenceNode)
        if gt and not is_compared_as_list:
            name = field_path(field)
            n_lists[name] += 1
            n_chosen[name] += _fold(pred) in map(_fold, gt)
    fields = [name for name, n in n_lists.items() if 2 * n_chosen[name] >= n]
    if fields:
        yield (
            f"in {join_some(fields, MAX_NAMED)} the ground truth has a list, but "
            "predictions have a single item of this list; if any one item alone is a right "
            "answer, add x-aws-stickler-any-of to the schema"
        )


def _fold(value: JsonValue) -> str:
    """Return a text that is equal for values that differ only in case and white space."""
    return " ".join(json_line(value).decode().casefold().split())

"""Pairs of documents out of the wrappers that their values come in."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from stickler_cli.compare.wrappers import Declared, Form, Unwrapped, Unwrapper, beside
from stickler_cli.core.json_values import JsonDocument, brief, kind_of
from stickler_cli.core.problems import Problem, UsageError
from stickler_cli.documents.document_pair import DocumentPair
from stickler_cli.score.document_result import INHERITED
from stickler_cli.settings.inputs import WrapperOptions


def unwrapper_of(root: Declared, settings: WrapperOptions) -> Unwrapper | None:
    """Return what takes the values of documents out of their wrappers; None where nothing does.

    Raises:
        UsageError: the option names no form.
    """
    if settings.wrapped == "none":
        return None
    value, _, confidence = settings.wrapped.partition(":")
    if not value:
        expected = "auto, none, or VALUE_KEY[:CONFIDENCE_KEY]"
        raise UsageError([Problem("--wrapped", f"it is {settings.wrapped!r}", expected)])
    return Unwrapper(root, None if settings.wrapped == "auto" else Form(value, confidence))


def unwrapped(unwrapper: Unwrapper | None, pair: DocumentPair) -> DocumentPair:
    """Return a pair with both sides out of their wrappers, and its confidences.

    Those that came beside the prediction go before those in its wrappers.
    """
    gt, pred = (
        (unwrapper or Unwrapped)(side) if isinstance(side, dict | list) else Unwrapped(None)
        for side in (pair.gt, pair.pred)
    )
    if isinstance(pair.beside, Problem):
        return replace(pair, warnings=(*pair.warnings, pair.beside))
    if pair.beside is not None:
        pred = beside(pred, pair.beside)
    wrappers = gt.wrappers + pred.wrappers
    if not wrappers and pair.beside is None:
        return pair
    warnings = (Problem(pair.id, found, "a number in [0, 1]") for found in pred.problems)
    return replace(
        pair,
        gt=_document(pair.id, pair.gt, gt) if gt.wrappers else pair.gt,
        pred=_document(pair.id, pair.pred, pred) if pred.wrappers else pair.pred,
        warnings=(*pair.warnings, *warnings),
        confidences=pred.confidences,
        unwrapped={**wrappers, INHERITED: pred.inherited},
        metadata=(gt.metadata, pred.metadata),
    )


def complete_pairs(
    pairs: Iterable[DocumentPair], unwrapper: Unwrapper | None, alone: list[str]
) -> Iterator[DocumentPair]:
    """Yield the pairs of two documents, without wrappers; add the ids of the others to `alone`."""
    for pair in pairs:
        bare = unwrapped(unwrapper, pair)
        if isinstance(bare.gt, dict | list) and isinstance(bare.pred, dict | list):
            yield bare
        else:
            alone.append(bare.id)


def _document(name: str, wrapped: object, bare: Unwrapped) -> JsonDocument | Problem:
    kind = kind_of(wrapped)
    if kind_of(bare.value) == kind:
        return bare.value  # type: ignore[return-value] # its kind says so
    return Problem(name, f"the wrapper of the document holds {brief(bare.value)}", f"a JSON {kind}")

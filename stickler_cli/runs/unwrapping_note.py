"""A note on values that were taken out of wrapper objects.

An example of a wrapper is `{"value": 5, "confidence": 0.9}`. Reports have this note. `stickler
eval` also writes it to standard error.
"""

from collections.abc import Iterator
from typing import Final

from stickler_cli.core.figures import join_some, number_of
from stickler_cli.documents.wrapper_forms import AZURE, OWN, USUAL
from stickler_cli.score.document_result import INHERITED
from stickler_cli.score.evaluation import Results

MAX_NAMED_KEYS: Final = 10

_FORM_KEYS: Final = {form.value: form.confidence for form in (OWN, *USUAL)}


def describe_unwrapping(results: Results) -> str:
    """Return a note on how many values were taken out of wrappers, and which keys were skipped.

    The note is empty if nothing was unwrapped or skipped.
    """
    return "; ".join([*_describe_values(results), *_describe_skipped_keys(results)])


def _describe_values(results: Results) -> Iterator[str]:
    counts = {name: n for name, n in results.unwrapped.items() if name != INHERITED and n}
    if counts:
        forms = (f"{n:,} {_describe_form(name)}" for name, n in sorted(counts.items()))
        total = sum(counts.values())
        verb = "was" if total == 1 else "were"
        values = f"{number_of(total, 'value')} {verb} extracted from objects with metadata"
        yield f"{values}: {', '.join(forms)}"


def _describe_form(name: str) -> str:
    if name == AZURE:
        return "in Azure's form"
    confidence = _FORM_KEYS.get(name)
    return f"with the keys {name} and {confidence}" if confidence else f"with the key {name}"


def _describe_skipped_keys(results: Results) -> Iterator[str]:
    keys = [f"{key} ({n:,})" for key, n in sorted(results.skipped_keys.items())]
    if keys:
        yield f"skipped keys: {join_some(keys, MAX_NAMED_KEYS)}"

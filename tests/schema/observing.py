"""Observations of documents, for tests of inference."""

from typing import Any

from stickler_cli.schema.inference.observation import Observed


def seen_in(*documents: Any) -> Observed:
    """Return what is observed in documents."""
    seen = Observed()
    for document in documents:
        seen.add(document)
    return seen

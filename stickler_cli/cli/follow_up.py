"""The command that explains a document of a run: what says how documents are read and compared."""

import shlex
from typing import Final

from stickler_cli.core.option import options_of
from stickler_cli.documents.reading import STANDARD_INPUT
from stickler_cli.settings.deciding import LimitedOptions
from stickler_cli.settings.inputs import (
    DocumentOptions,
    SchemaOptions,
    SeveralSchemas,
    WrapperOptions,
)
from stickler_cli.settings.of_documents import EvalSettings

_DECIDING: Final = (SeveralSchemas, DocumentOptions, WrapperOptions, SchemaOptions, LimitedOptions)
"""The options that `stickler compare` has too, and by which it comes to the same."""


def explaining(settings: EvalSettings) -> str:
    """Return the command but for the document; empty where standard input cannot be read again."""
    if STANDARD_INPUT in (settings.gt, settings.pred):
        return ""
    sources = (
        [settings.gt, settings.pred] if settings.pairs is None else ["--pairs", settings.pairs]
    )
    words = ["stickler", "compare", *filter(None, [settings.schema]), *sources]
    known = {name: option for kind in _DECIDING for name, option in options_of(kind).items()}
    for name, option in known.items():
        value = getattr(settings, name)
        if value != option.default:
            words += [option.flag] if value is True else [option.flag, str(value)]
    return shlex.join(words)

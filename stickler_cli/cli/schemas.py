"""The schema of a command: loaded as its settings say, and what is to be told of it told."""

from stickler_cli.schema.loading import LoadedSchema, load_schema
from stickler_cli.settings import (
    CheckSettings,
    CompareSettings,
    EvalSettings,
    LintSettings,
    TuneSettings,
)
from .console import show_problems, warn

SchemaUser = CheckSettings | CompareSettings | EvalSettings | LintSettings | TuneSettings


def schema_of(name: str, settings: SchemaUser) -> LoadedSchema:
    """Load a schema, and say on standard error what was inferred, and what it says in vain."""
    schema = load_schema(name, allow_plugins=settings.allow_plugins, when=settings.infer)
    if not settings.quiet:
        show_problems(schema.warnings, "warning")
        if schema.remark:
            warn(schema.remark)
    return schema

"""The one pipeline of studies: open, check, answer, write, exit."""

from importlib import import_module
from typing import Any

from stickler_cli.core.option import options_of
from stickler_cli.core.problems import ComparisonError
from stickler_cli.runs.interruption import ended_by_signals
from stickler_cli.runs.limits import room_for_depth
from stickler_cli.studies.answering import Answer
from stickler_cli.studies.study import Study
from .command_schema import schema_of
from .console import ExitCode, show_problems, warn
from .outputs import CODES, outputs_of


def answer(study: Study, settings: Any) -> ExitCode:
    """Have a study answer its question, and write the answer."""
    options = options_of(study.settings)
    inputs = [
        (_called(name), getattr(settings, name))
        for name, option in options.items()
        if option.is_path and name != "output" and getattr(settings, name)
    ]
    outputs = outputs_of(settings, inputs, study.formats)
    asked = import_module(f"{study.folder}.answer").answer
    try:
        with room_for_depth(), ended_by_signals():
            found: Answer = asked(
                settings,
                lambda: schema_of(settings.schema, settings),
                lambda text: None if settings.quiet else warn(text),
            )
    except ComparisonError as error:
        show_problems(error.problems)
        return ExitCode.INCOMPLETE
    outputs.write(found.report)
    for line in found.why:
        warn(line)
    return CODES[found.verdict]


def _called(name: str) -> str:
    """Return how messages call an input."""
    return {"schema": "the schema", "by_file": "--by-file"}.get(name, name.upper())

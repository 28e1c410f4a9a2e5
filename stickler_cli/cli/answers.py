"""The one pipeline of studies: open, check, answer, write, exit."""

from importlib import import_module
from typing import Any

from stickler_cli.core.option import options_of
from stickler_cli.core.values import dataclass
from stickler_cli.runs.job import OutputsRequested
from stickler_cli.runs.process import room_for_depth
from stickler_cli.schema.loading import LoadedSchema
from stickler_cli.score.record import Run
from stickler_cli.settings.of_commands import EvalSettings
from stickler_cli.studies.answering import Answer
from stickler_cli.studies.study import Study
from .command_schema import schema_of
from .console import ExitCode, warn
from .eval import whole_run
from .outputs import CODES, outputs_of


def answer(study: Study, settings: Any) -> ExitCode:
    """Have a study answer its question, and write the answer."""
    inputs = [
        (_called(name), getattr(settings, name))
        for name, option in options_of(study.settings).items()
        if option.is_path and name != "output" and getattr(settings, name)
    ]
    outputs = outputs_of(settings, inputs, study.formats)
    asked = import_module(f"{study.folder}.answer").answer
    with room_for_depth():
        found: Answer = asked(settings, _Desk(settings))
    outputs.write(found.report)
    for line in found.why:
        warn(line)
    return CODES[found.verdict]


def _called(name: str) -> str:
    """Return how messages call an input."""
    return {"schema": "the schema", "by_file": "--by-file"}.get(name, name.upper())


@dataclass(frozen=True, slots=True)
class _Desk:
    """What a study has this room do, with the settings of its command."""

    settings: Any

    def schema(self) -> LoadedSchema:
        return schema_of(self.settings.schema, self.settings)

    def run(self, settings: EvalSettings, requested: OutputsRequested) -> Run:
        return whole_run(settings, requested, self.schema)

    def tell(self, text: str) -> None:
        if not self.settings.quiet:
            warn(text)

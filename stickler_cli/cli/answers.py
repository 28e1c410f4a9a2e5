"""The one pipeline of commands: open, check, answer, write, exit."""

from collections.abc import Callable, Collection, Iterable
from dataclasses import field
from importlib import import_module
from typing import Any

from stickler_cli.core.values import dataclass
from stickler_cli.reports.formats import WITH_DETAIL
from stickler_cli.runs.job import OutputsRequested
from stickler_cli.runs.process import room_for_depth
from stickler_cli.schema.loading import LoadedSchema
from stickler_cli.score.record import Run, Verdict
from stickler_cli.settings.of_commands import EvalSettings
from stickler_cli.studies.answering import Answer, Desk
from stickler_cli.studies.study import Study
from .command_schema import schema_of
from .console import ExitCode, warn
from .eval import whole_run
from .outputs import CODES, exit_code_of, outputs_of


def answer(study: Study, settings: Any) -> ExitCode:
    """Have a study answer its question, and write the answer."""

    def ask(desk: Desk) -> Answer:
        found: Answer = import_module(f"{study.folder}.answer").answer(settings, desk)
        return found

    return answered(ask, settings, study.inputs(settings), study.formats)


def answered(
    ask: Callable[[Desk], Answer],
    settings: Any,
    inputs: Iterable[tuple[str, str]],
    formats: Collection[str],
) -> ExitCode:
    """Check where an answer goes, ask for it, write it, and return the exit code.

    Inputs are names and paths, which no output may overwrite.
    """
    outputs = outputs_of(settings, inputs, formats)
    with room_for_depth():
        found = ask(_Desk(settings, bool(WITH_DETAIL & outputs.formats)))
    if found.report is not None:
        outputs.write(found.report)
    if hasattr(found.report, "gates"):
        outputs.conclude(found.report)
    for line in found.why:
        warn(line)
    return CODES[found.verdict]


@dataclass(frozen=True, slots=True)
class _Desk:
    """What a study has this room do, with the settings of its command."""

    settings: Any
    shows_values: bool
    _loaded: dict[str, LoadedSchema] = field(default_factory=dict)

    def schema(self) -> LoadedSchema:
        return schema_of(self.settings.schema, self.settings)

    def run(self, settings: EvalSettings, requested: OutputsRequested) -> Run:
        def schema() -> LoadedSchema:
            if settings.schema not in self._loaded:
                self._loaded[settings.schema] = schema_of(settings.schema, settings)
            return self._loaded[settings.schema]

        return whole_run(settings, requested, schema)

    def judge(self, run: Run) -> Verdict:
        exit_code_of(run)
        return run.verdict

    def tell(self, text: str) -> None:
        if not self.settings.quiet:
            warn(text)

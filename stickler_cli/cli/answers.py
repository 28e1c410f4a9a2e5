"""The one pipeline of commands: open, check, answer, write, exit."""

from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import nullcontext
from functools import partial
from importlib import import_module
from typing import Any

from stickler_cli.core.problems import Problem, UsageError
from stickler_cli.reports.formats import WITH_DETAIL, format_of
from stickler_cli.runs.process import room_for_depth
from stickler_cli.runs.whole_files import check_outputs, whole_file
from stickler_cli.schema.loading import LoadedSchema
from stickler_cli.score.record import Run, Verdict
from stickler_cli.studies.answering import Answer, Desk
from stickler_cli.studies.study import Study
from .command_schema import schema_of
from .console import ExitCode, warn, write_result
from .eval import whole_run
from .outputs import CODES, OUTPUT, exit_code_of, outputs_of


def answer(study: Study, settings: Any) -> ExitCode:
    """Have a study answer its question, and write the answer."""

    def ask(desk: Desk) -> Answer:
        found: Answer = import_module(f"{study.folder}.answer").answer(settings, desk)
        return found

    formats: Collection[str] | None = study.formats
    if study.lines and getattr(settings, study.lines):
        asked = {settings.format, *map(format_of, settings.output)}
        formats = WITH_DETAIL if WITH_DETAIL & asked else None
    return answered(ask, settings, study.inputs(settings), formats)


def answered(
    ask: Callable[[Desk], Answer],
    settings: Any,
    inputs: Sequence[tuple[str, str]],
    formats: Collection[str] | None,
) -> ExitCode:
    """Check where an answer goes, ask for it, write it, and return the exit code.

    Inputs are names and paths, which no output may overwrite. An answer in lines of JSON has no
    formats.
    """
    outputs = None if formats is None else outputs_of(settings, inputs, formats)
    with room_for_depth():
        shows_values = bool(outputs and WITH_DETAIL & outputs.formats)
        found = ask(_desk(settings, inputs, shows_values=shows_values))
    if outputs is not None and found.report is not None:
        outputs.write(found.report)
    if outputs is not None and hasattr(found.report, "gates"):
        outputs.conclude(found.report)
    for line in found.why:
        warn(line)
    return CODES[found.verdict]


def _desk(settings: Any, inputs: Sequence[tuple[str, str]], *, shows_values: bool) -> Desk:
    """Return what a study has this room do, with the settings of its command."""
    known: dict[str, LoadedSchema] = {}

    def schema(its: Any = settings) -> LoadedSchema:
        if its.schema not in known:  # remarks on it are said once
            known[its.schema] = schema_of(its.schema, its)
        return known[its.schema]

    def judge(run: Run) -> Verdict:
        exit_code_of(run)
        return run.verdict

    def write(lines: Iterable[bytes]) -> None:
        files = settings.output
        if len(files) > 1:
            raise UsageError([Problem(OUTPUT, f"there are {len(files)}", "one at most")])
        check_outputs([(OUTPUT, file) for file in files], inputs)
        with whole_file(files[0], OUTPUT) if files else nullcontext() as stream:
            for line in lines:
                if stream is None:
                    write_result(line.decode())
                else:
                    stream.write(line)

    return Desk(
        shows_values,
        schema,
        lambda its, requested: whole_run(its, requested, partial(schema, its)),
        judge,
        write,
        lambda text: None if settings.quiet else warn(text),
    )

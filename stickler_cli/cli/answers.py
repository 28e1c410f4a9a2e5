"""The steps that the commands of all studies share: check outputs, compute the answer, write it."""

from collections.abc import Callable, Collection, Iterable
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from importlib import import_module
from typing import Any

from stickler_cli.core.figures import visible_json
from stickler_cli.core.option import options_of
from stickler_cli.core.problems import Problem, UsageError
from stickler_cli.documents.lines import is_stream
from stickler_cli.records.row_files import LineTable, lines_as_rows
from stickler_cli.reports.formats import WITH_DETAIL
from stickler_cli.runs.job import OutputsRequested
from stickler_cli.runs.process import room_for_depth
from stickler_cli.runs.whole_files import whole_file
from stickler_cli.schema.loading import LoadedSchema
from stickler_cli.score.record import Run, RunVerdict
from stickler_cli.studies.answering import Desk, StudyAnswer
from stickler_cli.studies.study import LINE_FORMATS, Study
from .command_schema import schema_of
from .console import ExitCode, shell_command, warn, write_result
from .eval import OF_THIS_CALL, command_line_arguments, evaluate_or_exit
from .outputs import CODES, OUTPUT, Outputs, exit_code_of, outputs_of, warn_of_unreadable


def answer(study: Study, settings: Any) -> ExitCode:
    """Run the command of a study: compute its answer, write it, and return the exit code."""

    def ask(desk: Desk) -> StudyAnswer:
        desk = replace(desk, command=_command_without_outputs(study, settings))
        study_answer: StudyAnswer = import_module(f"{study.folder}.answer").answer(settings, desk)
        return study_answer

    in_lines = bool(study.lines and getattr(settings, study.lines))
    formats = study.line_formats if in_lines else study.formats
    return write_answer(ask, settings, formats, in_lines=in_lines)


def _command_without_outputs(study: Study, settings: Any) -> str:
    """Return a study's command line without its output options.

    The user can add other output options and run the study again. The text is empty if the study
    reads standard input, because that cannot be read again.
    """
    options = options_of(study.settings)
    sources = [
        source
        for name, option in options.items()
        if option.argument
        for source in _as_tuple(getattr(settings, name))
    ]
    if any(map(is_stream, sources)):
        return ""
    repeated = {
        name: option
        for name, option in options.items()
        if not (option.argument or option.panel in OF_THIS_CALL)
    }
    words = ["stickler", study.folder.rpartition(".")[2], *sources]
    return shell_command([*words, *command_line_arguments(settings, repeated)])


def _as_tuple(value: Any) -> tuple[str, ...]:
    """Return an argument as a tuple: empty for None, with one element for a single value."""
    return value if isinstance(value, tuple) else () if value is None else (value,)


def write_answer(
    ask: Callable[[Desk], StudyAnswer],
    settings: Any,
    formats: Collection[str],
    *,
    in_lines: bool = False,
) -> ExitCode:
    """Check outputs, compute the answer by calling `ask`, write it, and return the exit code.

    If `in_lines` is true, the answer consists of lines of data, not of a report. It is then written
    to one file, or to standard output if no file is named.
    """
    outputs = outputs_of(settings, formats, "jsonl" if in_lines else None)
    if in_lines and outputs.files:
        if len(outputs.files) > 1:
            raise UsageError([Problem(OUTPUT, f"there are {len(outputs.files)}", "at most one")])
        outputs = replace(outputs, printed=None)
    with room_for_depth():
        study_answer = ask(_desk(settings, outputs))
    if study_answer.report is not None:
        outputs.write(study_answer.report)
    if hasattr(study_answer.report, "gates"):
        outputs.conclude(study_answer.report)
    for line in study_answer.why:
        warn(line)
    return CODES[study_answer.verdict]


def _desk(settings: Any, outputs: Outputs) -> Desk:
    """Return what a study needs from the command line, such as a function that loads its schema."""
    loaded_schemas: dict[str, LoadedSchema] = {}
    printed = set[str]()  # remarks on runs: several runs of the same documents have the same ones

    def schema(run_settings: Any = settings) -> LoadedSchema:
        if run_settings.schema not in loaded_schemas:  # print its remarks only once
            loaded_schemas[run_settings.schema] = schema_of(run_settings.schema, run_settings)
        return loaded_schemas[run_settings.schema]

    def judge(run: Run) -> RunVerdict:
        exit_code_of(run)
        if not settings.quiet:
            warn_of_unreadable(run)
        return run.verdict

    def write(lines: Iterable[bytes], columns: Iterable[str]) -> None:
        file, format_name = next(iter(outputs.files.items()), ("", outputs.printed))
        destination: Any = (
            whole_file(file, OUTPUT)
            if file
            else nullcontext(_PrintedLines(is_json=format_name not in ("csv", "tsv")))
        )
        table = LineTable(dict.fromkeys(columns, object))
        with (
            destination as stream,
            lines_as_rows(
                stream,
                format_name if format_name in LINE_FORMATS else "jsonl",
                lambda: table,
                in_log=not file and outputs.style.in_log,
            ) as rows,
        ):
            for line in lines:
                rows.write(line)

    def run(run_settings: Any, requested: OutputsRequested) -> Run:
        return evaluate_or_exit(run_settings, requested, partial(schema, run_settings), printed)

    def tell(text: str) -> None:
        if not settings.quiet:
            warn(text)

    return Desk(
        shows_values=bool(WITH_DETAIL & outputs.formats),
        schema=schema,
        run=run,
        judge=judge,
        write=write,
        tell=tell,
    )


class _PrintedLines:
    """Writes lines of JSON or of a table to standard output."""

    def __init__(self, *, is_json: bool) -> None:
        self._is_json = is_json

    def write(self, lines: bytes) -> None:
        """Write some lines."""
        text = lines.decode()
        write_result(visible_json(text) if self._is_json else text)

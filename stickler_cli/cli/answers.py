"""The one pipeline of commands: open, check, answer, write, exit."""

from collections.abc import Callable, Collection, Iterable
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from importlib import import_module
from typing import Any

from stickler_cli.core.figures import visible_json
from stickler_cli.core.problems import Problem, UsageError
from stickler_cli.records.row_files import LineTable, lines_as_rows
from stickler_cli.reports.formats import WITH_DETAIL
from stickler_cli.runs.process import room_for_depth
from stickler_cli.runs.whole_files import whole_file
from stickler_cli.schema.loading import LoadedSchema
from stickler_cli.score.record import Run, RunVerdict
from stickler_cli.studies.answering import Desk, StudyAnswer
from stickler_cli.studies.study import LINE_FORMATS, Study
from .command_schema import schema_of
from .console import ExitCode, warn, write_result
from .eval import whole_run
from .outputs import CODES, OUTPUT, Outputs, exit_code_of, outputs_of


def answer(study: Study, settings: Any) -> ExitCode:
    """Have a study answer its question, and write the answer."""

    def ask(desk: Desk) -> StudyAnswer:
        found: StudyAnswer = import_module(f"{study.folder}.answer").answer(settings, desk)
        return found

    in_lines = bool(study.lines and getattr(settings, study.lines))
    formats = study.line_formats if in_lines else study.formats
    return answered(ask, settings, formats, in_lines=in_lines)


def answered(
    ask: Callable[[Desk], StudyAnswer],
    settings: Any,
    formats: Collection[str],
    *,
    in_lines: bool = False,
) -> ExitCode:
    """Check where an answer goes, ask for it, write it, and return the exit code.

    An answer in lines goes to one place.
    """
    outputs = outputs_of(settings, formats, "jsonl" if in_lines else None)
    if in_lines and outputs.files:
        if len(outputs.files) > 1:
            raise UsageError([Problem(OUTPUT, f"there are {len(outputs.files)}", "one at most")])
        outputs = replace(outputs, printed=None)
    with room_for_depth():
        found = ask(_desk(settings, outputs))
    if found.report is not None:
        outputs.write(found.report)
    if hasattr(found.report, "gates"):
        outputs.conclude(found.report)
    for line in found.why:
        warn(line)
    return CODES[found.verdict]


def _desk(settings: Any, outputs: Outputs) -> Desk:
    """Return what a study has this room do, with the settings of its command."""
    known: dict[str, LoadedSchema] = {}

    def schema(its: Any = settings) -> LoadedSchema:
        if its.schema not in known:  # remarks on it are said once
            known[its.schema] = schema_of(its.schema, its)
        return known[its.schema]

    def judge(run: Run) -> RunVerdict:
        exit_code_of(run)
        return run.verdict

    def write(lines: Iterable[bytes], columns: Iterable[str]) -> None:
        file, form = next(iter(outputs.files.items()), ("", outputs.printed))
        place: Any = (
            whole_file(file, OUTPUT)
            if file
            else nullcontext(_PrintedLines(is_json=form not in ("csv", "tsv")))
        )
        table = LineTable(dict.fromkeys(columns, object))
        with (
            place as stream,
            lines_as_rows(
                stream,
                form if form in LINE_FORMATS else "jsonl",
                lambda: table,
                in_log=not file and outputs.style.in_log,
            ) as rows,
        ):
            for line in lines:
                rows.write(line)

    return Desk(
        bool(WITH_DETAIL & outputs.formats),
        schema,
        lambda its, requested: whole_run(its, requested, partial(schema, its)),
        judge,
        write,
        lambda text: None if settings.quiet else warn(text),
    )


class _PrintedLines:
    """Standard output, as a file of lines."""

    def __init__(self, *, is_json: bool) -> None:
        self._is_json = is_json

    def write(self, lines: bytes) -> None:
        """Write some lines."""
        text = lines.decode()
        write_result(visible_json(text) if self._is_json else text)

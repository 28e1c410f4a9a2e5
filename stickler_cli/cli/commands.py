"""The commands: the signature, help and examples of each, and one call.

What a command calls is imported when it is called, so that `--help` loads no engine.
"""

from typing import Annotated, Any, Final

import typer

from stickler_cli.cli.command import add_command
from stickler_cli.cli.exit_codes import ExitCode, exit_code_help
from stickler_cli.cli.plain import PlainCommand, PlainGroup
from stickler_cli.settings import (
    CheckSettings,
    CompareSettings,
    DiffSettings,
    EvalSettings,
    MergeSettings,
    ReportSettings,
)


def _argument(metavar: str, help: str) -> typer.models.ArgumentInfo:  # noqa: A002 - typer's word
    found: typer.models.ArgumentInfo = typer.Argument(
        metavar=metavar, help=help, show_default=False
    )
    return found


Schema = Annotated[str, _argument("SCHEMA", "The annotated JSON Schema.")]
GroundTruth = Annotated[
    str,
    _argument(
        "GT", "Ground truth: a JSON file, a directory, a .jsonl file, or - for standard input."
    ),
]
Predictions = Annotated[str, _argument("PRED", "Predictions: likewise.")]
Schemas = Annotated[list[str], _argument("SCHEMA", "Annotated JSON Schemas.")]
Base = Annotated[str, _argument("BASE", "The run that was: a run file or directory.")]
New = Annotated[str, _argument("NEW", "The run that is: likewise.")]
Finished = Annotated[
    str, _argument("RUN", "A run file, as eval -o run.json writes it, or a run directory.")
]
Shards = Annotated[
    list[str],
    _argument("RUN...", "Run files, as eval -o run.json writes them, or run directories."),
]


def evaluate(
    schema: Schema, gt: GroundTruth, pred: Predictions, settings: EvalSettings
) -> ExitCode:
    """Compare every prediction with its ground truth, field by field, and report how good it is.

    GT and PRED are two files, two directories (paired by relative path without suffix) or two
    JSON Lines files; each may be gzipped.
    """
    from stickler_cli.cli.eval import evaluate

    return evaluate(schema, gt, pred, settings)


EVAL_EPILOG: Final = f"""\b
Examples:
  stickler eval schema.json gt/ pred/
  stickler eval schema.json gt.jsonl pred.jsonl --id-field id -o run.json
  stickler eval schema.json gt/ pred/ --fail-under 0.9 --gate 'total.f1>=0.99'
  stickler eval schema.json gt.json pred.json --show-non-matches 20

{exit_code_help()}"""


def compare(
    schema: Schema, gt: GroundTruth, pred: Predictions, settings: CompareSettings
) -> ExitCode:
    """Explain the score of one prediction: every value, threshold, pair and sum behind it.

    GT and PRED are two files, or what eval takes together with --document.
    """
    from stickler_cli.cli.compare import compare

    return compare(schema, gt, pred, settings)


COMPARE_EPILOG: Final = f"""\b
Examples:
  stickler compare schema.json gt/a.json pred/a.json
  stickler compare schema.json gt/ pred/ --document a --only-errors
  stickler compare schema.json gt.json pred.json --field 'line_items[2]' --all
  stickler compare schema.json gt.json pred.json -f json -o report.md

{exit_code_help()}"""


def diff(base: Base, new: New, settings: DiffSettings) -> ExitCode:
    """Compare two runs of the same documents: what got better or worse, and is it chance?

    BASE and NEW are run files, as stickler eval -o run.json writes them, or run directories.
    """
    from stickler_cli.cli.diff import diff

    return diff(base, new, settings)


DIFF_EPILOG: Final = f"""\b
Examples:
  stickler diff base.json new.json
  stickler diff old.json new.json --gate 'f1>=0' --gate 'documents.worse<=3'
  stickler diff base.json new.json -o diff.json -o comment.md

{exit_code_help()}"""


def check(schemas: Schemas, settings: CheckSettings) -> ExitCode:
    """Compile schemas and tell every problem of all of them; no document is read."""
    from stickler_cli.cli.check import check

    return check(schemas, settings)


def merge(runs: Shards, settings: MergeSettings) -> ExitCode:
    """Put the runs of shards together: the run of all their documents, to the last digit.

    The runs must be of one version, one schema and the same options, and no document may be in
    two of them. Gates are judged anew: those given here, else those of the runs.
    """
    from stickler_cli.cli.merge import merge

    return merge(runs, settings)


MERGE_EPILOG: Final = f"""\b
Examples:
  stickler merge shard-1.json shard-2.json -o run.json
  stickler merge shards/*.json --gate 'f1>=0.9' -f markdown

{exit_code_help()}"""


def report(run: Finished, settings: ReportSettings) -> ExitCode:
    """Write the results of a finished run in any format, without evaluating again.

    The figures are those of the run. Single errors are in a run directory, not in a run file.
    """
    from stickler_cli.cli.report import report

    return report(run, settings)


REPORT_EPILOG: Final = """\b
Examples:
  stickler report run.json
  stickler report run.json --output report.html --output run.csv
  stickler report nightly/ --format markdown"""


def comparators() -> None:
    """List the comparators with their keywords and defaults."""
    from stickler_cli.cli.comparators import list_comparators

    list_comparators()


def info() -> None:
    """Show where answers are kept, and how many of which model."""
    from stickler_cli.cli.cache import show_answers

    show_answers()


def clear() -> None:
    """Forget all answers: the next runs ask again."""
    from stickler_cli.cli.cache import clear_answers

    clear_answers()


def new_app(**said: Any) -> typer.Typer:
    """Return an app without commands."""
    return typer.Typer(
        cls=PlainGroup,
        context_settings={"help_option_names": ["-h", "--help"]},
        no_args_is_help=True,
        rich_markup_mode=None,  # halves the time of --help, which then is plain text
        **said,
    )


def add_commands(app: typer.Typer) -> None:
    """Add all commands to an app."""
    add_command(app, "eval", evaluate, EVAL_EPILOG)
    add_command(app, "compare", compare, COMPARE_EPILOG)
    add_command(app, "diff", diff, DIFF_EPILOG)
    add_command(app, "check", check)
    add_command(app, "merge", merge, MERGE_EPILOG)
    add_command(app, "report", report, REPORT_EPILOG)
    app.command("comparators", cls=PlainCommand)(comparators)
    cache = new_app(help="Show or clear the answers of models that are kept on disk.")
    cache.command(cls=PlainCommand)(info)
    cache.command(cls=PlainCommand)(clear)
    app.add_typer(cache, name="cache")

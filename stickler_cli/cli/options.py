"""The options of `stickler eval`: their names, types and help texts, and where a file may set them.

Nothing here imports the engine, so that `--help` stays fast.
"""

from types import UnionType
from typing import Annotated, Final, Literal

import typer

from stickler_cli.cli.config import read_config
from stickler_cli.core.problems import Problem, UsageError

FormatName = Literal["table", "json", "csv", "markdown", "junit", "github", "openmetrics", "html"]
ExtraFields = Literal["fa", "ignore"]
Missing = Literal["fn", "skip", "error"]
Validate = Literal["none", "pred", "gt", "both"]

IN_CONFIG: Final[dict[str, type | UnionType]] = {
    "allow_plugins": bool,
    "by": list,
    "by_file": str,
    "ci": float | str,
    "documents": str,
    "extra_fields": str,
    "fail_under": float,
    "format": str,
    "gate": list,
    "id_field": str,
    "jobs": int | str,
    "junit_fields": bool,
    "lenient_json": bool,
    "max_document_size": str,
    "max_pairs": int,
    "memory_limit": str,
    "missing": str,
    "no_cache": bool,
    "no_color": bool,
    "non_matches": str,
    "offline": bool,
    "output": list,
    "pairing_floor": float,
    "progress": bool,
    "quiet": bool,
    "recall_with_fd": bool,
    "run_dir": str,
    "seed": int,
    "show_non_matches": int,
    "strict": bool,
    "validate": str,
    "verbose": bool,
}
"""The options that a configuration file may set, and the type that each has there."""


def _use_config(context: typer.Context, config: str | None) -> str | None:
    """Take the configuration file's options as defaults of the command."""
    if context.resilient_parsing:
        return config
    if context.params.get("no_config"):
        return config
    context.default_map = read_config(config, IN_CONFIG)
    return config


Schema = Annotated[
    str, typer.Argument(metavar="SCHEMA", help="The annotated JSON Schema.", show_default=False)
]
GroundTruth = Annotated[
    str,
    typer.Argument(
        metavar="GT",
        help="Ground truth: a JSON file, a directory, a .jsonl file, or - for standard input.",
        show_default=False,
    ),
]
Predictions = Annotated[
    str,
    typer.Argument(metavar="PRED", help="Predictions: likewise.", show_default=False),
]
NoConfig = Annotated[
    bool,
    typer.Option("--no-config", is_eager=True, help="Ignore configuration files."),
]
Config = Annotated[
    str | None,
    typer.Option(
        "--config",
        callback=_use_config,
        help="Read options from this file instead of the nearest stickler.toml or "
        "[tool.stickler] in pyproject.toml.",
        is_eager=True,
        metavar="FILE",
    ),
]
IdField = Annotated[
    str | None,
    typer.Option(metavar="PATH", help="Pair JSON Lines by this field; without it, by line."),
]
Format = Annotated[
    FormatName, typer.Option("--format", "-f", help="What to print on standard output.")
]
Output = Annotated[
    list[str] | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="Also write the results to this file; its suffix (.html, .json, .csv, .md, .txt, "
        ".junit.xml, .metrics.txt) says the format. Repeatable.",
    ),
]
JunitFields = Annotated[
    bool,
    typer.Option("--junit-fields", help="In JUnit XML, also give a test case for each field."),
]
NonMatchesFile = Annotated[
    str | None,
    typer.Option("--non-matches", metavar="FILE", help="Write every error as JSON Lines."),
]
ShowNonMatches = Annotated[
    int, typer.Option(metavar="N", min=0, help="Show the first N errors below the table.")
]
DocumentsFile = Annotated[
    str | None,
    typer.Option("--documents", metavar="FILE", help="Write one JSON line per document."),
]
RunDir = Annotated[
    str | None,
    typer.Option(
        metavar="DIR",
        help="Keep everything of the run here: results, a line for each document and error, and a "
        "journal, from which the same command continues.",
    ),
]
Restart = Annotated[
    bool, typer.Option("--restart", help="Leave out what --run-dir holds, and begin again.")
]
FailUnder = Annotated[
    float | None,
    typer.Option(metavar="F1", help="Fail (exit 1) if the overall F1 is below this, 0 to 1."),
]
GateOption = Annotated[
    list[str] | None,
    typer.Option(
        "--gate",
        metavar="EXPR",
        help="Fail (exit 1) unless [set:][path.]metric op number holds, such as "
        "leaves:line_items.price.recall>=0.9. Repeatable.",
    ),
]
Jobs = Annotated[
    str,
    typer.Option(
        "--jobs",
        "-j",
        metavar="N|auto",
        help="How many processes compare; auto fits the machine and the work. Results are the "
        "same.",
    ),
]
MemoryLimit = Annotated[
    str | None,
    typer.Option(
        metavar="SIZE",
        help="Let documents take no more memory than this in a process, such as 2GB; one that "
        "needs more is failed (Linux).",
    ),
]
DEFAULT_LEVEL: Final = "0.95"
"""The confidence level, as people write it; a test holds it to that of the intervals."""
DEFAULT_PAIRING_FLOOR: Final = 0.2
"""Stated here for `--help`, which must not load the engine; a test holds it to the engine's."""

DEFAULT_MAX_PAIRS: Final = 10_000
"""Likewise; a test holds it to the policy's."""


def check_pairing_floor(floor: float) -> None:
    """Make sure that a floor is in range.

    Raises:
        UsageError: it is not.
    """
    if not -1 <= floor < 1:
        found = f"the floor is {floor:g}"
        raise UsageError([Problem("--pairing-floor", found, "a number in [-1, 1)")])


PairingFloor = Annotated[
    float,
    typer.Option(
        metavar="FLOOR",
        help="List items at or below this similarity are not the same item; -1 pairs all.",
    ),
]
RecallWithFd = Annotated[
    bool, typer.Option("--recall-with-fd", help="Count false discoveries as missed in recall.")
]
ExtraFieldsOption = Annotated[
    ExtraFields,
    typer.Option(help="What a key that the schema does not declare is in a prediction."),
]
MissingOption = Annotated[
    Missing,
    typer.Option(help="What a ground truth without a prediction is: all missed, left out, failed."),
]
ConfidenceLevel = Annotated[
    str,
    typer.Option(
        "--ci",
        metavar="LEVEL",
        help="Give confidence intervals of this level, between 0 and 1; none gives none.",
    ),
]
Seed = Annotated[
    int, typer.Option(metavar="N", min=0, help="Draw other resamples for the intervals.")
]
By = Annotated[
    list[str] | None,
    typer.Option(
        metavar="KEY",
        help="Also report groups of documents: by a field of the ground truth, by @directory, or "
        "by @COLUMN of the --by-file. Repeatable.",
    ),
]
ByFile = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help="What is known of documents, by id: a CSV file with a header, or JSON Lines.",
    ),
]
Strict = Annotated[
    bool, typer.Option("--strict", help="Exit 3 if any document is unpaired or invalid.")
]
ValidateOption = Annotated[
    Validate,
    typer.Option(
        help="Hold these documents against the schema too, and report how many are valid."
    ),
]
LenientJson = Annotated[
    bool,
    typer.Option(
        "--lenient-json",
        help="Take predictions out of code fences, other text and lists of one, and count those.",
    ),
]
MaxDocumentSize = Annotated[
    str,
    typer.Option(
        metavar="SIZE",
        help="Read no document of more bytes, unpacked: a number, or one with kB, MB or GB.",
    ),
]
AllowPlugins = Annotated[
    bool,
    typer.Option("--allow-plugins", help="Let the schema name a comparator as module:Class."),
]
NoCache = Annotated[
    bool,
    typer.Option("--no-cache", help="Keep no answers of models on disk, and use none."),
]
Offline = Annotated[
    bool,
    typer.Option("--offline", help="Ask no model: use the answers on disk only."),
]
MaxPairs = Annotated[
    int,
    typer.Option(metavar="N", min=0, help="Stop before judges are asked about more pairs."),
]
DryRun = Annotated[
    bool,
    typer.Option("--dry-run", help="Print what models would be asked, and ask nothing."),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print errors only.")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Also tell what is being done.")]
Progress = Annotated[
    bool | None,
    typer.Option(
        "--progress/--no-progress",
        help="Show a progress bar on standard error.  [default: if it is a terminal]",
        show_default=False,
    ),
]
NoColor = Annotated[bool, typer.Option("--no-color", help="Print without colour.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show where an error comes from.")]

"""`stickler compare`: one pair of documents, explained."""

import shutil
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Final, Literal

import typer

from stickler_cli.cli import options
from stickler_cli.cli.asking import policy_of, tell_usage
from stickler_cli.cli.console import show_problems, wants_color, write_result
from stickler_cli.cli.exit_codes import ExitCode, exit_code_help
from stickler_cli.cli.outputs import output_formats
from stickler_cli.core.json_values import JsonObject
from stickler_cli.core.problems import ComparisonError, Problem, UsageError
from stickler_cli.core.spelling import did_you_mean

if TYPE_CHECKING:
    from stickler_cli.clients.policy import Policy
    from stickler_cli.compare.explained import Explained
    from stickler_cli.compare.result import ObjectComparison
    from stickler_cli.documents import DocumentPair
    from stickler_cli.reports.pair import ComparedPair, Detail
    from stickler_cli.schema.loading import LoadedSchema

EPILOG: Final = f"""\b
Examples:
  stickler compare schema.json gt/a.json pred/a.json
  stickler compare schema.json gt/ pred/ --document a --only-errors
  stickler compare schema.json gt.json pred.json --field 'line_items[2]' --all
  stickler compare schema.json gt.json pred.json -f json -o report.md

{exit_code_help()}"""

ComparisonFormat = Literal["table", "json", "markdown"]

Document = Annotated[
    str | None,
    typer.Option(
        metavar="ID", help="Which document, of directories or JSON Lines; as eval names it."
    ),
]
Field = Annotated[
    str | None,
    typer.Option(
        metavar="PATH",
        help="Show this place only: line_items[2].price, or line_items.price for all items.",
    ),
]
OnlyErrors = Annotated[
    bool, typer.Option("--only-errors", help="Leave out what is right; it is counted.")
]
All = Annotated[
    bool,
    typer.Option("--all", help="Show everything: inside what is right, and what neither side has."),
]
Format = Annotated[
    ComparisonFormat, typer.Option("--format", "-f", help="What to print on standard output.")
]
Output = Annotated[
    list[str] | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="Also write it to this file; its suffix (.json, .md, .txt) says the format. "
        "Repeatable.",
    ),
]


@dataclass(frozen=True, slots=True)
class Request:
    """What the user asks for."""

    schema: str
    gt: str
    pred: str
    document: str | None
    id_field: str | None
    field: str | None
    detail: "Detail"
    pairing_floor: float
    extra_fields: options.ExtraFields
    allow_plugins: bool
    asking: "Policy"


def compare(
    schema: options.Schema,
    gt: options.GroundTruth,
    pred: options.Predictions,
    document: Document = None,
    id_field: options.IdField = None,
    field: Field = None,
    only_errors: OnlyErrors = False,
    everything: All = False,
    format: Format = "table",
    output: Output = None,
    pairing_floor: options.PairingFloor = options.DEFAULT_PAIRING_FLOOR,
    extra_fields: options.ExtraFieldsOption = "fa",
    allow_plugins: options.AllowPlugins = False,
    no_cache: options.NoCache = False,
    offline: options.Offline = False,
    max_pairs: options.MaxPairs = options.DEFAULT_MAX_PAIRS,
    no_color: options.NoColor = False,
    debug: options.Debug = False,
) -> None:
    """Explain the score of one prediction: every value, threshold, pair and sum behind it.

    GT and PRED are two files, or what eval takes together with --document.
    """
    if only_errors and everything:
        raise UsageError([Problem("--all", "--only-errors is given too", "one of the two")])
    options.check_pairing_floor(pairing_floor)
    detail: Detail = "errors" if only_errors else "all" if everything else "brief"
    request = Request(
        schema,
        gt,
        pred,
        document,
        id_field,
        field,
        detail,
        pairing_floor,
        extra_fields,
        allow_plugins,
        policy_of(no_cache=no_cache, offline=offline, max_pairs=max_pairs),
    )
    raise typer.Exit(_execute(request, format, output or (), color=wants_color(no_color=no_color)))


def _execute(
    request: Request, format_name: str, outputs: Iterable[str], *, color: bool
) -> ExitCode:
    """Compare the two documents and print how it went."""
    from stickler_cli.reports.layout import TableStyle  # --help is fast
    from stickler_cli.reports.registry import PAIR_FORMATS, render_pair
    from stickler_cli.runs.files import check_outputs, whole_file
    from stickler_cli.schema.loading import load_schema

    formats = output_formats(outputs, PAIR_FORMATS)
    check_outputs(
        [("--output", path) for path in formats],
        [("the schema", request.schema), ("GT", request.gt), ("PRED", request.pred)],
    )
    loaded = load_schema(request.schema, allow_plugins=request.allow_plugins)
    found = _pair(request)
    if not isinstance(found.gt, dict) or not isinstance(found.pred, dict):
        show_problems(_why_not(found))
        return ExitCode.INCOMPLETE
    try:
        pair = _compared(request, loaded, found.id, found.gt, found.pred)
    except ComparisonError as error:
        show_problems(error.problems)
        return ExitCode.INCOMPLETE
    for path, name in formats.items():
        with whole_file(path, "--output") as stream:
            text = render_pair(name, pair, TableStyle())
            stream.write(text.encode("utf-8", "backslashreplace"))
    terminal = sys.stdout.isatty()
    width = shutil.get_terminal_size().columns if terminal else None
    style = TableStyle(width=width, color=color, plain=not terminal and not color)
    write_result(render_pair(format_name, pair, style))
    return ExitCode.OK


def _pair(request: Request) -> "DocumentPair":
    """Read the pair that was asked for."""
    from stickler_cli.documents import open_pairs, read_pair

    pairs = open_pairs(request.gt, request.pred, id_field=request.id_field)
    if pairs.single and request.document is None:
        return next(iter(pairs))
    ids = []
    for ref in pairs.refs():  # once: standard input has no second time
        if ref.id == request.document:
            return read_pair(ref)
        ids.append(ref.id)
    if request.document is None:
        expected = "two JSON files, or --document ID"
        hint = f"such as --document {ids[0]}" if ids else ""
        raise UsageError([Problem(request.gt, "there are many documents", expected, hint)])
    found = f"there is no document {request.document!r}"
    hint = did_you_mean(request.document, ids)
    raise UsageError([Problem("--document", found, "an id as eval names it", hint)])


def _why_not(found: "DocumentPair") -> Iterator[Problem]:
    """Say of each side that cannot be compared what is wrong with it."""
    for side, name in ((found.gt, "ground truth"), (found.pred, "prediction")):
        if isinstance(side, Problem):
            yield side
        elif side is None:
            yield Problem(found.id, f"there is no {name} for this document")


def _compared(
    request: Request, loaded: "LoadedSchema", document: str, gt: JsonObject, pred: JsonObject
) -> "ComparedPair":
    """Compare and explain."""
    from stickler_cli.clients.rounds import answered
    from stickler_cli.compare.engine import compare as compare_documents
    from stickler_cli.compare.explaining import explain
    from stickler_cli.compare.outline import comparators
    from stickler_cli.compare.plan import Options
    from stickler_cli.reports.pair import ComparedPair, error_classes
    from stickler_cli.score.non_matches import non_matches

    if loaded.plan.asks_models:
        from stickler_cli.clients.desk import open_desk  # other comparisons do not load it

        open_desk(request.asking)
    for comparator in comparators(loaded.plan):
        comparator.require()
    run_options = Options(request.pairing_floor, request.extra_fields)

    def work() -> "tuple[ObjectComparison, Explained]":
        comparison = compare_documents(loaded.plan, gt, pred, run_options)
        return comparison, explain(loaded.plan, comparison, run_options)

    comparison, root = answered(work)
    if loaded.plan.asks_models:
        tell_usage()
    return ComparedPair(
        schema=loaded.path,
        model_name=loaded.plan.model_name,
        document=document,
        pairing_floor=request.pairing_floor,
        extra_fields=request.extra_fields,
        root=root,
        chosen=_chosen(request, root),
        classes=error_classes(non_matches(comparison)),
        detail=request.detail,
    )


def _chosen(request: Request, root: "Explained") -> "list[Explained]":
    """Find the places that were asked for; without a wish, the whole document."""
    from stickler_cli.core.locations import field_path, parse_field_path
    from stickler_cli.reports.pair import all_places, places

    if request.field is None:
        return [root]
    expected = "a place of the ground truth, such as line_items[2].price"
    try:
        path = parse_field_path(request.field)
    except ValueError as error:
        raise UsageError([Problem("--field", str(error), expected)]) from None
    found = places(root, path)
    if not found:
        known = [field_path(place.gt_path) for place in all_places(root)]
        hint = did_you_mean(request.field, known)
        what = f"there is no {request.field} in this document"
        raise UsageError([Problem("--field", what, expected, hint)])
    return found

"""Commands that list what there is: problems of schemas, comparators, answers of models."""

from collections.abc import Iterable, Iterator
from contextlib import closing
from textwrap import fill, indent

from stickler_cli.clients.cache import AnswerCache, cache_directory
from stickler_cli.comparators.registry import describe, plugin_names
from stickler_cli.core.figures import visible
from stickler_cli.core.json_values import brief
from stickler_cli.core.locations import Path, field_path
from stickler_cli.core.problems import SchemaError
from stickler_cli.schema.inference import Inferred
from stickler_cli.settings.of_commands import CheckSettings
from .command_schema import schema_of
from .console import ExitCode, show_problems, write_result
from .outputs import listing


def check(schemas: Iterable[str], settings: CheckSettings) -> ExitCode:
    """Compile schemas and tell every problem of all of them; no document is read."""
    code = ExitCode.OK
    for schema in schemas:
        try:
            loaded = schema_of(schema, settings)
            problems = loaded.refusals
        except SchemaError as error:
            problems = error.problems
        if problems:
            code = ExitCode.USAGE
            show_problems(problems)
        elif not settings.quiet:
            text = f"{schema}: no problems ({loaded.name})"
            lines = (text, *_unions(loaded.fields))
            write_result("".join(f"{visible(line)}\n" for line in lines))
    return code


def _unions(fields: Iterable[Inferred]) -> Iterator[str]:
    """Say which arm is meant for which values, of fields that have several."""
    arms: dict[Path, list[Inferred]] = {}
    for field in fields:
        arms.setdefault(field.path, []).append(field)
    for path, of_field in arms.items():
        told = [f"{arm.kind} by {arm.compared_by or 'its fields'}" for arm in of_field]
        kinds = {arm.kind for arm in of_field}
        texts = "string" in kinds and kinds & {"number", "integer"}
        more = "; a text that is a number is meant as one" if texts else ""
        if len(told) > 1:
            yield f"  {field_path(path)}: {', '.join(told)}{more}"


def list_comparators() -> ExitCode:
    """List the comparators with their keywords and defaults."""
    blocks = []
    for entry in describe():
        lines = [" = ".join((entry.name, *entry.aliases)), indent(fill(entry.summary, 76), "  ")]
        lines += (
            f"  - {each.name} ({'required' if each.default is each.empty else brief(each.default)})"
            for each in entry.keywords
        )
        blocks.append("\n".join(lines))
    plugins = plugin_names()
    if plugins:
        blocks.append("From installed packages: " + ", ".join(plugins))
    write_result("\n\n".join(blocks) + "\n")
    return ExitCode.OK


def show_answers() -> ExitCode:
    """Show where answers are kept, and how many of which model."""
    with closing(AnswerCache(cache_directory())) as cache:
        holdings = cache.holdings()
    write_result(f"{visible(str(cache.path))}\n")
    if not holdings:
        write_result("no answers\n")
        return ExitCode.OK
    rows = [(held.kind, held.model, held.answers, held.size) for held in holdings]
    write_result("\n" + listing(("kind", "model", "answers", "bytes"), rows))
    return ExitCode.OK


def clear_answers() -> ExitCode:
    """Forget all answers: the next runs ask again."""
    with closing(AnswerCache(cache_directory())) as cache:
        count = cache.clear()
    write_result(f"{count} answers cleared from {visible(str(cache.path))}\n")
    return ExitCode.OK

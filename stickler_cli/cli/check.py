"""`stickler check`: whether schemas can be used, with everything that is wrong in them."""

from collections.abc import Iterable

from stickler_cli.cli.console import show_problems, write_result
from stickler_cli.cli.exit_codes import ExitCode
from stickler_cli.core.problems import SchemaError
from stickler_cli.reports.figures import visible
from stickler_cli.schema.loading import load_schema
from stickler_cli.settings import CheckSettings


def check(schemas: Iterable[str], settings: CheckSettings) -> ExitCode:
    """Compile schemas and tell every problem of all of them; no document is read."""
    refused = False
    for schema in schemas:
        try:
            plan = load_schema(schema, allow_plugins=settings.allow_plugins).plan
        except SchemaError as error:
            refused = True
            show_problems(error.problems)
            continue
        if not settings.quiet:
            write_result(f"{visible(f'{schema}: no problems ({plan.model_name})')}\n")
    return ExitCode.USAGE if refused else ExitCode.OK

"""`stickler check`: whether schemas can be used, with everything that is wrong in them."""

from typing import Annotated

import typer

from stickler_cli.cli import options
from stickler_cli.cli.console import show_problems, write_result
from stickler_cli.cli.exit_codes import ExitCode
from stickler_cli.core.problems import SchemaError

Schemas = Annotated[
    list[str],
    typer.Argument(metavar="SCHEMA", help="Annotated JSON Schemas.", show_default=False),
]


def check(
    schemas: Schemas,
    allow_plugins: options.AllowPlugins = False,
    quiet: options.Quiet = False,
    debug: options.Debug = False,
) -> None:
    """Compile schemas and tell every problem of all of them; no document is read."""
    from stickler_cli.reports.figures import visible
    from stickler_cli.schema.loading import load_schema  # --help loads no engine

    refused = False
    for schema in schemas:
        try:
            plan = load_schema(schema, allow_plugins=allow_plugins).plan
        except SchemaError as error:
            refused = True
            show_problems(error.problems)
            continue
        if not quiet:
            write_result(f"{visible(f'{schema}: no problems ({plan.model_name})')}\n")
    raise typer.Exit(ExitCode.USAGE if refused else ExitCode.OK)

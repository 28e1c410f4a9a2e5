"""A command: a function of arguments and settings, whose fields become options.

The values come from the command line, else from the configuration file, else from `settings.py`.
"""

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import typer

from stickler_cli.cli.config import Config, read_config
from stickler_cli.cli.exit_codes import ExitCode
from stickler_cli.cli.plain import PlainCommand
from stickler_cli.core.option import (
    Choice,
    Flag,
    Option,
    Texts,
    options_of,
    read_settings,
)
from stickler_cli.core.problems import Problem, UnavailableError, UsageError


def add_command(
    app: typer.Typer, name: str, function: Callable[..., ExitCode], epilog: str | None = None
) -> None:
    """Add a command to an app.

    Args:
        app: to what.
        name: of the command, in `COMMANDS`.
        function: takes arguments, and settings by that name; returns the exit code. Its docstring
            is the help.
        epilog: stands below the options.
    """
    parameters = dict(inspect.signature(function, eval_str=True).parameters)
    kind = parameters.pop("settings").annotation
    options = options_of(kind)

    def run(context: typer.Context, **given: Any) -> None:
        if given["no_config"] and given["config"] is not None:
            raise UsageError([Problem("--config", "--no-config is given too", "one of the two")])
        asked = {name: given[name] for name in options if given[name] is not None}
        try:
            settings = read_settings(kind, asked, parsed=False)
            code = function(**{name: given[name] for name in parameters}, settings=settings)
        except (UsageError, UnavailableError) as error:
            raise type(error)(_blamed(error.problems, _from_file(context, options))) from error
        raise typer.Exit(code)

    run.__doc__ = function.__doc__
    # What typer reads instead of the signature that is written above.
    run.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [
            inspect.Parameter("context", inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context),
            *(entry.replace(kind=inspect.Parameter.KEYWORD_ONLY) for entry in parameters.values()),
            *(_parameter(option) for option in options.values()),
            *_config_parameters(name),
        ]
    )
    app.command(name, cls=PlainCommand, epilog=epilog, no_args_is_help=True)(run)


def _parameter(option: Option) -> inspect.Parameter:
    """Return the parameter by which typer makes an option; values are checked elsewhere."""
    kind: Any = str
    default = option.declared.shown or option.default
    names = [option.flag]
    match option.values:
        case Flag():
            kind = bool
            if default is None:
                names = [f"{option.flag}/--no-{option.name}"]
        case Choice():
            kind = option.kind
        case Texts():
            kind, default = list[str], None
        case _ if default is not None:
            default = str(default)
    if default is None:
        kind |= None
    if option.declared.short is not None:
        names.append(option.declared.short)
    said = typer.Option(default, *names, metavar=option.declared.metavar, help=option.declared.help)
    return _keyword(option.name, said, kind)


def _keyword(name: str, default: Any, kind: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)


def _config_parameters(command: str) -> Iterator[inspect.Parameter]:
    """Return the options that say which configuration file counts."""

    def use(context: typer.Context, config: str | None) -> str | None:
        """Take what a file says as defaults of the command."""
        if not context.resilient_parsing and not context.params.get("no_config"):
            context.obj = read_config(config, command)
            context.default_map = context.obj.values
        return config

    ignore = typer.Option(False, "--no-config", is_eager=True, help="Ignore configuration files.")
    yield _keyword("no_config", ignore, bool)
    file = typer.Option(
        None,
        "--config",
        callback=use,
        is_eager=True,
        metavar="FILE",
        help="Read options from this file instead of the nearest stickler.toml or [tool.stickler] "
        "in pyproject.toml.",
    )
    yield _keyword("config", file, str | None)


def _from_file(context: typer.Context, options: Mapping[str, Option]) -> dict[str, str]:
    """Return the options that a configuration file decided, by flag, and its name for each."""
    config: Config | None = context.obj
    if config is None:
        return {}
    return {
        options[name].flag: f"{config.file}: {name}"
        for name in config.values
        if getattr(context.get_parameter_source(name), "name", "") == "DEFAULT_MAP"
    }


def _blamed(problems: Iterable[Problem], from_file: Mapping[str, str]) -> Iterator[Problem]:
    """Name the configuration file where a problem names an option that it decided."""
    for problem in problems:
        flag, space, rest = problem.source.partition(" ")
        yield replace(problem, source=from_file.get(flag, flag) + space + rest)

"""Commands as typer has them: arguments, and settings whose fields become options.

The values come from the command line, else from the configuration file, else from `settings`.
"""

import inspect
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from importlib import import_module
from types import MappingProxyType
from typing import Any, Final

import typer
import typer.core

from stickler_cli.core.option import (
    FLAG,
    TEXTS,
    Choice,
    Option,
    Settings,
    options_of,
    paths_named,
    read_settings,
)
from stickler_cli.core.problems import Problem, UnavailableError, UsageError
from stickler_cli.core.remote import hide_secrets, wait_at_most
from stickler_cli.runs.process import check_address_space
from stickler_cli.runs.whole_files import check_outputs, holds_run
from .commands import OWN_FILE, USUAL, Command
from .console import ExitCode, terminal_columns, write_result

SEVERAL: Final = "..."  # ends the metavar of an option after which several values may stand


PANELS: Final = (
    *("arguments", "options", "input", "output", "counting", "gates", "statistics", "run"),
    *("models", "engine"),
)
"""In their order; "options" are those of one command alone, and who tunes comes last."""
WIDEST: Final = 120  # columns: longer lines are hard to read
NARROWEST: Final = 30
MARGIN: Final = 2
EVERYTHING: Final = "everything"
"""The parameter of the option that shows all options, and the mark of a context that does."""
SPACE: Final = 6  # columns around the names of commands


def new_app(
    codes: Mapping[ExitCode, str] | None = None,
    groups: Mapping[str, Sequence[str]] | None = None,
    **said: Any,
) -> typer.Typer:
    """Return an app without commands; help lists them in groups, if there are any."""
    columns = min(terminal_columns(), WIDEST)
    width = max(columns - MARGIN, NARROWEST)
    return typer.Typer(
        cls=type("Group", (_Group,), {"codes": codes or {}, "groups": groups or {}}),
        context_settings={"help_option_names": ["-h", "--help"], "terminal_width": width},
        no_args_is_help=True,
        rich_markup_mode=None,  # halves the time of --help, which then is plain text
        **said,
    )


def add_command(app: typer.Typer, name: str, command: Command) -> None:
    """Add a command to an app."""
    kind = command.settings
    options = options_of(kind) if kind else {}

    def run(context: typer.Context, **given: Any) -> None:
        if given.get("no_config") and given["config"] is not None:
            raise UsageError([Problem("--config", "--no-config is given too", "one of the two")])
        asked = {name: given[name] for name in options if given[name] is not None}
        try:
            asked |= _from_the_right(context, options)
            settings = [read_settings(kind, asked, parsed=False)] if kind else []
            if settings:
                _check_files(settings[0], context)
            check_address_space()
            if "url_timeout" in options:
                wait_at_most(settings[0].url_timeout)
            module, _, function = command.does.partition(".")
            does = getattr(import_module(f"{__package__}.{module}"), function)
            code = does(*([command.study] if command.study else []), *settings)
        except (UsageError, UnavailableError) as error:
            raise type(error)(_blamed(error.problems, context, options)) from error
        raise typer.Exit(code)

    usual = USUAL.get(name, ())
    # What typer reads instead of the signature that is written above.
    run.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [
            _keyword("context", inspect.Parameter.empty, typer.Context),
            *map(_argument, _arguments(options)),
            *(_parameter(option) for option in options.values() if not option.argument),
            *(_config_parameters(name) if kind else ()),
            *([_help_of_all()] if usual else []),
        ]
    )
    own = {"examples": command.examples, "codes": command.exit_codes, "usual": usual}
    app.command(name, cls=type("Single", (_Single,), own), help=command.help)(run)


def list_command(app: typer.Typer, name: str, command: Command) -> None:
    """Add a command by its name and help alone: all that the list of commands shows."""

    def run() -> None:
        """Do nothing: the command that is called was added with its options."""

    app.command(name, help=command.help)(run)


def _argument(option: Option) -> inspect.Parameter:
    shown = typer.Argument(
        option.default, show_default=False, metavar=option.metavar, help=option.help
    )
    return _keyword(option.name, shown, list[str] if option.values is TEXTS else str)


def spread(arguments: Iterable[str], flags: Collection[str]) -> list[str]:
    """Return the arguments of a command with an option repeated where several values follow it.

    >>> spread(["--new", "a", "b", "--base=c", "d", "-q"], {"--new", "--base"})
    ['--new', 'a', '--new', 'b', '--base=c', '--base', 'd', '-q']
    """
    found: list[str] = []
    flag, waits = "", False
    for argument in arguments:
        if argument.startswith("-") and argument != "-":
            name, given, _ = argument.partition("=")
            flag, waits = (name, not given) if name in flags else ("", False)
        elif flag and waits:
            waits = False
        elif flag:
            found.append(flag)
        found.append(argument)
    return found


def _arguments(options: Mapping[str, Option]) -> list[Option]:
    """Return the options that are arguments on the command line, in their order."""
    return [option for option in options.values() if option.argument]


def _from_the_right(context: typer.Context, options: Mapping[str, Option]) -> dict[str, Any]:
    """Return the arguments that the command line has; of fewer than all they are the last.

    Raises:
        UsageError: neither the command line nor the configuration file has one.
    """
    instead = {
        argument: context.params[name]
        for name, option in options.items()
        for argument in option.instead_of
        if context.params[name] is not None
    }
    names = [option.name for option in _arguments(options)]
    typed = [context.params[name] for name in names if _said_by(context, name) == "COMMANDLINE"]
    found: dict[str, Any] = {name: options[name].default for name in names}
    found |= {name: said for name, said in (context.default_map or {}).items() if name in found}
    found |= instead
    left = [name for name in names if name not in instead]
    if len(typed) > len(left):
        flag = next(option.flag for option in options.values() if option.instead_of)
        words = " and ".join(map(str.upper, instead))
        expected = f"{flag} or {words}, and not both"
        raise UsageError([Problem(flag, f"{typed[-1]} is given too", expected)])
    found |= zip(left[len(left) - len(typed) :], typed, strict=True)
    if missing := [name for name in names if not found[name] and options[name].needed]:
        said = f"{', '.join(map(str.upper, missing))} missing"
        arguments = (option.metavar or "" for option in _arguments(options))
        usage = f"stickler {context.info_name} {' '.join(arguments)}"
        if runs := [argument for argument in typed if holds_run(str(argument))]:
            finding = f"this is a finished run, and stickler {context.info_name} reads documents"
            raise UsageError([Problem(str(runs[0]), finding, usage)])
        kept = [name for name in missing if options[name].in_file != "none"]
        hint = f"{OWN_FILE} may have {', '.join(kept)} instead" if kept else ""
        raise UsageError([Problem("", said, usage, hint)])
    return found


def _check_files(settings: Settings, context: typer.Context) -> None:
    """Check that no output would overwrite an input, the configuration file, or a run's source."""
    inputs, outputs = paths_named(settings, "input"), paths_named(settings, "output")
    runs = [path for _, path in inputs if holds_run(path)] if outputs else []
    if runs:
        from stickler_cli.runs.saved import sources_of_run  # few commands read runs

        inputs += [source for run in runs for source in sources_of_run(run)]
    inputs += [("the configuration file", context.obj)] if context.obj else []
    check_outputs(outputs, inputs)


def _said_by(context: typer.Context, name: str) -> str:
    """Return where the value of a parameter comes from, as click calls it."""
    return getattr(context.get_parameter_source(name), "name", "")


def _parameter(option: Option) -> inspect.Parameter:
    """Return the parameter by which typer makes an option; values are checked elsewhere."""
    kind: Any = str
    default = option.shown or option.default
    names = [option.flag]
    match option.values:
        case values if values == FLAG:
            kind = bool
            if default is None:
                names = [f"{option.flag}/--no-{option.name}"]
        case Choice():
            kind = option.kind
        case values if values == TEXTS:
            kind, default = list[str], None
        case _ if default is not None:
            default = str(default)
    if default is None:
        kind |= None
    if option.short is not None:
        names.append(option.short)
    said = typer.Option(
        default, *names, metavar=option.metavar, help=option.help, rich_help_panel=option.panel
    )
    return _keyword(option.name, said, kind)


def _keyword(name: str, default: Any, kind: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)


def _config_parameters(command: str) -> Iterator[inspect.Parameter]:
    """Return the options that say which configuration file counts."""

    def use(context: typer.Context, config: str | None) -> str | None:
        if not context.resilient_parsing and not context.params.get("no_config"):
            from .config import read_config  # asked for none, none is looked for

            context.default_map, context.obj = read_config(config, command)
        return config

    ignore = typer.Option(
        False,
        "--no-config",
        is_eager=True,
        help="Ignore configuration files.",
        rich_help_panel="run",
    )
    yield _keyword("no_config", ignore, bool)
    file = typer.Option(
        None,
        "--config",
        callback=use,
        is_eager=True,
        metavar="FILE",
        rich_help_panel="run",
        help="Read options from this file instead of the nearest stickler.toml or [tool.stickler] "
        "in pyproject.toml.",
    )
    yield _keyword("config", file, str | None)


def _help_of_all() -> inspect.Parameter:
    """Return the option that shows the help of all options."""

    def show(context: typer.Context, asked: bool) -> None:
        if asked:
            context.meta[EVERYTHING] = True
            write_result(f"{context.get_help()}\n")
            raise typer.Exit

    option = typer.Option(
        False,
        "--help-all",
        callback=show,
        is_eager=True,
        help="Show the help of all options.",
        rich_help_panel="run",
    )
    return _keyword(EVERYTHING, option, bool)


def _blamed(
    problems: Iterable[Problem], context: typer.Context, options: Mapping[str, Option]
) -> Iterator[Problem]:
    """Name the configuration file where a problem names an option that it decided."""
    from_file = {
        options[name].flag: f"{context.obj}: {name}"
        for name in context.default_map or ()
        if _said_by(context, name) == "DEFAULT_MAP"
    }
    for problem in problems:
        flag, space, rest = problem.source.partition(" ")
        yield replace(problem, source=from_file.get(flag, flag) + space + rest)


def _leave_value(parameter: Any, context: Any, value: Any) -> Any:
    """Return the value of a parameter as it was typed, or what its callback makes of it."""
    return value if parameter.callback is None else parameter.callback(context, parameter, value)


@contextmanager
def _without_secrets() -> Iterator[None]:
    """Leave the secrets of URLs out of errors that typer prints itself."""
    try:
        yield
    except Exception as error:
        message = getattr(error, "message", None)
        if hasattr(error, "format_message") and isinstance(message, str):
            error.message = hide_secrets(message)  # type: ignore[attr-defined]
        raise


class _Documented:
    """A command, or a group of them, whose help ends with examples and exit codes."""

    examples: str = ""
    codes: Mapping[ExitCode, str] = MappingProxyType({})

    def make_context(self, *arguments: Any, **options: Any) -> Any:
        """Read the command line; errors name its words without the secrets of URLs."""
        with _without_secrets():
            return super().make_context(*arguments, **options)  # type: ignore[misc]

    def invoke(self, ctx: Any) -> Any:
        """Run the command, or the one of the group that is named."""
        with _without_secrets():
            return super().invoke(ctx)  # type: ignore[misc]

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters, which leave it to `read_settings` to convert their values.

        Typer would load pydantic to convert them, which takes longer than to evaluate some hundred
        documents.
        """
        parameters: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        for parameter in parameters:
            parameter.process_value = partial(_leave_value, parameter)
        return parameters

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        if self.examples:
            with formatter.section("Examples"):
                for line in self.examples.strip("\n").splitlines():
                    formatter.write(f"{line}\n")  # as it is: a command that is cut is none
        if self.codes:
            with formatter.section("Exit codes"):
                formatter.write_dl([(str(code.value), said) for code, said in self.codes.items()])


class _Group(_Documented, typer.core.TyperGroup):
    """A group of commands, which help lists in groups, if there are any."""

    groups: Mapping[str, Sequence[str]] = MappingProxyType({})

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        if not self.groups:
            super().format_commands(ctx, formatter)
            return
        room = formatter.width - max(map(len, self.commands)) - SPACE
        for title, names in self.groups.items():
            known = [(name, self.commands[name]) for name in names if name in self.commands]
            if known:
                with formatter.section(title):
                    formatter.write_dl([(name, it.get_short_help_str(room)) for name, it in known])


class _Single(_Documented, typer.core.TyperCommand):
    """A command.

    Of options help has the usual ones, if any are named, and all if the context is marked.
    """

    usual: Collection[str] = ()

    def parse_args(self, ctx: Any, args: list[str]) -> Any:
        flags = {
            flag
            for it in self.get_params(ctx)
            if it.param_type_name == "option" and (it.metavar or "").endswith(SEVERAL)
            for flag in it.opts
        }
        return super().parse_args(ctx, spread(args, flags))

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        known = (it for it in self.get_params(ctx) if it.param_type_name == "argument")
        return [self.options_metavar or "", *(it.metavar for it in known)]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        parameters = self.get_params(ctx)
        if self.usual and not ctx.meta.get(EVERYTHING):
            shown = {*self.usual, EVERYTHING, "help"}
            parameters = [
                it for it in parameters if it.name in shown or it.param_type_name == "argument"
            ]
        for title, rows in panels(parameters, ctx).items():
            with formatter.section(title):
                formatter.write_dl(rows, col_max=min(30, formatter.width // 3))


def panels(parameters: Sequence[Any], context: Any) -> dict[str, list[tuple[str, str]]]:
    """Return the options of a command, each with its help, by the title of their panel."""
    found: dict[str, list[tuple[str, str]]] = {name: [] for name in PANELS}
    for parameter in parameters:
        said = parameter.get_help_record(context)
        panel = getattr(parameter, "rich_help_panel", None) or "options"
        if parameter.param_type_name == "argument":
            panel, said = "arguments", (parameter.metavar, parameter.help)
        elif parameter.name == "help":
            panel = "run"
        if said is not None:
            found[panel].append(said)
    return {name.capitalize(): rows for name, rows in found.items() if rows}

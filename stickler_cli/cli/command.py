"""Turn settings classes into commands of typer, with arguments and options.

A value comes from the command line if it is given there. Otherwise it comes from the configuration
file, or else from the defaults.
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

from stickler_cli.core.figures import visible
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
from .console import ExitCode, write_result

SEVERAL: Final = "..."  # ends the metavar of an option that may be followed by several values


PANELS: Final = (
    *("arguments", "options", "input", "output", "counting", "gates", "statistics", "run"),
    *("models", "engine"),
)
"""Titles of the groups of options in help, in order; rarely used groups come last."""
ALSO_NEEDED: Final = {"accept": ("-o", "policy.json")}
"""Maps the name of a command to the option that it requires, as words on the command line. Error
messages show these words at the end of the usage line, for example `-o policy.json`."""
WIDEST: Final = 120  # columns; longer lines are hard to read
NARROWEST: Final = 30
MARGIN: Final = 2
EVERYTHING: Final = "help_all"
"""Name of the parameter for --help-all. If this option is given, the `meta` of the click context
has this name as a key, with the value True."""
SPACE: Final = 6  # columns around the names of commands


def new_app(
    columns: int,
    codes: Mapping[ExitCode, str] | None = None,
    groups: Mapping[str, Sequence[str]] | None = None,
    **said: Any,
) -> typer.Typer:
    """Return a typer app without commands.

    Args:
        columns: width of the terminal.
        codes: exit codes and their meanings.
        groups: maps the titles in help to the commands that help lists under each title.
        said: further arguments for typer.
    """
    width = max(min(columns, WIDEST) - MARGIN, NARROWEST)
    return typer.Typer(
        cls=type("Group", (_Group,), {"codes": codes or {}, "groups": groups or {}}),
        context_settings={"help_option_names": ["-h", "--help"], "terminal_width": width},
        no_args_is_help=True,
        rich_markup_mode=None,  # plain help takes half the time
        **said,
    )


def add_command(app: typer.Typer, name: str, command: Command) -> None:
    """Add a command to an app."""
    settings_class = command.settings
    options = options_of(settings_class) if settings_class else {}

    def run(context: typer.Context, **typed_values: Any) -> None:
        if typed_values.get("no_config") and typed_values["config"] is not None:
            raise UsageError(
                [Problem("--config", "--no-config is also given", "either --config or --no-config")]
            )
        values = {name: typed_values[name] for name in options if typed_values[name] is not None}
        try:
            values |= _read_arguments(context, options)
            settings = (
                [read_settings(settings_class, values, parsed=False)] if settings_class else []
            )
            if settings:
                _check_files(settings[0], context)
            check_address_space()
            if "url_timeout" in options:
                wait_at_most(settings[0].url_timeout)
            module, _, function = command.does.partition(".")
            run_command = getattr(import_module(f"{__package__}.{module}"), function)
            code = run_command(*([command.study] if command.study else []), *settings)
        except (UsageError, UnavailableError) as error:
            raise type(error)(_name_config_file(error.problems, context, options)) from error
        raise typer.Exit(code)

    usual = USUAL.get(name, ())
    # typer reads this signature instead of that of `run`
    run.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [
            _keyword_parameter("context", inspect.Parameter.empty, typer.Context),
            *map(_argument_parameter, _argument_options(options)),
            *(_option_parameter(option) for option in options.values() if not option.argument),
            *(_config_parameters(name) if settings_class else ()),
            *([_help_of_all()] if usual else []),
        ]
    )
    attributes = {"examples": command.examples, "codes": command.exit_codes, "usual": usual}
    app.command(name, cls=type("Single", (_Single,), attributes), help=command.help)(run)


def list_command(app: typer.Typer, name: str, command: Command) -> None:
    """Add a command that has only a name and help text. This is enough for the list of commands."""

    def run() -> None:
        """Do nothing: this command is only listed, and never called."""

    app.command(name, help=command.help)(run)


def _argument_parameter(option: Option) -> inspect.Parameter:
    argument = typer.Argument(
        option.default, show_default=False, metavar=option.metavar, help=option.help
    )
    return _keyword_parameter(option.name, argument, list[str] if option.values is TEXTS else str)


def repeat_options(arguments: Iterable[str], flags: Collection[str]) -> list[str]:
    """Repeat an option before each of its values, and return the new arguments.

    `flags` are the options that can have several values.

    >>> repeat_options(["--new", "a", "b", "--base=c", "d", "-q"], {"--new", "--base"})
    ['--new', 'a', '--new', 'b', '--base=c', '--base', 'd', '-q']
    """
    words: list[str] = []
    flag, waits_for_first = "", False
    for argument in arguments:
        if argument.startswith("-") and argument != "-":
            name, separator, _ = argument.partition("=")
            flag, waits_for_first = (name, not separator) if name in flags else ("", False)
        elif flag and waits_for_first:
            waits_for_first = False
        elif flag:
            words.append(flag)
        words.append(argument)
    return words


def _argument_options(options: Mapping[str, Option]) -> list[Option]:
    """Return the options that are positional arguments of the command, in order."""
    return [option for option in options.values() if option.argument]


def _read_arguments(context: typer.Context, options: Mapping[str, Option]) -> dict[str, Any]:
    """Return the value of each positional argument. Keys are the names of the arguments.

    If the command line has fewer values than the command has arguments, the values belong to the
    last arguments. If the first arguments are required, their values must then be in the
    configuration file. For instance, if `stickler eval` is called with two values, these are GT and
    PRED, and SCHEMA must be in the file.

    Raises:
        UsageError: an argument is neither on the command line nor in the configuration file.
    """
    values_of_options = {
        argument: context.params[name]
        for name, option in options.items()
        for argument in option.instead_of
        if context.params[name] is not None
    }
    argument_names = [option.name for option in _argument_options(options)]
    typed_values = [
        context.params[name]
        for name in argument_names
        if _value_source(context, name) == "COMMANDLINE"
    ]
    texts = [text for value in typed_values for text in _texts_of(value)]
    if any(not text.strip() for text in texts):
        raise UsageError([Problem("", "an argument of the command is blank", "a path or a name")])
    values: dict[str, Any] = {name: options[name].default for name in argument_names}
    values |= {name: value for name, value in (context.default_map or {}).items() if name in values}
    values |= values_of_options
    remaining_names = [name for name in argument_names if name not in values_of_options]
    if len(typed_values) > len(remaining_names):
        flag = next(option.flag for option in options.values() if option.instead_of)
        words = " and ".join(map(str.upper, values_of_options))
        expected = f"either {flag} or {words}"
        raise UsageError([Problem(flag, f"{typed_values[-1]} is also given", expected)])
    values |= zip(
        remaining_names[len(remaining_names) - len(typed_values) :], typed_values, strict=True
    )
    if missing := [name for name in argument_names if not values[name] and options[name].needed]:
        verb = "is" if len(missing) == 1 else "are"
        message = f"{' and '.join(map(str.upper, missing))} {verb} missing"
        arguments = (option.metavar or "" for option in _argument_options(options))
        also_needed = ALSO_NEEDED.get(context.info_name or "", ())
        usage = " ".join(["stickler", context.info_name or "", *arguments, *also_needed])
        if runs := [argument for argument in typed_values if holds_run(str(argument))]:
            finding = f"this is a finished run, but stickler {context.info_name} needs documents"
            raise UsageError([Problem(str(runs[0]), finding, usage)])
        can_be_in_file = all(options[name].in_file != "none" for name in missing)
        hint = f"or set {', '.join(missing)} in {OWN_FILE}" if can_be_in_file else ""
        raise UsageError([Problem(source="", found=message, expected=usage, hint=hint)])
    return values


def _texts_of(value: object) -> tuple[str, ...]:
    """Return the texts of an argument as a tuple. A single text becomes a tuple of one."""
    return (value,) if isinstance(value, str) else tuple(map(str, value))  # type: ignore[call-overload] # typer's


def _check_files(settings: Settings, context: typer.Context) -> None:
    """Raise UsageError if an output would overwrite a file that must not change.

    Such files are the inputs, the configuration file, and the documents and schema of an input run.
    """
    inputs, outputs = paths_named(settings, "input"), paths_named(settings, "output")
    runs = [path for _, path in inputs if holds_run(path)] if outputs else []
    if runs:
        from stickler_cli.runs.saved import sources_of_run  # imported late: few commands read runs

        inputs += [source for run in runs for source in sources_of_run(run)]
    inputs += [("the configuration file", context.obj)] if context.obj else []
    check_outputs(outputs, inputs)


def _value_source(context: typer.Context, name: str) -> str:
    """Return where the value of a parameter comes from, in click's words, such as `COMMANDLINE`."""
    return getattr(context.get_parameter_source(name), "name", "")


def _option_parameter(option: Option) -> inspect.Parameter:
    """Return a function parameter for an option. typer makes the option from it.

    typer does not check the values; `read_settings` does.
    """
    annotation: Any = str
    default = option.default_text or option.default
    names = [option.flag]
    match option.values:
        case values if values == FLAG:
            annotation = bool
            if default is None:
                names = [f"{option.flag}/--no-{option.name}"]
        case Choice():
            annotation = option.kind
        case values if values == TEXTS:
            annotation, default = list[str], None
        case _ if default is not None:
            default = str(default)
    if default is None:
        annotation |= None
    if option.short is not None:
        names.append(option.short)
    typer_option = typer.Option(
        default, *names, metavar=option.metavar, help=option.help, rich_help_panel=option.panel
    )
    return _keyword_parameter(option.name, typer_option, annotation)


def _keyword_parameter(name: str, default: Any, kind: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)


def _config_parameters(command: str) -> Iterator[inspect.Parameter]:
    """Yield the function parameters for the options that choose the configuration file."""

    def use(context: typer.Context, config: str | None) -> str | None:
        if not context.resilient_parsing and not context.params.get("no_config"):
            from .config import read_config  # --no-config uses none

            context.default_map, context.obj = read_config(config, command)
        return config

    ignore = typer.Option(
        False,
        "--no-config",
        is_eager=True,
        help="Ignore configuration files.",
        rich_help_panel="run",
    )
    yield _keyword_parameter("no_config", ignore, bool)
    file = typer.Option(
        None,
        "--config",
        callback=use,
        is_eager=True,
        metavar="FILE",
        rich_help_panel="run",
        help=(
            "Read options from this file. Otherwise options come from the nearest "
            "stickler.toml, or from [tool.stickler] in pyproject.toml."
        ),
    )
    yield _keyword_parameter("config", file, str | None)


def _help_of_all() -> inspect.Parameter:
    """Return the function parameter from which typer makes --help-all."""

    def show(context: typer.Context, is_requested: bool) -> None:
        if is_requested:
            context.meta[EVERYTHING] = True
            write_result(f"{context.get_help()}\n")
            raise typer.Exit

    option = typer.Option(
        False,
        "--help-all",
        callback=show,
        is_eager=True,
        help="Show this help with all options.",
        rich_help_panel="run",
    )
    return _keyword_parameter(EVERYTHING, option, bool)


def _name_config_file(
    problems: Iterable[Problem], context: typer.Context, options: Mapping[str, Option]
) -> Iterator[Problem]:
    """Yield problems; if the value of an option is from the configuration file, name this file.

    For instance, the source `--workers` of a problem becomes `stickler.toml: workers`.
    """
    from_file = {
        options[name].flag: f"{context.obj}: {name}"
        for name in context.default_map or ()
        if _value_source(context, name) == "DEFAULT_MAP"
    }
    for problem in problems:
        flag, space, remainder = problem.source.partition(" ")
        yield replace(problem, source=from_file.get(flag, flag) + space + remainder)


def _leave_value(parameter: Any, context: Any, value: Any) -> Any:
    """Return the result of the parameter's callback.

    If it has no callback, return the value unchanged.
    """
    return value if parameter.callback is None else parameter.callback(context, parameter, value)


@contextmanager
def _errors_as_messages() -> Iterator[None]:
    """Make the messages of errors that typer raises inside the block safe to print.

    Passwords and tokens in URLs are removed from a message, and invisible characters are escaped.
    """
    try:
        yield
    except Exception as error:
        message = getattr(error, "message", None)
        if hasattr(error, "format_message") and isinstance(message, str):
            error.message = visible(hide_secrets(message))  # type: ignore[attr-defined]
        raise


class _Documented:
    """Base class of typer commands and groups.

    It adds examples and exit codes to the end of help.
    """

    examples: str = ""
    codes: Mapping[ExitCode, str] = MappingProxyType({})

    def make_context(self, *arguments: Any, **options: Any) -> Any:
        """Parse the command line; error messages have no secrets and no invisible characters."""
        with _errors_as_messages():
            return super().make_context(*arguments, **options)  # type: ignore[misc]

    def invoke(self, ctx: Any) -> Any:
        """Run the command, or the subcommand of a group. Errors are shown as messages."""
        with _errors_as_messages():
            return super().invoke(ctx)  # type: ignore[misc]

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters, changed so that typer does not convert their values.

        `read_settings` converts them instead. To convert values, typer would import pydantic, which
        takes longer than evaluating some hundred documents.
        """
        parameters: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        for parameter in parameters:
            parameter.process_value = partial(_leave_value, parameter)
        return parameters

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        if self.examples:
            with formatter.section("Examples"):
                for line in self.examples.strip("\n").splitlines():
                    formatter.write(f"{line}\n")  # not wrapped, so that commands can be copied
        if self.codes:
            with formatter.section("Exit codes"):
                formatter.write_dl(
                    [(str(code.value), meaning) for code, meaning in self.codes.items()]
                )


class _Group(_Documented, typer.core.TyperGroup):
    """A command that contains other commands. Its help lists them under several titles."""

    groups: Mapping[str, Sequence[str]] = MappingProxyType({})

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        if not self.groups:
            super().format_commands(ctx, formatter)
            return
        columns = formatter.width - max(map(len, self.commands)) - SPACE
        for title, names in self.groups.items():
            listed_commands = [
                (name, self.commands[name]) for name in names if name in self.commands
            ]
            if listed_commands:
                with formatter.section(title):
                    formatter.write_dl(
                        [
                            (name, command.get_short_help_str(columns))
                            for name, command in listed_commands
                        ]
                    )


class _Single(_Documented, typer.core.TyperCommand):
    """A command that runs something.

    If the command has a list of usual options, `--help` shows only these, and `--help-all` shows
    all.
    """

    usual: Collection[str] = ()

    def parse_args(self, ctx: Any, args: list[str]) -> Any:
        flags = {
            flag
            for parameter in self.get_params(ctx)
            if parameter.param_type_name == "option" and (parameter.metavar or "").endswith(SEVERAL)
            for flag in parameter.opts
        }
        return super().parse_args(ctx, repeat_options(args, flags))

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        arguments = (
            parameter
            for parameter in self.get_params(ctx)
            if parameter.param_type_name == "argument"
        )
        return [self.options_metavar or "", *(parameter.metavar for parameter in arguments)]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        parameters = self.get_params(ctx)
        if self.usual and not ctx.meta.get(EVERYTHING):
            shown_names = {*self.usual, EVERYTHING, "help"}
            parameters = [
                parameter
                for parameter in parameters
                if parameter.name in shown_names or parameter.param_type_name == "argument"
            ]
        for title, rows in group_rows_by_panel(parameters, ctx).items():
            with formatter.section(title):
                formatter.write_dl(rows, col_max=min(30, formatter.width // 3))


def group_rows_by_panel(
    parameters: Sequence[Any], context: Any
) -> dict[str, list[tuple[str, str]]]:
    """Group options as they are listed in help.

    The keys are the titles in help. The values are lists of (name, help), one pair for each option.
    """
    rows_by_panel: dict[str, list[tuple[str, str]]] = {name: [] for name in PANELS}
    for parameter in parameters:
        help_record = parameter.get_help_record(context)
        panel = getattr(parameter, "rich_help_panel", None) or "options"
        if parameter.param_type_name == "argument":
            panel, help_record = "arguments", (parameter.metavar, parameter.help)
        elif parameter.name == "help":
            panel = "run"
        if help_record is not None:
            rows_by_panel[panel].append(help_record)
    return {name.capitalize(): rows for name, rows in rows_by_panel.items() if rows}

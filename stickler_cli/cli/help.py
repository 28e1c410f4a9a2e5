"""The help of commands: options in panels, examples and exit codes, wrapped to the terminal."""

import shutil
from collections.abc import Collection, Mapping, Sequence
from types import SimpleNamespace
from typing import Any, Final

import typer.core

from .console import ExitCode

# The attribute of a parameter that holds what reads its values. Versions of typer that have none
# read values by other means, which does no harm.
READER: Final = "_runtime_param"

PANELS: Final = (
    *("arguments", "options", "input", "output", "counting", "gates", "statistics", "run"),
    *("models", "engine"),
)
"""In their order; "options" are those of one command alone, and who tunes comes last."""

WIDEST: Final = 120  # columns: longer lines are hard to read
NARROWEST: Final = 30
MARGIN: Final = 2


def context_settings() -> dict[str, Any]:
    """Return what typer is to know of the terminal and of the names of the option for help."""
    columns = min(shutil.get_terminal_size().columns, WIDEST)
    width = max(columns - MARGIN, NARROWEST)
    return {"help_option_names": ["-h", "--help"], "terminal_width": width}


EVERYTHING: Final = "everything"
"""The parameter of the option that shows all options, and the mark of a context that does."""


def group_of_commands(
    codes: Mapping[ExitCode, str], groups: Mapping[str, Sequence[str]]
) -> type[typer.core.TyperGroup]:
    """Return a class of groups of commands, listed in groups, whose help ends with exit codes."""
    documented = _documented(typer.core.TyperGroup, "", codes)

    class Grouped(documented):  # type: ignore[misc,valid-type]
        def format_commands(self, ctx: Any, formatter: Any) -> None:
            if not groups:
                super().format_commands(ctx, formatter)
                return
            room = formatter.width - max(map(len, self.commands)) - SPACE
            for title, names in groups.items():
                known = [(name, self.commands[name]) for name in names if name in self.commands]
                if known:
                    with formatter.section(title):
                        formatter.write_dl(
                            [(name, it.get_short_help_str(room)) for name, it in known]
                        )

    return Grouped


SPACE: Final = 6  # columns around the names of commands


def single_command(
    examples: str, codes: Mapping[ExitCode, str], usual: Collection[str]
) -> type[typer.core.TyperCommand]:
    """Return a class of commands whose help ends with examples and exit codes.

    Of options it has the usual ones, if any are named, and all if the context is marked.
    """
    documented = _documented(typer.core.TyperCommand, examples, codes)

    class Single(documented):  # type: ignore[misc,valid-type]
        def format_options(self, ctx: Any, formatter: Any) -> None:
            parameters = self.get_params(ctx)
            if usual and not ctx.meta.get(EVERYTHING):
                shown = {*usual, EVERYTHING, "help"}
                parameters = [
                    it for it in parameters if it.name in shown or it.param_type_name == "argument"
                ]
            for title, rows in panels(parameters, ctx).items():
                with formatter.section(title):
                    formatter.write_dl(rows, col_max=min(30, formatter.width // 3))

    return Single


def panels(parameters: Sequence[Any], context: Any) -> dict[str, list[tuple[str, str]]]:
    """Return the options of a command and what they are, by the title of their panel."""
    found: dict[str, list[tuple[str, str]]] = {name: [] for name in PANELS}
    for parameter in parameters:
        said = parameter.get_help_record(context)
        panel = getattr(parameter, "rich_help_panel", None) or "options"
        if parameter.param_type_name == "argument":
            panel = "arguments"
        elif parameter.name == "help":
            panel = "run"
        if said is not None:
            found[panel].append(said)
    return {name.capitalize(): rows for name, rows in found.items() if rows}


def _documented(kind: Any, examples: str, codes: Mapping[ExitCode, str]) -> Any:
    """Return a class of commands, or of groups of them, that leaves values to `read_settings`.

    Typer would load pydantic for them, which takes longer than to evaluate some hundred documents.
    """

    class Documented(kind):  # type: ignore[misc]
        def get_params(self, ctx: Any) -> list[Any]:
            found: list[Any] = super().get_params(ctx)
            for parameter in found:
                if hasattr(parameter, READER):
                    setattr(parameter, READER, SimpleNamespace(coerce=lambda value, **place: value))
            return found

        def format_epilog(self, ctx: Any, formatter: Any) -> None:
            if examples:
                with formatter.section("Examples"):
                    for line in examples.strip("\n").splitlines():
                        formatter.write(f"{line}\n")  # as it is: a command that is cut is none
            if codes:
                with formatter.section("Exit codes"):
                    formatter.write_dl([(str(code.value), said) for code, said in codes.items()])

    return Documented

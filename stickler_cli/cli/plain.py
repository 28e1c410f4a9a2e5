"""Commands whose values typer takes as they are; `read_settings` reads them.

Typer would load pydantic to read the first value, be it that nobody asked for help, and that takes
longer than to evaluate some hundred documents.
"""

from typing import Any, Final

import typer.core

READER: Final = "_runtime_param"
"""The attribute of a parameter that holds what reads its values. Versions of typer that have none
read values by other means, which does no harm."""


class PlainCommand(typer.core.TyperCommand):
    """A command that does not read values."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters, that for help among them."""
        return _plain(super().get_params(ctx))


class PlainGroup(typer.core.TyperGroup):
    """A group of commands that does not read values."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters, that for help among them."""
        return _plain(super().get_params(ctx))


class _AsItIs:
    """Reads values as they are."""

    def coerce(self, value: object, **place: object) -> object:
        """Return a value as it is."""
        return value


def _plain(parameters: list[Any]) -> list[Any]:
    for parameter in parameters:
        if hasattr(parameter, READER):
            setattr(parameter, READER, _AsItIs())
    return parameters

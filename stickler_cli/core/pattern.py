"""`re.compile`, but that a pattern is compiled when it is first used.

Most runs use few of the patterns of the modules that they load: compiling them all took a sixth
of start-up.
"""

import re
from typing import TYPE_CHECKING, Any

__all__ = ["pattern"]


class _Pattern:
    """Has the methods of a compiled pattern; it is compiled by the first that is asked for."""

    def __init__(self, text: Any, flags: int = 0) -> None:
        self._given = text, flags

    def __getattr__(self, name: str) -> Any:
        found = getattr(re.compile(*self._given), name)
        setattr(self, name, found)  # so that nothing is looked up the next time
        return found


if TYPE_CHECKING:
    from re import compile as pattern
else:
    pattern = _Pattern

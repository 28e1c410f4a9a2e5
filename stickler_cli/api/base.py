"""What a comparable class knows, apart from what it can do.

A module of its own, so that the modules that make such classes do not need the class that offers
to make them.
"""

from pathlib import Path
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict

from stickler_cli.compare.plan import Plan
from stickler_cli.compare.result import DEFAULT_MATCH_THRESHOLD


class ComparableModel(BaseModel):
    """A pydantic model that carries what it takes to compare its instances."""

    model_config = ConfigDict(
        arbitrary_types_allowed=True,
        extra="allow",
        populate_by_name=True,
        protected_namespaces=(),
    )

    match_threshold: ClassVar[float] = DEFAULT_MATCH_THRESHOLD
    """In [0, 1]; at or above it two items of a list are the same one."""

    _compiled: ClassVar[Plan]
    """The plan, once it is there."""
    _source_schema: ClassVar[dict[str, Any] | None] = None
    """The schema that the class was made of, where it was made of one."""
    _source_file: ClassVar[Path | None] = None
    """Where that schema's relative references start."""
    _part_of: ClassVar[str | None] = None
    """The name of the class for the whole of that schema, where this one is for a part."""
    _named: ClassVar[bool] = True
    """Whether the name of the class is one that somebody gave it."""

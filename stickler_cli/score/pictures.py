"""What a page shows of the images and PDFs that documents were read from; no figure needs it."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from stickler_cli.core.values import dataclass


class PlacedBox(NamedTuple):
    """Where one side has a value."""

    path: str
    """Of the value, with list indexes, as its error has it."""
    outcome: str
    """What the value counts as."""
    side: str
    """`gt` or `pred`."""
    page: str | None
    """As the documents say it; None where they do not."""
    left: float
    top: float
    right: float
    bottom: float
    in_pixels: bool
    """Whether it is in the unit of the page, and not in fractions of it."""


class Picture(NamedTuple):
    """One page of a document."""

    sheet: int
    """Which page, from 1 on."""
    address: str
    """A `data:` URI."""
    width: float
    """Of the page, in the unit of boxes: pixels of an image, points of a PDF."""
    height: float


@dataclass(frozen=True, slots=True)
class PageSources:
    """Where a page finds what documents were read from."""

    template: str = ""
    """An address with `{id}`, and maybe `{page}`; empty where `links` has them all."""
    links: Mapping[str, str] | None = None
    """The address of each document that has one, maybe with `{page}`, by id."""
    pictures: Mapping[str, Sequence[Picture]] | None = None
    """The pages of some documents, by id."""

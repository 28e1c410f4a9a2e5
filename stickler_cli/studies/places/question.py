"""`stickler places`: its options and its help."""

import re
from typing import Final

from stickler_cli.core.option import NumberRange, option
from stickler_cli.core.problems import Problem, UsageError
from stickler_cli.settings.deciding import IntervalOptions
from stickler_cli.settings.running import PairStudyOptions
from stickler_cli.studies.study import Study

_SIZE: Final = re.compile(r"\s*(\d{1,6})\s*[xX]\s*(\d{1,6})\s*")


class PlacesSettings(PairStudyOptions, IntervalOptions):
    """Settings of `stickler places`."""

    page_size: str | None = option(
        None,
        (
            "Size of a page in pixels. Needed if one side has boxes in pixels and the other "
            "side in fractions of the page."
        ),
        "WIDTHxHEIGHT",
    )
    min_overlap: float = option(
        0.5,
        (
            "Minimum overlap of two boxes (intersection over union) for a value to be in the "
            "right place."
        ),
        "SHARE",
        values=NumberRange("a number above 0 and at most 1", lambda number: 0 < number <= 1),
    )

    def pixels(self) -> tuple[float, float] | None:
        """Return (width, height) of a page in pixels, or None if the user did not give them."""
        if self.page_size is None:
            return None
        size = _SIZE.fullmatch(self.page_size)
        if size is None or not int(size[1]) or not int(size[2]):
            finding = f"the value is {self.page_size!r}"
            expected = "WIDTHxHEIGHT, such as 1654x2339"
            raise UsageError([Problem("--page-size", finding, expected)])
        return float(size[1]), float(size[2])


PLACES: Final = Study(
    settings=PlacesSettings,
    record="studies.places.answer:PlacesReport",
    help="""Check whether values come from the right place on the page.

    GT and PRED have the same forms as for eval, and both must contain boxes. The boxes are in the
    metadata of values (`_bbox`, `_page`), or are fields that BBoxIoUComparator compares.
    """,
    examples="""
  stickler places schema.json gt/ pred/
  stickler places schema.json gt/ pred/ --page-size 1654x2339 -o places.json""",
    incomplete="some documents could not be compared, or no value has a box in both "
    "the ground truth and the prediction",
)

"""The studies by the names of their commands: a line each."""

from typing import Final

from .packets.question import PACKETS
from .places.question import PLACES
from .study import Study

STUDIES: Final[dict[str, Study]] = {
    "split": PACKETS,
    "places": PLACES,
}

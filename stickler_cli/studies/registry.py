"""The table of all studies: each command and its study."""

from typing import Final

from .accept.question import ACCEPT
from .audit.question import AUDIT
from .diff.question import DIFF
from .judges.question import JUDGES
from .lint.question import LINT
from .packets.question import PACKETS
from .places.question import PLACES
from .plan.question import PLAN
from .study import Study
from .tune.question import TUNE

STUDIES: Final[dict[str, Study]] = {
    "diff": DIFF,
    "lint": LINT,
    "accept": ACCEPT,
    "tune": TUNE,
    "judge-check": JUDGES,
    "split": PACKETS,
    "places": PLACES,
    "plan": PLAN,
    "audit": AUDIT,
}

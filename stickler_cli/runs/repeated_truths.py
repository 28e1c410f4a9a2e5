"""A note on repeated ground truths. They make confidence intervals too narrow."""

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Final

from stickler_cli.core.remote import is_url
from stickler_cli.documents.document import content_digest
from stickler_cli.documents.document_pair import read_pair
from stickler_cli.documents.reading import STANDARD_INPUT
from stickler_cli.score.record import REPEATED_TRUTHS

if TYPE_CHECKING:
    from .assembly import Assembly

MAX_DOCUMENTS: Final = 1_000
"""Maximum number of documents of a run that can get the note. In larger runs, reading the ground
truths again would take too long."""

MIN_REPEATED: Final = 10
"""If a run has fewer repeated ground truths than this, there is no note. So few repetitions hardly
change a confidence interval."""


def note_repeated_truths(assembly: "Assembly") -> Iterator[str]:
    """Yield a note if many documents have the same ground truth as another document.

    To find out, the ground truths are read again. In three cases this is impossible or takes too
    long, and there is no note: the ground truths come from standard input, they are downloaded, or
    there are more than `MAX_DOCUMENTS` documents.
    """
    gt = assembly.settings.gt
    if gt == STANDARD_INPUT or is_url(gt):
        return
    refs = [*islice(assembly.pairs.refs(), MAX_DOCUMENTS + 1)]
    if not MIN_REPEATED < len(refs) <= MAX_DOCUMENTS:
        return
    truths = (read_pair(ref._replace(pred=None)).gt for ref in refs if ref.gt is not None)
    digests = [content_digest(truth) for truth in truths if isinstance(truth, dict | list)]
    n_repeated = len(digests) - len({*digests})
    if n_repeated >= MIN_REPEATED:
        yield (
            f"{n_repeated:,}{REPEATED_TRUTHS}. Confidence intervals assume independent documents, "
            "so they may be too narrow; `stickler lint` lists these documents"
        )

"""The format `stickler-verdict/1`: what a person said of one error, a line of `verdicts.jsonl`.

The page of a run writes it (`reports/html/verdicts.js`); a test holds what it wrote against these
types.
"""

from typing import Final, Literal, NotRequired

from typing_extensions import TypedDict  # that of Python 3.11 is none that pydantic takes

from stickler_cli.core.rules import AnyJson, Count

VERDICT_FORMAT: Final = "stickler-verdict/1"


class VerdictRecord(TypedDict):
    """What a person said of one error, as a line of the file that the HTML report downloads.

    Described in docs/html-report.md. Document, path and outcome say which error it is.
    """

    format: Literal["stickler-verdict/1"]
    """This format; the number goes up when a key changes its meaning or goes away."""
    semantics: NotRequired[Count]
    """The version of what is counted, and how, in the run; 1 if it is left out."""
    schema: str
    """Digest of the schema of the run, as the record of the run has it."""
    document: str
    """The id of the document."""
    path: str
    """With the ground truth's list indexes; with the prediction's for a false alarm."""
    outcome: Literal["FD", "FA", "FN"]
    """What the error counts as."""
    gt: NotRequired[AnyJson]
    """The ground truth; null where it is absent. No key where the page had only its beginning."""
    pred: NotRequired[AnyJson]
    """The prediction, likewise."""
    verdict: Literal["prediction_right", "ground_truth_wrong", "both_acceptable", "neither"]
    """What is right: the prediction after all; not the ground truth; both; neither of them."""
    time: str
    """When it was said, in UTC, as ISO 8601."""

"""`stickler accept`: its options and its help."""

from typing import Final

from stickler_cli.core.option import option
from stickler_cli.settings.deciding import (
    SHARE,
    ConfidenceSource,
    DecidingOptions,
    DocumentOptions,
    SchemaOptions,
    SourceOptions,
    optional_schema,
)
from stickler_cli.settings.running import (
    BreakdownOptions,
    ModelOptions,
    StudyOptions,
    WorkOptions,
    output_files,
)
from stickler_cli.studies.study import Study


class AcceptSettings(
    SourceOptions,
    ConfidenceSource,
    DocumentOptions,
    SchemaOptions,
    DecidingOptions,
    ModelOptions,
    BreakdownOptions,
    WorkOptions,
    StudyOptions,
):
    """Settings of `stickler accept`."""

    schema: str = optional_schema()
    gt: str = option(
        "",
        "Ground truth, in any form that eval accepts.",
        "GT",
        is_path=True,
        argument=True,
        needed=False,
        role="input",
    )
    max_error: float = option(
        0.05,
        (
            "The highest share of wrong values to allow among the accepted values of a field. The "
            "share is computed for each document, and averaged over documents."
        ),
        "SHARE",
        values=SHARE,
        in_file="none",
    )
    assurance: float = option(
        0.95,
        "The probability, from 0 to 1, with which --max-error must hold.",
        "SHARE",
        values=SHARE,
        in_file="none",
    )
    together: bool = option(
        False,
        "Make --assurance the probability that every field stays within --max-error. Otherwise, it "
        "is the probability for each field by itself.",
        in_file="none",
    )
    apply: str | None = option(
        None,
        (
            "Apply this policy to PRED, without ground truth. Reports for each document "
            "which values are accepted and which go to review."
        ),
        "POLICY",
        in_file="none",
        is_path=True,
        role="input",
    )
    output: tuple[str, ...] = output_files(
        "Write the policy to this file (.json), or a report on the policy (.html, .md, .csv, "
        ".txt and others). With --apply, write the decisions to this file instead of standard "
        "output. Repeatable."
    )


ACCEPT: Final = Study(
    settings=AcceptSettings,
    record="score.policy:AcceptancePolicy",
    help="""Find confidences above which values can skip review.

    GT and PRED are labelled documents and predictions with confidences. The result is a policy: a
    confidence threshold for each field. Values at or above the threshold are accepted without
    review. The threshold of a field is as low as possible, so that on average over documents at
    most --max-error of the accepted values of the field are wrong, with the probability
    --assurance.
    """,
    examples="""
  stickler accept schema.json gt/ pred/ --max-error 0.05 -o policy.json
  stickler accept --apply policy.json new/ -o routed.jsonl
  stickler eval schema.json gt2/ pred2/ --policy policy.json""",
    incomplete="some predictions could not be used",
    lines="apply",
)

"""The values of options, where more than one has them or others ask."""

from dataclasses import replace
from typing import Final, Literal

from stickler_cli.core.option import Number

Counting = Literal["overall", "aggregate", "leaves"]
Missing = Literal["fn", "skip", "error"]
Rows = Literal["auto", "none", "inline"]
ExtraFields = Literal["fa", "ignore"]
Infer = Literal["auto", "always", "never"]
Validate = Literal["none", "pred", "gt", "both"]
RunFormat = Literal[
    "table",
    "json",
    "csv",
    "tsv",
    "jsonl",
    "markdown",
    "junit",
    "github",
    "openmetrics",
    "html",
]
CsvShape = Literal["tidy", "wide"]
Order = Literal["schema", "f1", "errors", "name"]
ComparisonFormat = Literal["table", "json", "markdown"]
StudyFormat = Literal["table", "json", "csv", "tsv", "jsonl", "markdown", "html"]
BoxFormat = Literal["xyxy", "xywh"]
ErrorFormat = Literal["table", "csv", "tsv", "jsonl"]
ErrorOrder = Literal["document", "field", "class", "similarity"]
LintFormat = Literal["table", "json", "csv", "tsv", "jsonl", "markdown", "html", "github"]
FailOn = Literal["error", "warning", "note", "never"]

LEVEL: Final = 0.95  # of confidence intervals: the customary one
MARGIN: Final = 0.02  # the least change of a rate between two runs that is worth a word
WORK: Final = 20.0  # units: honest documents of 10 MB take less; docs/reliability.md
TIMEOUT: Final = 300.0  # seconds: what --work-limit lets pass takes less on most machines

COUNT: Final = Number("a whole number of at least 0", lambda number: number >= 0, whole=True)
ABOVE_ZERO: Final = Number("a number above 0", lambda number: number > 0)
SHARE: Final = Number("a number between 0 and 1", lambda number: 0 < number < 1)
SOME: Final = Number("a whole number of at least 1", lambda number: number >= 1, whole=True)
PROCESSES: Final = replace(SOME, expected=f"{SOME.expected}, or auto", word="auto")

"""Options that decide the figures of a run and its verdict, and those of chance."""

from dataclasses import replace
from typing import Literal

from stickler_cli.core.option import Number, Settings, option
from .allowed import COUNT, LEVEL, SHARE, WORK, Counting, ExtraFields, Missing, Rows
from .inputs import LenientOptions, WrapperOptions


class ComparisonOptions(Settings, panel="counting"):
    """Options that decide the score of a pair."""

    pairing_floor: float = option(
        0.2,
        "List items at or below this similarity are not the same item; -1 pairs all.",
        "FLOOR",
        values=Number("a number in [-1, 1)", lambda number: -1 <= number < 1),
    )
    extra_fields: ExtraFields = option(
        "fa", "What a key that the schema does not declare is in a prediction."
    )


class LimitedOptions(ComparisonOptions, panel="engine"):
    """Options that also decide whether it has one."""

    work_limit: float = option(
        WORK,
        "Fail a document that takes more work to compare; a unit is about a second, but counted, "
        "so that it is the same on any machine.",
        "UNITS",
        values=Number("a number above 0", lambda number: number > 0),
    )


class DecidingOptions(LenientOptions, WrapperOptions, LimitedOptions, panel="counting"):
    """Options that decide the figures of a run."""

    recall_with_fd: bool = option(False, "Count false discoveries as missed in recall.")
    missing: Missing = option(
        "fn", "What a ground truth without a prediction is: all missed, left out, failed."
    )


class CountingOptions(Settings, panel="counting"):
    """The counts that people and pipelines read."""

    counting: Counting = option(
        "leaves",
        "What everything but JSON counts: leaves, all values; aggregate, those in objects and "
        "items that match; overall, where a value, an object and an item are one each.",
    )


class RunOptions(CountingOptions, DecidingOptions, panel="gates"):
    """Options that decide the figures and the verdict of a run; its record has them."""

    strict: bool = option(False, "Exit 3 if any document is unpaired or invalid.")
    rows: Rows = option(
        "auto",
        "Keep a row for each document in the run file: inline always, none never, auto for up to "
        "100,000 documents. Without rows the result has a fixed size.",
        panel="output",
    )


class IntervalOptions(Settings, panel="statistics"):
    """Options of confidence intervals."""

    ci: float | Literal["none"] = option(
        LEVEL,
        "Give confidence intervals of this level, between 0 and 1; none gives none.",
        "LEVEL",
        values=replace(SHARE, expected=f"{SHARE.expected}, or none", word="none"),
    )
    seed: int = option(0, "Draw other random samples, also for --sample.", "N", values=COUNT)


class GateOptions(Settings, panel="gates"):
    """Options that decide the exit code."""

    fail_under: float | None = option(
        None,
        "Fail (exit 1) if F1 of all documents is below this, 0 to 1.",
        "F1",
        values=Number("a number"),
    )
    gate: tuple[str, ...] = option(
        (),
        "Fail (exit 1) unless [set:][path.]metric op number holds, such as "
        "line_items.price.recall>=0.9. Repeatable.",
        "EXPR",
    )

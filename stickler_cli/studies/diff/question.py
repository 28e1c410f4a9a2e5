"""`stickler diff`: its options and its help."""

from collections.abc import Sequence
from typing import Final

from stickler_cli.core.option import option
from stickler_cli.core.problems import Problem, UsageError
from stickler_cli.settings.deciding import (
    LEVEL,
    MARGIN,
    SHARE,
    DecidingOptions,
    DocumentOptions,
    IntervalOptions,
    SchemaOptions,
    SeveralSchemas,
)
from stickler_cli.settings.of_commands import FinishedOptions
from stickler_cli.settings.running import (
    ModelOptions,
    ReportOptions,
    TerminalOptions,
    WidthOptions,
)
from stickler_cli.studies.study import FORMATS, Study

USAGE: Final = (
    "stickler diff [SCHEMA GT] BASE NEW, or stickler diff [SCHEMA GT] --base RUN... --new RUN..."
)


class DiffSettings(
    FinishedOptions,
    SeveralSchemas,
    DocumentOptions,
    SchemaOptions,
    DecidingOptions,
    ModelOptions,
    ReportOptions,
    IntervalOptions,
    WidthOptions,
    TerminalOptions,
):
    """Settings of `stickler diff`.

    Options for documents have an effect only if the command evaluates predictions.
    """

    names: tuple[str, ...] = option(
        (),
        "The two runs BASE and NEW; or SCHEMA GT PRED_A PRED_B, to compare two predictions.",
        "RUN...",
        argument=True,
        needed=False,
        in_file="none",
        role="input",
    )
    ci: float = option(
        LEVEL,
        (
            "Level of the confidence intervals. The significance level of tests is 1 minus "
            "this level."
        ),
        "LEVEL",
        values=SHARE,
        panel="statistics",
    )
    margin: float = option(
        MARGIN,
        (
            "A figure counts as unchanged if the whole confidence interval of its change lies "
            "within this distance of 0."
        ),
        "CHANGE",
        values=SHARE,
        panel="statistics",
    )
    gate: tuple[str, ...] = option(
        (),
        (
            "Fail (exit 1) unless this condition is true for the change: [set:][path.]metric "
            "operator number. For example, f1>=-0.01 allows F1 to fall by 0.01. Repeatable."
        ),
        "EXPR",
        in_file="none",
        panel="gates",
    )
    allow_different: bool = option(
        False, ("Compare the runs even if their schemas or options differ.")
    )
    base: tuple[str, ...] = option(
        (),
        (
            "Several runs of the old system, instead of BASE. If SCHEMA and GT are given, "
            "this option names predictions of the old system instead of runs."
        ),
        "RUN...",
        in_file="none",
        role="input",
    )
    new: tuple[str, ...] = option(
        (),
        (
            "Several runs of the new system, instead of NEW. If SCHEMA and GT are given, "
            "this option names predictions of the new system instead of runs."
        ),
        "RUN...",
        in_file="none",
        role="input",
    )

    def titles_of_inputs(self, argument: str) -> Sequence[str]:
        """Return the names of the given inputs for messages, such as "GT"."""
        titles = ("the schema", "GT", *(() if self.several else ("BASE", "NEW")))
        return titles[-len(self.names) :]

    @property
    def several(self) -> bool:
        """Whether the runs are given with the options `--base` and `--new`, not as BASE and NEW.

        With these options, each side can have several runs.
        """
        return bool(self.base and self.new)

    @property
    def schema_and_gt(self) -> Sequence[str]:
        """SCHEMA and GT if predictions are compared; empty if finished runs are compared."""
        return self.names if self.several else self.names[:-2]

    @property
    def sides(self) -> tuple[Sequence[str], Sequence[str]]:
        """(old inputs, new inputs): the names of the runs, or of the predictions.

        Raises:
            UsageError: the number of arguments is wrong, or a run is given twice.
        """
        n_inputs = len(self.names) - (0 if self.several else 2)
        if n_inputs not in (0, 2) or bool(self.base or self.new) is not self.several:
            flags = [
                flag for flag, is_given in (("--base", self.base), ("--new", self.new)) if is_given
            ]
            arguments = ", ".join([*self.names, *flags])
            finding = (
                f"the arguments ({arguments}) do not fit" if arguments else "no arguments are given"
            )
            raise UsageError([Problem("stickler diff", finding, USAGE)])
        sides = (self.base, self.new) if self.several else (self.names[-2:-1], self.names[-1:])
        for name, side in zip(("BASE", "NEW"), sides, strict=True):
            if twice := [run for run in side if side.count(run) > 1]:
                finding = f"{twice[0]!r} is given twice"
                raise UsageError([Problem(name, finding, "each run only once")])
        return sides


DIFF: Final = Study(
    settings=DiffSettings,
    record="studies.diff.record:Difference",
    help="""Compare two runs of the same documents.

    Shows what got better or worse, and whether the changes may be due to chance.

    BASE and NEW are run files, made with stickler eval -o run.json, or run directories. If you give
    four arguments, SCHEMA GT PRED_A PRED_B, both predictions are evaluated first, with the options
    of eval. If a system gives different results each time, compare several runs of each system with
    --base and --new.
    """,
    examples="""
  stickler diff base.json new.json
  stickler diff schema.json gt/ pred-old/ pred-new/
  stickler diff --base a1.json a2.json a3.json --new b1.json b2.json b3.json
  stickler diff old.json new.json --gate 'f1>=0' --gate 'documents.worse<=3'
  stickler diff base.json new.json -o diff.json -o comment.md""",
    gate="a gate failed, and there was no other problem",
    incomplete="the runs cannot be compared, even if a gate also failed",
    formats=(*FORMATS, "junit", "github", "openmetrics", "otel"),
)

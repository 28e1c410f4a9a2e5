"""All commands, with their arguments, settings, functions and help.

The function of a command is imported only when the command is called. `--help` therefore does not
load the code that evaluates.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from stickler_cli.settings.of_commands import (
    CheckSettings,
    CompareSettings,
    ErrorsSettings,
    EvalSettings,
    InitSettings,
    MergeSettings,
    ReportSettings,
    ShowSettings,
    ViewSettings,
)
from .console import MEANINGS, ExitCode

if TYPE_CHECKING:
    from stickler_cli.studies.study import Study


ALWAYS: Final = (
    ExitCode.OK,
    ExitCode.USAGE,
    ExitCode.INTERNAL,
    ExitCode.INTERRUPTED,
    ExitCode.TERMINATED,
)
"""Exit codes that every command can return."""
_GATE: Final = {ExitCode.GATE_FAILED: "a gate failed, and there was no other problem"}
USUAL: Final = {
    "eval": (
        *("id_field", "lenient_json", "ignore", "validate", "limit"),
        *("output", "format", "show_non_matches", "show_documents", "only_errors"),
        *("fail_under", "gate", "by", "run_dir", "jobs", "verbose", "quiet"),
    ),
    "compare": (
        *("document", "field", "cause", "only_errors", "everything"),
        *("id_field", "lenient_json", "format", "output"),
    ),
    "errors": (
        *("document", "field", "error_class", "cause", "sort", "limit"),
        *("id_field", "lenient_json", "verbose", "format", "output"),
    ),
    "report": ("format", "output", "open", "by", "counting", "sort", "only_errors", "sources"),
    "diff": (
        *("base", "new", "gate", "margin", "counting"),
        *("id_field", "format", "output", "verbose"),
    ),
    "view": ("port", "open", "sources"),
    "init": (
        *("output", "force", "interactive"),
        *("id_field", "gt_root", "wrapped", "ignore", "allow_plugins"),
    ),
    "check": ("infer", "allow_plugins", "verbose"),
    "show": ("infer", "boxes", "allow_plugins", "verbose"),
    "lint": ("fail_on", "ignore", "places", "id_field", "format", "output"),
    "accept": (
        *("max_error", "assurance", "apply", "confidence", "id_field"),
        *("by", "format", "output"),
    ),
    "tune": ("verdicts", "field", "write", "id_field", "ci", "format", "output"),
    "judge-check": ("fail_under", "endpoint", "max_cost", "offline", "format", "output"),
    "split": ("fail_under", "id_field", "ci", "format", "output"),
    "places": ("page_size", "min_overlap", "id_field", "ci", "format", "output"),
    "plan": (
        *("half_width", "of", "every_field", "detect", "gate", "power", "base", "new"),
        *("format", "output"),
    ),
    "audit": ("verdicts", "write_gold", "gate", "draw", "id_field", "jobs", "format", "output"),
    "merge": ("gate", "fail_under", "format", "output", "quiet"),
}
"""Options that `--help` shows for each command, because most people need them. `--help-all` shows
all options."""
OWN_FILE: Final = "stickler.toml"
"""Name of the configuration file. One file has the options of all commands."""


@dataclass(frozen=True, slots=True)
class Command:
    """A command of the program."""

    help: str
    does: str
    """The function that runs the command, written as `module:function` of this package. Its
    argument is the settings, if the command has any, and it returns the exit code."""
    settings: Any = None
    """Class of the settings of the command."""
    examples: str = ""
    codes: Mapping[ExitCode, str] = field(default_factory=dict)
    """Exit codes that this command can return in addition to the codes in `ALWAYS`. Maps each code
    to its meaning."""
    study: "Study | None" = None

    @property
    def exit_codes(self) -> Mapping[ExitCode, str]:
        """Meaning of each exit code of the command."""
        meanings = {**{code: MEANINGS[code] for code in ALWAYS}, **self.codes}
        return dict(sorted(meanings.items()))


OWN: Final = {
    "eval": Command(
        """Compare predictions with ground truth, field by field.

        Shows for each field how many values are right (TP), wrong (FD), missed (FN) and invented
        (FA), with precision, recall and F1. Also shows what causes the errors.

        GT and PRED are two files, two directories or two JSON Lines files, and may be gzipped.
        Files in directories are paired by relative path, without the file name's suffix. If you
        give only two arguments, they are GT and PRED. The configuration file may name SCHEMA, GT
        and PRED.
        """,
        "eval.report_run",
        EvalSettings,
        examples="""
  stickler eval schema.json gt/ pred/
  stickler eval schema.json gt.jsonl pred.jsonl --id-field id -o run.json
  stickler eval schema.json gt/ pred/ --fail-under 0.9 --gate 'total.f1>=0.99'
  stickler eval schema.json gt.json pred.json --show-non-matches 20
  stickler eval""",
        codes={
            **_GATE,
            ExitCode.INCOMPLETE: "some or all documents could not be evaluated, or no "
            "documents were paired, even if a gate also failed",
            ExitCode.INTERRUPTED: (
                "interrupted (Ctrl-C); the results cover the documents finished until then"
            ),
            ExitCode.TERMINATED: (
                "terminated (SIGTERM); the results cover the documents finished until then"
            ),
        },
    ),
    "compare": Command(
        """Explain the score of one prediction, value by value.

        Shows every threshold, every pair of list items and every sum behind the score.

        GT and PRED are two files. With --document, GT and PRED may be anything that eval accepts.
        RUN is a run directory, made with stickler eval --run-dir; its documents are compared again
        with the options of the run.
        """,
        "compare.compare",
        CompareSettings,
        examples="""
  stickler compare schema.json gt/a.json pred/a.json
  stickler compare schema.json gt/ pred/ --document a --only-errors
  stickler compare nightly/ --document a
  stickler compare schema.json gt.json pred.json --field 'line_items[2]' --all
  stickler compare schema.json gt.json pred.json -f json -o report.md""",
        codes={ExitCode.INCOMPLETE: "a document is missing, cannot be read, or cannot be compared"},
    ),
    "errors": Command(
        """List the errors of a run, by document, field, class or cause.

        RUN is a run directory, made with stickler eval --run-dir, or the run file of a single
        document. If you give [SCHEMA] GT PRED instead, the documents are compared first, and the
        options of eval apply.
        """,
        "compare.errors",
        ErrorsSettings,
        examples="""
  stickler errors nightly/ --class digit_slip
  stickler errors nightly/ --field 'line_items.*' --sort similarity
  stickler errors schema.json gt/ pred/ --document invoice-7
  stickler errors schema.json gt/ pred/ -f jsonl | head""",
        codes={ExitCode.INCOMPLETE: "some or all documents could not be evaluated"},
    ),
    "init": Command(
        """Write an annotated schema from ground truth or a schema.

        The annotations say how to compare each field. They are inferred from the values in the
        ground truth (a JSON file, a directory or a JSON Lines file), or from the types and field
        names in a JSON Schema or pydantic model. The new schema states the reason for each choice.
        Annotations that a schema already has stay unchanged.
        """,
        "init.init",
        InitSettings,
        examples="""
  stickler init gt/ -o schema.json
  stickler init plain.json -o schema.json --interactive
  stickler init shop.models:Invoice --allow-plugins""",
    ),
    "check": Command(
        """Check schemas, and list every problem in them.

        This command reads only schemas, not documents.
        """,
        "listings.check",
        CheckSettings,
        codes={
            ExitCode.OK: "no problems",
            ExitCode.USAGE: (
                "there are problems in a schema, the command line or the configuration file"
            ),
        },
    ),
    "show": Command(
        """Show how each field is compared, and why.

        Shows the kind, comparator, threshold and weight of each field. Each of these comes from an
        annotation in the schema, from an inference rule, or from a default.
        """,
        "listings.show",
        ShowSettings,
        examples="""
  stickler show schema.json
  stickler show schema.json --infer always""",
    ),
    "merge": Command(
        help="""Merge runs of parts of a data set into one run.

        The merged run has the same numbers as one run of all documents. The runs must have the
        same version, schema and options, and no document may be in two runs. Gates are checked on
        the merged run: the gates that you give here or, if you give none, the gates of the runs.
        """,
        does="finished.merge",
        settings=MergeSettings,
        examples="""
  stickler merge shard-1.json shard-2.json -o run.json
  stickler merge shards/*.json --gate 'f1>=0.9' -f markdown""",
        codes={
            **_GATE,
            ExitCode.INCOMPLETE: (
                "the runs cannot be combined, or some documents could not be evaluated, even if a "
                "gate also failed"
            ),
        },
    ),
    "report": Command(
        help="""Write a report of a finished run, in any format.

        Without --by, no document is evaluated again. Only a run directory contains individual
        errors; a run file does not.

        With --by, the report also shows results for groups of documents. For this, RUN must be
        a run directory. Its documents are compared again, so they must not have changed; no
        model is asked.

        If you give several runs of the same documents, an HTML page shows the runs side by side,
        with the values that differ between runs.
        """,
        does="finished.report",
        settings=ReportSettings,
        examples="""
  stickler report run.json
  stickler report run.json --output report.html --output run.csv
  stickler report nightly/ --format markdown
  stickler report nightly/ --by currency --open
  stickler report model-a/ model-b/ model-c/ -o side-by-side.html""",
    ),
    "view": Command(
        """Serve the HTML page of a run of any size on this machine.

        RUN is a run directory, made with stickler eval --run-dir. The page contains all errors,
        and loads them as you scroll. Only this machine (127.0.0.1) can open the page, and its
        address cannot be guessed. Press Ctrl-C to stop. The run is not changed.
        """,
        "viewing.view",
        ViewSettings,
        examples="""
  stickler view nightly/
  stickler view nightly/ --port 8000 --open
  stickler view nightly/ --sources 'https://host/{id}.pdf'""",
    ),
    "comparators": Command(
        "List the comparators with their keywords and defaults.",
        "listings.list_comparators",
    ),
}

"""All commands that are not studies; the keys are their names."""


@cache
def commands() -> dict[str, Command]:
    """Return a dict that maps the name of each command to the command."""
    # Most runs are not studies, so the settings of all studies are not loaded.
    from stickler_cli.studies.registry import STUDIES

    available = dict(OWN)
    for name, study in STUDIES.items():
        meanings = {ExitCode.GATE_FAILED: study.gate, ExitCode.INCOMPLETE: study.incomplete}
        codes = {code: meaning for code, meaning in meanings.items() if meaning}
        available[name] = Command(
            help=study.help,
            does="answers.answer",
            settings=study.settings,
            examples=study.examples,
            codes=codes,
            study=study,
        )
    return available


def groups() -> dict[str, Sequence[str]]:
    """Return a dict that maps the title of each group in help to the names of its commands."""
    fixed_groups = {
        "Evaluate": ("eval", "compare", "errors", "diff", "report", "view"),
        "Prepare": ("init", "check", "show", "lint", "comparators"),
    }
    named_commands = {name for names in fixed_groups.values() for name in names}
    studies = [
        name for name, command in commands().items() if command.study and name not in named_commands
    ]
    return {**fixed_groups, "Go further": (*studies, "merge")}


def settings_of_commands() -> dict[str, Any]:
    """Return a dict from the name of each command to its settings class, if it has one.

    The order matters for configuration files, which may have options of every command. The value of
    an option must be valid for the running command. If only other commands have the option, the
    value must be valid for the first of these commands in the dict.
    """
    return {
        name: command.settings
        for name, command in commands().items()
        if command.settings is not None
    }

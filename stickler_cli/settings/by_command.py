"""The settings of each command; of two that have an option, a file follows the first."""

from typing import Final

from .of_documents import (
    CompareSettings,
    ErrorsSettings,
    EvalSettings,
    PlacesSettings,
    SplitSettings,
)
from .of_runs import AcceptSettings, DiffSettings, MergeSettings, ReportSettings, ViewSettings
from .of_schemas import (
    CheckSettings,
    InitSettings,
    JudgeSettings,
    LintSettings,
    ShowSettings,
    TuneSettings,
)

COMMANDS: Final = {
    "eval": EvalSettings,
    "compare": CompareSettings,
    "errors": ErrorsSettings,
    "diff": DiffSettings,
    "merge": MergeSettings,
    "report": ReportSettings,
    "view": ViewSettings,
    "accept": AcceptSettings,
    "check": CheckSettings,
    "init": InitSettings,
    "show": ShowSettings,
    "lint": LintSettings,
    "tune": TuneSettings,
    "judge-check": JudgeSettings,
    "split": SplitSettings,
    "places": PlacesSettings,
}

"""`stickler lint`: what is wrong with the ground truth before it judges anyone."""

from dataclasses import replace

from stickler_cli.advice.findings import RULES, SEVERITIES
from stickler_cli.advice.linting import LintReport
from stickler_cli.advice.linting import lint as linted
from stickler_cli.core.problems import Problem, UsageError, did_you_mean
from stickler_cli.reports.formats import LINT_FORMATS
from stickler_cli.settings.allowed import FailOn
from stickler_cli.settings.of_schemas import LintSettings
from .command_schema import schema_of
from .console import ExitCode
from .outputs import outputs_of


def lint(settings: LintSettings) -> ExitCode:
    """Look at the ground truth and print what was found."""
    unknown = [rule for rule in settings.ignore if rule not in RULES]
    if unknown:
        expected = f"one of {', '.join(RULES)}"
        raise UsageError(
            Problem("--ignore", f"there is no rule {rule}", expected, did_you_mean(rule, RULES))
            for rule in unknown
        )
    inputs = [("the schema", settings.schema), ("GT", settings.gt)]
    outputs = outputs_of(settings, inputs, LINT_FORMATS)
    loaded = schema_of(settings.schema, settings)
    report = linted(loaded, settings.gt, settings)
    kept = (finding for finding in report.findings if finding.rule not in settings.ignore)
    report = replace(report, findings=tuple(kept))
    outputs.write(report)
    return ExitCode.GATE_FAILED if _fails(report, settings.fail_on) else ExitCode.OK


def _fails(report: LintReport, bound: FailOn) -> bool:
    if bound == "never":
        return False
    counted = SEVERITIES[: SEVERITIES.index(bound) + 1]
    return any(finding.severity in counted for finding in report.findings)

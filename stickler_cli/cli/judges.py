"""`stickler judge-check`: a judge held against labelled pairs before it is trusted."""

from dataclasses import replace

from stickler_cli.advice.judge_check import judge_report
from stickler_cli.advice.verdicts import read_verdicts
from stickler_cli.core.problems import Problem, UsageError
from stickler_cli.reports.formats import PLAIN_FORMATS
from stickler_cli.runs.asking import client_of, comparing, policy_of
from stickler_cli.runs.limits import room_for_depth
from stickler_cli.runs.rehearsal import refuse_runaway
from stickler_cli.settings.deciding import ComparisonOptions
from stickler_cli.settings.inputs import FindingOptions
from stickler_cli.settings.of_schemas import JudgeSettings
from .command_schema import schema_of
from .console import ExitCode, warn
from .outputs import held_to, outputs_of


def judge_check(settings: JudgeSettings) -> ExitCode:
    """Ask judges about labelled pairs, and print how far they agree with people."""
    inputs = [("the schema", settings.schema), ("PAIRS", settings.pairs)]
    outputs = outputs_of(settings, inputs, PLAIN_FORMATS)
    loaded = schema_of(settings.schema, settings)
    client = client_of(loaded.plan, policy_of(settings))
    if client is None:
        expected = "a field with LLMComparator, or another that asks a model"
        raise UsageError([Problem(settings.schema, "no field asks a model", expected)])
    options = comparing(loaded.plan, ComparisonOptions(), client)
    lines, _ = read_verdicts(settings.pairs, loaded.plan, FindingOptions.max_document_size)
    schema, level = (loaded.path, loaded.name), settings.ci
    with room_for_depth():
        if client.policy.may_ask:
            with client.rehearsing() as counting:
                judge_report(schema, lines, replace(options, client=counting), level)
                refuse_runaway(counting, f"of {len(lines)} lines")
        report = judge_report(schema, lines, options, level)
    outputs.write(report)
    total = report.total
    if total.failed or not total.pairs:
        labelled = total.failed + total.pairs
        warn(f"error: {total.failed} of {labelled} pairs were not judged")
        return ExitCode.INCOMPLETE
    return held_to(settings.fail_under, "kappa", total.kappa)

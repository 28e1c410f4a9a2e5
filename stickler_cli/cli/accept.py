"""`stickler accept`: from which confidences values may pass unseen, and which of others do."""

from collections.abc import Iterator
from contextlib import nullcontext

from stickler_cli.core.json_values import OBJECTS, json_line
from stickler_cli.core.problems import Problem, UsageError
from stickler_cli.documents.document_pair import shape_of
from stickler_cli.documents.pairs import open_documents
from stickler_cli.runs.chunk import unwrapper_of
from stickler_cli.runs.job import DIRECTORY, MARK, group_of_id, parse_groupings
from stickler_cli.runs.saved import load_policy
from stickler_cli.runs.whole_files import check_outputs, whole_file
from stickler_cli.studies.accept.question import AcceptSettings
from stickler_cli.studies.accept.routing import Router, names_of
from stickler_cli.studies.study import Study
from .answers import answer
from .console import ExitCode, warn, write_result
from .outputs import OUTPUT


def accept(study: Study, settings: AcceptSettings) -> ExitCode:
    """Make a policy of labelled documents, or apply one to predictions."""
    for key in settings.by:
        if not key.startswith(MARK):
            expected = f"{DIRECTORY} or {MARK}COLUMN of the --by-file: known without ground truth"
            raise UsageError([Problem(f"--by {key}", "it is a field of documents", expected)])
    if settings.pairs is not None and settings.apply:
        raise UsageError([Problem("--pairs", "a policy is applied to predictions", "PRED")])
    if len(settings.by) > 1:
        raise UsageError([Problem("--by", f"there are {len(settings.by)}", "one at most")])
    return _apply(settings, settings.apply) if settings.apply else answer(study, settings)


def _apply(settings: AcceptSettings, name: str) -> ExitCode:
    policy = load_policy(name)
    if list(settings.by) != [*filter(None, [policy.by])]:
        asked = f"--by {policy.by}" if policy.by else "no --by"
        raise UsageError([Problem(name, f"the policy was made with {asked}", "the same here")])
    groupings = parse_groupings(settings.by, settings.by_file)
    router = Router(
        policy,
        unwrapper_of(names_of(policy), settings),
        lambda document: group_of_id(document, groupings[0]) if groupings else None,
        shape_of(settings, ("array",) if any(not it.field for it in policy.places) else OBJECTS),
    )
    documents = open_documents(settings.pred, settings, "pred")
    for problem in documents.problems:
        warn(str(problem))
    unusable = 0

    def lines() -> Iterator[bytes]:
        nonlocal unusable
        for document, reference in documents.refs():
            routed = router.routed(document, reference)
            unusable += routed.problem is not None
            yield json_line(routed.view())

    if len(settings.output) > 1:
        raise UsageError([Problem(OUTPUT, f"there are {len(settings.output)}", "one at most")])
    output = next(iter(settings.output), None)
    if output:
        check_outputs([(OUTPUT, output)], [("the policy", name), ("PRED", settings.pred)])
    with whole_file(output, OUTPUT) if output else nullcontext() as stream:
        for line in lines():
            if stream is None:
                write_result(line.decode())
            else:
                stream.write(line)
    if unusable:
        warn(f"{unusable} predictions cannot be used: they go to review as a whole")
    return ExitCode.INCOMPLETE if unusable else ExitCode.OK

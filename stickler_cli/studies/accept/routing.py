"""Predictions held against a policy: which of their values pass unseen, and which do not."""

from collections.abc import Iterator, Sequence
from typing import Final

from stickler_cli.compare.columns import least
from stickler_cli.core.absence import is_absent
from stickler_cli.core.json_values import OBJECTS, JsonObject, JsonValue, json_line
from stickler_cli.core.locations import Path, field_path, parse_field_path
from stickler_cli.core.problems import Problem, UsageError
from stickler_cli.documents.document import Reference
from stickler_cli.documents.document_pair import Shape, shape_of
from stickler_cli.documents.pairs import open_documents
from stickler_cli.documents.wrappers import Names, Unwrapped, Unwrapper
from stickler_cli.runs.job import Grouping, group_of_id, parse_groupings, unwrapper_of
from stickler_cli.runs.process import room_for_depth
from stickler_cli.runs.saved import load_policy
from stickler_cli.score.policy import AcceptancePolicy
from stickler_cli.score.record import Verdict
from stickler_cli.studies.answering import Answer, Desk
from .question import AcceptSettings

_LEAF: Final = "leaf"


def applied(name: str, settings: AcceptSettings, desk: Desk) -> Answer:
    """Write for each prediction which of its values pass by a policy."""
    if settings.pairs is not None:
        raise UsageError([Problem("--pairs", "a policy is applied to predictions", "PRED")])
    policy = load_policy(name)
    if [*settings.by] != [*filter(None, [policy.by])]:
        asked = f"--by {policy.by}" if policy.by else "no --by"
        raise UsageError([Problem(name, f"the policy was made with {asked}", "the same here")])
    names = Names.of(parse_field_path(place.field) for place in policy.places)
    kinds = ("array",) if any(not it.field for it in policy.places) else OBJECTS
    router = _Router(
        policy,
        unwrapper_of(names, settings),
        shape_of(settings, kinds),
        parse_groupings(settings.by, settings.by_file),
    )
    documents = open_documents(settings.pred, settings, "pred")
    unusable = 0

    def lines() -> Iterator[bytes]:
        nonlocal unusable
        for document, reference in documents.refs():
            line = router.line(document, reference)
            unusable += "problem" in line
            yield json_line(line)

    desk.write(lines())
    notes = [*map(str, documents.problems)]
    if not unusable:
        return Answer(None, why=notes)
    why = f"{unusable} predictions cannot be used: they go to review as a whole"
    return Answer(None, Verdict.INCOMPLETE, [*notes, why])


class _Router:
    """Routes values of predictions by a policy."""

    def __init__(
        self,
        policy: AcceptancePolicy,
        unwrapper: Unwrapper | None,
        shape: Shape,
        groupings: Sequence[Grouping],
    ) -> None:
        self._thresholds = {
            (parse_field_path(it.field), it.group): it.threshold
            for it in policy.fields
            if it.threshold is not None
        }
        self._whole = {parse_field_path(it.field) for it in policy.places if it.kind == _LEAF}
        self._unwrapper, self._shape, self._groupings = unwrapper, shape, groupings

    def line(self, document: str, reference: Reference) -> JsonObject:
        """Return where the values of a prediction go; never raises for what is in it."""
        try:
            with room_for_depth():
                value = self._shape.read(reference, "pred").value
                if value is not None and not isinstance(value, Problem):
                    return self._of(document, value)
                problem = value or Problem(document, "there is no prediction")
        except RecursionError:
            problem = Problem(document, "the document is nested too deeply")
        return {"document": document, "problem": str(problem), "pass": [], "review": []}

    def _of(self, document: str, value: JsonValue) -> JsonObject:
        group = group_of_id(document, self._groupings[0]) if self._groupings else None
        bare = self._unwrapper(value) if self._unwrapper else Unwrapped(value)
        passing, review = list[JsonValue](), list[JsonValue]()
        for field, path, confidence in self._leaves(bare.value, bare.confidences, (), ()):
            threshold = self._thresholds.get((field, group))
            passes = threshold is not None and confidence is not None and confidence >= threshold
            (passing if passes else review).append(field_path(path))
        return {"document": document, "pass": passing, "review": review}

    def _leaves(
        self, value: JsonValue, known: JsonValue, field: Path, path: Path
    ) -> Iterator[tuple[Path, Path, float | None]]:
        """Yield field, path and confidence of each value that is compared as one."""
        if is_absent(value):
            return
        if isinstance(value, dict) and field not in self._whole:
            for name, part in value.items():
                inside = known.get(name) if isinstance(known, dict) else None
                yield from self._leaves(part, inside, (*field, name), (*path, name))
        elif isinstance(value, list) and field not in self._whole:
            for at, part in enumerate(value):
                inside = known[at] if isinstance(known, list) else None
                yield from self._leaves(part, inside, field, (*path, at))
        else:
            yield field, path, least(known)

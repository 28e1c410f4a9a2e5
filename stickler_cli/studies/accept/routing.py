"""Predictions held against a policy: which of their values pass unseen, and which do not."""

from collections.abc import Callable, Iterator
from typing import Final

from stickler_cli.compare.columns import least
from stickler_cli.core.absence import is_absent
from stickler_cli.core.json_values import OBJECTS, JsonValue, json_line
from stickler_cli.core.locations import Path, field_path, parse_field_path
from stickler_cli.core.problems import Problem, UsageError
from stickler_cli.core.values import dataclass
from stickler_cli.documents.document import Reference
from stickler_cli.documents.document_pair import Shape, shape_of
from stickler_cli.documents.pairs import open_documents
from stickler_cli.documents.wrappers import Names, Unwrapped, Unwrapper
from stickler_cli.runs.job import group_of_id, parse_groupings, unwrapper_of
from stickler_cli.runs.process import room_for_depth
from stickler_cli.runs.saved import load_policy
from stickler_cli.score.policy import AcceptancePolicy
from stickler_cli.score.record import Verdict
from stickler_cli.studies.answering import Answer, Desk
from .question import AcceptSettings

_LEAF: Final = "leaf"


@dataclass(frozen=True, slots=True)
class Routed:
    """One prediction, and where its values go."""

    document: str
    passing: tuple[str, ...] = ()
    """The paths of values that pass unseen, in the order of the document."""
    review: tuple[str, ...] = ()
    """Those of all others."""
    problem: Problem | None = None
    """Why the prediction cannot be used; it goes to review as a whole."""

    def view(self) -> dict[str, object]:
        """Return it as a line of the output has it."""
        shown: dict[str, object] = {"document": self.document}
        if self.problem is not None:
            shown["problem"] = str(self.problem)
        return {**shown, "pass": self.passing, "review": self.review}


def applied(name: str, settings: AcceptSettings, desk: Desk) -> Answer:
    """Write for each prediction which of its values pass by a policy."""
    if settings.pairs is not None:
        raise UsageError([Problem("--pairs", "a policy is applied to predictions", "PRED")])
    policy = load_policy(name)
    if [*settings.by] != [*filter(None, [policy.by])]:
        asked = f"--by {policy.by}" if policy.by else "no --by"
        raise UsageError([Problem(name, f"the policy was made with {asked}", "the same here")])
    groupings = parse_groupings(settings.by, settings.by_file)
    names = Names.of(parse_field_path(place.field) for place in policy.places)
    router = Router(
        policy,
        unwrapper_of(names, settings),
        lambda document: group_of_id(document, groupings[0]) if groupings else None,
        shape_of(settings, ("array",) if any(not it.field for it in policy.places) else OBJECTS),
    )
    documents = open_documents(settings.pred, settings, "pred")
    unusable = 0

    def lines() -> Iterator[bytes]:
        nonlocal unusable
        for document, reference in documents.refs():
            routed = router.routed(document, reference)
            unusable += routed.problem is not None
            yield json_line(routed.view())

    desk.write(lines())
    notes = [*map(str, documents.problems)]
    if not unusable:
        return Answer(None, why=notes)
    why = f"{unusable} predictions cannot be used: they go to review as a whole"
    return Answer(None, Verdict.INCOMPLETE, [*notes, why])


class Router:
    """Routes values of predictions by a policy."""

    def __init__(
        self,
        policy: AcceptancePolicy,
        unwrapper: Unwrapper | None,
        group_of: Callable[[str], str | None],
        shape: Shape,
    ) -> None:
        """Take functions for values and confidences, and for the group of a document."""
        self._thresholds = {
            (parse_field_path(it.field), it.group): it.threshold
            for it in policy.fields
            if it.threshold is not None
        }
        self._whole = {parse_field_path(it.field) for it in policy.places if it.kind == _LEAF}
        self._unwrapper, self._group_of, self._shape = unwrapper, group_of, shape

    def routed(self, document: str, reference: Reference) -> Routed:
        """Return where the values of a prediction go; never raises for what is in it."""
        try:
            with room_for_depth():
                value = self._shape.read(reference, "pred").value
                if value is None or isinstance(value, Problem):
                    missing = Problem(document, "there is no prediction")
                    return Routed(document, problem=value or missing)
                return self._of(
                    document, self._unwrapper(value) if self._unwrapper else None, value
                )
        except RecursionError:
            found = Problem(document, "the document is nested too deeply")
            return Routed(document, problem=found)

    def _of(self, document: str, bare: Unwrapped | None, value: JsonValue) -> Routed:
        group = self._group_of(document)
        sides: dict[bool, list[str]] = {True: [], False: []}
        bare = bare or Unwrapped(value)
        for field, path, confidence in self._leaves(bare.value, bare.confidences, (), ()):
            threshold = self._thresholds.get((field, group))
            passes = threshold is not None and confidence is not None and confidence >= threshold
            sides[passes].append(field_path(path))
        return Routed(document, tuple(sides[True]), tuple(sides[False]))

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

"""Predictions held against a policy: which of their values pass unseen, and which do not."""

from collections.abc import Callable, Iterator
from typing import Final

from stickler_cli.compare.columns import least
from stickler_cli.core.absence import is_absent
from stickler_cli.core.json_values import JsonValue
from stickler_cli.core.locations import Path, field_path, parse_field_path
from stickler_cli.core.problems import Problem
from stickler_cli.core.values import dataclass
from stickler_cli.documents.document import Reference
from stickler_cli.documents.document_pair import Shape
from stickler_cli.documents.wrappers import Names, Unwrapped, Unwrapper
from stickler_cli.runs.process import room_for_depth
from stickler_cli.score.policy import AcceptancePolicy

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


def names_of(policy: AcceptancePolicy) -> Names:
    """Return the names of the fields that the schema of a policy has."""
    return Names.of(parse_field_path(place.field) for place in policy.places)


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

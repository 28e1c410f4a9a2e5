"""An error as all that list errors have it: one row, and how files and pages hold it."""

import json
from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, NamedTuple, TypeAlias

from stickler_cli.compare.result import Outcome
from stickler_cli.core.json_values import JsonValue, json_line, kind_of, same_json
from stickler_cli.core.locations import field_path, parse_field_path
from stickler_cli.core.rules import AnyJson, Count, Fraction, Rule
from .causes import cause_keys
from .error_classes import ErrorClass
from .units import WrongUnit

WrongOutcome: TypeAlias = Literal["FD", "FA", "FN"]
LONGEST_SHOWN: Final = 2_000  # characters of one value, as JSON; about a page of text
Text: TypeAlias = str | list[str | int] | None
"""A value as JSON: its text; the beginning and the length of one that is too long; None without."""


def shown_value(value: object) -> Text:
    """Return a value as JSON: numbers keep all their digits, which a browser would not.

    >>> shown_value({"a": 1.0}), shown_value(None)
    ('{"a":1.0}', None)
    """
    if value is None:
        return None
    text = json_line(value)[:-1].decode()
    return text if len(text) <= LONGEST_SHOWN else [text[:LONGEST_SHOWN], len(text)]


def _is_path(value: object) -> bool:
    try:
        return isinstance(value, str) and (not value or bool(parse_field_path(value)))
    except ValueError:
        return False


PathText = Annotated[str, Rule("the path of a field", {"type": "string"}, fits=_is_path)]


class Error(NamedTuple):
    """A value that is wrong, missed or invented, or an item or object that failed as a whole."""

    document: str
    """Id of the document."""
    path: Annotated[str, Rule("a string", {"type": "string", "minLength": 1})]
    """With the ground truth's list indexes; with the prediction's for a false alarm."""
    field: PathText
    """Without list indexes; empty of an item of a document that is an array."""
    outcome: WrongOutcome
    """What the error counts as: false discovery, false alarm or false negative."""
    error_class: ErrorClass
    """What kind of mistake it is, as docs/error-classes.md describes them."""
    gt: AnyJson = None
    """The ground truth, any JSON value; null where it is absent."""
    pred: AnyJson = None
    """The prediction, any JSON value; null where it is absent."""
    similarity: Fraction | None = None
    """How alike the values are; for a false discovery only."""
    inside: str | None = None
    """The path of the error that it is in: a list item, or what one side lacks, that failed as a
    whole."""
    values: Count | None = None
    """Of a list item or object that failed as a whole, how many errors are inside it; none of a
    value."""
    reason: str = ""
    """Why it is an error."""
    differing: tuple[str, ...] = ()
    """Of a pair of list items below its threshold, the fields that differ."""
    judge: str = ""
    """Where a language model compared the values, its reason."""
    cause: str = ""
    """Equal for errors of one cause: the key of its field and class, and that of its cause; not of
    an error that only repeats what another one says."""
    swapped_with: str = ""
    """Of a swapped value, the path of the place in the ground truth whose value it is."""

    @property
    def explanation(self) -> str:
        """The reason, and what else is known, as of a judge, or where items differ."""
        if self.swapped_with:
            return f"{self.reason}: the value of {self.swapped_with}"
        if not self.differing:
            return f"{self.reason}: {self.judge}" if self.judge else self.reason
        names = ", ".join(field_path((name,)) for name in self.differing)
        return f"{self.reason}: {names} {'differs' if len(self.differing) == 1 else 'differ'}"

    @property
    def shown(self) -> "Error":
        """The same with values as a page shows them: JSON text, of long ones the beginning."""
        return self._replace(gt=shown_value(self.gt), pred=shown_value(self.pred), judge="")


def error_of(document: str, error: WrongUnit, *, with_cause: bool = True) -> Error:
    """Return the row of a wrong unit."""
    unit, found = error.unit, error.unit.outcome
    is_pair = found is Outcome.FD
    figures = unit.gt, unit.pred, unit.similarity, unit.threshold
    return Error(
        document,
        field_path(unit.path),
        field_path(unit.names),
        _OUTCOMES[found],
        error.error_class,
        unit.gt,
        unit.pred,
        unit.similarity if is_pair else None,
        field_path(unit.inside.path) if unit.inside else None,
        error.values,
        _ALONE.get(found) or reason_of(*figures),
        error.differing if is_pair else (),
        unit.judge if is_pair else "",
        cause_keys(error) if with_cause else "",
        field_path(error.elsewhere or ()),
    )


_OUTCOMES: Final[Mapping[Outcome, WrongOutcome]] = {
    Outcome.FD: "FD",
    Outcome.FA: "FA",
    Outcome.FN: "FN",
}
_ALONE: Final = {Outcome.FN: "unmatched ground truth", Outcome.FA: "unmatched prediction"}


def reason_of(gt: JsonValue, pred: JsonValue, similarity: float, threshold: float) -> str:
    """Return why two values are a false discovery."""
    if similarity >= threshold:
        return f"{kind_of(gt)} and {kind_of(pred)} have nothing in common"
    reason = below_threshold(similarity, threshold)
    if same_json(gt, pred):
        return f"{reason}: equal as written, but not what the comparator reads"
    return reason


def below_threshold(similarity: float, threshold: float) -> str:
    """Say that a similarity is below its threshold, with digits enough to see it.

    >>> below_threshold(0.41312, 0.7), below_threshold(0.69999, 0.7)
    ('below threshold (0.413 < 0.7)', 'below threshold (0.69999 < 0.7)')
    """
    digits = 3
    while round(similarity, digits) >= threshold and digits < 12:
        digits += 1
    return f"below threshold ({similarity:.{digits}f} < {threshold:g})"


KEYS: Final = {
    **{name: name for name in Error._fields},
    "error_class": "class",
    "gt": "ground_truth_value",
    "pred": "prediction_value",
    "differing": "differing_fields",
}
"""Column -> its key in files."""

_ALWAYS: Final = frozenset(Error._fields[: Error._fields.index("similarity")])


def error_record(error: Error) -> dict[str, Any]:
    """Return an error as files of JSON have it, without empty columns."""
    return {
        key: [*it] if isinstance(it, tuple) else it
        for (name, key), it in zip(KEYS.items(), error, strict=True)
        if name in _ALWAYS or it not in (None, "", ())
    }


def columns_of_record(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns of an error by their names, as far as a record has them."""
    return {name: record[key] for name, key in KEYS.items() if key in record}


def packed(error: Error) -> bytes:
    """Return a shown error as a line of JSON, a tenth of what its values take."""
    return json_line([*error])[:-1]  # orjson takes no named tuples


def unpacked(line: bytes) -> Error:
    """Return the error that a line holds."""
    return Error(*json.loads(line))

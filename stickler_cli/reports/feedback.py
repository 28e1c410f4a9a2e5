"""Write feedback about errors. It helps a model, or the author of its prompt, to improve.

The worst errors come first. The length is limited. The ground truth is revealed only as far as
allowed.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal, TypeAlias, get_args

from stickler_cli.core.figures import number_of, value_text, visible
from stickler_cli.core.json_values import kind_of
from stickler_cli.core.locations import Path, field_path, parse_field_path
from stickler_cli.score.errors.error_classes import ErrorClass
from stickler_cli.score.errors.error_rows import Error
from stickler_cli.score.sums import schema_pattern
from .cause_sentences import SAME_SLIP

Reveal: TypeAlias = Literal["all", "shape", "none"]
"""How much the feedback tells about the ground truth.

`all`: every value. `shape`: only the kind of each value and how the prediction differs. `none`:
only the names of wrong fields."""

REVEALS: Final = get_args(Reveal)

BUDGET: Final = 2_000  # maximum length in characters: about 500 tokens
_MOST_ITEMS: Final = 10  # number of missed or invented items of a list that are shown
_LONGEST: Final = 200  # length of a text up to which a kind of mistake is searched

_STEP: Final = re.compile(r"[.\[]")  # start of every step of a path except the first

_MEANINGS: Final = {
    **SAME_SLIP,
    ErrorClass.SWAPPED: "the value of another field",
    ErrorClass.FORMAT: "the same value, written differently",
    ErrorClass.LOOK_ALIKE: "characters that look alike",
    ErrorClass.WRONG_KIND: "a value of another kind",
}
_KINDS: Final = {
    "null": "nothing",
    "boolean": "true or false",
    "integer": "a number",
    "number": "a number",
    "string": "a text",
    "array": "a list",
    "object": "an object",
}
_ONE_SIDED: Final = {"FN": "missed", "FA": "invented"}


@dataclass(frozen=True, slots=True)
class Teller:
    """Describes errors in sentences, within a limit of characters."""

    weights: Mapping[Path, float]
    """Maps the path of each field to its weight in the schema, in schema order."""
    reveal: Reveal = "all"
    budget: int = BUDGET

    def describe_document(
        self, errors: Sequence[Error], right: int, values: int, present_fields: Iterable[str]
    ) -> str:
        """Describe the errors of one document. If there are no errors, list its right fields.

        Args:
            errors: the errors of the document.
            right: number of right values.
            values: number of values in the ground truth.
            present_fields: names of the fields that have a value.
        """
        if self.reveal == "none":
            return self._name_wrong_fields([errors])
        if not errors:
            field_names = ", ".join(present_fields) or "there is nothing to extract"
            return self._join_within_limit(
                [f"All is right, {number_of(right, 'value')}: {field_names}."]
            )
        return self._join_within_limit(
            [f"{right} of {number_of(values, 'value')} right."], self._lines(errors)
        )

    def describe_documents(self, documents: Sequence[Sequence[Error]], unread: int = 0) -> str:
        """Describe the errors in several documents. Those that occur in most documents come first.

        `documents` has the errors of each document. `unread` is the number of further documents
        that have no prediction to compare.
        """
        size = number_of(len(documents) + unread, "document")
        lost = [f"in {unread} of {size}, there is no answer to compare"] if unread else []
        if self.reveal == "none":
            return self._name_wrong_fields(documents, lost)
        errors_by_place: dict[tuple[str, str], list[tuple[int, Error]]] = {}
        for document_index, errors in enumerate(documents):
            for error in _select_errors(errors):
                key = _place_name(self._pattern(error)), _describe_mistake(error)
                errors_by_place.setdefault(key, []).append((document_index, error))
        causes = []
        for (name, how_wrong), place_errors in errors_by_place.items():
            documents_with_error, weight_lost = (
                {document_index for document_index, _ in place_errors},
                sum(self._lost(index_and_error) for _, index_and_error in place_errors),
            )
            example = self._example(place_errors[0][1])
            text = f"in {len(documents_with_error)} of {size} {name}: {how_wrong}{example}"
            causes.append((-len(documents_with_error), -weight_lost, text))
        right = sum(not errors for errors in documents)
        head = [f"{right} of {size} right.", *lost]
        return self._join_within_limit(head, (text for *_, text in sorted(causes)))

    def _join_within_limit(self, head: Sequence[str], lines: Iterable[str] = ()) -> str:
        """Join lines within the limit. If some do not fit, the text ends with their number."""
        all_lines = [*head, *lines]
        full_text = "\n".join(all_lines)
        if len(full_text) <= self.budget:
            return full_text
        text, count = "", 0
        for line in all_lines:
            closing = f"\nand {len(all_lines) - count - 1} more"
            longer = f"{text}\n{line}".lstrip("\n")
            if len(longer) + len(closing) > self.budget:
                break
            text, count = longer, count + 1
        return f"{text}\nand {len(all_lines) - count} more" if text else full_text[: self.budget]

    def _lines(self, errors: Iterable[Error]) -> list[str]:
        weighted_lines: list[tuple[float, str]] = []
        lists: dict[tuple[Path, str], list[Error]] = {}
        for error in _select_errors(errors):
            path = self._path(error)
            if isinstance(path[-1], int) and error.outcome in _ONE_SIDED:
                lists.setdefault((path[:-1], error.outcome), []).append(error)
            else:
                weighted_lines.append(
                    (self._lost(error), f"{_place_name(path)}: {self._describe_sides(error)}")
                )
        for (path, outcome), items in lists.items():
            values_text = "; ".join(filter(None, map(self._one_sided_text, items[:_MOST_ITEMS])))
            text = f"{_place_name(path)}: {number_of(len(items), 'item')} {_ONE_SIDED[outcome]}"
            weighted_lines.append(
                (sum(map(self._lost, items)), f"{text}: {values_text}" if values_text else text)
            )
        return [
            text for _, text in sorted(weighted_lines, key=lambda weighted_line: -weighted_line[0])
        ]

    def _describe_sides(self, error: Error) -> str:
        if error.outcome == "FA":
            return f"expected nothing, got {value_text(error.pred)}"
        expected = value_text(error.gt) if self.reveal == "all" else _KINDS[kind_of(error.gt)]
        if error.outcome == "FN":
            return f"missed, expected {expected}"
        how_wrong = _describe_mistake(error)
        how_text = "" if how_wrong == "wrong" else f" ({how_wrong})"
        return f"expected {expected}, got {value_text(error.pred)}{how_text}"

    def _one_sided_text(self, error: Error) -> str:
        """Return a missed or invented value as text; empty if it must not be revealed."""
        if error.outcome == "FN":
            return value_text(error.gt) if self.reveal == "all" else ""
        return value_text(error.pred)

    def _example(self, error: Error) -> str:
        text = self._one_sided_text(error)
        if error.outcome == "FD" and self.reveal == "all":
            text = f"{text} is {value_text(error.gt)}"
        return f", such as {text}" if text else ""

    def _lost(self, error: Error) -> float:
        return (error.values or 1) * self.weights.get(self._pattern(error), 1.0)

    def _pattern(self, error: Error) -> Path:
        return schema_pattern(_parsed(error.field), self.weights)

    def _path(self, error: Error) -> Path:
        """Return the path of an error. Keys of maps that reveal the ground truth become `*`.

        No key becomes `*` if the whole ground truth may be revealed. No key becomes `*` in the path
        of a false alarm either, because its keys come from the prediction.
        """
        path = _parsed(error.path)
        if self.reveal == "all" or error.outcome == "FA":
            return path
        names = iter(self._pattern(error))
        return tuple(step if isinstance(step, int) else next(names) for step in path)

    def _declared_part(self, pattern: Path) -> Path:
        """Return the longest beginning of a path that the schema declares.

        The rest of the path comes from the data of a document, and must not be revealed. If the
        schema does not declare even the first step, the whole path is returned. The caller must not
        reveal such a path.
        """
        for end in range(len(pattern), 0, -1):
            if pattern[:end] in self.weights:
                return pattern[:end]
        return pattern

    def _name_wrong_fields(
        self, documents: Iterable[Sequence[Error]], head: Sequence[str] = ()
    ) -> str:
        """Return a text that only names the fields with errors, in schema order.

        If a field and a field inside it have errors, only the inner field is named.
        """
        patterns = {self._pattern(error) for errors in documents for error in errors}
        wrong = {self._declared_part(pattern) for pattern in patterns}
        parents = {path[:end] for path in wrong for end in range(len(path))}
        wrong -= parents
        if not wrong:
            return self._join_within_limit([*head] or ["All is right."])
        names = [_place_name(path) for path in self.weights if path in wrong]
        names += ["keys that the schema does not declare"] if wrong - {*self.weights} else []
        return self._join_within_limit([*head, f"Look again at: {', '.join(names)}."])


_parsed: Final = lru_cache(10_000)(parse_field_path)  # many errors have the same path


def _select_errors(errors: Iterable[Error]) -> Iterator[Error]:
    """Select the errors to describe, so that nothing is described twice.

    If an object or item is missed or invented, only this error is selected, and the errors inside
    the object or item are left out. If an object is wrong and errors inside it are known, only the
    inner errors are selected, and the error of the object itself is left out.
    """
    all_errors = [*errors]
    wrong_objects = {
        error.path for error in all_errors if error.values is not None and error.outcome == "FD"
    }
    # If both sides have an object, the errors inside it say more than the object itself.
    paths_with_inner_errors = {
        error.path[: step.start()]
        for error in (all_errors if wrong_objects else ())
        for step in _STEP.finditer(error.path)
    }
    for error in all_errors:
        if error.values is not None and error.outcome == "FD":
            is_described = error.path not in paths_with_inner_errors
        else:
            is_described = error.inside is None or error.inside in wrong_objects
        if is_described:
            yield error


def _describe_mistake(error: Error) -> str:
    """Return a phrase on how a value is wrong."""
    if error.outcome != "FD":
        return _ONE_SIDED[error.outcome]
    gt, pred = error.gt, error.pred
    if isinstance(pred, str) and not isinstance(gt, dict | list) and len(pred) <= _LONGEST:
        text = str(gt)
        if _currencies(pred) > _currencies(text):
            return "an extra currency symbol"
        if text.casefold() == pred.casefold():
            return "only upper and lower case differ"
        if "".join(text.split()) == "".join(pred.split()):
            return "spaces differ"
    return _MEANINGS.get(error.error_class, "wrong")


def _currencies(text: str) -> int:
    return 0 if text.isalnum() else sum(unicodedata.category(letter) == "Sc" for letter in text)


def _place_name(path: Path) -> str:
    return visible(field_path(path)) or "the document"

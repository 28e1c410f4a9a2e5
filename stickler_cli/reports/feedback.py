"""Feedback: errors in sentences that help a model, or who writes its prompt, to do better.

Worst first, within a number of characters, and no more of the ground truth than may be told.
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
from stickler_cli.score.sums import pattern_of
from .cause_sentences import SAME_SLIP

Reveal: TypeAlias = Literal["all", "shape", "none"]
"""How much of the ground truth is told: its values; how predictions differ from it, and the kind of
what is right; or only which fields are not as they should be."""

REVEALS: Final = get_args(Reveal)

BUDGET: Final = 2_000  # characters: some 500 tokens
_MOST_ITEMS: Final = 10  # of those missed or invented in one list, that are shown
_LONGEST: Final = 200  # characters of texts that are looked at for what is kept in them

_STEP: Final = re.compile(r"[.\[]")  # begins each but the first of a path

_MEANINGS: Final = {
    **SAME_SLIP,
    ErrorClass.FORMAT: "the same, written in another way",
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
    """Words the errors of documents of a schema."""

    weights: Mapping[Path, float]
    """The fields that the schema declares, in its order, with their weights."""
    reveal: Reveal = "all"
    budget: int = BUDGET

    def of_one(self, errors: Sequence[Error], right: int, values: int, there: Iterable[str]) -> str:
        """Return the errors of one document in words; of one without errors the right values.

        Args:
            errors: those of the document.
            right: how many of its values are right.
            values: how many its ground truth has.
            there: the fields that have any.
        """
        if self.reveal == "none":
            return self._fields_alone([errors])
        if not errors:
            named = ", ".join(there) or "there is nothing to extract"
            return self._within([f"All is right, {number_of(right, 'value')}: {named}."])
        return self._within(
            [f"{right} of {number_of(values, 'value')} right."], self._lines(errors)
        )

    def of_many(self, documents: Sequence[Sequence[Error]], unread: int = 0) -> str:
        """Return the causes of errors in several documents, those of most documents first.

        Beside those that were compared there are some `unread`, which are none.
        """
        size = number_of(len(documents) + unread, "document")
        lost = [f"in {unread} of {size} there is no answer to compare"] if unread else []
        if self.reveal == "none":
            return self._fields_alone(documents, lost)
        found: dict[tuple[str, str], list[tuple[int, Error]]] = {}
        for at, errors in enumerate(documents):
            for error in _worth_telling(errors):
                key = _place_name(self._pattern(error)), _how(error)
                found.setdefault(key, []).append((at, error))
        causes = []
        for (name, how), several in found.items():
            places, worth = {at for at, _ in several}, sum(self._lost(it) for _, it in several)
            text = f"in {len(places)} of {size} {name}: {how}{self._example(several[0][1])}"
            causes.append((-len(places), -worth, text))
        right = sum(not errors for errors in documents)
        head = [f"{right} of {size} right.", *lost]
        return self._within(head, (text for *_, text in sorted(causes)))

    def _within(self, head: Sequence[str], lines: Iterable[str] = ()) -> str:
        """Return as many lines as there is room for, and how many there are beside."""
        waiting = [*head, *lines]
        whole = "\n".join(waiting)
        if len(whole) <= self.budget:
            return whole
        text, count = "", 0
        for line in waiting:
            rest = f"\nand {len(waiting) - count - 1} more"
            longer = f"{text}\n{line}".lstrip("\n")
            if len(longer) + len(rest) > self.budget:
                break
            text, count = longer, count + 1
        return f"{text}\nand {len(waiting) - count} more" if text else whole[: self.budget]

    def _lines(self, errors: Iterable[Error]) -> list[str]:
        found: list[tuple[float, str]] = []
        lists: dict[tuple[Path, str], list[Error]] = {}
        for error in _worth_telling(errors):
            path = self._path(error)
            if isinstance(path[-1], int) and error.outcome in _ONE_SIDED:
                lists.setdefault((path[:-1], error.outcome), []).append(error)
            else:
                found.append((self._lost(error), f"{_place_name(path)}: {self._found(error)}"))
        for (path, outcome), items in lists.items():
            shown = "; ".join(filter(None, map(self._side, items[:_MOST_ITEMS])))
            text = f"{_place_name(path)}: {number_of(len(items), 'item')} {_ONE_SIDED[outcome]}"
            found.append((sum(map(self._lost, items)), f"{text}: {shown}" if shown else text))
        return [text for _, text in sorted(found, key=lambda each: -each[0])]

    def _found(self, error: Error) -> str:
        if error.outcome == "FA":
            return f"expected nothing, got {value_text(error.pred)}"
        expected = value_text(error.gt) if self.reveal == "all" else _KINDS[kind_of(error.gt)]
        if error.outcome == "FN":
            return f"missed, expected {expected}"
        how = _how(error)
        meant = "" if how == "wrong" else f" ({how})"
        return f"expected {expected}, got {value_text(error.pred)}{meant}"

    def _side(self, error: Error) -> str:
        """Return the value of an error that one side has; nothing of one that is not told."""
        if error.outcome == "FN":
            return value_text(error.gt) if self.reveal == "all" else ""
        return value_text(error.pred)

    def _example(self, error: Error) -> str:
        text = self._side(error)
        if error.outcome == "FD" and self.reveal == "all":
            text = f"{text} is {value_text(error.gt)}"
        return f", such as {text}" if text else ""

    def _lost(self, error: Error) -> float:
        return (error.values or 1) * self.weights.get(self._pattern(error), 1.0)

    def _pattern(self, error: Error) -> Path:
        return pattern_of(_parsed(error.field), self.weights)

    def _path(self, error: Error) -> Path:
        """Return where an error is; keys that only the ground truth has, as far as it is told."""
        path = _parsed(error.path)
        if self.reveal == "all" or error.outcome == "FA":
            return path
        names = iter(self._pattern(error))
        return tuple(step if isinstance(step, int) else next(names) for step in path)

    def _fields_alone(self, documents: Iterable[Sequence[Error]], head: Sequence[str] = ()) -> str:
        """Name the innermost fields with errors, in schema order.

        Whether a side lacks what is around them is not told.
        """
        patterns = {self._pattern(error) for errors in documents for error in errors}
        # Names inside of what the schema leaves open are data.
        found = {
            next(
                (each[:end] for end in range(len(each), 0, -1) if each[:end] in self.weights), each
            )
            for each in patterns
        }
        wrong = found - {each[:end] for each in found for end in range(len(each))}
        if not wrong:
            return self._within([*head] or ["All is right."])
        named = [_place_name(path) for path in self.weights if path in wrong]
        named += ["what the schema does not name"] if wrong - {*self.weights} else []
        return self._within([*head, f"Look again at: {', '.join(named)}."])


_parsed: Final = lru_cache(10_000)(parse_field_path)  # many errors are at the same places


def _worth_telling(errors: Iterable[Error]) -> Iterator[Error]:
    """Yield the errors to be told: values, and as a whole objects and items that one side lacks."""
    several = [*errors]
    wholes = {error.path for error in several if error.values is not None and error.outcome == "FD"}
    # Of what both sides have, what is wrong inside says more.
    opened = {
        error.path[: step.start()]
        for error in (several if wholes else ())
        for step in _STEP.finditer(error.path)
    }
    for error in several:
        if error.values is not None and error.outcome == "FD":
            told = error.path not in opened
        else:
            told = error.inside is None or error.inside in wholes
        if told:
            yield error


def _how(error: Error) -> str:
    """Return how a value is wrong."""
    if error.outcome != "FD":
        return _ONE_SIDED[error.outcome]
    gt, pred = error.gt, error.pred
    if isinstance(pred, str) and not isinstance(gt, dict | list) and len(pred) <= _LONGEST:
        text = str(gt)
        if _currencies(pred) > _currencies(text):
            return "the currency symbol is kept"
        if text.casefold() == pred.casefold():
            return "upper and lower case differ"
        if "".join(text.split()) == "".join(pred.split()):
            return "spaces differ"
    return _MEANINGS.get(error.error_class, "wrong")


def _currencies(text: str) -> int:
    return 0 if text.isalnum() else sum(unicodedata.category(letter) == "Sc" for letter in text)


def _place_name(path: Path) -> str:
    return visible(field_path(path)) or "the document"

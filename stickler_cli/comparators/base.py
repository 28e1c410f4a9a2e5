"""The base class of comparators, checks of keywords, and codes of values."""

import inspect
from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from contextvars import ContextVar
from decimal import Decimal
from functools import cache, cached_property
from itertools import count
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Final,
    NamedTuple,
    Self,
    TypeAlias,
    TypeGuard,
    final,
)

import numpy as np
from numpy.typing import NDArray

from stickler_cli.core.json_values import brief
from stickler_cli.core.problems import did_you_mean, percentage_hint

if TYPE_CHECKING:
    from stickler_cli.clients.client import Client
    from stickler_cli.clients.model import Model


class KeywordError(ValueError):
    """A constructor keyword with a value that a comparator cannot use."""

    def __init__(self, keyword: str | None, found: str, expected: str = "", hint: str = "") -> None:
        super().__init__(keyword, found, expected, hint)
        self.keyword = keyword
        """The keyword at fault; None where the configuration as a whole is."""
        self.found = found
        self.expected = expected
        self.hint = hint

    @classmethod
    def of(cls, keyword: str, value: object, expected: str, hint: str = "") -> Self:
        """Return the error of a keyword's value."""
        return cls(keyword, f"{keyword} is {brief(value)}", expected, hint)

    def __str__(self) -> str:
        expected = f", expected {self.expected}" if self.expected else ""
        return f"{self.found}{expected}" + (f"; {self.hint}" if self.hint else "")


class UnknownKeywordError(KeywordError):
    """A keyword that the constructor does not have."""


def is_number(value: object) -> TypeGuard[float]:
    """Return whether this is a JSON number; to Python, booleans are numbers too."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def checked_flag(keyword: str, value: object) -> bool:
    """Return a boolean; a `KeywordError` for anything else."""
    if isinstance(value, bool):
        return value
    raise KeywordError.of(keyword, value, "true or false")


def checked_fraction(keyword: str, value: object) -> float:
    """Return a number in [0, 1]; a `KeywordError` for anything else."""
    hint = ""
    if is_number(value):
        if 0 <= value <= 1:
            return value
        hint = percentage_hint(value)
    raise KeywordError.of(keyword, value, "a number in [0, 1]", hint)


def checked_choice(keyword: str, value: object, choices: Sequence[str]) -> str:
    """Return one of the choices; a `KeywordError` for anything else."""
    if isinstance(value, str) and value in choices:
        return value
    hint = did_you_mean(value, choices) if isinstance(value, str) else ""
    expected = f"one of {', '.join(choices)}" if len(choices) > 1 else choices[0]
    raise KeywordError.of(keyword, value, expected, hint)


def checked_text(keyword: str, value: object) -> str:
    """Return a string that is not empty; a `KeywordError` for anything else."""
    if isinstance(value, str) and value:
        return value
    raise KeywordError.of(keyword, value, "a string that is not empty")


Keys: TypeAlias = NDArray[np.intp]
"""Codes from 0 up, without gaps, (n,)."""


def codes_of(values: Collection[Hashable]) -> Keys:
    """Return a code for each value, in order of first occurrence; equal values share a code."""
    codes = dict.fromkeys(values, 0)
    codes.update(zip(codes, count()))
    return np.fromiter(map(codes.__getitem__, values), np.intp, len(values))


def linked_codes(values: Iterable[Iterable[Hashable]]) -> Keys:
    """Return a code for each value; values that are linked by common parts have the same code.

    >>> linked_codes(["ab", "bc", "d", "c", ""]).tolist()
    [0, 0, 1, 0, 2]
    """
    links: dict[Hashable, Hashable] = {}

    def root(key: Hashable) -> Hashable:
        while (link := links.setdefault(key, key)) != key:
            links[key] = links[link]  # halve the path
            key = link
        return key

    roots: list[Hashable] = []
    for value in values:
        first_part, *other_parts = [*value] or [object()]
        roots.append(first_part)
        for other_part in other_parts:
            links[root(other_part)] = root(first_part)
    return codes_of([*map(root, roots)] if links else roots)


Similarities: TypeAlias = NDArray[np.float64]
"""(n,): one for each pair, each value in [0, 1]."""

Lengths: TypeAlias = NDArray[np.intp]
"""(n,): one for each pair."""

EQUAL_WITHIN: Final = 1e-9
"""Similarities are sums of floats; nearer than this they are equal. Source: docs/semantics.md."""

DEFAULT_THRESHOLD: Final = 0.7
"""Threshold of a comparator that defines no other. Source: docs/semantics.md, Comparators."""


LETTERS_OF_WORD: Final = 64
"""Letters of one text that an edit distance compares with a letter of the other in one step."""
STEPS_OF_WORDS: Final = 3
"""Nanoseconds of such a step of rapidfuzz."""
STEPS_OF_PAIR: Final = 500
"""Nanoseconds of a pair beside these steps."""


_counter: ContextVar[Callable[[int], None] | None] = ContextVar("counter", default=None)
"""The function that counts steps of the current comparison; None if steps are not counted."""


def charge(steps: int) -> None:
    """Count steps that a comparator is about to make and that lengths of values do not show.

    Raises:
        WorkLimitError: the comparison may not take as many.
    """
    counter = _counter.get()
    if counter is not None:
        counter(steps)


class StepCounting:
    """A block in which a function counts the steps that comparators charge.

    A class, since a generator as a context manager takes longer than a small comparison.
    """

    __slots__ = ("_counter", "_token")

    def __init__(self, counter: Callable[[int], None]) -> None:
        """Take the function that counts."""
        self._counter = counter

    def __enter__(self) -> None:
        self._token = _counter.set(self._counter)

    def __exit__(self, *_: object) -> None:
        _counter.reset(self._token)


class Answers(NamedTuple):
    """A model's answers about some pairs."""

    similarities: Similarities
    reasons: list[str] | None = None
    """Why, one a pair; None of models that give no reasons."""


class BaseComparator:
    """The family of comparators.

    A subclass overrides either `compare`, on values as they are in the documents, or `similarity`
    (with `prepare`, called once for each distinct value), on prepared values; `similarities` and
    `keys` are for speed. Constructor keywords are kept as attributes of the same name; `config` and
    equality are read from them. A value that cannot be used raises a `KeywordError`.

    What a subclass overrides is never bypassed: a new `compare` drops an inherited `prepare` and
    `similarity`, a new `similarity` an inherited `similarities`, and a new one of any `keys`.
    """

    takes: ClassVar[frozenset[str]] = frozenset()
    """JSON types beyond scalars that are one value to this comparator: `array`, `object`."""

    same_value: bool = False
    """Whether two values of documents that are the same JSON value match, be they read or not."""

    columnar: ClassVar[bool] = False
    """Whether all pairs cost little beside a call of `similarity` for each."""

    steps_of_letter: int = 20
    """Nanoseconds to prepare a letter of a long text."""

    asks_models: ClassVar[bool] = False
    """Whether it asks models, so that work is arranged around that: see `ask`."""

    pairing: ClassVar["BaseComparator | None"] = None
    """The comparator that pairs list items, if this one costs too much to be asked of all pairs.
    This one then sees chosen pairs only, and gives a `reason` for each."""

    _judge: ClassVar[type["BaseComparator"]]
    """The class whose `prepare` and `similarity` the inherited `compare` applies."""

    threshold: float

    stated_threshold: float | None = None
    """The threshold that the constructor was given by name or position; None for the default."""

    def __new__(cls, *arguments: Any, **keywords: Any) -> Self:
        """Keep the threshold that is given, even if it is the default."""
        comparator = super().__new__(cls)
        names = [parameter.name for parameter in keyword_parameters(cls)][: len(arguments)]
        threshold = {**dict(zip(names, arguments, strict=False)), **keywords}.get("threshold")
        if is_number(threshold):
            comparator.stated_threshold = threshold
        return comparator

    def __init__(self, threshold: float | None = DEFAULT_THRESHOLD) -> None:
        """Set the threshold in [0, 1] that `binary_compare` uses; None takes the default."""
        stated = DEFAULT_THRESHOLD if threshold is None else threshold
        self.threshold = checked_fraction("threshold", stated)

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        present_only = vars(cls).get("_compare")
        if present_only is not None and not {"compare", "similarity"} & vars(cls).keys():
            # Comparators written for stickler-eval define `_compare`, for present values only.
            cls.similarity = present_only  # type: ignore[method-assign]
            cls.prepare = BaseComparator.prepare  # type: ignore[method-assign]
        if cls.compare is BaseComparator.compare and cls.similarity is BaseComparator.similarity:
            raise TypeError(f"{cls.__name__} must define compare(gt, pred) or similarity(gt, pred)")
        if cls._overrides("compare", "similarity"):
            cls.prepare = BaseComparator.prepare  # type: ignore[method-assign]
            cls.similarity = BaseComparator.similarity  # type: ignore[method-assign]
        # Properties of one method of comparing do not hold for another method.
        if cls._overrides("similarity", "similarities"):
            cls.similarities = BaseComparator.similarities  # type: ignore[method-assign]
        for name in ("keys", "equal_keys", "similarities_above"):
            if any(
                cls._overrides(method, name) for method in ("prepare", "similarity", "similarities")
            ):
                setattr(cls, name, getattr(BaseComparator, name))
        redefined = {"compare", "prepare", "similarity", "similarities"} & vars(cls).keys()
        if redefined and "same_value" not in vars(cls):
            cls.same_value = BaseComparator.same_value
        if redefined and "columnar" not in vars(cls):
            cls.columnar = BaseComparator.columnar
        if cls.similarity is not BaseComparator.similarity:
            cls._judge = cls

    @classmethod
    def _overrides(cls, method: str, other: str) -> bool:
        """Return whether `method` is defined nearer to this class than `other`."""
        nearest = next(
            vars(ancestor) for ancestor in cls.__mro__ if {method, other} & vars(ancestor).keys()
        )
        return method in nearest and other not in nearest

    @cached_property  # not a property, so that a comparator may set a name of its own
    def name(self) -> str:
        """The name under which a schema asks for this comparator."""
        return type(self).__name__

    @property
    def config(self) -> dict[str, Any]:
        """The constructor keywords whose values differ from their defaults, or those set later."""
        if "config" in vars(self):
            stated: dict[str, Any] = vars(self)["config"]
            return stated
        config = {}
        for parameter in keyword_parameters(type(self)):
            value = getattr(self, parameter.name, parameter.default)
            if value is not parameter.default and value != parameter.default:
                config[parameter.name] = value
        return config

    @config.setter
    def config(self, config: dict[str, Any]) -> None:
        vars(self)["config"] = config

    def require(self) -> None:
        """Raise an `UnavailableError` where this comparator cannot work, before a run starts."""

    def require_by(self, client: "Client") -> None:
        """Raise an `UnavailableError` where it cannot work when it asks by a client."""
        self.require()

    @property
    def asked_model(self) -> "Model[Any, Any] | None":
        """The model that it asks; None if it asks no model."""
        return None

    def prepare(self, value: Any) -> Any:
        """Return one present value in the form that the methods below take."""
        return value

    def similarity(self, gt: Any, pred: Any) -> float:
        """Compare two prepared values; in [0, 1]."""
        return self.compare(gt, pred)

    def similarities(self, gts: Sequence[Any], preds: Sequence[Any]) -> Similarities:
        """Compare two columns of prepared values of the same length, element by element."""
        # By identity: each value is prepared once, and to Python 1, 1.0 and True are equal.
        pairs = {(id(gt), id(pred)): (gt, pred) for gt, pred in zip(gts, preds, strict=True)}
        similarity_by_pair = {
            key: float(self.similarity(gt, pred)) for key, (gt, pred) in pairs.items()
        }
        keys = zip(map(id, gts), map(id, preds), strict=True)
        return np.fromiter(map(similarity_by_pair.__getitem__, keys), np.float64, len(gts))

    def ask(self, client: "Client | None", gts: Sequence[Any], preds: Sequence[Any]) -> "Answers":
        """Compare as `similarities` does, by a model: the client's, or None for one's own."""
        return Answers(self.similarities(gts, preds))

    def keys(self, prepared: Sequence[Any]) -> "Keys | None":
        """Return a code for each prepared value; values with different codes have similarity 0.

        None if the comparator has no such codes. Codes of two calls cannot be compared: a caller
        that compares two sides passes the values of both at once.
        """
        return None

    def equal_keys(self, prepared: Sequence[Any]) -> "tuple[Keys, float] | None":
        """Return a code for each value, and by how much different codes lower the similarity.

        The similarity of two values with different codes is at most 1.0 less that amount. Two
        values with equal codes are likely a full match. None if the comparator has no such codes.
        """
        return None

    def similarities_above(
        self, gts: Sequence[Any], preds: Sequence[Any], least: float
    ) -> "Similarities | None":
        """Compare as `similarities` does, in about `1 - least` of the work; 0 below `least`.

        None where the work would not be less.
        """
        return None

    def steps(self, gt: Lengths, pred: Lengths) -> int:
        """Return about how many nanoseconds pairs take to compare, of values of so many letters.

        As edit distances do, by words of 64 letters, unless the comparator is `columnar`.
        """
        if self.columnar:
            return int(gt.sum() + pred.sum())
        words = -(np.minimum(gt, pred) // -LETTERS_OF_WORD)
        return STEPS_OF_PAIR * len(gt) + STEPS_OF_WORDS * int(words @ np.maximum(gt, pred))

    def compare(self, gt: Any, pred: Any) -> float:
        """Compare two values of documents; in [0, 1], 1.0 if both are None and 0.0 if one is."""
        if gt is None or pred is None:
            return 1.0 if gt is pred else 0.0
        judge = self._judge
        return judge.similarity(self, judge.prepare(self, gt), judge.prepare(self, pred))

    @final
    def __call__(self, gt: Any, pred: Any) -> float:
        """Compare two values, as `compare` does."""
        return self.compare(gt, pred)

    @final
    def binary_compare(self, gt: Any, pred: Any) -> tuple[int, int]:
        """Count a match against this comparator's own threshold: (1, 0), else (0, 1)."""
        return (1, 0) if meets(self.compare(gt, pred), self.threshold) else (0, 1)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, BaseComparator)
            and type(self) is type(other)
            and self.config == other.config
        )

    def __hash__(self) -> int:
        config = self.config
        try:
            return hash((type(self), frozenset(config.items())))
        except TypeError:  # a list in it, perhaps
            return hash((type(self), frozenset(config)))

    def __repr__(self) -> str:
        threshold = {"threshold": self.threshold} if hasattr(self, "threshold") else {}
        keywords = {**threshold, **self.config}
        arguments = ", ".join(f"{keyword}={value!r}" for keyword, value in keywords.items())
        return f"{self.name}({arguments})"


def meets(similarity: float, threshold: float) -> bool:
    """Return whether a similarity is at or above a threshold, within `EQUAL_WITHIN`."""
    return similarity >= threshold - EQUAL_WITHIN


@cache
def signature_of(cls: type[BaseComparator]) -> inspect.Signature:
    """Return the signature of a constructor; cached, as it takes longer than to compile a field."""
    return inspect.signature(cls)


def keyword_parameters(cls: type[BaseComparator]) -> list[inspect.Parameter]:
    """List the constructor parameters that can be given by name, in order."""
    signature = signature_of(cls)  # type: ignore[arg-type] # mypy takes __hash__ for the class's
    by_name = {inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY}
    return [parameter for parameter in signature.parameters.values() if parameter.kind in by_name]


def text_of(value: object) -> str:
    """Return any value as text: a string as it is, others through `str`."""
    if isinstance(value, str):
        return str.__str__(value)  # of an Enum that is a string: its value, not its name
    if is_number(value) and isinstance(value, int):
        return str(Decimal(value))  # str(int) refuses more than 4300 digits
    return str(value)

"""The base class of comparators, checks of their arguments, and codes for equal values."""

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
from stickler_cli.core.match_differences import MatchDifference
from stickler_cli.core.problems import did_you_mean, percentage_hint

if TYPE_CHECKING:
    from stickler_cli.clients.client import Client
    from stickler_cli.clients.model import Model


class KeywordError(ValueError):
    """Raised if a comparator cannot use an argument of its constructor."""

    def __init__(self, keyword: str | None, found: str, expected: str = "", hint: str = "") -> None:
        super().__init__(keyword, found, expected, hint)
        self.keyword = keyword
        """The name of the argument. None if the error is not about a single argument."""
        self.found = found
        self.expected = expected
        self.hint = hint

    @classmethod
    def of(cls, keyword: str, value: object, expected: str, hint: str = "") -> Self:
        """Return the error for a wrong value of an argument. `expected` describes a right value."""
        return cls(keyword, f"{keyword} is {brief(value)}", expected, hint)

    def __str__(self) -> str:
        expected = f", expected {self.expected}" if self.expected else ""
        return f"{self.found}{expected}" + (f"; {self.hint}" if self.hint else "")


class UnknownKeywordError(KeywordError):
    """Raised if a comparator is given an argument that its constructor does not have."""


def is_number(value: object) -> TypeGuard[float]:
    """Return whether a value is a JSON number; False for booleans."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def checked_flag(keyword: str, value: object) -> bool:
    """Return the value if it is a boolean; raise `KeywordError` otherwise."""
    if isinstance(value, bool):
        return value
    raise KeywordError.of(keyword, value, "true or false")


def checked_fraction(keyword: str, value: object) -> float:
    """Return the value if it is a number in [0, 1]; raise `KeywordError` otherwise."""
    hint = ""
    if is_number(value):
        if 0 <= value <= 1:
            return value
        hint = percentage_hint(value)
    raise KeywordError.of(keyword, value, "a number in [0, 1]", hint)


def checked_choice(keyword: str, value: object, choices: Sequence[str]) -> str:
    """Return the value if it is one of the choices; raise `KeywordError` otherwise."""
    if isinstance(value, str) and value in choices:
        return value
    hint = did_you_mean(value, choices) if isinstance(value, str) else ""
    expected = f"one of {', '.join(choices)}" if len(choices) > 1 else choices[0]
    raise KeywordError.of(keyword, value, expected, hint)


def checked_text(keyword: str, value: object) -> str:
    """Return the value if it is a string that is not empty; raise `KeywordError` otherwise."""
    if isinstance(value, str) and value:
        return value
    raise KeywordError.of(keyword, value, "a string that is not empty")


Keys: TypeAlias = NDArray[np.intp]
"""One code for each value, in an array of shape (n,). Codes are whole numbers: 0, 1, 2 and so on,
without gaps."""


def codes_of(values: Collection[Hashable]) -> Keys:
    """Return a code for each value: a whole number from 0 up. Equal values have the same code."""
    codes = dict.fromkeys(values, 0)
    codes.update(zip(codes, count()))
    return np.fromiter(map(codes.__getitem__, values), np.intp, len(values))


def linked_codes(values: Iterable[Iterable[Hashable]]) -> Keys:
    """Return a code for each value. Values that share a part have the same code.

    This also links values that share no part directly. For example, "ab" shares "b" with "bc", and
    "bc" shares "c" with "c". Therefore all three have the same code. A value without parts has a
    code of its own.

    >>> linked_codes(["ab", "bc", "d", "c", ""]).tolist()
    [0, 0, 1, 0, 2]
    """
    links: dict[Hashable, Hashable] = {}

    def root(key: Hashable) -> Hashable:
        while (link := links.setdefault(key, key)) != key:
            links[key] = links[link]  # shorten the path by half
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
"""One similarity in [0, 1] for each pair of values, in an array of shape (n_pairs,)."""

Lengths: TypeAlias = NDArray[np.intp]
"""The lengths of all values on one side, in letters: an array with one entry for each pair."""

EQUAL_WITHIN: Final = 1e-9
"""Two similarities count as equal if they differ by less than this, because sums of floats are not
exact. Source: docs/semantics.md."""

DEFAULT_THRESHOLD: Final = 0.7
"""Threshold of comparators that do not define one. Source: docs/semantics.md, Comparators."""


LETTERS_OF_WORD: Final = 64
"""An edit distance compares this many letters of one text with one letter of the other text in one
step."""
STEPS_OF_WORDS: Final = 3
"""Nanoseconds that rapidfuzz takes to compare one letter with `LETTERS_OF_WORD` letters."""
STEPS_OF_PAIR: Final = 500
"""Nanoseconds that each pair of texts takes in addition to the comparison of letters."""


_counter: ContextVar[Callable[[int], None] | None] = ContextVar("counter", default=None)
"""The function that counts the work of the current comparison; None if work is not counted."""


def charge(steps: int) -> None:
    """Count work that a comparator is about to do, in nanoseconds.

    Comparators call this if their work cannot be estimated from the lengths of the values.

    Raises:
        WorkLimitError: with this work, the comparison would exceed its limit.
    """
    counter = _counter.get()
    if counter is not None:
        counter(steps)


class StepCounting:
    """A context manager. Inside its block, `charge` reports all work to the function `counter`.

    The context manager is a class, because a generator would take longer than a small comparison.
    """

    __slots__ = ("_counter", "_token")

    def __init__(self, counter: Callable[[int], None]) -> None:
        """Take the function to be called with the number of steps."""
        self._counter = counter

    def __enter__(self) -> None:
        self._token = _counter.set(self._counter)

    def __exit__(self, *_: object) -> None:
        _counter.reset(self._token)


class Answers(NamedTuple):
    """The answers of a model about some pairs."""

    similarities: Similarities
    reasons: list[str] | None = None
    """The reason for each answer; None if the model gives no reasons."""


class BaseComparator:
    """The base class of all comparators.

    A subclass overrides either `compare` or `similarity`. `compare` takes values as they are in the
    documents. `similarity` takes values that `prepare` has returned; `prepare` is called once for
    each distinct value. To save time, a subclass can also override `similarities` and `keys`.

    Constructor arguments are kept as attributes of the same name. `config` and the equality of
    comparators use these attributes. An argument that cannot be used raises a `KeywordError`.

    If a subclass overrides a method, some inherited methods do not fit the new method. The subclass
    then has the methods of this base class instead of the inherited methods:

    - A new `compare` replaces an inherited `prepare` and `similarity`.
    - A new `similarity` replaces inherited `similarities`.
    - A new `compare`, `prepare`, `similarity` or `similarities` replaces inherited `keys`,
      `equal_keys`, `similarities_above` and `find_difference`. It also resets `same_value` and
      `columnar`, unless the subclass sets them.
    """

    takes: ClassVar[frozenset[str]] = frozenset()
    """JSON types, `array` or `object`, that the comparator compares as one value. If a type is
    missing here, the items of arrays or the fields of objects are compared one by one."""

    same_value: bool = False
    """Whether two equal JSON values always match, even if the comparator cannot interpret them."""

    columnar: ClassVar[bool] = False
    """Whether one call for many pairs is much faster than one call for each pair."""

    steps_of_letter: int = 20
    """Estimated work to prepare one letter of a long text, in nanoseconds. It counts towards the
    work limit."""

    asks_models: ClassVar[bool] = False
    """Whether the comparator asks a model in its method `ask`. The engine then calls it as rarely
    as possible."""

    @property
    def reports_differences_if_named(self) -> bool:
        """Whether `find_difference` is called for a comparator that the schema names.

        If False, it is called only for a comparator that was inferred.
        """
        return False

    pairing: ClassVar["BaseComparator | None"] = None
    """A cheaper comparator that decides which list items are paired. If there is one, the expensive
    comparator (`self`) is called only for the items that were paired. If this is None, the
    comparator itself is called to decide which items are paired."""

    _judge: ClassVar[type["BaseComparator"]]
    """The class whose `prepare` and `similarity` are called by `BaseComparator.compare`.

    This is usually the comparator's own class. If that class defines `compare` but no `similarity`,
    this is its nearest parent class that has a `similarity`."""

    threshold: float

    stated_threshold: float | None = None
    """The threshold that was given to the constructor; None if none was given."""

    def __new__(cls, *arguments: Any, **keywords: Any) -> Self:
        """Create a comparator. Record the threshold that is given, even if it is the default."""
        comparator = super().__new__(cls)
        names = [parameter.name for parameter in keyword_parameters(cls)][: len(arguments)]
        threshold = {**dict(zip(names, arguments, strict=False)), **keywords}.get("threshold")
        if is_number(threshold):
            comparator.stated_threshold = threshold
        return comparator

    def __init__(self, threshold: float | None = DEFAULT_THRESHOLD) -> None:
        """Set the threshold that `binary_compare` uses, in [0, 1]; None sets the default."""
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
        # Properties of one way of comparing are not valid for another.
        if cls._overrides("similarity", "similarities"):
            cls.similarities = BaseComparator.similarities  # type: ignore[method-assign]
        for name in ("keys", "equal_keys", "similarities_above", "find_difference"):
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
        """Return whether a subclass overrides `method` without overriding `other`, too.

        Only the most derived class that defines at least one of these two methods is examined.
        """
        nearest = next(
            vars(ancestor) for ancestor in cls.__mro__ if {method, other} & vars(ancestor).keys()
        )
        return method in nearest and other not in nearest

    @cached_property  # cached, so that a comparator may set its own name
    def name(self) -> str:
        """The name of this comparator in schemas."""
        return type(self).__name__

    @property
    def config(self) -> dict[str, Any]:
        """The constructor arguments whose values are not the defaults.

        A user can also assign a dict to `config`. This dict is then returned unchanged.
        """
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
        """Raise `UnavailableError` if this comparator cannot work.

        This is called before a run starts.
        """

    def require_by(self, client: "Client") -> None:
        """Raise `UnavailableError` if this comparator cannot work with the client of a run."""
        self.require()

    @property
    def asked_model(self) -> "Model[Any, Any] | None":
        """The model that the comparator asks; None if it asks no model."""
        return None

    def prepare(self, value: Any) -> Any:
        """Convert a value for `similarity` and the other methods that take prepared values.

        `value` is a value of a document. It is never None.
        """
        return value

    def similarity(self, gt: Any, pred: Any) -> float:
        """Return the similarity of two prepared values, in [0, 1]."""
        return self.compare(gt, pred)

    def similarities(self, gts: Sequence[Any], preds: Sequence[Any]) -> Similarities:
        """Return the similarity of each pair (`gts[i]`, `preds[i]`).

        The result is an array of shape (n_pairs,).
        """
        # Identify values by object: each is prepared once, and 1 == 1.0 == True in Python.
        pairs = {(id(gt), id(pred)): (gt, pred) for gt, pred in zip(gts, preds, strict=True)}
        similarity_by_pair = {
            key: float(self.similarity(gt, pred)) for key, (gt, pred) in pairs.items()
        }
        keys = zip(map(id, gts), map(id, preds), strict=True)
        return np.fromiter(map(similarity_by_pair.__getitem__, keys), np.float64, len(gts))

    def ask(self, client: "Client | None", gts: Sequence[Any], preds: Sequence[Any]) -> "Answers":
        """Ask a model for the similarity of each pair (`gts[i]`, `preds[i]`), through a client.

        If `client` is None, the comparator uses its own client. A comparator without a model
        returns the result of `similarities`.
        """
        return Answers(self.similarities(gts, preds))

    def keys(self, prepared: Sequence[Any]) -> "Keys | None":
        """Return a code for each prepared value. Two values with different codes have similarity 0.

        None if the comparator has no such codes. Codes can be compared only if they come from the
        same call, so pass the values of both sides together.
        """
        return None

    def equal_keys(self, prepared: Sequence[Any]) -> "tuple[Keys, float] | None":
        """Return (codes, loss): a code for each value, and a loss of similarity.

        If two values have different codes, their similarity is at most 1.0 - loss. If they have
        equal codes, they probably match fully. Return None if the comparator cannot make codes of
        this kind.
        """
        return None

    def find_difference(self, gt: Any, pred: Any) -> MatchDifference | None:
        """Return a difference that casts doubt on the match of two values, else None.

        The values are as they are in the documents, not prepared.
        """
        return None

    def similarities_above(
        self, gts: Sequence[Any], preds: Sequence[Any], least: float
    ) -> "Similarities | None":
        """Return what `similarities` returns, but with 0 for every similarity below `least`.

        This takes less work for a larger `least`. None if the comparator cannot save work.
        """
        return None

    def steps(self, gt: Lengths, pred: Lengths) -> int:
        """Return the approximate time to compare pairs of values, in nanoseconds.

        `gt` and `pred` have the lengths of the values.

        A `columnar` comparator takes one nanosecond for each letter. Any other comparator is
        assumed to take as long as an edit distance, which compares `LETTERS_OF_WORD` letters at
        once.
        """
        if self.columnar:
            return int(gt.sum() + pred.sum())
        words = -(np.minimum(gt, pred) // -LETTERS_OF_WORD)
        return STEPS_OF_PAIR * len(gt) + STEPS_OF_WORDS * int(words @ np.maximum(gt, pred))

    def compare(self, gt: Any, pred: Any) -> float:
        """Return the similarity of two values of documents, in [0, 1].

        None means that a value is absent. The similarity is 1.0 if both values are absent, and 0.0
        if only one value is absent.
        """
        if gt is None or pred is None:
            return 1.0 if gt is pred else 0.0
        judge = self._judge
        return judge.similarity(self, judge.prepare(self, gt), judge.prepare(self, pred))

    @final
    def __call__(self, gt: Any, pred: Any) -> float:
        """Return the similarity of two values, as `compare` does."""
        return self.compare(gt, pred)

    @final
    def binary_compare(self, gt: Any, pred: Any) -> tuple[int, int]:
        """Return (1, 0) if two values match by this comparator's threshold, else (0, 1)."""
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
        except TypeError:  # a value such as a list has no hash
            return hash((type(self), frozenset(config)))

    def __repr__(self) -> str:
        threshold = {"threshold": self.threshold} if hasattr(self, "threshold") else {}
        keywords = {**threshold, **self.config}
        arguments = ", ".join(f"{keyword}={value!r}" for keyword, value in keywords.items())
        return f"{self.name}({arguments})"


def meets(similarity: float, threshold: float) -> bool:
    """Return whether a similarity reaches a threshold. It may be smaller by `EQUAL_WITHIN`."""
    return similarity >= threshold - EQUAL_WITHIN


@cache
def signature_of(cls: type[BaseComparator]) -> inspect.Signature:
    """Return the signature of a comparator's constructor.

    It is cached, because inspection is slow.
    """
    return inspect.signature(cls)


def keyword_parameters(cls: type[BaseComparator]) -> list[inspect.Parameter]:
    """Return the constructor parameters that can be given by name, in order."""
    signature = signature_of(cls)  # type: ignore[arg-type] # mypy takes __hash__ for the class's
    by_name = {inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY}
    return [parameter for parameter in signature.parameters.values() if parameter.kind in by_name]


def text_of(value: object) -> str:
    """Return a value as text. A string is unchanged; any other value is converted by `str`."""
    if isinstance(value, str):
        return str.__str__(value)  # for a string Enum: its value, not its name
    if is_number(value) and isinstance(value, int):
        return str(Decimal(value))  # str(int) fails above 4300 digits
    return str(value)

"""Describe the causes of errors in sentences: kind of error, count, and lost values."""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, Literal, NamedTuple, TypeAlias

from stickler_cli.core.figures import WHOLE, join_some, number_of, truncate, visible
from stickler_cli.core.locations import Path, field_path
from stickler_cli.score.errors.causes import Cause, CauseIdentity, Causes, ErrorTrait
from stickler_cli.score.errors.confusions import find_slip
from stickler_cli.score.errors.early_ends import EARLY_ENDS, EndKind
from stickler_cli.score.errors.error_classes import ErrorClass
from .view import RunView

MAX_FIRST_CAUSES: Final = 3  # number of causes on the first screen; `stickler errors` lists all
# Name a source field on the first screen if at least one item in this many has its value.
FEW: Final = 4
MAX_FIELDS: Final = 5  # number of fields that a sentence names
WIDTH: Final = 30  # maximum width of a value in a sentence
DECIMALS: Final = 9  # number of decimals of a number in a sentence
_MANY_DECIMALS: Final = re.compile(r"-?[0-9]{1,6}\.[0-9]{12,}")  # such as 2.8000000000000003

_WHOLE: Final = {
    ErrorClass.MISSED_ITEM: "missed",
    ErrorClass.INVENTED_ITEM: "invented",
    ErrorClass.MOVED: "moved",
    ErrorClass.ITEM_WITH_ERRORS: "with errors",
    ErrorClass.WRONG_ITEM: "wrong",
}
_ONE_SIDED: Final = {
    ErrorClass.MISSED_VALUE: "missed",
    ErrorClass.INVENTED_VALUE: "invented",
    ErrorClass.MISSED_OBJECT: "missed",
    ErrorClass.INVENTED_OBJECT: "invented",
}
_MISSED: Final = frozenset(
    {ErrorClass.MISSED_ITEM, ErrorClass.MISSED_VALUE, ErrorClass.MISSED_OBJECT}
)
_INVENTED: Final = frozenset(
    {ErrorClass.INVENTED_ITEM, ErrorClass.INVENTED_OBJECT, ErrorClass.INVENTED_VALUE}
)
SAME_SLIP: Final = {
    ErrorClass.TRUNCATED: "cut short",
    ErrorClass.OVERRUN: "with extra text before or after the right value",
    ErrorClass.DAY_MONTH_SWAPPED: "day and month swapped",
    ErrorClass.PARTIAL_DATE: "a part of the date",
    ErrorClass.DECIMAL_SHIFT: "decimal point shifted",
    ErrorClass.DIGIT_SLIP: "with a wrong digit or sign",
}
"""For each class of small mistakes, such as a wrong sign, words that describe an error of the
class."""

_WORDS: Final = frozenset(
    re.findall(
        r"\w+",
        """
        all an and another any are as at both but by document documents each every first for
        from had has have in invented is it item items its kinds last many missed more most
        moved no none not object objects of on once one only or other others predicted right
        same slip some that the these they this three time times to two value values was were
        with without wrong
        """,
    )
)
"""Words that occur in the sentences of this module. The name of a field is put in quotes if it is
one of these words."""

_THINGS: Final = ("item", " value", " object", " kind", " slip", " shift", " date")
"""Endings of those names of error classes that have a plural. For example, `missed item` ends in
`item`, and two of them are `2 missed items`. The name `truncated` has no plural."""


class CauseText(NamedTuple):
    """A cause of errors in words, with the number of values lost to it.

    Several similar causes can share one text.
    """

    number: int
    """Number of the cause as shown to users, counted from 1. It is 0 if the cause has no number."""
    values: int
    text: str
    causes: tuple[Cause, ...]
    documents: Sequence[str] | None
    """All documents in which the cause occurs; None if they are unknown."""
    origins: Sequence[str]
    """Sentences on where the errors come from. A sentence may say that a field has the true value
    of another field, that a field is the product of two others, which fields are missed in the same
    documents, or how often each kind of digit slip occurs."""
    main_origin: str = ""
    """The sentence of `origins` that explains most errors by the value of another field, such as
    `unit_price has the true value of amount in 3 cases`. Empty if no sentence mentions another
    field in this way, or if the sentence explains only few errors."""

    @property
    def sentence(self) -> str:
        """The text of the cause, followed by `main_origin` in brackets if there is one.

        Reports that have no room for all sentences of `origins` show this text.
        """
        return f"{self.text} ({self.main_origin})" if self.main_origin else self.text

    @property
    def outcome(self) -> Literal["fn", "fa", "fd"]:
        """The outcome of most lost values: `fn` if missed, `fa` if invented, `fd` if wrong.

        It follows from the error class of the causes.
        """
        error_class = self.causes[0].error_class
        if error_class in _MISSED:
            return "fn"
        return "fa" if error_class in _INVENTED else "fd"

    @property
    def key(self) -> str:
        """Identifier of the cause in links."""
        return self.causes[0].key

    @property
    def errors(self) -> int:
        """Number of errors with this cause."""
        return sum(cause.size.errors for cause in self.causes)


def count_of_class(error_class: ErrorClass, count: int) -> str:
    """Describe a number of errors of a class in words.

    >>> count_of_class(ErrorClass.ITEM_WITH_ERRORS, 2), count_of_class(ErrorClass.FORMAT, 2)
    ('2 items with errors', '2 written differently')
    """
    if error_class is ErrorClass.FORMAT:
        return f"{count:,} written differently"
    if error_class is ErrorClass.OTHER:
        return number_of(count, "other error")
    words = error_class.replace("_", " ")
    noun, separator, complement = words.partition(" with ")
    count_text = number_of(count, noun) if noun.endswith(_THINGS) else f"{count:,} {noun}"
    return f"{count_text}{separator}{complement}"


def sum_errors(n_values: int, n_wholes: int) -> str:
    """Describe a number of errors as the sum of errors in values and in items or objects.

    >>> sum_errors(1, 1)
    '1 error in values + 1 error in whole items or objects'
    >>> sum_errors(1_248, 76)
    '1,248 errors in values + 76 errors in whole items or objects'
    """
    value_errors, whole_errors = number_of(n_values, "error"), number_of(n_wholes, "error")
    return f"{value_errors} in values + {whole_errors} in whole items or objects"


def causes(view: RunView) -> tuple[list[CauseText], list[CauseText]]:
    """Return (causes for the first screen, all other causes).

    The causes that lost most values are on the first screen.
    """
    texts = describe_causes(view, view.run.evaluation.fold(Causes))
    return texts[:MAX_FIRST_CAUSES], texts[MAX_FIRST_CAUSES:]


def describe_causes(view: RunView, causes: Causes) -> list[CauseText]:
    """Describe the causes of errors of a run. Those that lost most values come first."""
    missed_together = find_missed_together(causes)
    return [
        describe_alike(view, causes, alike_causes, missed_together, number)
        for number, alike_causes in enumerate(causes.numbered(), 1)
    ]


MissedTogether: TypeAlias = Mapping[CauseIdentity, Sequence[Cause]]
"""For each cause of the kind "field is missed", all causes of this kind that occur in exactly the
same documents. The cause itself is one of them."""


def find_missed_together(run_causes: Causes) -> MissedTogether:
    """Find fields that are missed in exactly the same documents.

    The result is empty if the run does not keep the documents of its causes.
    """
    causes_by_documents: dict[frozenset[str], list[Cause]] = {}
    for cause in run_causes.ranked() if run_causes.ids is not None else ():
        is_missed_field = cause.trait is not None and cause.trait.end is None
        if cause.error_class in _MISSED and is_missed_field and cause.size.values:
            documents = frozenset(run_causes.documents_of([cause]) or ())
            causes_by_documents.setdefault(documents, []).append(cause)
    return {
        cause.identity: causes
        for causes in causes_by_documents.values()
        if len(causes) > 1
        for cause in causes
    }


def _describe_missed_together(view: RunView, cause: Cause, causes: Sequence[Cause]) -> str:
    """Return a sentence that names the other fields that are missed in the same documents."""
    traits = [other.trait for other in causes if other.trait is not None]
    paths = [trait.path for trait in traits]
    others = [_quote_name(view, path) for path in paths if cause.trait and path != cause.trait.path]
    same, verb = "the same document", "misses"
    if cause.size.documents > 1:
        same, verb = f"the same {number_of(cause.size.documents, 'document')}", "miss"
    values = number_of(sum(other.size.values for other in causes), "value")
    return f"{same} also {verb} {join_some(others, MAX_FIELDS)}: {values} in all"


def describe_alike(
    view: RunView,
    run_causes: Causes,
    alike_causes: tuple[Cause, ...],
    missed_together: MissedTogether,
    number: int = 0,
) -> CauseText:
    """Describe one cause in words, or several similar causes that are listed as one.

    `run_causes` has all causes of the run, with all their errors. `alike_causes` may have only some
    of these errors, such as the new ones. The text counts only the errors of `alike_causes`.
    """
    first = alike_causes[0]
    has_all_errors = run_causes.size_of(first) == first.size
    companions = missed_together.get(first.identity, ()) if has_all_errors else ()
    together = [_describe_missed_together(view, first, companions)] if companions else []
    slips = _count_slips(alike_causes)
    origins = [*_origin_texts(view, run_causes, alike_causes, slips)]
    return CauseText(
        number=number,
        values=sum(cause.size.values for cause in alike_causes),
        text=_describe_together(view, run_causes, alike_causes, slips),
        causes=alike_causes,
        documents=run_causes.documents_of(alike_causes),
        origins=[*(origin.text for origin in origins), *together],
        main_origin=next((origin.text for origin in origins if origin.is_frequent), ""),
    )


def _describe_together(
    view: RunView, run_causes: Causes, alike_causes: Sequence[Cause], slips: Counter[str]
) -> str:
    """Return a sentence on one cause, or on several similar causes.

    `slips` is the result of `_count_slips` for these causes.
    """
    first, number = alike_causes[0], sum(cause.size.errors for cause in alike_causes)
    if first.trait is not None and first.trait.end:
        return _describe_early_ends(view, run_causes, alike_causes, first.trait.end)
    if first.trait is None or not first.trait.gt:
        return _cause_text(view, first)
    name, slip = view.quoted(field_path(first.trait.path)), SAME_SLIP.get(first.error_class)
    if number == 1:
        return f"{_describe_pair(view, first, first.trait)} once"
    if first.error_class is ErrorClass.SWAPPED:
        slip = _name_source(view, run_causes, alike_causes) or "wrong"
    if len(slips) == 1:
        (slip,) = slips
    if slip:
        lists = {
            declared_field.field
            for declared_field in view.run.fields
            if declared_field.kind in ("list", "tuple")
        }
        path = first.trait.path
        in_list = any(path[:size] in lists for size in range(len(path) + 1))
        # A field outside lists has one value per document, so count documents.
        often = (
            f", {number_of(number, 'time')}" if in_list else f" in {number_of(number, 'document')}"
        )
        return f"{name}: {slip}{often}"
    if len(alike_causes) == 1:
        return _cause_text(view, first)
    other = first.error_class is ErrorClass.OTHER
    count_text = f"{number:,} wrong" if other else count_of_class(first.error_class, number)
    return f"{name}: {count_text}, no two alike"


def _describe_early_ends(
    view: RunView, run_causes: Causes, alike_causes: Sequence[Cause], kind: EndKind
) -> str:
    """Return a sentence on documents that end early, or that have no predicted values.

    If the documents end early, each cause stands for documents whose last predicted field or list
    item is the same. The sentence names this field or item for each cause. The cause with the most
    documents comes first.
    """
    causes = sorted(alike_causes, key=lambda cause: -cause.size.documents)
    n_documents = sum(cause.size.documents for cause in causes)
    documents_text = number_of(n_documents, "document")
    if kind not in EARLY_ENDS:
        singular, plural = _WITHOUT_VALUES[kind]
        return f"{documents_text} {singular if n_documents == 1 else plural}"
    names = [_name_end(view, run_causes, cause) for cause in causes]
    if len(causes) > 1:
        counts = (cause.size.documents for cause in causes)
        names = [f"{name} ({count:,})" for name, count in zip(names, counts, strict=True)]
    verb = "ends" if n_documents == 1 else "end"
    ends = join_some(names, MAX_FIELDS)
    return f"{documents_text} {verb} early: nothing is predicted after {ends}"


_WITHOUT_VALUES: Final = {
    EndKind.EMPTY: ("has no predicted values at all", "have no predicted values at all"),
    EndKind.MISSING: ("has no prediction", "have no prediction"),
    EndKind.INVALID: (
        "has a prediction that cannot be read",
        "have predictions that cannot be read",
    ),
}
"""The words that follow the number of documents in a sentence on documents without predicted
values. The first text is for one document (`1 document has no prediction`), and the second text is
for several (`3 documents have no prediction`)."""


def _name_end(view: RunView, run_causes: Causes, cause: Cause) -> str:
    """Return the name of the last predicted field or list item of documents that end early.

    If the documents end after different items of the same list, the name is a range, from the
    lowest index to the highest: for example, `one of lines[3] to lines[7]`.
    """
    last_field = cause.trait.ends_after if cause.trait else ()
    if cause.identity not in run_causes.last_items:
        return _quote_name(view, last_field)
    lowest, highest = (
        view.quoted(f"{field_path(last_field)}[{index}]")
        for index in run_causes.last_items[cause.identity]
    )
    return lowest if lowest == highest else f"one of {lowest} to {highest}"


def _name_source(view: RunView, run_causes: Causes, alike_causes: Sequence[Cause]) -> str:
    """Return "the value of FIELD". FIELD is the field whose true values were predicted by mistake.

    The text is empty if there is no such field, or if the values may be equal only by chance.
    """
    for (field, (other, *_)), _ in run_causes.telling_origins_of(alike_causes):
        return f"the value of {'another item' if other == field else _quote_name(view, other)}"
    return ""


def _count_slips(alike_causes: Sequence[Cause]) -> Counter[str]:
    """Count the errors of each kind of digit slip, the most frequent first.

    The kind says how the digits differ: for example, two digits have changed places. Errors that
    are not digit slips are not counted.
    """
    n_errors = Counter[str]()
    for cause in alike_causes:
        trait = cause.trait if cause.error_class is ErrorClass.DIGIT_SLIP else None
        if trait and trait.gt and trait.pred:  # a trait leaves out long values
            slip = find_slip(json.loads(trait.gt), json.loads(trait.pred))
            n_errors[slip] += cause.size.errors
    return Counter(dict(sorted(n_errors.items(), key=lambda entry: (-entry[1], entry[0]))))


class _OriginText(NamedTuple):
    """A sentence on where the errors of a cause come from."""

    text: str
    is_frequent: bool = False
    """Whether many of the predicted values are true values of one other field."""


def _origin_texts(
    view: RunView, run_causes: Causes, alike_causes: tuple[Cause, ...], slips: Counter[str]
) -> Iterator[_OriginText]:
    """Yield sentences on where the wrong values of some causes come from.

    A wrong value may be the value of another field, or the product of two other fields. There is
    one sentence for each wrong field and the other field or fields. For example: `unit_price has
    the true value of amount in 3 cases`. If `slips` has several kinds of digit slips, the first
    sentence says how often each kind occurs.
    """
    if len(slips) > 1:
        counts = [f"{slip} in {number_of(count, 'case')}" for slip, count in slips.items()]
        yield _OriginText(join_some(counts, MAX_FIELDS))
    n_errors = sum(cause.size.errors for cause in alike_causes)
    n_errors_of_run = sum(run_causes.size_of(cause).errors for cause in alike_causes)
    all_of_run = number_of(n_errors_of_run, "case")
    if n_errors < n_errors_of_run:
        all_of_run += " of the run"
    for origin, errors in run_causes.telling_origins_of(alike_causes):
        name, *source_names = (_quote_name(view, path[-1:]) for path in (origin.field, *origin.of))
        has_all = errors == n_errors == n_errors_of_run
        cases = all_of_run if has_all else f"{errors:,} of {all_of_run}"
        if len(source_names) > 1:
            product = " times ".join(f"predicted {source}" for source in source_names)
            yield _OriginText(f"predicted {name} = {product} in {cases}")
        elif alike_causes[0].trait and alike_causes[0].trait.differing:
            sentence = f"{name} has the true value of {source_names[0]} in {cases}"
            yield _OriginText(sentence, is_frequent=errors * FEW >= n_errors_of_run)


def _cause_text(view: RunView, cause: Cause) -> str:
    (errors, _, documents), kind = cause.size, cause.trait
    name = view.quoted(field_path(kind.path if kind else cause.pattern) or WHOLE)
    documents_text = number_of(documents, "document")
    in_documents = f" in {documents_text}"
    spread = "" if errors == documents else in_documents
    if kind is None:
        return f"{name}: {count_of_class(cause.error_class, errors)}, of many kinds"
    if kind.differing:
        *first_names, last_name = (
            _quote_name(view, (field_name,)) for field_name in kind.differing
        )
        names = f"{', '.join(first_names)} and {last_name}" if first_names else last_name
        return f"{name}: {names} wrong in {number_of(errors, 'item')} of {documents_text}"
    if kind.gt:
        return f"{_describe_pair(view, cause, kind)} {errors:,} times{spread}"
    if cause.error_class in _ONE_SIDED:
        outcome_words = _ONE_SIDED[cause.error_class]
        times = "" if errors == documents else f" {errors:,} times"
        return f"{_quote_name(view, kind.path)} {outcome_words}{times}{in_documents}"
    if cause.error_class in _WHOLE:
        outcome_words = _WHOLE[cause.error_class]
        return f"{name}: {number_of(errors, 'item')} {outcome_words}{in_documents}"
    return f"{name}: {count_of_class(cause.error_class, errors)}{spread}"


def _quote_name(view: RunView, path: Path) -> str:
    """Return a field name for a sentence, in quotes if it could be taken for an ordinary word."""
    name = field_path(path) or WHOLE
    quoted = view.quoted(name)
    could_be_word = len(name) == 1 or name.lower() in _WORDS or name.isdecimal()
    return f'"{quoted}"' if quoted == name and could_be_word else quoted


def _describe_pair(view: RunView, cause: Cause, kind: ErrorTrait) -> str:
    # Show quotes to tell 5 from "5".
    are_alike = _drop_quotes(kind.gt) == _drop_quotes(kind.pred)
    written = cause.error_class is ErrorClass.WRONG_KIND or are_alike
    sides = (kind.gt, kind.pred) if written else (_drop_quotes(kind.gt), _drop_quotes(kind.pred))
    gt, pred = (view.quoted(truncate(text, WIDTH)) for text in map(visible, _round(*sides)))
    return f"{_quote_name(view, kind.path)} {gt} -> {pred}"


def _round(gt: str, pred: str) -> tuple[str, str]:
    """Round numbers with very many decimals, which come from arithmetic, and return both texts.

    If the texts are equal after rounding, they are returned unchanged.

    >>> _round("0.28", "2.8000000000000003"), _round("0.1", "0.10000000000000001")
    (('0.28', '2.8'), ('0.1', '0.10000000000000001'))
    """
    texts = [
        repr(round(float(text), DECIMALS)) if _MANY_DECIMALS.fullmatch(text) else text
        for text in (gt, pred)
    ]
    return (texts[0], texts[1]) if texts[0] != texts[1] else (gt, pred)


def _drop_quotes(text: str) -> str:
    """Format JSON text for readers. A string loses its quotes, unless blanks are at its ends."""
    value = json.loads(text)
    return value if isinstance(value, str) and value.strip() == value != "" else text


def more_causes(causes: Sequence[CauseText]) -> str:
    """Return a line that counts the causes that a report does not list; empty if there are none."""
    values = sum(cause.values for cause in causes)
    counts_text = f"{number_of(len(causes), 'other cause')}, {number_of(values, 'value')}"
    return f"and {counts_text}" if causes else ""

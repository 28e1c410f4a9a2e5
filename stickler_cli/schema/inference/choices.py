"""Choose the comparator of a single value: by its annotations, kind, name or observed values."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal, TypeAlias

from stickler_cli.comparators.quantities import WITH_THREE_DECIMALS
from stickler_cli.core.json_values import JsonObject, JsonValue
from stickler_cli.core.locations import Path
from stickler_cli.schema.annotations import (
    DATE,
    DEFAULT_WEIGHT,
    NUMBER,
    PREFIX,
    TEXT,
    LeafDefault,
    Merged,
)
from stickler_cli.schema.combinators import InForce, elements_of, first, kinds_of, positions_of
from stickler_cli.schema.places import ArrayPlace, LeafPlace, PlaceFinder
from .name_rules import (
    ANY_TEXT,
    BY_LENGTH,
    CASED,
    CENT,
    CODE,
    FLOAT_NOISE,
    MONEY,
    MONEY_IN_CURRENCIES,
    MONEY_WITH_DECIMALS,
    NAMES_IN_CODE,
    NUMBER_READ,
    PROSE,
    QUANTITY,
    QUANTITY_WITH_DOTS,
    SIGN,
    TIME,
    WEB,
    NameRule,
    ends_in,
    names_a_call,
    rule_for,
)
from .observation import (
    ALIKE,
    DAY_FIRST,
    DOT_FOR_DECIMALS,
    DOT_FOR_THOUSANDS,
    MIXED_CASE,
    MONTH_FIRST,
    MOSTLY,
    READS,
    Observed,
    is_set,
    states_three_decimals,
)

ANNOTATED: Final = "as annotated"
WEB_FORMATS: Final = frozenset(("uri", "uri-reference", "iri", "iri-reference"))
NO_MORE: Final = "the usual comparison of texts, because the field name suggests no other"

Who: TypeAlias = Literal["annotation", "inferred", "default"]
"""Where the comparison of a field comes from. `default` means the usual comparison for values of
this kind."""


@dataclass(frozen=True, slots=True)
class Inferred:
    """How one field is compared, and why."""

    path: Path = ()
    """Property names that lead from the document to the field, such as `("line_items", "price")`.
    `*` stands for any key."""
    comparator: str = ""
    """Name of the comparator. It is empty for objects, because they are compared field by field. It
    is also empty for values of any type, because each value has the comparator of its type."""
    config: Mapping[str, object] = field(default_factory=dict)
    """Keyword arguments of the comparator; empty for the default configuration."""
    threshold: float | None = None
    """Similarity at which two values match, in [0, 1]. None if values of different types have
    different thresholds."""
    weight: float = DEFAULT_WEIGHT
    """Weight of the field in its object; above 0."""
    reason: str = ""
    """Why the comparator was chosen, as a phrase."""
    kind: str = ""
    """The JSON type of the field's values, such as `number`, `list of string`, `object` or `any`.
    """
    source: Who = "default"
    stated: tuple[str, ...] = ()
    """The names among `comparator`, `threshold` and `weight` that the schema's annotations set."""
    rules: tuple[str, ...] = ()
    """Short phrases for annotations that say how list items are paired or how values are read, such
    as `ordered` or `key sku`."""
    stands: tuple[str, ...] = field(default=(), repr=False, compare=False)
    """JSON Pointers to the subschemas that can have annotations of the field. If several of these
    subschemas have the same annotation, the first one wins. Subschemas in other files, to which
    the schema only refers, are omitted."""
    other_annotations: Mapping[str, JsonValue] = field(default_factory=dict, repr=False)
    """Annotations that no other attribute contains. They say how list items are paired, or from
    which score on two rows of a table match. Keys are written as in a schema, such as
    `x-aws-stickler-pairing`."""

    @property
    def compared_by(self) -> str:
        """The comparator with its arguments, such as `NumericComparator(tolerance=0.01)`."""
        return self.comparator + (f"({self.keywords})" if self.config else "")

    @property
    def keywords(self) -> str:
        """The keyword arguments of the comparator as text, such as `tolerance=0.01`."""
        return ", ".join(f"{name}={value!r}" for name, value in self.config.items())

    def annotations(self) -> JsonObject:
        """Return the annotations that a schema needs to compare the field in this way."""
        comparator = {f"{PREFIX}comparator": self.comparator} if self.comparator else {}
        config = {f"{PREFIX}comparator-config": dict(self.config)} if self.config else {}
        threshold = {} if self.threshold is None else {f"{PREFIX}threshold": self.threshold}
        return {**comparator, **config, **threshold, **self.other_annotations}  # type: ignore[dict-item] # keywords of comparators are JSON


def has_stated_comparison(merged: Merged) -> bool:
    """Return whether annotations say how values are compared. A weight alone does not say it."""
    return merged.chooses or merged.threshold is not None or merged.clip_under_threshold is not None


def choose_by_annotations(merged: Merged, default: LeafDefault | None = None) -> Inferred:
    """Return the comparison that annotations state.

    `default` is used for what they do not state.
    """
    if not has_stated_comparison(merged):
        return Inferred(reason="values of any type, each compared by its type")
    threshold, plain = merged.threshold, "" if default is None else default.comparator
    if default is not None and threshold is None:
        threshold = default.threshold
    names_comparator = merged.comparator is not None
    stated = {
        "comparator": names_comparator,
        "comparator-config": merged.chooses and not names_comparator,
        "threshold": merged.threshold is not None,
    }
    return Inferred(
        comparator=merged.comparator or plain,
        config=merged.config,
        threshold=threshold,
        reason=ANNOTATED,
        source="annotation",
        stated=tuple(name for name, is_stated in stated.items() if is_stated),
    )


def choose_leaf(
    name: str,
    place: LeafPlace,
    seen: Observed | None = None,
    currencies: frozenset[str] = frozenset(),
    *,
    is_called: bool = False,
) -> Inferred:
    """Return the comparison of a leaf.

    If annotations state a comparison, it is used. Otherwise, the comparison follows from the leaf's
    kind, name and observed values.

    `name` is the name of the leaf's field. `seen` has the observed values of the leaf. `currencies`
    are those that neighbouring fields state. `is_called` says that the leaf is inside the
    description of a tool or of a call, where a single word can be a name in code.
    """
    if has_stated_comparison(place.merged):
        return choose_by_annotations(place.merged, place.default)
    if seen is not None:
        is_called |= names_a_call(name)
        if in_code := _choose_names_in_code(name, seen, is_called=is_called):
            return in_code
    if seen is not None and seen.is_enum:  # an enum of observed values may lack some
        if code := _choose_code(seen, has_rule=True):
            return code
        return _make_choice(CODE, "only a few different values, each seen often")
    if place.members or place.default not in (NUMBER, TEXT) or place.format == "time":
        return _choose_by_format(place, seen)
    return _choose_leaf_by_name(name, place, seen, currencies)


def _choose_by_format(place: LeafPlace, seen: Observed | None) -> Inferred:
    """Return the comparison of a leaf that has listed values, a format or an uncommon kind."""
    by_kind = choose_by_kind(place)
    if place.members:
        return by_kind
    if place.format == "time":
        return _make_choice(TIME, by_kind.reason)
    if place.format in WEB_FORMATS:
        return _make_choice(WEB, by_kind.reason)
    return by_kind if seen is None else _adjust_dates(by_kind, seen)


def _choose_leaf_by_name(
    name: str, place: LeafPlace, seen: Observed | None, currencies: frozenset[str]
) -> Inferred:
    """Return the comparison of a field with numbers or plain texts.

    `name` is the name of the field, and `seen` has its observed values.
    """
    kind = "string" if place.kind == "string" else "number"
    can_read_values = place.format != "duration"  # no rule for names reads durations
    default, reason = None, choose_by_kind(place).reason
    rule = rule_for(name, kind) if can_read_values else None
    if rule is not None:
        name_rule, ending = rule
        default, reason = name_rule.default, _word_rule(name_rule, ending)
    if seen is not None and kind == "string" and can_read_values:
        default, reason = _choose_by_values(default, seen) or (default, reason)
    if default is None:
        default = ANY_TEXT if place.default is TEXT else NUMBER_READ
    is_read_by_name = rule is not None and default.comparator in READS
    if seen is not None and not is_read_by_name:
        code = _choose_code(seen, has_rule=rule is not None)
        if code is not None:
            return code
    if default is MONEY:
        default = _choose_money(seen, currencies)
    if default == QUANTITY and seen is not None and _has_dots_for_thousands(seen):
        default, reason = QUANTITY_WITH_DOTS, f"{reason}; a dot separates thousands"
    if default == CODE and seen is not None and seen.share(MIXED_CASE) >= MOSTLY:
        default = replace(default, config={**default.config, "case_sensitive": True})
        reason = f"{reason}; upper or lower case matters, as most values mix them"
    choice = _make_choice(_adjust_to_length(default, seen), reason)
    return choice if seen is None else _adjust_dates(choice, seen)


def _choose_code(seen: Observed, *, has_rule: bool) -> Inferred | None:
    """Return the comparison for texts such as code, markup or formulas, or None for other texts.

    If most texts have one form, such as SQL or LaTeX, the comparison for this form is returned.
    `has_rule` says whether there is a rule for the name of the field. If there is one, chemical
    formulas are not considered, because a code such as a product code can look like a formula.
    """
    from .code_forms import CHEMICAL_FORMULA, CODE_LANGUAGES  # compiles many patterns

    shares = {form: seen.share(form) for form in CODE_LANGUAGES}
    if has_rule:
        del shares[CHEMICAL_FORMULA]
    form = max(shares, key=shares.__getitem__)
    if shares[form] <= MOSTLY:
        return None
    default = LeafDefault("CodeComparator", 1.0, {"language": CODE_LANGUAGES[form]})
    return _make_choice(
        default, f"most texts are {form}: every character matters, except white space"
    )


def _choose_names_in_code(name: str, seen: Observed, *, is_called: bool) -> Inferred | None:
    """Return the comparison for a field whose texts are names in code, such as `get_weather`.

    Return None for any other field. The name of the field must end in a word such as `function` or
    `column`, and most of its texts must look like names in code. If `is_called` is true, a single
    word such as `lookup` looks like a name in code, too.
    """
    if not (ends_in(name, NAMES_IN_CODE) and seen.has_names_of_code(are_called=is_called)):
        return None
    return _make_choice(
        CASED,
        ("most texts are names in code: every character matters, and so does upper or lower case"),
    )


def _choose_money(seen: Observed | None, currencies: frozenset[str]) -> LeafDefault:
    """Return the comparison of amounts of money.

    The observed values can show whether a dot separates thousands or decimals. If the values show
    neither, `currencies` decides. A difference of a cent is usually tolerated. It is not tolerated
    if at least half of the amounts are below 1 or have fractions of a cent.
    """
    evidence = Counter[str]() if seen is None else seen.evidence
    default = MONEY
    if evidence[DOT_FOR_THOUSANDS] or evidence[DOT_FOR_DECIMALS]:
        default = MONEY if evidence[DOT_FOR_THOUSANDS] else MONEY_WITH_DECIMALS
    elif states_three_decimals(currencies):
        default = MONEY_WITH_DECIMALS
    elif not currencies.isdisjoint(WITH_THREE_DECIMALS):
        default = MONEY_IN_CURRENCIES
    if seen is None or not seen.has_fine_amounts:
        return default
    kept = {keyword: value for keyword, value in default.config.items() if keyword not in CENT}
    return replace(default, config={**FLOAT_NOISE, **kept})


def _has_dots_for_thousands(seen: Observed) -> bool:
    """Return whether the texts show that a dot separates thousands, and never decimals."""
    return seen.evidence[DOT_FOR_THOUSANDS] > 0 and not seen.evidence[DOT_FOR_DECIMALS]


def _adjust_dates(choice: Inferred, seen: Observed) -> Inferred:
    """Adjust a comparison of dates to the observed texts, and return it.

    If most texts contain a time, times are compared, too. If the texts show whether the day or the
    month comes first, dates are read in this order. A comparison of anything but dates is returned
    unchanged.
    """
    if choice.comparator != "DateComparator":
        return choice
    config = dict(choice.config)
    if seen.share("date with a time") >= MOSTLY:
        config["compare_time"] = True
    shows_day_first = seen.evidence[DAY_FIRST] > 0
    if shows_day_first is not (seen.evidence[MONTH_FIRST] > 0):
        config["dayfirst"] = shows_day_first
        order = "day" if shows_day_first else "month"
        return replace(choice, config=config, reason=f"{choice.reason}; the {order} comes first")
    return replace(choice, config=config)


def _choose_by_values(named: LeafDefault | None, seen: Observed) -> tuple[LeafDefault, str] | None:
    """Return (comparison, reason) as the observed texts suggest.

    `named` is the comparison that the field's name suggests, if any. Return None if there are no
    texts, or if the comparator of `named` can read most of them.
    """
    texts = seen.forms[""]
    form = READS.get(named.comparator) if named else None
    can_read = named is not None and (form is None or seen.share(form) >= MOSTLY)
    if not texts or can_read or named is SIGN:
        return None
    choice = next(_list_choices_by_form(seen), None)
    if form is None:
        return choice
    default, reason = choice or (ANY_TEXT, "texts like any other")
    return default, f"{seen.forms[form]} of {texts} texts read as a {form.split()[-1]}; {reason}"


def _adjust_to_length(default: LeafDefault, seen: Observed | None) -> LeafDefault:
    """Return the variant of a comparison for the length of most texts: short or long."""
    if seen is None or not seen.forms[""]:
        return default
    is_long = seen.share("short") < MOSTLY
    return next((defaults[is_long] for defaults in BY_LENGTH if default in defaults), default)


def _list_choices_by_form(seen: Observed) -> Iterator[tuple[LeafDefault, str]]:
    """Yield (comparison, reason) for each form that most texts have.

    The most specific form comes first.
    """
    if max(map(seen.share, ("email", "uri", "address of a host"))) >= ALIKE:
        yield WEB, "the texts are e-mail, host or web addresses: every character matters"
    if seen.share("time of day") >= ALIKE:
        yield TIME, "the texts are times of day"
    if min(seen.share("looks like a date"), seen.share("readable date")) >= ALIKE:
        yield DATE, "its texts are dates"
    numbers = seen.share("digits and signs") >= ALIKE and seen.share("number") >= ALIKE
    if numbers or seen.share("measurement") >= ALIKE:
        if seen.forms["leading zero"]:
            yield CODE, "the texts are numbers with leading zeros, as in identifiers"
        if seen.share("money") >= MOSTLY:
            yield MONEY, "the texts are amounts of money: rounding to a cent is not an error"
        yield (
            QUANTITY,
            ("the texts are numbers: numbers must be equal, but may be written differently"),
        )
    if seen.share("code") >= ALIKE:
        yield CODE, "the texts are codes: one wrong character makes a different code"
    if is_set(seen):
        yield CODE, "the texts are a few different values, each seen often"
    if seen.share("prose") >= MOSTLY:
        yield (
            PROSE,
            ("the texts are long: most words must be present, and phrases may be in any order"),
        )


def agree_on_text(choices: Sequence[Inferred], kinds: Sequence[str]) -> Sequence[Inferred]:
    """Make the comparisons of a union's alternatives consistent, and return them.

    `choices` has the comparison of each alternative, and `kinds` its kind. The comparisons change
    only if every alternative is a text or a number, and texts are compared as dates, numbers or
    times. In this case, all alternatives get the comparison of the texts.
    """
    of_text = dict(zip(kinds, choices, strict=True)).get("string")
    if of_text is None or not {*kinds} <= {"string", "number", "integer"}:
        return choices
    reads = of_text.comparator in READS
    return [of_text] * len(choices) if reads else choices


COMPARES_TYPES: Final = frozenset({"ExactComparator", "NumericComparator"})
"""Names of the comparators that have the option `same_type`. With this option, 5 does not match
"5"."""


def keep_types(choice: Inferred) -> Inferred:
    """Return a comparison in which numbers and booleans do not match texts: 5 is not "5".

    The comparison is returned unchanged if its comparator cannot test types.
    """
    if choice.comparator not in COMPARES_TYPES:
        return choice
    reason = f"{choice.reason}; an argument of a tool, so its type must also be right"
    return replace(choice, config={**choice.config, "same_type": True}, reason=reason)


def choose_by_kind(place: LeafPlace) -> Inferred:
    """Return the comparison of a leaf by its kind alone, as the compiler does by default."""
    default = place.default
    if place.members:  # the annotation need not repeat the members
        default = replace(default, config={})
        reason = "one of the values that the schema lists"
    elif place.kind == "boolean":
        reason = "true or false"
    elif default in (NUMBER, TEXT):
        reason = (
            "the usual comparison of numbers, because the field name suggests no other"
            if default is NUMBER
            else NO_MORE
        )
    else:
        reason = f"format {place.format}"
    return _make_choice(default, reason)


def choose_by_name(name: str, kind: str) -> Inferred | None:
    """Return the comparison that the name of a field suggests.

    Return None if there is no rule for the name, or if the rule does not apply to this kind of
    values.
    """
    rule_and_ending = rule_for(name, kind)
    if rule_and_ending is None:
        return None
    return _make_choice(rule_and_ending[0].default, _word_rule(*rule_and_ending))


def _word_rule(rule: NameRule, ending: str) -> str:
    return f'the name "{ending}" suggests {rule.meaning}'


def _make_choice(default: LeafDefault, reason: str) -> Inferred:
    return Inferred(
        path=(),
        comparator=default.comparator,
        config=default.config,
        threshold=default.threshold,
        reason=reason,
    )


def may_be_box(places: PlaceFinder, place: ArrayPlace, *, plural: bool) -> bool:
    """Return whether a schema allows arrays of four numbers, or of two pairs of numbers.

    `plural` says whether the field's name is in the plural. If it is, an array of two pairs counts
    only if the schema describes each of its two positions, for example with `prefixItems`.
    Otherwise the array is a list of points and not a box.
    """
    if _may_be_numbers(places, place.in_force, 4):
        return True
    if not _may_have(2, place.in_force, place.positions) or (plural and not place.positions):
        return False
    elements = place.positions or (place.elements,)
    return all(_may_be_numbers(places, places.flat(element), 2) for element in elements)


def _may_be_numbers(places: PlaceFinder, in_force: InForce, count: int) -> bool:
    if kinds_of(places.files, in_force) != ["array"]:
        return False
    positions = positions_of(places.files, in_force)
    elements = positions or (elements_of(places.files, in_force),)
    return _may_have(count, in_force, positions) and all(
        kinds_of(places.files, places.flat(element)) in (["number"], ["integer"])
        for element in elements
    )


def _may_have(count: int, in_force: InForce, positions: tuple[InForce, ...]) -> bool:
    if positions:
        return len(positions) == count
    min_items, max_items = first(in_force, "minItems"), first(in_force, "maxItems")
    needs_more = isinstance(min_items, int) and min_items > count
    return not needs_more and not (isinstance(max_items, int) and max_items < count)

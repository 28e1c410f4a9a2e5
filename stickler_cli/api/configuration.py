"""Models described by a configuration in JSON; docs/python.md lists its keys."""

import datetime as dt
import keyword
import re
import warnings
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Final, Generic, Optional, TypeVar, get_args, get_origin

from pydantic import create_model
from pydantic.errors import PydanticUserError

from stickler_cli.comparators.base import BaseComparator
from stickler_cli.comparators.keywords import KeywordError, UnknownKeywordError
from stickler_cli.comparators.registry import UnknownComparatorError, construct
from stickler_cli.compare.result import DEFAULT_MATCH_THRESHOLD
from stickler_cli.core.json_values import brief, kind_of
from stickler_cli.core.locations import Path, json_pointer
from stickler_cli.core.problems import Problem, did_you_mean
from stickler_cli.schema.annotations import ON_OBJECT, PREFIX, RULES
from .comparable import ComparableModel
from .fields import ComparableField, Rules

Model = TypeVar("Model", bound=ComparableModel)

DEFAULT_MODEL_NAME: Final = "DynamicModel"

# What a `type` names.
TYPES: Final[dict[str, Any]] = {
    "str": str,
    "int": int,
    "float": float,
    "bool": bool,
    "date": dt.date,
    "datetime": dt.datetime,
    "list": list[Any],
    "dict": dict[str, Any],
    "any": Any,
}

# What `List[...]` and the like make of the type inside.
GENERICS: Final[dict[str, Callable[[Any], Any]]] = {
    "list": lambda kind: list[kind],  # type: ignore[valid-type] # made at run time
    "optional": lambda kind: Optional[kind],  # noqa: UP045 - as above
    "dict": lambda kind: dict[str, kind],  # type: ignore[valid-type]
}

# What a `type` makes of the model that its `fields` describe.
NESTED: Final[dict[str, Callable[[Any], Any]]] = {
    "structured_model": lambda model: model,
    "list_structured_model": GENERICS["list"],
    "optional_structured_model": GENERICS["optional"],
}
KINDS: Final = (*TYPES, *NESTED)

# The keys of a model and of a field that are annotations, and their rules.
MODEL_RULES: Final = {name: RULES[name] for name in ON_OBJECT}
FIELD_RULES: Final = {
    **{name: rule for name, rule in RULES.items() if name not in ON_OBJECT},
    "item_threshold": RULES["threshold"],
}

# The JSON type of each key; None takes anything.
MODEL_KEYS: Final = {**{name: rule.type for name, rule in MODEL_RULES.items()}, "fields": "object"}
FIELD_KEYS: Final = {
    "type": "string",
    **{name: rule.type for name, rule in FIELD_RULES.items()},
    "default": None,
    "required": "boolean",
    "description": "string",
    "alias": "string",
    "examples": "array",
}

_GENERIC: Final = re.compile(r"(?P<outer>list|optional|dict)\[(?P<inner>.+)\]", re.IGNORECASE)


def type_named(text: str) -> Any:
    """Return the type that a `type` names, such as `List[str]`; ValueError if it names none."""
    generic = _GENERIC.fullmatch(text.strip())
    if generic is None:
        if text.strip().lower() not in TYPES:
            raise ValueError(text)
        return TYPES[text.strip().lower()]
    outer, inner = generic["outer"].lower(), generic["inner"]
    if outer == "dict":
        key, _, inner = inner.partition(",")
        if type_named(key) is not str:
            raise ValueError(text)
    return GENERICS[outer](type_named(inner))


class ConfigurationReader(Generic[Model]):
    """Makes classes of a configuration, subclasses of `base`, and keeps what is wrong in it."""

    def __init__(self, base: type[Model], *, allow_plugins: bool) -> None:
        self._base = base
        self._allow_plugins = allow_plugins
        self.problems: list[Problem] = []
        self.passed_over: list[Problem] = []
        """What is said in vain: keywords of another comparator than the named one."""

    def model(self, config: object, path: Path = (), name: str = DEFAULT_MODEL_NAME) -> type[Model]:
        """Make the class of one level; of what is wrong, a class without it."""
        keys = self._checked(config, path, MODEL_KEYS)
        if (config.get("fields") if isinstance(config, Mapping) else None) in (None, {}):
            self._note((*path, "fields"), "there are no fields", "an object of fields")
        definitions: dict[str, Any] = {
            str(field): self._field(str(field), entry, (*path, "fields", str(field)))
            for field, entry in keys.get("fields", {}).items()
        }
        title = keys.get("model_name", name)
        try:
            with warnings.catch_warnings():
                # A field may have the name of one of pydantic's old methods, such as `copy`.
                warnings.filterwarnings("ignore", "Field name", UserWarning)
                model = create_model(title, __base__=self._base, **definitions)
        except (PydanticUserError, NameError, TypeError, ValueError) as error:
            found = f"pydantic refuses the fields ({str(error).partition(chr(10))[0]})"
            hint = "give the field another name, and this name as its alias"
            self._note((*path, "fields"), found, "names that are free", hint)
            model = create_model(title, __base__=self._base)
        model.match_threshold = keys.get("match_threshold", DEFAULT_MATCH_THRESHOLD)
        given = keys.get("model_name", DEFAULT_MODEL_NAME)
        model._named = given != DEFAULT_MODEL_NAME  # noqa: SLF001 - the class is made here
        return model

    def _field(self, name: str, config: object, path: Path) -> tuple[Any, Any]:
        if not name.isidentifier() or keyword.iskeyword(name) or name.startswith("_"):
            hint = "give the field a name of letters, and this name as its alias"
            self._note(path, f"{name} is no name of a field", "a Python name", hint)
        if not isinstance(config, Mapping):
            self._note(path, f"it is {brief(config)}", "an object with a type")
            return Any, None
        if config.get("type") is None:
            expected = f"one of {', '.join(KINDS)}"
            self._note((*path, "type"), "there is no type", expected)
        nested = MODEL_KEYS if config.get("type") in list(NESTED) else {}
        keys = self._checked(config, path, {**FIELD_KEYS, **nested})
        annotation = self._of_items(self._type(keys, path, name), keys, path)
        required = keys.get("required") is True and "default" not in keys
        return annotation if required else Optional[annotation], ComparableField(  # noqa: UP045
            comparator=self._comparator(keys, path),
            threshold=keys.get("threshold"),
            default=... if required else keys.get("default"),
            weight=keys.get("weight", 1.0),
            aggregate=keys.get("aggregate"),
            clip_under_threshold=keys.get("clip_under_threshold", False),
            pairing_floor=keys.get("pairing_floor"),
            alias=keys.get("alias"),
            description=keys.get("description"),
            examples=keys.get("examples"),
        )

    def _type(self, keys: Mapping[str, Any], path: Path, name: str) -> Any:
        text = keys.get("type")
        if text is None:
            return Any
        if text in NESTED:
            inner = {key: value for key, value in keys.items() if key in MODEL_KEYS}
            return NESTED[text](self.model(inner, path, name.title().replace("_", "")))
        try:
            return type_named(text)
        except ValueError:
            expected = f"one of {', '.join(KINDS)}, or List[...], Optional[...], Dict[str, ...]"
            self._note((*path, "type"), f"it is {brief(text)}", expected, did_you_mean(text, KINDS))
            return Any

    def _of_items(self, annotation: Any, keys: Mapping[str, Any], path: Path) -> Any:
        """Return the type with what is said of the elements of a list."""
        is_list = get_origin(annotation) is list
        for key in ("item_threshold", "pairing_floor"):
            if key in keys and not is_list:
                self._note((*path, key), f"type is {brief(keys.get('type'))}", "the type of a list")
        if "item_threshold" not in keys or not is_list:
            return annotation
        (item,) = get_args(annotation)
        rules = Rules(None, {f"{PREFIX}threshold": keys["item_threshold"]})
        return list[Annotated[item, rules]]  # type: ignore[valid-type]

    def _comparator(self, keys: Mapping[str, Any], path: Path) -> BaseComparator | None:
        name, config = keys.get("comparator"), keys.get("comparator_config", {})
        if name is None:
            if config:
                found = "it is given without a comparator"
                self._note((*path, "comparator_config"), found, "a comparator beside it")
            return None
        if keys.get("type") in NESTED:
            found = f"comparator is {brief(name)} on a field that is compared field by field"
            self._note((*path, "comparator"), found, "no comparator")
            return None
        try:
            return self._constructed(name, config, path)
        except UnknownComparatorError as error:
            self._note((*path, "comparator"), error.found, error.expected, error.hint)
        except KeywordError as error:
            steps = () if error.keyword is None else (error.keyword,)
            place = (*path, "comparator_config", *steps)
            self._note(place, error.found, error.expected, error.hint)
        return None

    def _constructed(self, name: str, config: dict[str, Any], path: Path) -> BaseComparator:
        """Return a comparator; a keyword unlike any of its own is left over from another one."""
        try:
            return construct(name, config, allow_plugins=self._allow_plugins)
        except UnknownKeywordError as error:
            if error.hint:
                raise
            place = json_pointer((*path, "comparator_config", str(error.keyword)))
            hint = "it is passed over"
            self.passed_over.append(Problem("", error.found, error.expected, hint, place))
            rest = {key: value for key, value in config.items() if key != error.keyword}
            return self._constructed(name, rest, path)

    def _checked(
        self, config: object, path: Path, known: Mapping[str, str | None]
    ) -> dict[str, Any]:
        """Return the keys of an object that are known and right; note the others."""
        if not isinstance(config, Mapping):
            self._note(path, f"it is {brief(config)}", "an object")
            return {}
        checked = {}
        for key, value in config.items():
            place = (*path, key)
            rule = FIELD_RULES.get(key) or MODEL_RULES.get(key)
            kind = kind_of(value)
            kinds = {None, kind, "number" if kind == "integer" else kind}
            if key not in known:
                expected = f"one of {', '.join(known)}"
                self._note(place, f"there is no key {key}", expected, did_you_mean(key, known))
            elif value is None and key != "default":
                continue  # as it is exported: nothing is said
            elif known[key] not in kinds:
                article = "an" if str(known[key])[0] in "ao" else "a"
                self._note(place, f"it is {brief(value)}", f"{article} {known[key]}")
            elif rule and not rule.accepts(value):
                self._note(place, f"it is {value!r}", rule.expected)
            else:
                checked[key] = float(value) if known[key] == "number" else value
        return checked

    def _note(self, path: Path, found: str, expected: str, hint: str = "") -> None:
        self.problems.append(Problem("", found, expected, hint, json_pointer(path)))

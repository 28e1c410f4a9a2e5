"""Make model classes from a JSON configuration, and write the configuration of a class.

docs/python.md lists the keys of a configuration.
"""

import datetime as dt
import keyword
import re
import warnings
from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from typing import Annotated, Any, Final, Generic, Optional, TypeVar, get_args, get_origin

from pydantic import BaseModel, create_model
from pydantic.errors import PydanticUserError
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined, to_jsonable_python

from stickler_cli.comparators.base import BaseComparator, KeywordError, UnknownKeywordError
from stickler_cli.comparators.comparator_registry import (
    UnknownComparatorError,
    construct,
    location_of,
)
from stickler_cli.compare.leaf import LeafNode
from stickler_cli.compare.list import ListNode
from stickler_cli.compare.object import ObjectNode
from stickler_cli.compare.object_fields import Field
from stickler_cli.compare.one_of import follow_references
from stickler_cli.compare.open import OpenNode
from stickler_cli.compare.plan import Node, Plan
from stickler_cli.compare.result import DEFAULT_MATCH_THRESHOLD
from stickler_cli.core.json_values import ReadingRule, brief
from stickler_cli.core.locations import Path, json_pointer
from stickler_cli.core.problems import Problem, SchemaError, did_you_mean
from stickler_cli.core.rules import Rule
from stickler_cli.schema.annotations import ON_LIST, ON_OBJECT, PREFIX, RULES
from .fields import ComparableField, ComparableModel, Rules, without_none

Model = TypeVar("Model", bound=ComparableModel)

DEFAULT_MODEL_NAME: Final = "DynamicModel"

# Python types by the text of `type`.
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

# Generic types by the outer name in `type`, such as List.
GENERICS: Final[dict[str, Callable[[Any], Any]]] = {
    "list": lambda kind: list[kind],  # type: ignore[valid-type] # made at run time
    "optional": lambda kind: Optional[kind],  # noqa: UP045 - as above
    "dict": lambda kind: dict[str, kind],  # type: ignore[valid-type]
}

# Types of nested models by the text of `type`.
NESTED: Final[dict[str, Callable[[Any], Any]]] = {
    "structured_model": lambda model: model,
    "list_structured_model": GENERICS["list"],
    "optional_structured_model": GENERICS["optional"],
}
KINDS: Final = (*TYPES, *NESTED)

_TEXT: Final = Rule("a string", {"type": "string"})

# Valid keys of a model and of a field.
MODEL_KEYS: Final[dict[str, Rule]] = {
    **{name: RULES[name] for name in ON_OBJECT},
    "fields": Rule("an object", {"type": "object"}),
}
FIELD_KEYS: Final[dict[str, Rule]] = {
    "type": _TEXT,
    **{name: rule for name, rule in RULES.items() if name not in ON_OBJECT},
    "item_threshold": RULES["threshold"],
    "default": Rule("any value"),
    "required": Rule("true or false", {"type": "boolean"}),
    "description": _TEXT,
    "alias": _TEXT,
    "examples": Rule("an array", {"type": "array"}),
}

_OF_PYDANTIC: Final = ("alias", "description", "examples")
_KEYWORDS: Final = (
    *("weight", "aggregate", "clip_under_threshold", *ON_LIST, "key"),
    *("aliases", "absent_values", "ignore", "any_of", "pairs_items", *_OF_PYDANTIC),
)

_GENERIC: Final = re.compile(r"(?P<outer>list|optional|dict)\[(?P<inner>.+)\]", re.IGNORECASE)


def type_named(text: str) -> Any:
    """Return the Python type for a text such as `List[str]`; raise ValueError if there is none."""
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
    """Makes model classes from a configuration, and collects its problems.

    The classes are derived from `base`.
    """

    def __init__(self, base: type[Model], *, allow_plugins: bool) -> None:
        self._base = base
        self._allow_plugins = allow_plugins
        self.problems: list[Problem] = []
        self.passed_over: list[Problem] = []
        """Problems of ignored keys in `comparator_config`. Such a key is not the name of an
        argument of the comparator, and it is not a likely misspelling of one."""

    def model(self, config: object, path: Path = (), name: str = DEFAULT_MODEL_NAME) -> type[Model]:
        """Return the model class that a configuration describes.

        Invalid keys are left out of the class and recorded as problems.
        """
        keys = self._checked(config, path, MODEL_KEYS)
        if (config.get("fields") if isinstance(config, Mapping) else None) in (None, {}):
            self._note(
                (*path, "fields"), "no fields are given", "an object with a key for each field"
            )
        definitions: dict[str, Any] = {
            str(field): self._field(str(field), entry, (*path, "fields", str(field)))
            for field, entry in keys.get("fields", {}).items()
        }
        definitions = {
            field: definition
            for field, definition in definitions.items()
            if _can_name_a_field(field)
        }
        title = keys.get("model_name", name)
        model = self._make_class(title, definitions)
        if isinstance(model, Exception):
            self._note_refused_fields(title, definitions, path, model)
            model = create_model(title, __base__=self._base)
        model.match_threshold = keys.get("match_threshold", DEFAULT_MATCH_THRESHOLD)
        stated_name = keys.get("model_name", DEFAULT_MODEL_NAME)
        model._named = stated_name != DEFAULT_MODEL_NAME  # noqa: SLF001 - the class is made here
        return model

    def _make_class(self, title: str, definitions: Mapping[str, Any]) -> type[Model] | Exception:
        """Return a class with the given fields; the error of pydantic if it refuses them."""
        try:
            with warnings.catch_warnings():
                # A field may have the name of an old method of pydantic, such as `copy`.
                warnings.filterwarnings("ignore", "Field name", UserWarning)
                return create_model(title, __base__=self._base, **definitions)
        except (PydanticUserError, NameError, TypeError, ValueError) as error:
            return error

    def _note_refused_fields(
        self, title: str, definitions: Mapping[str, Any], path: Path, error: Exception
    ) -> None:
        """Record a problem for each field that pydantic refuses.

        If it accepts each field alone, record one problem for all fields, with the given error.
        """
        classes = {
            name: self._make_class(title, {name: definition})
            for name, definition in definitions.items()
        }
        refusals = {name: made for name, made in classes.items() if isinstance(made, Exception)}
        for name, refusal in (refusals or {"": error}).items():
            field = f"a field with the name {brief(name)}" if name else "these fields together"
            finding = f"pydantic does not accept {field} ({str(refusal).partition(chr(10))[0]})"
            place = (*path, "fields", name) if name else (*path, "fields")
            hint = f'rename the field, and add "alias": {brief(name) if name else "OLD NAME"} to it'
            self._note(place, finding, "a name that pydantic does not use itself", hint)

    def _field(self, name: str, config: object, path: Path) -> tuple[Any, Any]:
        """Return the type and the pydantic field for the configuration of a field."""
        if not _can_name_a_field(name):
            hint = f'rename the field, and add "alias": {brief(name)} to it'
            expected = "a Python name (not a keyword) that does not begin with _"
            self._note(path, f"{brief(name)} cannot be the name of a field", expected, hint)
        if not isinstance(config, Mapping):
            self._note(path, f"the value is {brief(config)}", "an object with a type")
            return Any, None
        if config.get("type") is None:
            expected = f"one of {', '.join(KINDS)}"
            self._note((*path, "type"), "type is missing", expected)
        nested = MODEL_KEYS if config.get("type") in list(NESTED) else {}
        keys = self._checked(config, path, {**FIELD_KEYS, **nested})
        annotation = self._of_items(self._type(keys, path, name), keys, path)
        required = keys.get("required") is True and "default" not in keys
        return annotation if required else Optional[annotation], ComparableField(  # noqa: UP045
            comparator=self._comparator(keys, path),
            threshold=keys.get("threshold"),
            default=... if required else keys.get("default"),
            **{key: value for key, value in keys.items() if key in _KEYWORDS},
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
            expected = (
                f"one of {', '.join(KINDS)}, or a type such as List[...], Optional[...] or "
                "Dict[str, ...]"
            )
            hint = did_you_mean(text, KINDS)
            self._note((*path, "type"), f"the value is {brief(text)}", expected, hint)
            return Any

    def _of_items(self, annotation: Any, keys: Mapping[str, Any], path: Path) -> Any:
        """Return the type of a field. The element type of a list gets the `item_threshold`.

        Record a problem if the field is not a list but has keys that only lists can have.
        """
        is_list = get_origin(annotation) is list
        for key in ("item_threshold", "key", *ON_LIST):
            if key in keys and not is_list:
                finding = f"{key} is given, but the field has the type {brief(keys.get('type'))}"
                self._note((*path, key), finding, "a list type, such as List[str]")
        if "item_threshold" not in keys or not is_list:
            return annotation
        (item,) = get_args(annotation)
        rules = Rules(None, {f"{PREFIX}threshold": keys["item_threshold"]})
        return list[Annotated[item, rules]]  # type: ignore[valid-type]

    def _comparator(self, keys: Mapping[str, Any], path: Path) -> BaseComparator | None:
        """Return the comparator that is named in the configuration of a field.

        Return None if no comparator is named. If a comparator is named but invalid, record a
        problem and return None.
        """
        name, config = keys.get("comparator"), keys.get("comparator_config", {})
        if name is None:
            if config:
                finding = "comparator_config is given without a comparator"
                self._note((*path, "comparator_config"), finding, "a comparator as well")
            return None
        if keys.get("type") in NESTED:
            finding = f"comparator is {brief(name)}, but objects are compared field by field"
            self._note((*path, "comparator"), finding, "no comparator")
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
        """Create the comparator called `name`. Its arguments are the keys and values of `config`.

        A key that is not an argument of the comparator is ignored and recorded as a problem.

        Raises:
            UnknownKeywordError: a key is probably a misspelling of an argument.
            UnknownComparatorError: there is no such comparator.
        """
        try:
            return construct(name, config, allow_plugins=self._allow_plugins)
        except UnknownKeywordError as error:
            if error.hint:
                raise
            place = json_pointer((*path, "comparator_config", str(error.keyword)))
            hint = "the keyword has no effect"
            self.passed_over.append(
                Problem(
                    source="", found=error.found, expected=error.expected, hint=hint, pointer=place
                )
            )
            remaining_config = {key: value for key, value in config.items() if key != error.keyword}
            return self._constructed(name, remaining_config, path)

    def _checked(self, config: object, path: Path, rules: Mapping[str, Rule]) -> dict[str, Any]:
        """Return `config` without its invalid keys and values.

        `rules` maps each valid key to the rule for its value. Record a problem for each unknown key
        and for each value that its rule does not accept. If `config` is not an object, record a
        problem, and return an empty dict.

        A key whose value is null is left out without a problem. The key `default` is an exception:
        it may have any value, and null is kept.
        """
        if not isinstance(config, Mapping):
            self._note(path, f"the value is {brief(config)}", "an object")
            return {}
        checked = {}
        for key, value in config.items():
            place, rule = (*path, key), rules.get(key)
            if rule is None:
                expected = f"one of {', '.join(rules)}"
                self._note(place, f"unknown key {brief(key)}", expected, did_you_mean(key, rules))
            elif key != "default" and value is None:
                continue  # exported configurations write null for an absent key
            elif key != "default" and not rule.accepts(value):
                self._note(place, f"the value is {brief(value)}", rule.expected)
            else:
                is_number = rule.keywords.get("type") == "number"
                checked[key] = float(value) if is_number else value
        return checked

    def _note(self, path: Path, found: str, expected: str, hint: str = "") -> None:
        self.problems.append(
            Problem(
                source="", found=found, expected=expected, hint=hint, pointer=json_pointer(path)
            )
        )


BY_JSON_TYPE: Final = {"boolean": "bool", "integer": "int", "number": "float", "string": "str"}


def configuration_of(
    model: type[ComparableModel], plan: Plan, read: Callable[[dict[str, Any]], Plan]
) -> dict[str, Any]:
    """Return the configuration of a model class.

    `read` compiles a configuration. It is called to check that the written configuration compares
    documents in the same way as the class.

    Raises:
        SchemaError: a configuration cannot express the class.
    """
    schema = None if model._part_of else model._source_schema  # noqa: SLF001 - made here
    writer = _Writer(model.__name__, schema or {})
    typed = model if schema is None else schema
    config = {"model_name": plan.model_name, **writer.model(plan.root, typed, ())}
    if not writer.problems:
        again = read(config).root
        if model._part_of and isinstance(plan.root, ObjectNode) and isinstance(again, ObjectNode):  # noqa: SLF001
            # The class of a nested model has a name even if the nested schema has none.
            again = replace(again, model_name=plan.root.model_name)
        writer.compare(plan.root, again)
    if writer.problems:
        raise SchemaError(writer.problems)
    return config


class _Writer:
    """Writes a plan as a configuration. The types of fields come from a model class or a schema."""

    def __init__(self, source: str, schema: Mapping[str, Any]) -> None:
        self._source = source
        self._schema = schema
        self._above: list[Node] = []
        self.problems: list[Problem] = []

    def model(self, node: Node, typed: Any, path: Path) -> dict[str, Any]:
        """Return the configuration of an object.

        Record a problem if the object is a map, or anything else that a configuration cannot
        describe.
        """
        if not isinstance(node, ObjectNode) or node.families:
            self._note(
                path,
                "this schema allows documents with different sets of fields, or documents that "
                "are not objects",
            )
            return {}
        named = {"model_name": node.model_name} if node.model_name else {}
        self._above.append(node)
        fields = {
            entry.name: self._field(entry, typed, (*path, "fields", entry.name))
            for entry in (*node.fields, *node.ignored)
        }
        self._above.pop()
        return {**named, "match_threshold": node.match_threshold, "fields": fields}

    def _field(self, entry: Field, parent: Any, path: Path) -> dict[str, Any]:
        """Return the configuration of a field.

        `parent` is the model class or schema that has the field.
        """
        if not entry.name.isidentifier() or keyword.iskeyword(entry.name):
            self._note(path, f"{entry.name} is not a Python name")
        field_info: FieldInfo | None = None
        if isinstance(parent, type) and issubclass(parent, BaseModel):
            field_info = parent.model_fields.get(entry.name)
        typed = (
            field_info.annotation
            if field_info
            else self._subschema_at(parent, "properties", entry.name)
        )
        config = self._node(entry.node, typed, path)
        if field_info and field_info.is_required():
            config["required"] = True
        elif field_info and field_info.default not in (None, PydanticUndefined):
            config["default"] = to_jsonable_python(field_info.default, fallback=str)
        pydantic_settings = {key: getattr(field_info, key, None) for key in _OF_PYDANTIC}
        config |= {key: value for key, value in pydantic_settings.items() if value is not None}
        if entry.aggregate is not None:
            config["aggregate"] = entry.aggregate
        return config | {"ignore": True} if entry.ignored else config

    def _node(self, node: Node, typed: Any, path: Path) -> dict[str, Any]:
        """Return the part of a configuration that describes a node."""
        node, typed = follow_references(node), without_none(typed)
        config: dict[str, Any] = {"threshold": node.threshold, "weight": node.weight, **_clip(node)}
        match node:
            case _ if any(node is outer for outer in self._above):
                self._note(path, "the field refers back to an object that contains this field")
            case LeafNode():
                config = {"type": _text_of(typed, node), **_judged_by(node), **config}
            case ObjectNode(families=()):
                config = {"type": "structured_model", **config, **self.model(node, typed, path)}
            case ListNode():
                config = self._list(node, typed, path)
            case OpenNode():
                # State the comparator if it is the same for all types.
                leaves = list(node.leaves.values())
                del config["threshold"]
                if node.list_threshold is not None:
                    config["threshold"] = node.list_threshold
                alike = all(leaf.comparator == leaves[0].comparator for leaf in leaves)
                config = {"type": "any", **(_comparator(leaves[0]) if alike else {}), **config}
            case ObjectNode(families=(*_, Field(key_pattern=None, node=value))):
                value_type = _text_of(None, value) if isinstance(value, LeafNode) else None
                config["type"] = f"Dict[str, {value_type}]" if value_type else "dict"
            case _:
                self._note(path, "the field is a union, a tuple or a map")
        return config

    def _list(self, node: ListNode, typed: Any, path: Path) -> dict[str, Any]:
        """Return the configuration of a list.

        Record a problem if a configuration cannot describe the list.
        """
        items = follow_references(node.items)
        typed = without_none(
            next(iter(get_args(typed)), None) or self._subschema_at(typed, "items")
        )
        config: dict[str, Any] = {"weight": node.weight}
        if node.threshold_stated:
            config["threshold"] = node.threshold
        defaults = {node_field.name: node_field.default for node_field in fields(ListNode)}
        names = [name for name in ("key", *ON_LIST) if name in defaults]
        settings = {name: getattr(node, name) for name in names}
        config |= {name: value for name, value in settings.items() if value != defaults[name]}
        match items:
            case LeafNode():
                if not node.threshold_stated:
                    config["item_threshold"] = items.threshold
                text = f"List[{_text_of(typed, items)}]"
                return {"type": text, **config, **_judged_by(items), **_clip(items)}
            case ObjectNode(families=()) if not any(items is outer for outer in self._above):
                model_config = self.model(items, typed, path)
                return {"type": "list_structured_model", **config, **model_config}
            case OpenNode():
                return {"type": "list", **config}
            case _:
                self._note(
                    path,
                    (
                        "the list elements are lists, unions, maps, or an object that "
                        "contains the list"
                    ),
                )
                return {}

    def compare(self, node: Node, again: Node) -> None:
        """Record a problem for each field that two plans compare differently.

        `node` is the plan of the original class. `again` is the plan made from the written
        configuration.
        """
        first, second = _unfolded(node), _unfolded(again)
        if first == second or not (
            isinstance(first, ObjectNode) and isinstance(second, ObjectNode)
        ):
            return
        read = {entry.name: entry for entry in second.fields}
        for entry in first.fields:
            if entry != read.get(entry.name):
                self._note(("fields", entry.name), "it has other annotations")
        if not self.problems:
            self._note(
                (),
                (
                    "the documents would be compared differently after reading the configuration "
                    "back"
                ),
            )

    def _subschema_at(self, schema: object, *steps: str) -> object:
        """Return `schema[step1][step2]` and so on for all `steps`; None if a step does not exist.

        If the result would be a reference to a definition, such as `{"$ref": "#/$defs/Item"}`,
        return the definition.
        """
        for step in steps:
            schema = schema.get(step) if isinstance(schema, Mapping) else None
        reference = schema.get("$ref") if isinstance(schema, Mapping) else None
        if isinstance(reference, str) and reference.startswith("#/$defs/"):
            return self._schema["$defs"].get(reference.removeprefix("#/$defs/"))
        return schema

    def _note(self, path: Path, found: str) -> None:
        hint = "to_stickler_config() cannot describe this; call to_json_schema() instead"
        self.problems.append(
            Problem(
                source=self._source,
                found=found,
                expected="",
                hint=hint,
                pointer=json_pointer(path),
            )
        )


def _unfolded(node: Node) -> Node:
    """Return a copy of a node in which references are replaced by the nodes that they refer to.

    References inside maps and unions are not replaced. The node must not refer to itself, because
    copying would then never end.
    """
    match follow_references(node):
        case ObjectNode(families=()) as node:
            fields = tuple(replace(entry, node=_unfolded(entry.node)) for entry in node.fields)
            return replace(node, fields=fields)
        case ListNode() as node:
            return replace(node, items=_unfolded(node.items))
        case other:
            return other


def _comparator(node: LeafNode) -> dict[str, Any]:
    config = node.comparator.config
    named = {"comparator": location_of(node.comparator)}
    return {**named, "comparator_config": config} if config else named


def _can_name_a_field(name: str) -> bool:
    """Return whether pydantic accepts the name of a field, unless pydantic uses the name itself."""
    return name.isidentifier() and not keyword.iskeyword(name) and not name.startswith("_")


def _clip(node: Node) -> dict[str, Any]:
    return {"clip_under_threshold": True} if node.clip else {}


def _text_of(typed: Any, node: LeafNode) -> str:
    """Return the value of the key `type` in the configuration of a leaf, such as `str`.

    `typed` is the declared type of the leaf: a Python type, or a JSON Schema. If a configuration
    cannot name the declared type, return `list`, `float` or `str`, whichever fits the comparator.
    """
    if isinstance(typed, Mapping):
        kind = typed.get("type")
        text = BY_JSON_TYPE.get(kind) if isinstance(kind, str) else None
    else:
        named = (text for text, kind in TYPES.items() if typed == kind and kind is not Any)
        text = next(named, None)
    if text is None and "array" in node.comparator.takes:
        return "list"
    return text or ("float" if node.comparator.name == "NumericComparator" else "str")


def _judged_by(node: LeafNode) -> dict[str, Any]:
    """Return the configuration keys for comparator, aliases and absent values of a leaf."""
    reading = node.reading or ReadingRule()
    readings = {"aliases": reading.aliases, "absent_values": reading.absent}
    return {**_comparator(node), **{name: value for name, value in readings.items() if value}}

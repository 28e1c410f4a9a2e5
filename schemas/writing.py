"""Generate the JSON Schemas of the files that `stickler` writes, from the Python types of records.

`python -m schemas.writing schemas` writes the schemas to the directory `schemas`.
"""

import ast
import inspect
import json
import sys
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import cache, partial
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from types import GenericAlias, NoneType
from typing import Any, Final, NotRequired, get_args

from pydantic import ConfigDict, GetCoreSchemaHandler, TypeAdapter
from pydantic.json_schema import GenerateJsonSchema
from typing_extensions import TypedDict, get_type_hints

from schemas import described
from stickler_cli.core.option import Choice, options_of
from stickler_cli.core.rules import KEPT
from stickler_cli.records import run_format
from stickler_cli.records.account_format import AccountRecord, VerdictRecord
from stickler_cli.score.confidence.calibration import Bin, Selective
from stickler_cli.score.errors.error_rows import RECORD_KEYS, Error
from stickler_cli.score.folds import Validity, WhollyRight
from stickler_cli.score.intervals import IntervalSettings
from stickler_cli.score.policy import AcceptancePolicy
from stickler_cli.settings.deciding import ComparisonOptions, DecidingOptions, RunOptions
from stickler_cli.studies.diff.record import CauseChange, Difference, TrendSettings
from stickler_cli.studies.registry import STUDIES
from stickler_cli.studies.study import Study


def _record_of(study: Study) -> Any:
    module, _, name = study.record.partition(":")
    return getattr(import_module(f"stickler_cli.{module}"), name)


def _format_of(record: Any) -> str:
    """Return the name of a record's format without its number, such as `stickler-diff`."""
    (name,) = get_args(get_type_hints(record)["format"])
    return str(name).partition("/")[0]


FORMATS: Final[Mapping[str, Any]] = {
    "stickler-run": (run_format.RunRecord, RunOptions),
    "stickler-comparison": (described.ComparisonRecord, ComparisonOptions),
    "stickler-verdict": (VerdictRecord, None),
    **{_format_of(kind): (kind, None) for kind in map(_record_of, STUDIES.values())},
    "stickler-policy": (AcceptancePolicy, DecidingOptions),
}
"""Maps the name of each schema to the type of its record and the type of the options in the record.
The type of options is None if the record has no options of its own."""

_DECLARING: Final = (
    *(f"stickler_cli.{room}." for room in ("compare", "score", "diff", "studies", "records")),
    "schemas.described",
)
"""Beginnings of the names of the modules that declare types of records."""

_TOGETHER: Final[Mapping[str, Mapping[str, Any]]] = {
    "RunRecord": {
        "field_scores": ["all_fields_matched", "non_matches"],
        "all_fields_matched": ["field_scores", "non_matches"],
        "non_matches": ["field_scores", "all_fields_matched"],
        "errors": ["field_scores", "all_fields_matched", "non_matches"],
    },
    "NodeRecord": {
        "threshold_applied_score": ["weight", "documents", "score_sums"],
        "score_sums": ["threshold_applied_score"],
    },
    "PlaceRecord": {
        "ground_truth_value": ["prediction_value"],
        "prediction_value": ["ground_truth_value"],
        "threshold": ["threshold_source"],
        "pairing_floor": ["pairing_floor_source"],
    },
}
"""For each type, maps a key to the keys that an object must also have if it has this key."""

_NOT_EMPTY: Final = (
    "SparseCountsRecord",
    "FieldAccountRecord",
    "NodeIntervalsRecord",
)
"""Types of objects that have at least one key."""
_NOT_EMPTY_KEYS: Final = (("by", "object", "minProperties"), ("places", "array", "minItems"))
"""Keys of a whole record whose value is never empty, as (key, type of the value, keyword)."""

_TUPLES: Final[Mapping[Any, tuple[Mapping[str, str], int]]] = {
    Bin: ({}, 5),
    Selective: ({}, 2),
    Error: (RECORD_KEYS, 7),
}
"""Named tuples that files contain as objects, as a dict from type to (new names, n_required). `new
names` is a dict from an attribute to its key in files, if the two differ. The first `n_required`
keys are in every object."""

_WITH_MORE: Final = (
    *(run_format.DocumentsRecord, run_format.CountsRecord, run_format.NodeRecord, AccountRecord),
    *(run_format.ClassesRecord, run_format.ErrorClassesRecord, run_format.CauseRecord),
    *(run_format.ResultsRecord, run_format.EvaluationRecord, run_format.RunRecord),
    *(IntervalSettings, WhollyRight, Validity, TrendSettings, Difference, CauseChange),
)
"""Types whose keys in files differ from their attributes. Further keys are in a class with the same
name in `described`. An attribute with the metadata `KEPT: False` is not a key."""


@cache
def _as_objects() -> None:
    """Make pydantic treat types in `_WITH_MORE` and `_TUPLES` as objects with the keys in files."""
    for kind in _WITH_MORE:
        hints = get_type_hints(kind, include_extras=True)
        if is_dataclass(kind):
            kept = [field.name for field in fields(kind) if field.metadata.get(KEPT, True)]
            hints = {name: hints[name] for name in kept}
        more = getattr(described, kind.__name__, object)
        _set_record_keys(
            kind, hints if more is None else hints | get_type_hints(more, include_extras=True)
        )
    for kind, (keys, n_required) in _TUPLES.items():  # files leave out the other entries if empty
        hints = {}
        for position, (name, hint) in enumerate(get_type_hints(kind, include_extras=True).items()):
            value_type = get_args(hint)[0] if NoneType in get_args(hint) else hint
            is_required = position < n_required or name == "reason"
            hints[keys.get(name, name)] = value_type if is_required else NotRequired[value_type]
        _set_record_keys(kind, hints)


def _set_record_keys(kind: Any, hints: Mapping[str, Any]) -> None:
    """Make pydantic treat a type as an object; `hints` maps its keys to the types of the values."""
    record = TypedDict(kind.__name__, hints)  # type: ignore[misc]
    record.__doc__ = kind.__doc__
    kind.__get_pydantic_core_schema__ = partial(_schema_of_record, record)


def _schema_of_record(record: Any, _source: Any, handler: GetCoreSchemaHandler) -> Any:
    return handler.generate_schema(record)


class _Generator(GenerateJsonSchema):
    """Generates schemas without titles."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


def schema_of(name: str) -> dict[str, Any]:
    """Return the JSON Schema of a format, given the name of the schema, such as `stickler-run`."""
    kind, options = FORMATS[name]
    _as_objects()
    config = ConfigDict(extra="forbid", alias_generator=lambda key: key.removesuffix("_"))
    # Pydantic applies a configuration to the items of a list, but not to a type that has keys.
    list_of_kind: Any = GenericAlias(list, (kind,))
    generated = TypeAdapter(list_of_kind, config=config).json_schema(schema_generator=_Generator)
    definitions = generated.get("$defs", {})
    schema = definitions.pop(kind.__name__, generated["items"])
    docstrings = _docstrings()
    for title, definition in {**definitions, kind.__name__: schema}.items():
        definition.pop("title", None)
        definition["description"] = _one_line(definition["description"])
        for key, inner in definition.get("properties", {}).items():
            kind_name = inner.get("$ref", "").rpartition("/")[2]
            if kind_name:
                inner["description"] = _one_line(definitions[kind_name]["description"])
            if key in docstrings[title]:
                inner["description"] = docstrings[title][key]
        if title in _TOGETHER:
            definition["dependentRequired"] = _TOGETHER[title]
        if title in _NOT_EMPTY:
            definition["minProperties"] = 1
    for key, kind_name, keyword in _NOT_EMPTY_KEYS:
        if schema["properties"].get(key, {}).get("type") == kind_name:
            schema["properties"][key][keyword] = 1
    if options is not None:
        description = schema["properties"]["options"]["description"]
        schema["properties"]["options"] = {"description": description, **_options_schema(options)}
    short = name.removeprefix("stickler-")
    format_name = schema["properties"]["format"]["const"]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:stickler-cli:schema:{short}",
        "title": format_name,
        **schema,
        "$defs": definitions,
    }


@cache
def _docstrings() -> dict[str, dict[str, str]]:
    """Return the docstrings of all keys, as `docstrings[name of the type][key]`.

    A type also has the keys that it inherits. Types with the same name count as one type with the
    keys of both: a type of the package, and the further keys in `described`.

    Raises:
        ValueError: two types with the same name describe the same key differently.
    """
    declared: dict[str, dict[str, str]] = {}
    bases: dict[str, set[str]] = {}
    for module in sorted(name for name in sys.modules if name.startswith(_DECLARING)):
        for node in ast.parse(inspect.getsource(sys.modules[module])).body:
            if isinstance(node, ast.ClassDef):
                bases.setdefault(node.name, set()).update(map(ast.unparse, node.bases))
                docstrings = declared.setdefault(node.name, {})
                for key, text in _docstrings_of(node).items():
                    if docstrings.setdefault(key, text) != text:
                        raise ValueError(f"{node.name}.{key} has two descriptions")

    def with_inherited(name: str) -> dict[str, str]:
        inherited: dict[str, str] = {}
        for base in sorted(bases[name] & declared.keys()):
            inherited |= with_inherited(base)
        return inherited | declared[name]

    return {name: with_inherited(name) for name in declared}


def _docstrings_of(declaration: ast.ClassDef) -> dict[str, str]:
    """Return a dict from each key to its docstring, without inherited keys."""
    keys_of_files = RECORD_KEYS if declaration.name == "Error" else {}
    docstrings = {}
    for attribute, docstring in pairwise(declaration.body):
        if isinstance(attribute, ast.AnnAssign) and isinstance(docstring, ast.Expr):
            name = ast.unparse(attribute.target).removesuffix("_")
            key = keys_of_files.get(name, name)
            docstrings[key] = _one_line(ast.literal_eval(docstring.value))
    return docstrings


def _one_line(text: str) -> str:
    return " ".join(text.split())


_TEXT: Final = {"type": "string"}
_OPTION_TYPES: Final[Mapping[Any, Mapping[str, Any]]] = {
    float: {"type": "number"},
    bool: {"type": "boolean"},
    tuple[str, ...]: {"type": "array", "items": _TEXT},
}
"""Maps the Python type of an option to the JSON Schema of its values. Options of other types are
strings in files."""


def _options_schema(settings: Any) -> dict[str, Any]:
    hints = get_type_hints(settings)
    properties: dict[str, dict[str, Any]] = {}
    for name, option in options_of(settings).items():
        properties[name] = {"description": option.help, **_OPTION_TYPES.get(hints[name], _TEXT)}
        if isinstance(option.values, Choice):
            properties[name]["enum"] = list(option.values.words)
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def main(folder: str) -> None:
    """Write each schema to a file in `folder`, such as `stickler-run.json`."""
    for name in FORMATS:
        text = json.dumps(schema_of(name), indent=2, ensure_ascii=False)
        (Path(folder) / f"{name}.json").write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])

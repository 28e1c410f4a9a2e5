"""The keys under which a pydantic class takes its fields, beside their names."""

from collections.abc import Iterator
from typing import Any, get_args

from pydantic import AliasChoices, AliasPath, BaseModel
from pydantic.fields import FieldInfo

from stickler_cli.compare.renaming import WHOLE
from stickler_cli.core.locations import json_pointer


def other_names(model: type[BaseModel]) -> dict[str, dict[str, tuple[str, list[str]]]]:
    """Return, of a class and those in it, the keys of fields and the classes inside each.

    Empty where no field has another name. An alias that is a path into a value is a JSON Pointer.
    """
    found: dict[str, dict[str, tuple[str, list[str]]]] = {}
    known: dict[type[BaseModel], str] = {model: WHOLE}
    waiting, renames = [model], False
    while waiting:
        one = waiting.pop()
        fields = found[known[one]] = {}
        for name, info in one.model_fields.items():
            inside = [*_models_in(info.annotation)]
            for each in inside:
                if each not in known:
                    known[each] = f"{each.__module__}.{each.__qualname__}"
                    waiting.append(each)
            for key in {name: None, **dict.fromkeys(_aliases(info))}:
                renames |= key != name
                fields[key] = name, [known[each] for each in inside]
    return found if renames else {}


def _aliases(info: FieldInfo) -> Iterator[str]:
    for alias in (info.alias, info.validation_alias, info.serialization_alias):
        choices = alias.choices if isinstance(alias, AliasChoices) else [alias]
        for each in choices:
            path = each.path if isinstance(each, AliasPath) else [each or ""]
            if len(path) > 1:
                yield json_pointer((*path,))
            elif path[0]:
                yield str(path[0])


def _models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from _models_in(part)

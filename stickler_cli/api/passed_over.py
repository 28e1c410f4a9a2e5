"""What fields of models say in vain: comparators, and thresholds of lists."""

import warnings
from collections.abc import Iterator
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin

from pydantic import BaseModel

from stickler_cli.compare.result import DEFAULT_MATCH_THRESHOLD
from .comparable import ComparableModel
from .fields import Rules, takes_models


def tell_passed_over(model: type[BaseModel]) -> None:
    """Warn of what a class and those in its fields say in vain; of each class once.

    Of one that refers to classes that are not there yet nothing is told.
    """
    _tell(model, set(), 4)  # up to where a class is made


def _tell(model: type[BaseModel], seen: set[type[BaseModel]], level: int) -> None:
    if not model.__pydantic_complete__ or "_told" in vars(model) or model in seen:
        return
    seen.add(model)
    if issubclass(model, ComparableModel):
        model._told = True  # noqa: SLF001 - it is what this remembers
    for name, info in model.model_fields.items():
        inside, is_list = _model_in(info.annotation)
        if inside is None:
            continue
        for rules in info.metadata:
            if isinstance(rules, Rules):
                for text in _in_vain(rules, inside, is_list=is_list):
                    warnings.warn(f"{model.__name__}.{name} {text}", stacklevel=level + 1)
        _tell(inside, seen, level + 1)


def _in_vain(rules: Rules, inside: type[BaseModel], *, is_list: bool) -> Iterator[str]:
    comparator, threshold = rules.comparator, rules.threshold
    least = getattr(inside, "match_threshold", DEFAULT_MATCH_THRESHOLD)
    if comparator is not None and not takes_models(comparator):
        own = f"is compared by its own fields: {comparator.name}"
        yield f"{own} is passed over; put it on those fields"
    if is_list and threshold not in (None, least):
        yield (
            f"is a list of {inside.__name__}: its threshold of {threshold:g} is passed over; its "
            f"items match by the match_threshold of {inside.__name__}, which is {least:g}"
        )


def _model_in(annotation: Any) -> tuple[type[BaseModel] | None, bool]:
    """Return the model that a field is of, or is a list of; None where it is anything else."""
    if get_origin(annotation) in (Union, UnionType):
        arms = [arm for arm in get_args(annotation) if arm is not NoneType]
        return _model_in(arms[0]) if len(arms) == 1 else (None, False)
    if get_origin(annotation) is list:
        inside, nested = _model_in(get_args(annotation)[0])
        return (None if nested else inside), True
    is_model = isinstance(annotation, type) and issubclass(annotation, BaseModel)
    return (annotation if is_model else None), False

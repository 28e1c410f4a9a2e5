"""`evaluate`: compare instances of any pydantic model, or JSON values, without setting anything up.

How each field is compared is inferred from types, names and the ground truth; `eval_for` does
that once for many documents, without these.
"""

import os
import re
from collections.abc import Callable, Hashable, Mapping
from contextlib import suppress
from functools import lru_cache, partial
from pathlib import Path as File
from typing import Any, Final, cast
from weakref import WeakKeyDictionary

from pydantic import BaseModel
from pydantic_core import to_jsonable_python

from stickler_cli.comparators.base import meets
from stickler_cli.compare.engine import rename_keys
from stickler_cli.compare.plan import Options
from stickler_cli.core.figures import number_of, rate
from stickler_cli.core.json_values import json_line
from stickler_cli.core.problems import SchemaError
from stickler_cli.schema.inference.observation import Observed
from stickler_cli.schema.inference.observed_schemas import observed_schema
from stickler_cli.schema.loading import LoadedSchema, load_observed, schema_digest
from .eval_result import EvalResult
from .ruled import AnySchema, FieldRules, Ruled, other_names, ruled
from .scorer import DocumentLike, Scorer, bare_truths


def evaluate(
    gt: DocumentLike,
    pred: DocumentLike,
    *,
    schema: AnySchema | None = None,
    fields: Mapping[str, FieldRules] | None = None,
    partial_gt: bool = False,
) -> EvalResult:
    """Compare a prediction with the ground truth.

    Args:
        gt: an instance of any pydantic model, or JSON values.
        pred: an instance of the same class, or of another one, or JSON values.
        schema: a pydantic class, a JSON Schema or the file of one. None takes the class of the
            ground truth; of one without a class that of the prediction, if it declares all keys of
            the ground truth; else the schema that the values of the ground truth show.
        fields: rules for single fields, by their paths without list indexes, which go before what
            is inferred: `{"lines.sku": {"weight": 3.0, "comparator": ExactComparator()}}`.
        partial_gt: whether a declared key that the ground truth leaves out is not labelled.

    Raises:
        TypeError: either side is something else.
        SchemaError: the schema cannot be used, or stands for no object.
        UsageError: there is no field, or rule, of a name in `fields`.
        ComparisonError: a comparator failed on a pair of values.
    """
    if schema is None and isinstance(gt, BaseModel):
        schema = type(gt)
    elif schema is None and isinstance(gt, Mapping) and isinstance(pred, BaseModel):
        model = type(pred)
        with suppress(SchemaError):  # a class without fields, perhaps
            result = evaluate(gt, pred, schema=model, fields=fields, partial_gt=partial_gt)
            if not result.undeclared_keys:
                return result
        gt = _by_field_names(gt, model)
    options = Options(partial_gt=True) if partial_gt else None
    make: Callable[[], Ruled | LoadedSchema]
    rules = fields or {}
    if schema is None:
        seen = _seen_in(gt)
        kept, make = _kept_scorer(observed_schema(seen), rules), partial(load_observed, seen, "gt")
    else:
        kept = _kept_scorer(schema, rules)
        seen = _scorer(kept, None, partial(ruled, schema, rules)).seen_in(gt)
        make = partial(ruled, schema, rules, seen)
    key = seen.summary(), partial_gt
    return _scorer(kept, key, make, fields=fields, options=options).evaluate(gt, pred)


def eval_for(schema: AnySchema, fields: Mapping[str, FieldRules] | None = None) -> Scorer:
    """Return how `evaluate` compares documents of a schema, to be used for many of them.

    Raises:
        SchemaError: the schema cannot be used, or stands for no object.
        UsageError: there is no field, or rule, of a name in `fields`.
    """
    rules = fields or {}
    return _scorer(_kept_scorer(schema, rules), None, partial(ruled, schema, rules))


MOST_KEPT: Final = 64
"""Scorers of a schema that are kept: by names alone, and by forms of values."""
MOST_SCHEMAS: Final = 32
"""Schemas whose scorers are kept; those of a class go with the class."""
_of_classes: Final[WeakKeyDictionary[type[BaseModel], dict[Hashable, Scorer]]] = WeakKeyDictionary()
LARGEST_KEPT: Final = 1 << 20
"""Bytes of a schema file that is read to see whether it is still the same."""
_LEADS_OUT: Final = re.compile(rb'"\$(dynamicRef|ref)"\s*:\s*"(?!#)')
"""May lead to another file, which may be another one the next time."""


def _kept_scorer(schema: AnySchema, rules: Mapping[str, FieldRules]) -> dict[Hashable, Scorer]:
    """Return the scorers of a schema, to be added to; none of one with rules for fields."""
    if rules:
        return {}
    if isinstance(schema, type):
        return _of_classes.setdefault(schema, {})
    digest = _digest_of(schema)
    return {} if digest is None else _of_digest(digest)


def _scorer(
    kept: dict[Hashable, Scorer],
    key: Hashable,
    make: Callable[[], Ruled | LoadedSchema],
    **how: Any,
) -> Scorer:
    """Return the scorer kept for a key; make it if necessary."""
    kept_scorer = kept.pop(key, None)
    if kept_scorer is None:
        kept_scorer = Scorer(make(), **how)
    kept[key] = kept_scorer  # as the newest; other threads may be here as well
    for oldest in [*kept][:-MOST_KEPT]:
        kept.pop(oldest, None)
    return kept_scorer


@lru_cache(MOST_SCHEMAS)
def _of_digest(digest: str) -> dict[Hashable, Scorer]:
    """Return the scorers of one schema, to be added to."""
    return {}


def _digest_of(schema: Mapping[str, Any] | str | os.PathLike[str]) -> str | None:
    """Return what tells a schema from all others; None where that is not known."""
    with suppress(OSError, TypeError, ValueError, RecursionError):  # which others word better
        if isinstance(schema, Mapping):
            name, content = "", json_line(dict(schema))
        elif (file := File(schema)).is_file() and file.stat().st_size <= LARGEST_KEPT:
            name, content = str(file), file.read_bytes()
        else:
            return None
        return None if _LEADS_OUT.search(content) else f"{name} {schema_digest(content)}"
    return None


def _by_field_names(gt: Mapping[str, Any], model: type[BaseModel]) -> dict[str, Any]:
    """Return the values of a ground truth by the names of a class's fields where it has aliases."""
    values = to_jsonable_python(dict(gt), by_alias=False, fallback=str)
    names: Any = other_names(model)
    return cast("dict[str, Any]", rename_keys(values, names))


def _seen_in(gt: object) -> Observed:
    """Return the JSON values of a ground truth, for inference to ask."""
    if isinstance(gt, type) and issubclass(gt, BaseModel):
        raise TypeError(f"gt is the class {gt.__name__} itself; give an instance of it")
    if not isinstance(gt, Mapping | list):
        raise TypeError(
            f"gt is of type {type(gt).__name__}; give an instance of a pydantic model, or a dict"
        )
    (truth,), _ = bare_truths([to_jsonable_python(gt, by_alias=False, fallback=str)])
    seen = Observed()
    seen.add(truth)
    return seen


def assert_matches(
    gt: DocumentLike,
    pred: DocumentLike,
    schema: AnySchema | Scorer | None = None,
    *,
    min_score: float | None = None,
    fields: Mapping[str, FieldRules] | None = None,
) -> None:
    """Fail unless a prediction is right, or good enough.

    Args:
        gt: the ground truth, as `evaluate` takes it.
        pred: the prediction, as `evaluate` takes it.
        schema: a schema as `evaluate` takes it, or the result of `eval_for`.
        min_score: least overall score, in [0, 1]. With None nothing may be wrong: each value is at
            or above its threshold, and no value is missed or invented.
        fields: as `evaluate` takes it; not with what `eval_for` returned.

    Raises:
        AssertionError: with what `stickler compare --only-errors` prints.
        ValueError: `min_score` is out of range, or there are `fields` beside an `Scorer`.
    """
    __tracebackhide__ = True  # pytest shows the test, not this
    if min_score is not None and not 0 <= min_score <= 1:
        raise ValueError(f"min_score is {min_score!r}, expected a number in [0, 1]")
    if not isinstance(schema, Scorer):
        result = evaluate(gt, pred, schema=schema, fields=fields)
    elif fields:
        raise ValueError("fields are given beside an Scorer; give them to eval_for")
    else:
        result = schema.evaluate(gt, pred)
    if min_score is None and not result.all_fields_matched:
        errors = [error for error in result.non_matches if "inside" not in error]
        number_of_errors = number_of(len(errors), "error")
    elif min_score is not None and not meets(result.overall_score, min_score):
        number_of_errors = (
            f"overall score {rate(result.overall_score, {min_score})} is below {min_score:g}"
        )
    else:
        return
    raise AssertionError(f"{number_of_errors}\n{result.comparison.explain('errors', 100)}")

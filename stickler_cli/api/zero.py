"""`evaluate`: compare instances of any pydantic model, or JSON values, without any setup.

The comparison of each field is inferred from types, names and the ground truth. `eval_for` infers
once for many documents, without looking at the ground truth.
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
            ground truth. If the ground truth is a dict, None takes the class of the prediction if
            that class declares all keys of the ground truth. Otherwise the schema is inferred from
            the ground truth.
        fields: rules for single fields, by paths without list indexes; they override inference:
            `{"lines.sku": {"weight": 3.0, "comparator": ExactComparator()}}`.
        partial_gt: whether a declared field counts as not labelled if its key is missing in the
            ground truth.

    Raises:
        TypeError: a side is something else.
        SchemaError: the schema cannot be used, or does not describe objects.
        UsageError: `fields` names a field or rule that does not exist.
        ComparisonError: a comparator failed on a pair of values.
    """
    if schema is None and isinstance(gt, BaseModel):
        schema = type(gt)
    elif schema is None and isinstance(gt, Mapping) and isinstance(pred, BaseModel):
        model = type(pred)
        with suppress(SchemaError):  # a class without fields, for example
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
    """Return a scorer that compares documents of a schema as `evaluate` does, for repeated use.

    Raises:
        SchemaError: the schema cannot be used, or does not describe objects.
        UsageError: `fields` names a field or rule that does not exist.
    """
    rules = fields or {}
    return _scorer(_kept_scorer(schema, rules), None, partial(ruled, schema, rules))


MOST_KEPT: Final = 64
"""Maximum number of cached scorers for one schema."""
MOST_SCHEMAS: Final = 32
"""Maximum number of schema files or JSON Schemas with cached scorers. The scorers of a class are
dropped with the class."""
_of_classes: Final[WeakKeyDictionary[type[BaseModel], dict[Hashable, Scorer]]] = WeakKeyDictionary()
LARGEST_KEPT: Final = 1 << 20
"""Maximum size in bytes of a schema file whose scorers are cached. The file is read in each call,
to see if it has changed."""
_LEADS_OUT: Final = re.compile(rb'"\$(dynamicRef|ref)"\s*:\s*"(?!#)')
"""Pattern of a reference to another file, which could change."""


def _kept_scorer(schema: AnySchema, rules: Mapping[str, FieldRules]) -> dict[Hashable, Scorer]:
    """Return the cached scorers of a schema, in a dict to which more can be added.

    If scorers cannot be cached, as with rules, return a new dict.
    """
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
    """Return the scorer cached under `key`; if there is none, create it by calling `make`."""
    kept_scorer = kept.pop(key, None)
    if kept_scorer is None:
        kept_scorer = Scorer(make(), **how)
    # The newest entry is last; other threads may change the dict at the same time.
    kept[key] = kept_scorer
    for oldest in [*kept][:-MOST_KEPT]:
        kept.pop(oldest, None)
    return kept_scorer


@lru_cache(MOST_SCHEMAS)
def _of_digest(digest: str) -> dict[Hashable, Scorer]:
    """Return the dict of cached scorers for a schema, given by its digest."""
    return {}


def _digest_of(schema: Mapping[str, Any] | str | os.PathLike[str]) -> str | None:
    """Return a digest that identifies a schema; None if its scorers cannot be cached."""
    # Such errors are reported better elsewhere.
    with suppress(OSError, TypeError, ValueError, RecursionError):
        if isinstance(schema, Mapping):
            name, content = "", json_line(dict(schema))
        elif (file := File(schema)).is_file() and file.stat().st_size <= LARGEST_KEPT:
            name, content = str(file), file.read_bytes()
        else:
            return None
        return None if _LEADS_OUT.search(content) else f"{name} {schema_digest(content)}"
    return None


def _by_field_names(gt: Mapping[str, Any], model: type[BaseModel]) -> dict[str, Any]:
    """Return a ground truth whose keys are names of fields; aliases of the class are replaced."""
    values = to_jsonable_python(dict(gt), by_alias=False, fallback=str)
    names: Any = other_names(model)
    return cast("dict[str, Any]", rename_keys(values, names))


def _seen_in(gt: object) -> Observed:
    """Return statistics of the values of a ground truth, for inference."""
    if isinstance(gt, type) and issubclass(gt, BaseModel):
        raise TypeError(f"gt is the class {gt.__name__}; give an instance of the class")
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
    """Raise AssertionError unless a prediction is right, or good enough.

    Args:
        gt: the ground truth, as `evaluate` takes it.
        pred: the prediction, as `evaluate` takes it.
        schema: a schema as `evaluate` takes it, or the result of `eval_for`.
        min_score: minimum overall score, in [0, 1]. With None, no error is allowed: each value must
            reach its threshold, and no value may be missed or invented.
        fields: rules as `evaluate` takes them; not allowed with the result of `eval_for`.

    Raises:
        AssertionError: its message is the output of `stickler compare --only-errors`.
        ValueError: `min_score` is out of range, or `fields` is given with a `Scorer`.
    """
    __tracebackhide__ = True  # hides this frame, so that pytest shows the test
    if min_score is not None and not 0 <= min_score <= 1:
        raise ValueError(f"min_score is {min_score!r}, expected a number in [0, 1]")
    if not isinstance(schema, Scorer):
        result = evaluate(gt, pred, schema=schema, fields=fields)
    elif fields:
        raise ValueError("both fields and a Scorer are given; give the fields to eval_for instead")
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

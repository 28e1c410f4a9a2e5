"""`evaluate`: compare instances of any pydantic model, or JSON values, without any setup.

How each field is compared is inferred from types, names and the values of the ground truth.
`eval_for` infers it only once for many documents, from a class or schema.
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
from stickler_cli.core.json_values import describe_python_type, json_line
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
        pred: an instance of any pydantic model, even of another class, or JSON values.
        schema: a pydantic class, a JSON Schema or the file of one. None takes the class of the
            ground truth. If the ground truth is a dict, None takes the class of the prediction if
            that class declares all keys of the ground truth. Otherwise the schema is inferred from
            the ground truth.
        fields: rules for single fields, which override inference. Keys are field paths without list
            indexes, as in `{"lines.sku": {"weight": 3.0, "comparator": ExactComparator()}}`.
        partial_gt: whether a key that is missing in the ground truth means that the field was not
            labelled.

    Raises:
        TypeError: `gt` or `pred` is something else.
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
    """Return a scorer that compares documents as `evaluate` does. It can be used many times.

    Raises:
        SchemaError: the schema cannot be used, or does not describe objects.
        UsageError: `fields` names a field or rule that does not exist.
    """
    rules = fields or {}
    return _scorer(_kept_scorer(schema, rules), None, partial(ruled, schema, rules))


MOST_KEPT: Final = 64
"""Maximum number of cached scorers for one schema."""
MOST_SCHEMAS: Final = 32
"""Maximum number of JSON Schemas and schema files whose scorers are cached. Pydantic classes do not
count, because their scorers are dropped with the class."""
_of_classes: Final[WeakKeyDictionary[type[BaseModel], dict[Hashable, Scorer]]] = WeakKeyDictionary()
LARGEST_KEPT: Final = 1 << 20
"""Maximum size of a schema file whose scorers are cached, in bytes. Before a cached scorer is used,
the whole file is read to see whether it has changed."""
_LEADS_OUT: Final = re.compile(rb'"\$(dynamicRef|ref)"\s*:\s*"(?!#)')
"""Matches a reference from a schema to another file. Such a schema is not cached, because the other
file could change."""


def _kept_scorer(schema: AnySchema, rules: Mapping[str, FieldRules]) -> dict[Hashable, Scorer]:
    """Return the dict of cached scorers of a schema. The caller adds new scorers to it.

    If scorers cannot be cached, for instance because there are rules, return a new dict.
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
    """Return the scorer cached under `key`. If there is none, make it from the result of `make`.

    `how` are further arguments of `Scorer`.
    """
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
    """Return the dict of cached scorers of the schema that has this digest."""
    return {}


def _digest_of(schema: Mapping[str, Any] | str | os.PathLike[str]) -> str | None:
    """Return a text that identifies a schema and its content.

    None if its scorers cannot be cached.
    """
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
    """Return a ground truth with aliases of the class replaced by the names of its fields."""
    values = to_jsonable_python(dict(gt), by_alias=False, fallback=str)
    names: Any = other_names(model)
    return cast("dict[str, Any]", rename_keys(values, names))


def _seen_in(gt: object) -> Observed:
    """Return statistics of the values in a ground truth. Inference uses them."""
    if not isinstance(gt, Mapping | list):
        raise TypeError(
            f"gt is {describe_python_type(gt)}; give an instance of a pydantic model, or a dict"
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
        gt: the ground truth, in any form that `evaluate` takes.
        pred: the prediction, in any form that `evaluate` takes.
        schema: a schema in any form that `evaluate` takes, or the result of `eval_for`.
        min_score: minimum overall score, in [0, 1]. None allows no error: each value must reach its
            threshold, and no value may be missed or invented.
        fields: rules in the form that `evaluate` takes. They are not allowed with the result of
            `eval_for`.

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

"""`StructuredModel`: a pydantic model that knows how its instances are compared."""

import warnings
from collections.abc import Iterator, Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any, Literal, Self, get_args, get_origin, overload

import orjson
from pydantic import BaseModel, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from stickler_cli.comparators.base import BaseComparator
from stickler_cli.compare.plan import Options, Plan
from stickler_cli.compare.result import DEFAULT_MATCH_THRESHOLD
from stickler_cli.core.json_values import JsonDocument, JsonValue
from stickler_cli.core.locations import field_path
from stickler_cli.core.problems import Problem, SchemaError
from stickler_cli.documents.wrappers import Unwrapper
from stickler_cli.schema.annotations import PREFIX
from stickler_cli.schema.compiler import compile_schema
from stickler_cli.score.batch import Batch
from .configuration import ConfigurationReader, configuration_of
from .eval_result import (
    ComparisonResult,
    EvaluatorResult,
    PairComparison,
    compared,
    comparison_result,
    evaluator_result,
    pair_of,
)
from .fields import (
    CURRENT,
    STAND_IN,
    ComparableModel,
    Rules,
    annotated_schema,
    check_exported,
    takes_models,
    values_of,
    without_none,
)
from .from_schema import SchemaClasses, embedded_schema, source_schema


class StructuredModel(ComparableModel):
    """A pydantic model that knows how its instances are compared.

    `match_threshold`, a class attribute in [0, 1], is the similarity at which two items of a list
    match. Keys that the class does not declare are kept. In a prediction they count as false
    alarms.
    """

    @classmethod
    def __pydantic_init_subclass__(cls, **keywords: Any) -> None:
        """Reject an invalid threshold.

        Also reject new fields if the class was made from a schema.
        """
        super().__pydantic_init_subclass__(**keywords)
        threshold: object = cls.match_threshold
        if not isinstance(threshold, int | float) or not 0 <= threshold <= 1:
            raise ValueError(f"match_threshold is {threshold!r}, expected a number in [0, 1]")
        if cls._source_schema is None:
            tell_passed_over(cls)
            return
        # The class that was made from the schema, and does not only inherit from it.
        schema_class: type[ComparableModel] = next(
            b for b in cls.__mro__ if "_source_schema" in vars(b)
        )
        if (cls.model_fields.keys(), threshold) != (
            schema_class.model_fields.keys(),
            schema_class.match_threshold,
        ):
            raise TypeError(
                f"{schema_class.__name__} is made from a JSON Schema. Only that schema "
                "defines its fields; a subclass can only add methods"
            )

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler, /
    ) -> JsonSchemaValue:
        """Return the schema of the class. It has annotations only while `annotated_schema` runs."""
        schema, annotating = handler(core_schema), CURRENT.get()
        if annotating is not None:
            model_schema = handler.resolve_ref_schema(schema)
            if cls._source_schema is not None:
                model_schema.clear()
                model_schema[STAND_IN] = key = f"{len(annotating.whole)}"
                annotating.whole[key] = embedded_schema(cls)
            else:
                if cls._named:
                    model_schema[f"{PREFIX}model-name"] = cls.__name__
                if annotating.defaults or cls.match_threshold != DEFAULT_MATCH_THRESHOLD:
                    model_schema[f"{PREFIX}match-threshold"] = cls.match_threshold
        return schema

    @classmethod
    def comparison_plan(cls) -> Plan:
        """Return the plan of this class; it is compiled on the first call.

        Raises:
            SchemaError: a field cannot be compared by its rules.
        """
        if cls._source_schema is None and "_compiled" not in cls.__dict__:
            tell_passed_over(cls)
            comparators: dict[str, BaseComparator] = {}
            schema = annotated_schema(cls, comparators, defaults=False)
            cls._compiled = compile_schema(
                schema, cls.__name__, allow_plugins=True, comparators=comparators
            )
        return cls._compiled

    @classmethod
    def to_json_schema(cls) -> dict[str, Any]:
        """Return the annotated JSON Schema of this class; `from_json_schema` reads it back.

        `model_json_schema` still returns the schema of pydantic, without annotations. A comparator
        that is not built in is written as `module:Class`. To read such a schema back, set
        `allow_plugins=True`.

        Raises:
            SchemaError: a comparator has an argument that JSON cannot express, or the class was
                made from only a part of a schema.
        """
        if cls._source_schema is not None:
            return source_schema(cls)
        schema = annotated_schema(cls, defaults=False)
        check_exported(schema, cls.__name__)
        return schema

    @classmethod
    def to_stickler_config(cls) -> dict[str, Any]:
        """Return the configuration of this class; `model_from_json` reads it back.

        Raises:
            SchemaError: a configuration cannot express some of the fields. The error lists all of
                them.
        """

        def plan_of(config: dict[str, Any]) -> Plan:
            return StructuredModel.model_from_json(config, allow_plugins=True).comparison_plan()

        return configuration_of(cls, cls.comparison_plan(), plan_of)

    @classmethod
    def model_from_json(
        cls, config: Mapping[str, Any], *, allow_plugins: bool = False
    ) -> type[Self]:
        """Make a subclass of this class from a configuration; docs/python.md lists its keys.

        If a key is not an argument of its comparator, it is ignored with a warning. If it resembles
        an argument, so that it is probably misspelt, it is an error.

        Args:
            config: the configuration as JSON.
            allow_plugins: whether a comparator may be named as `package.module:Class`.

        Raises:
            SchemaError: the configuration is invalid; the error has all problems with their paths.
        """
        reader = ConfigurationReader(cls, allow_plugins=allow_plugins)
        model = reader.model(config)
        if reader.problems:
            raise SchemaError(reader.problems)
        for problem in reader.passed_over:
            warnings.warn(str(problem), stacklevel=2)
        model.comparison_plan()  # finds further problems
        return model

    @classmethod
    def from_json_schema(
        cls,
        schema: dict[str, Any],
        base_uri: str | Path | None = None,
        *,
        allow_plugins: bool = False,
        enforce_required: bool = False,
    ) -> type[Self]:
        """Make a subclass of this class from an annotated JSON Schema; instances take any value.

        A key that is not set has the `default` of the schema, or None.

        Args:
            schema: the schema as JSON.
            base_uri: the file of the schema, or its directory. Relative references in the schema
                start from there.
            allow_plugins: whether a comparator may be named as `package.module:Class`.
            enforce_required: whether pydantic rejects an instance without a key that the schema
                requires; otherwise the key counts as missed.

        Raises:
            SchemaError: the schema is invalid; the error has all problems with their JSON Pointers.
            TypeError: this class has fields of its own.
        """
        if cls.model_fields:
            raise TypeError(
                f"{cls.__name__} already has fields; only a class without fields can get "
                "its fields from a schema"
            )
        file = None if base_uri is None else Path(str(base_uri).removeprefix("file://"))
        if file is not None and file.is_dir():
            file /= "schema.json"
        plan = compile_schema(schema, file=file, allow_plugins=allow_plugins)
        if plan.kind == "array":
            finding, hint = (
                "the schema is for arrays, but a model class needs a schema for objects",
                "to compare arrays, use evaluate_many",
            )
            raise SchemaError(
                [
                    Problem(
                        source="",
                        found=finding,
                        hint=hint,
                        pointer="",
                    )
                ]
            )
        classes = SchemaClasses(deepcopy(schema), cls, file, required=enforce_required)
        return classes.make_document_class(plan.root, plan.model_name)

    @classmethod
    def from_pydantic(
        cls,
        model_cls: type[BaseModel],
        *,
        weight_hints: bool = False,
        match_threshold: float = DEFAULT_MATCH_THRESHOLD,
    ) -> type["StructuredModel"]:
        """Make a subclass of this class with the fields of any pydantic class.

        Comparators are inferred, as in `eval_for`. If `model_cls` is a `StructuredModel`, it is
        returned unchanged. Make instances of the result with `from_json(instance.model_dump())`.

        Args:
            model_cls: the pydantic class.
            weight_hints: must be False, because weights are not inferred from names.
            match_threshold: in [0, 1]; the score at which documents and list items match.

        Raises:
            SchemaError: a field cannot be compared.
            UsageError: `weight_hints` is set.
        """
        if issubclass(model_cls, StructuredModel):
            return model_cls
        # Imported late: inference takes a while to load, and few programs use it here.
        from .inferring import check_weight_hints, inferred_contents

        check_weight_hints(weight_hints)
        contents = inferred_contents(model_cls, match_threshold)
        return cls.from_json_schema(contents, allow_plugins=True)

    @classmethod
    def from_json(
        cls,
        data: str | bytes | Mapping[str, Any],
        process_rich_values: bool = True,
        *,
        process_confidence: bool | None = None,
    ) -> Self:
        """Make an instance from JSON text or from its parsed value.

        A value may have a wrapper with metadata, such as `{"_value": 5, "_confidence": 0.9}`. The
        wrapper is removed, and the instance keeps the metadata. docs/confidence.md lists the forms
        of wrappers. If `process_rich_values` is False, wrappers stay as they are.
        `process_confidence` is an older name of `process_rich_values`.
        """
        parsed: Any = orjson.loads(data) if isinstance(data, str | bytes) else data
        unwraps = process_rich_values if process_confidence is None else process_confidence
        if not unwraps or not isinstance(parsed, Mapping):
            return cls.model_validate(parsed)
        bare = Unwrapper(cls.comparison_plan().root, reads_any_of=False)({**parsed}, is_truth=True)
        instance = cls.model_validate(bare.value)
        if bare.wrappers:
            instance._unwrapped = bare  # noqa: SLF001 - of this class
        return instance

    def get_field_confidence(self, field_name: str) -> float | None:
        """Return the confidence of the value at a path such as `items[0].sku`, in [0, 1].

        None if the value had no confidence of its own, or the instance was not made by `from_json`.
        """
        return self.get_all_confidences().get(field_name)

    def get_all_confidences(self) -> dict[str, float]:
        """Return the confidences of all values that have one. Keys are the paths of the values."""
        return {field_path(path): confidence for path, confidence in self._unwrapped.stated.items()}

    def get_field_extras(self, field_name: str) -> dict[str, Any] | None:
        """Return the metadata of the value at a path; None if the value has no metadata.

        The confidence of the value is not included.
        """
        return self.get_all_extras().get(field_name)

    def get_all_extras(self) -> dict[str, dict[str, Any]]:
        """Return the metadata of all values that have any. Keys are the paths of the values."""
        return {field_path(path): metadata for path, metadata in self._unwrapped.metadata.items()}

    @property
    def extra_fields(self) -> dict[str, Any]:
        """Values of the instance whose keys the class does not declare."""
        return {**(self.model_extra or {})}

    def comparison_values(self) -> JsonDocument:
        """Return the JSON values that are compared. Keys are the names of fields in the schema."""
        return values_of(self)

    def compare(self, other: BaseModel) -> float:
        """Return the similarity of a prediction to this ground truth, in [0, 1]."""
        return float(compared_models(self, other).scores[0])

    def compare_field_raw(self, field_name: str, other_value: object) -> float:
        """Return the similarity of a value to a field of this ground truth, in [0, 1].

        Threshold and clipping have no effect. The similarity of two absent values is 1.0.

        Raises:
            AttributeError: the class has no such field.
            ComparisonError: a comparator failed on a pair of values.
        """
        field_info = type(self).model_fields.get(field_name)
        if field_info is None:
            raise AttributeError(f"{type(self).__name__} has no field {field_name}")
        other = self.model_copy(update={field_name: other_value})
        names = {field_name, field_info.alias}
        fields = pair_of(compared_models(self, other), 0, type(self).comparison_plan()).fields
        similarities = [field.similarity for field in fields if field.name in names]
        return similarities[0] if similarities else 1.0

    def comparison(self, other: BaseModel, options: Options | None = None) -> PairComparison:
        """Return the complete comparison of a prediction with this ground truth.

        Raises:
            TypeError: the prediction is not a model instance.
            ComparisonError: a comparator failed on a pair of values.
        """
        batch = compared_models(self, other, options)
        return pair_of(batch, 0, type(self).comparison_plan(), options)

    @overload
    def compare_with(
        self,
        other: BaseModel,
        include_confusion_matrix: bool = False,
        document_non_matches: bool = False,
        evaluator_format: Literal[False] = False,
        recall_with_fd: bool = False,
        add_derived_metrics: bool = True,
        document_field_comparisons: bool = False,
        add_confidence_metrics: bool = False,
        *,
        options: Options | None = None,
    ) -> ComparisonResult: ...

    @overload
    def compare_with(
        self,
        other: BaseModel,
        include_confusion_matrix: bool = False,
        document_non_matches: bool = False,
        *,
        evaluator_format: Literal[True],
        recall_with_fd: bool = False,
        options: Options | None = None,
    ) -> EvaluatorResult: ...

    def compare_with(
        self,
        other: BaseModel,
        include_confusion_matrix: bool = False,
        document_non_matches: bool = False,
        evaluator_format: bool = False,
        recall_with_fd: bool = False,
        add_derived_metrics: bool = True,
        document_field_comparisons: bool = False,
        add_confidence_metrics: bool = False,
        *,
        options: Options | None = None,
    ) -> ComparisonResult | EvaluatorResult:
        """Compare this ground truth with a prediction.

        Args:
            other: the prediction.
            include_confusion_matrix: whether to add `confusion_matrix`: counts for each field.
            document_non_matches: whether to add `non_matches`: every error, with both values.
            evaluator_format: whether to return the result of `StructuredModelEvaluator.evaluate`
                instead.
            recall_with_fd: whether recall counts false discoveries as missed.
            add_derived_metrics: whether to add rates to the counts of the confusion matrix.
            document_field_comparisons: whether to add `field_comparisons`: every compared value or
                item, right or wrong.
            add_confidence_metrics: whether to add `confidence_metrics`: how well the confidences of
                the prediction separate right from wrong values. These figures mean little for a
                single document.
            options: options of the comparison: the pairing floor, how undeclared keys of the
                prediction count, and whether a key that is missing in the ground truth counts as
                not labelled.

        Returns:
            `field_scores`, `overall_score`, `all_fields_matched`, and the requested keys.

        Raises:
            TypeError: the prediction is not a model instance.
            ComparisonError: a comparator failed on a pair of values.
        """
        confidences = None
        if add_confidence_metrics and isinstance(other, StructuredModel):
            confidences = other._unwrapped.confidences  # noqa: SLF001 - of this class
        batch = compared_models(self, other, options, confidences)
        if evaluator_format:
            return evaluator_result(batch, recall_with_fd=recall_with_fd)
        return comparison_result(
            batch,
            counts=include_confusion_matrix,
            errors=document_non_matches,
            units=document_field_comparisons,
            confidences=add_confidence_metrics,
            recall_with_fd=recall_with_fd,
            derived=add_derived_metrics,
        )

    def compare_recursive(self, other: BaseModel) -> dict[str, Any]:
        """Return the `confusion_matrix` of `compare_with`.

        It has the counts of each field and the errors.
        """
        batch = compared_models(self, other)
        return comparison_result(batch, counts=True, errors=True, units=False)["confusion_matrix"]


# A function, as a field may have the name of a method.
def compared_models(
    gt: StructuredModel,
    pred: BaseModel,
    options: Options | None = None,
    confidences: JsonValue = None,
) -> Batch:
    """Compare two instances. The class of the ground truth decides how fields are compared."""
    plan = type(gt).comparison_plan()
    truth = values_of(gt, only_given=bool(options and options.partial_gt))
    return compared(
        plan,
        [truth],
        [values_of(pred)],
        options,
        [confidences],
        [gt._unwrapped.gold],  # noqa: SLF001 - of this class
    )


def tell_passed_over(model: type[BaseModel]) -> None:
    """Warn once of settings without effect, in a class and in the classes of its fields.

    Skip a class that refers to a class which is not defined yet.
    """
    _tell(model, set(), 4)  # up to the code that defines the class


def _tell(model: type[BaseModel], seen: set[type[BaseModel]], level: int) -> None:
    """Warn of settings without effect in a class, and in the classes of its fields.

    `seen` has the classes that were looked at before, and `level` is the stack level for the
    warnings.
    """
    if not model.__pydantic_complete__ or "_warned" in vars(model) or model in seen:
        return
    seen.add(model)
    if issubclass(model, ComparableModel):
        model._warned = True  # noqa: SLF001 - it is what this remembers
    for name, field_info in model.model_fields.items():
        inner_model, is_list = _model_in(field_info.annotation)
        if inner_model is None:
            continue
        for rules in field_info.metadata:
            if isinstance(rules, Rules):
                for text in _in_vain(rules, inner_model, is_list=is_list):
                    warnings.warn(f"{model.__name__}.{name} {text}", stacklevel=level + 1)
        _tell(inner_model, seen, level + 1)


def _in_vain(rules: Rules, inside: type[BaseModel], *, is_list: bool) -> Iterator[str]:
    comparator, threshold = rules.comparator, rules.threshold
    least = getattr(inside, "match_threshold", DEFAULT_MATCH_THRESHOLD)
    if comparator is not None and not takes_models(comparator):
        explanation = f"is compared field by field: {comparator.name}"
        yield f"{explanation} has no effect; give comparators to the inner fields instead"
    if is_list and threshold not in (None, least):
        yield (
            f"is a list of {inside.__name__}: its threshold of {threshold:g} has no effect. "
            f"List items match if they reach the match_threshold of {inside.__name__}, "
            f"which is {least:g}"
        )


def _model_in(annotation: Any) -> tuple[type[BaseModel] | None, bool]:
    """Return the model class in the type of a field, and whether the field is a list.

    The class is `Model` for the types `Model` and `list[Model]`, even if they are optional. For all
    other types it is None.
    """
    annotation = without_none(annotation)
    if get_origin(annotation) is list:
        item_model, nested = _model_in(get_args(annotation)[0])
        return (None if nested else item_model), True
    is_model = isinstance(annotation, type) and issubclass(annotation, BaseModel)
    return (annotation if is_model else None), False

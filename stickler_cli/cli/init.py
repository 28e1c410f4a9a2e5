"""`stickler init`: write an annotated schema for documents, for a schema or for a model.

With `--interactive`, the user is asked about each choice.
"""

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import getitem
from pathlib import Path as FilePath
from typing import Any, Final

from stickler_cli.comparators.comparator_registry import UnknownComparatorError, comparator_class
from stickler_cli.core.figures import join_some, setting, visible_json
from stickler_cli.core.json_values import JsonObject
from stickler_cli.core.locations import Path, field_path, json_pointer, pointer_steps
from stickler_cli.core.problems import Problem, SchemaError, UsageError
from stickler_cli.core.real_paths import real_path
from stickler_cli.documents.reading import with_keys
from stickler_cli.documents.sources import SourceKind, kind_of_source
from stickler_cli.runs.whole_files import check_outputs, whole_file
from stickler_cli.schema.annotations import annotated
from stickler_cli.schema.inference import Inference, Inferred, infer
from stickler_cli.schema.inference.field_walker import COMMENT
from stickler_cli.schema.inference.observation import Observed
from stickler_cli.schema.inference.observed_schemas import LISTS, item_key, observed_schema
from stickler_cli.schema.inference.unions import RewrittenUnion
from stickler_cli.schema.loading import (
    doubt_of_document,
    is_misspelt_schema,
    is_schema_file,
    loaded,
)
from stickler_cli.schema.references import IN_MEMORY, list_files_behind
from stickler_cli.settings.of_commands import InitSettings
from .command_schema import is_model, model_schema, observe
from .console import ExitCode, goes_to_log, warn, write_result

OUTPUT: Final = "--output"

LEFT_OUT: Final = "-"
LEGEND: Final = (
    "Press Enter to accept the suggested comparison of a field. To change it, type a "
    "comparator or a threshold (FuzzyComparator 0.8). Type - to leave the field without "
    "annotations. Ctrl-D accepts all remaining suggestions."
)
SHOWN: Final = 4  # number of observed values that a question shows
YES: Final = ("y", "yes")
BY_HAND: Final = "chosen by hand"


@dataclass(frozen=True, slots=True)
class _Source:
    """A schema that gets annotations, and the file or model that it comes from."""

    text: str
    name: str
    file: FilePath | None = None
    seen: Observed | None = None


@dataclass(frozen=True, slots=True)
class Suggestion:
    """An annotation that the user may add.

    It is only suggested, because it would change figures.
    """

    pointer: str
    """JSON Pointer to the subschema that the annotation is for."""
    annotation: JsonObject
    """The annotation; empty for a remark without an annotation."""
    reason: str

    def __str__(self) -> str:
        """Return the suggestion as one line of text.

        >>> str(Suggestion("/items", {"x-aws-stickler-key": "sku"}, "unique in each of 3 lists"))
        'unique in each of 3 lists; consider "x-aws-stickler-key": "sku"'
        """
        keys = (f"{json.dumps(key)}: {json.dumps(value)}" for key, value in self.annotation.items())
        return "; consider ".join([self.reason, *keys])


def init(settings: InitSettings) -> ExitCode:
    """Run `stickler init`: write the schema to a file or to standard output."""
    _check_output_is_new(settings)
    annotatable = _read_source(settings.gt, settings)
    _check_output_is_no_input(settings, annotatable)
    schema: Any = json.loads(annotatable.text)
    if annotatable.seen is None:
        _check_schema(schema, annotatable, settings)
    inference = infer(
        schema,
        annotatable.name,
        annotatable.file,
        seen=annotatable.seen,
        allow_plugins=settings.allow_plugins,
    )
    own_uri = real_path(annotatable.file).as_uri() if annotatable.file else IN_MEMORY
    choices = {path: choice for (uri, path), choice in inference.choices.items() if uri == own_uri}
    elsewhere = len(inference.choices) - len(choices)
    target = _without_choices(inference, choices, schema)
    suggestions = [*_make_suggestions(target, annotatable.seen)] if annotatable.seen else []
    accepted: list[Suggestion] = []
    if settings.interactive:
        choices = interview(choices, annotatable.seen)
        accepted = [suggestion for suggestion in suggestions if _accepts(suggestion)]
    added = _missing_annotations(target, choices, annotatable.seen)
    for suggestion in suggestions:
        keys = added.setdefault(suggestion.pointer, {})
        comment = str(suggestion)
        if suggestion in accepted:
            keys |= suggestion.annotation
            comment = suggestion.reason
        keys[COMMENT] = f"{keys[COMMENT]}; {comment}" if COMMENT in keys else comment
    text = with_keys(
        annotatable.text, _put_into_unions(added, target, inference.rewritten, annotatable.text)
    )
    if settings.output is None:
        write_result(visible_json(text) if goes_to_log() else text)
    else:
        with whole_file(settings.output, OUTPUT) as stream:
            stream.write(text.encode("utf-8", "backslashreplace"))
    if not settings.quiet:
        _conclude(len(choices), elsewhere, settings)
        for suggestion in () if settings.interactive else suggestions:
            warn(f"{suggestion.pointer or '/'}: {suggestion}")
    return ExitCode.OK


def _check_schema(schema: Any, source: _Source, settings: InitSettings) -> None:
    """Raise SchemaError if the user's schema has problems, or describes no fields."""
    try:
        loaded(
            schema,
            source.name,
            source.file,
            allow_plugins=settings.allow_plugins,
            when="always",
        )
    except SchemaError as error:
        if source.file is None or is_schema_file(str(source.file)):
            raise
        finding = "this file was read as a schema, not as a document"
        hint = "if this is a document, put it into a directory, or on one line of a .jsonl file"
        raise SchemaError([*error.problems, Problem(source.name, finding, hint=hint)]) from None


def _check_output_is_new(settings: InitSettings) -> None:
    if settings.output is not None and not settings.force and FilePath(settings.output).exists():
        place = f"{OUTPUT} {settings.output}"
        raise UsageError([Problem(place, "the file already exists", "a new file, or --force")])


def _check_output_is_no_input(settings: InitSettings, source: _Source) -> None:
    """Raise UsageError if the output would overwrite an input, even with --force.

    The schema file that gets the annotations may be overwritten. No other input may be.
    """
    inputs = [] if is_model(source.name) else [("the ground truth", source.name)]
    if source.file is not None:
        files = list_files_behind(source.file)
        inputs = [("a file that the schema refers to", file) for file in files]
    check_outputs([(OUTPUT, settings.output)] if settings.output else [], inputs)


def _read_source(source: str, settings: InitSettings) -> _Source:
    if is_model(source):
        schema = model_schema(source, settings)
        return _Source(f"{json.dumps(schema, indent=2, ensure_ascii=False)}\n", source)
    is_file = kind_of_source(source) is SourceKind.FILE
    if is_file and (is_schema_file(source) or is_misspelt_schema(source)):
        file = FilePath(source)
        return _Source(file.read_bytes().decode("utf-8-sig"), source, file)
    if is_file and (doubt := doubt_of_document(source)) and not settings.quiet:
        warn(f"note: {doubt}")
    seen = observe(source, settings, None if settings.quiet else warn)
    return _Source(
        text=f"{json.dumps(observed_schema(seen), indent=2, ensure_ascii=False)}\n",
        name=source,
        file=None,
        seen=seen,
    )


def _has_place(schema: Any, path: Path) -> bool:
    """Return whether the user's schema has a subschema at a path of the inferred schema.

    Inference can rewrite unions, so some paths of the inferred schema are not in the user's schema.
    """
    for step in path:
        is_index = isinstance(schema, list) and isinstance(step, int) and step < len(schema)
        if not (is_index or (isinstance(schema, dict) and step in schema)):
            return False
        schema = schema[step]
    return isinstance(schema, dict)


def _without_choices(found: Inference, choices: Mapping[Path, Inferred], schema: Any) -> Any:
    """Remove the annotations in `choices` from the inferred schema, and return this schema.

    Annotations that the user's schema (`schema`) already has are kept.
    """
    for path, choice in choices.items():
        place = _value_at(found.schema, path)
        stated = _value_at(schema, path) if _has_place(schema, path) else {}
        for key in choice.annotations().keys() - stated.keys():
            del place[key]
    return found.schema


def _value_at(schema: Any, path: Path) -> Any:
    return reduce(getitem, path, schema)


def _put_into_unions(
    added: Mapping[str, JsonObject], schema: Any, unions: Sequence[RewrittenUnion], text: str
) -> dict[str, JsonObject]:
    """Return all keys to add to a schema file, including the unions that inference has rewritten.

    `added` maps the JSON Pointer of an object in the schema file to keys that are added to this
    object. The result has the same form.

    Inference has rewritten some unions (`anyOf`) in `schema`. In the schema file, the complete text
    of such a union must be replaced. The result therefore has each rewritten union as one value. If
    a key of `added` belongs inside a rewritten union, it becomes a part of this value. For this,
    the argument `schema` is changed.
    """
    rewritten = [
        json_pointer((*union.path, keyword)) for union in unions for keyword in union.keywords
    ]

    def is_rewritten(pointer: str) -> bool:
        return any(f"{pointer}/".startswith(f"{union}/") for union in rewritten)

    outside: dict[str, JsonObject] = {}
    for pointer, keys in added.items():
        if is_rewritten(pointer):
            _value_at_pointer(schema, pointer).update(keys)
        else:
            outside[pointer] = dict(keys)

    for union in unions:
        pointer = json_pointer(union.path)
        if is_rewritten(pointer):  # it is written as a part of the union around it
            continue
        place = _value_at(schema, union.path)
        for keyword in union.keywords:
            arms = place[keyword]
            # Alternatives that accept nothing are dropped, unless a `$ref` names one by its number.
            if isinstance(arms, list) and f"#{pointer}/{keyword}/" not in text:
                arms = [arm for arm in arms if arm is not False]
            outside.setdefault(pointer, {})[keyword] = arms
    return outside


def _value_at_pointer(schema: Any, pointer: str) -> Any:
    for step in pointer_steps(pointer):
        schema = schema[int(step) if isinstance(schema, list) else step]
    return schema


def _missing_annotations(
    schema: JsonObject, choices: Mapping[Path, Inferred], seen: Observed | None
) -> dict[str, JsonObject]:
    """Return the annotations to add to a schema, each with a comment that says why.

    The result maps the JSON Pointer of an object in the schema to the keys that are added to this
    object.
    """
    added = {}
    for path, choice in choices.items():
        place = _value_at(schema, path)
        values = seen and seen.find_field(choice.path)
        why = f"{choice.reason} ({_facts_of(values)})" if values else choice.reason
        earlier_comment = f"{place[COMMENT]}; " if COMMENT in place else ""
        keys = {key: value for key, value in choice.annotations().items() if key not in place}
        added[json_pointer(path)] = {**keys, COMMENT: earlier_comment + why}
    return added


def _facts_of(seen: Observed) -> str:
    """Describe a field's values, for example: `seen: 5 values, 2 null, 3 different`.

    The three numbers are the number of values that are not null, the number of nulls, and the
    number of distinct texts. The number of nulls or of texts is left out if it is 0 or unknown.
    """
    count = seen.total - seen.kinds["null"]
    facts = [f"{count} value{'s' * (count != 1)}"]
    if seen.kinds["null"]:
        facts.append(f"{seen.kinds['null']} null")
    if seen.values:
        facts.append(f"{len(seen.values)} different")
    return "seen: " + ", ".join(facts)


def _make_suggestions(schema: Any, seen: Observed, path: Path = ()) -> Iterator[Suggestion]:
    """Yield suggestions of two kinds: texts to count as absent values, and keys of list items.

    The texts are, for example, `N/A`. The keys are fields whose values are unique in each list.
    `seen` has statistics of the values that the schema at `path` describes.
    """
    if seen.absent_texts:
        absent: JsonObject = {annotated("absent_values"): [*sorted(seen.absent_texts)]}
        yield Suggestion(
            json_pointer(path), absent, "these texts usually mean that there is no value"
        )
    for name, field_schema in schema.get("properties", {}).items():
        if (field_values := seen.fields.get(name)) is not None:
            yield from _make_suggestions(field_schema, field_values, (*path, "properties", name))
    if "additionalProperties" in schema:
        place = (*path, "additionalProperties")
        yield from _make_suggestions(schema["additionalProperties"], seen.merged_fields, place)
    if "items" in schema and seen.elements is not None:
        if keys := _keys_of_items(seen):
            fields = "the field" if len(keys) == 1 else "each of the fields"
            reason = (
                f"in each of {seen.n_lists} lists, every item has a different value in {fields} "
                f"{join_some(keys)}"
            )
            key: JsonObject = {annotated("key"): keys[0]} if keys[0] == item_key(seen) else {}
            if not key:
                subject = "the field" if len(keys) == 1 else "one of them"
                value = f": {json.dumps(keys[0])}" if len(keys) == 1 else " with its name"
                annotation = f"{json.dumps(annotated('key'))}{value}"
                reason += f"; if {subject} identifies an item, add {annotation}"
            yield Suggestion(json_pointer(path), key, reason)
        yield from _make_suggestions(schema["items"], seen.elements, (*path, "items"))


def _keys_of_items(seen: Observed) -> list[str]:
    """Return the fields that could identify list items, the most likely first.

    Such a field is in all items, and no two items of a list have the same value in it.
    """
    if seen.n_lists < LISTS or seen.elements is None:
        return []
    fields, items = seen.elements.fields, seen.elements.kinds["object"]
    n_present = {name: field.total - field.kinds["null"] for name, field in fields.items()}
    likely_key = item_key(seen)
    running_numbers = seen.shape.running_numbers
    unique_names = (name for name, lists in seen.n_lists_by_key.items() if lists == seen.n_lists)
    keys = (name for name in unique_names if name not in running_numbers)
    return sorted(
        (name for name in keys if n_present[name] == items), key=lambda name: name != likely_key
    )


def _conclude(annotated: int, elsewhere: int, settings: InitSettings) -> None:
    place = f" in {settings.output}" if settings.output else ""
    if annotated:
        places = f"{annotated} place{'s' * (annotated != 1)}"
        warn(f"annotations added in {places}{place}; the reasons are in {COMMENT}")
    else:
        warn("the schema already says how to compare every field, so nothing was added")
    if elsewhere:
        noun, verb = ("places", "are") if elsewhere > 1 else ("place", "is")
        places = f"{elsewhere} more {noun} for annotations {verb}"
        warn(f"{places} in other files, which were not changed: run stickler init on those files")


def interview(choices: Mapping[Path, Inferred], seen: Observed | None) -> dict[Path, Inferred]:
    """Ask the user about each inferred choice; return the choices that the user wants."""
    warn(LEGEND)
    kept: dict[Path, Inferred] = {}
    ended = False
    n_asked = sum(bool(choice.comparator) for choice in choices.values())
    number = 0
    for place, choice in choices.items():
        if not choice.comparator:  # about the list, not about its values
            kept[place] = choice
            continue
        number += 1
        answer = None if ended else _ask_about(f"field {number} of {n_asked}", choice, seen)
        ended = answer is None
        if answer != LEFT_OUT:
            kept[place] = answer if isinstance(answer, Inferred) else choice
    return kept


def _accepts(suggestion: Suggestion) -> bool:
    """Ask the user whether to add a suggested annotation. If the input ends, the answer is no."""
    if not suggestion.annotation:
        return False
    warn("")
    warn(f"{suggestion.pointer or '/'}: {suggestion}")
    warn(
        "    type y to add this annotation to the schema; press Enter to write it only as a comment"
    )
    return sys.stdin.readline().strip().lower() in YES


def _ask_about(number: str, choice: Inferred, seen: Observed | None) -> Inferred | str | None:
    """Ask the user about a choice, until the answer is valid.

    Return the choice with the user's changes.

    Return `LEFT_OUT` if the user refuses the choice, and None if the input ends.
    """
    values = seen and seen.find_field(choice.path)
    warn("")
    threshold = "" if choice.threshold is None else f", threshold {setting(choice.threshold)}"
    warn(f"{number}, {field_path(choice.path)}: suggestion: {choice.compared_by}{threshold}")
    warn(f"    {choice.reason}")
    if values:
        examples = ", ".join(sorted(values.values or ())[:SHOWN])
        warn(f"    {_facts_of(values)}" + (f": {examples}" if examples else ""))
    while line := sys.stdin.readline():
        words = line.split()
        if words == [LEFT_OUT]:
            return LEFT_OUT
        try:
            return _change_choice(choice, words)
        except ValueError as error:
            warn(f"    {error}")
    return None


def _change_choice(choice: Inferred, words: list[str]) -> Inferred:
    """Change a choice as the user says; `words` are the words of the answer. Return the new choice.

    Raises ValueError if the words are not valid.
    """
    for word in words:
        try:
            threshold = float(word)
        except ValueError:
            try:
                comparator_class(word)
            except UnknownComparatorError as error:
                raise ValueError(
                    f"{word} is not a comparator; {error.hint or error.expected}"
                ) from None
            choice = replace(choice, comparator=word, config={}, threshold=None, reason=BY_HAND)
        else:
            if not 0 <= threshold <= 1:
                raise ValueError(f"{word} is not a threshold in [0, 1]")
            choice = replace(choice, threshold=threshold, reason=BY_HAND)
    return choice

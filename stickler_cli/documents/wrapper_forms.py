"""Forms of wrappers: which objects wrap a value, and which of their keys are metadata.

The forms are described in docs/confidence.md, "Values with metadata".
"""

import re
from collections.abc import Mapping
from typing import Final, NamedTuple

from stickler_cli.core.json_values import JsonValue

AZURE: Final = "azure"
"""Name of Azure's form. Its value key depends on the type of the value, such as `valueDate`."""


class Form(NamedTuple):
    """How an extractor wraps a value, such as `{"value": 5, "confidence": 0.9}`."""

    value: str
    """Key under which the value is stored."""
    confidence: str
    """Key under which the confidence is stored."""
    family: str = ""
    """Name of the form. If it is empty, the key of the value is the name."""

    @property
    def name(self) -> str:
        """The name under which values in this form are counted."""
        return self.family or self.value


OWN: Final = Form("_value", "_confidence")
"""Form of stickler-eval: every object with the key `_value` is a wrapper."""

NO_FORM: Final = Form("", "", "none")
"""Form for documents in which no object is a wrapper. All values stay as they are."""

_GOOGLE: Final = Form("mentionText", "confidence")
_TEXTRACT: Final = Form("Text", "Confidence")

USUAL: Final = (
    Form("value", "confidence"),
    Form("content", "confidence"),
    Form("Value", "Confidence"),
    _TEXTRACT,
    _GOOGLE,
)
"""Forms of objects that have a value key, a confidence key, and otherwise only metadata."""

_TYPE: Final = "type"
_CONTENT: Final = "content"
_CONFIDENCE: Final = "confidence"

WRAPPER_KEYS: Final = frozenset((OWN.value, _TYPE, *(form.confidence for form in USUAL)))
"""Each wrapper has at least one of these keys. An object with several values and metadata also has
at least one of these keys."""

# Source: Azure AI Document Intelligence 2024-11-30, DocumentFieldType; Content Understanding
# 2025-05-01, ContentFieldType.
_AZURE_TYPES: Final = frozenset(
    (
        *("address", "array", "boolean", "countryRegion", "currency", "date", "integer", "json"),
        *("number", "object", "phoneNumber", "selectionGroup", "selectionMark", "signature"),
        *("string", "time"),
    )
)
_AZURE_VALUE_KEYS: Final = frozenset(f"value{name[0].upper()}{name[1:]}" for name in _AZURE_TYPES)
_AZURE_EVIDENCE: Final = frozenset((_CONFIDENCE, "spans", "boundingRegions"))
"""If an object has the key `type` and one of these keys, it has Azure's form. Objects of another
origin are unlikely to have one of these keys beside `type`."""

# Source: Azure Form Recognizer 2.1, FieldValue of analyzeResult.documentResults.
_FORM_RECOGNIZER_KEYS: Final = frozenset((_CONFIDENCE, "text"))
_FORM_RECOGNIZER_EVIDENCE: Final = frozenset(("boundingBox", "elements", "page"))
_FORM_RECOGNIZER_TEXTS: Final = frozenset(("elements", "text"))
"""Metadata keys of Form Recognizer that other forms do not have: the printed text, and pointers to
its words."""

_METADATA: Final = re.compile(
    r"_.*|\w*confidences?|bounding_?(box(es)?|poly|regions?)|bbox|geometry|polygon|offset|length"
    r"|spans?|page(s|_?number|_?anchor)?|raw_?text|text_?anchor|mention_?id|citations?|provenance"
    r"|source",
    re.IGNORECASE,
)
"""Pattern of keys with the confidence of a value, or with its position on the page."""

_NORMALIZED: Final = re.compile(r"normalized_?value", re.IGNORECASE)
"""Pattern of a metadata key that only objects of Google's and Textract's forms have."""

_OTHER_VALUES: Final = re.compile(r"type|kind|id|unit|text|value.*", re.IGNORECASE)
"""Pattern of keys that may hold a further value, beside the value key of the same object. For
example, in `{"value": 5, "unit": "kg", "confidence": 0.9}`, the key `unit` holds a value and not
metadata."""


def find_form(value: Mapping[str, JsonValue], *, in_azure_document: bool = False) -> Form | None:
    """Return the form in which an object wraps a value; None if it is not a wrapper.

    `in_azure_document` tells whether another object of the document has Azure's form. If so, an
    object with only `type` and metadata is a wrapper of an absent value.
    """
    if OWN.value in value:
        return OWN
    if azure_form := _find_azure_form(value, in_azure_document=in_azure_document):
        return azure_form
    forms = _find_usual_forms(value)
    if len(forms) != 1:
        return None
    (form,) = forms
    other_keys = value.keys() - {form.value, form.confidence}
    return form if all(_is_metadata(key, form) for key in other_keys) else None


def find_metadata_keys(value: Mapping[str, JsonValue]) -> tuple[str, frozenset[str]] | None:
    """Return (confidence key, metadata keys) of an object that wraps more than one value.

    Such an object has a value key with a confidence, and a further key such as `type` or `unit`.
    The metadata keys include the confidence key. None for all other objects.
    """
    forms = _find_usual_forms(value)
    if len({form.confidence for form in forms}) != 1:
        return None
    confidence = forms[0].confidence
    value_keys = {form.value for form in forms}
    other_keys = value.keys() - value_keys - {confidence}
    if len(value_keys) == 1 and not any(map(_OTHER_VALUES.fullmatch, other_keys)):
        return None
    metadata = frozenset(key for key in other_keys if _is_metadata(key, forms[0]))
    return confidence, metadata | {confidence}


def has_azure_values(document: JsonValue) -> bool:
    """Return whether any object of a document has Azure's form and a value key."""
    pending = [document]
    while pending:
        value = pending.pop()
        if isinstance(value, dict):
            form = _find_azure_form(value)
            if form is not None and form.value in _AZURE_VALUE_KEYS & value.keys():
                return True
            pending += value.values()
        elif isinstance(value, list):
            pending += value
    return False


def is_bare_azure_type(value: Mapping[str, JsonValue]) -> bool:
    """Return whether an object may be either a wrapper of Azure's form or an ordinary value.

    An example is `{"type": "string"}`, which is an ordinary value in a JSON Schema. Such an object
    is a wrapper only if another object of the same document certainly has Azure's form.
    """
    form = _find_azure_form(value, in_azure_document=True)
    return form is not None and _find_azure_form(value) is None


def _find_usual_forms(value: Mapping[str, JsonValue]) -> list[Form]:
    return [form for form in USUAL if form.value in value and form.confidence in value]


def _is_metadata(key: str, form: Form) -> bool:
    is_normalized = form in (_GOOGLE, _TEXTRACT) and _NORMALIZED.fullmatch(key) is not None
    return is_normalized or _METADATA.fullmatch(key) is not None


def _find_azure_form(
    value: Mapping[str, JsonValue], *, in_azure_document: bool = False
) -> Form | None:
    """Return Azure's form with the value key of this object; None if the object has another form.

    The value key is the key for a typed value, such as `valueDate`. If the object has no such key,
    the value key is `content`. If the object does not have `content` either, the wrapped value is
    absent, and the value key follows from the type: `valueDate` for `date`.
    """
    type_name = value.get(_TYPE)
    if not isinstance(type_name, str) or type_name not in _AZURE_TYPES:
        return None
    value_keys = _AZURE_VALUE_KEYS & value.keys()
    other_keys = value.keys() - value_keys - {_TYPE, _CONTENT}
    if (
        value_keys
        and other_keys >= _FORM_RECOGNIZER_KEYS
        and not _FORM_RECOGNIZER_EVIDENCE.isdisjoint(other_keys)
    ):
        other_keys -= _FORM_RECOGNIZER_TEXTS
    if len(value_keys) > 1 or not all(map(_METADATA.fullmatch, other_keys)):
        return None
    if value_keys:
        (value_key,) = value_keys
    elif not in_azure_document and _AZURE_EVIDENCE.isdisjoint(other_keys):
        return None  # it may be a value itself, as in a JSON Schema
    elif _CONTENT in value:
        value_key = _CONTENT
    else:
        value_key = f"value{type_name[0].upper()}{type_name[1:]}"
    return Form(value_key, _CONFIDENCE, AZURE)

"""The documents of a schema as the engine judges by them, and a part of them to judge by."""

from collections.abc import Iterator, Mapping
from functools import cached_property, reduce
from hashlib import sha256
from operator import getitem
from typing import Any, ClassVar

from stickler_cli.core.json_values import JsonDocument, JsonValue
from stickler_cli.core.locations import Path
from stickler_cli.core.values import dataclass
from .apart import APART, Apart
from .dialects import Dialect, Schema
from .judging import Error, Formats, Registry, Validator, build, is_valid, registry_of


class Documents:
    """All documents of a schema; what judges by any part of them shares them."""

    def __init__(
        self,
        by_uri: Mapping[str, tuple[JsonValue, Dialect]],
        renamed: Mapping[int, str],
        apart: Mapping[int, str],
    ) -> None:
        """Take documents, which may grow until the first question, with their dialects.

        They go by the URI that they give themselves; `renamed` has what a `$ref` in them is
        instead, by identity of its schema, and `apart` to what one leads that is judged apart.
        """
        self._by_uri = by_uri
        self._renamed = renamed
        self._apart = apart
        self._parts: dict[tuple[type[Part], str], Part] = {}
        self._apart_by_kind: dict[type[Part], Apart] = {}
        self.looks_back = False
        """Whether what a schema says may depend on what refers to it; nothing is apart then."""

    def __reduce__(self) -> tuple[Any, ...]:
        by_uri = {uri: (each, self._by_uri[uri][1]) for uri, each in self.contents.items()}
        return Documents, (by_uri, {}, {})

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Documents) and self._digest == other._digest)

    __hash__ = None  # type: ignore[assignment] # it grows while a plan is compiled

    @property
    def are_bounded(self) -> bool:
        """Whether verdicts take time in proportion to the values, as far as is known here."""
        return not (self.looks_back and self._apart)

    @cached_property
    def contents(self) -> dict[str, JsonValue]:
        """The documents as the engine takes them; a `$schema` of the user's own is replaced."""
        apart = {} if self.looks_back else self._apart

        def taken(value: JsonValue, dialect: Dialect) -> JsonValue:
            if isinstance(value, list):
                return [taken(part, dialect) for part in value]
            if not isinstance(value, dict):
                return value
            copied = {name: taken(part, dialect) for name, part in value.items()}
            own, target = self._renamed.get(id(value)), apart.get(id(value))
            if target is not None:
                # What is void beside a `$ref` must be so beside this, too.
                kept = ("$defs", "definitions") if dialect.alone else copied.keys() - {"$ref"}
                return {**{name: copied[name] for name in kept if name in copied}, APART: target}
            return copied if own is None else {**copied, "$ref": own}

        return {
            uri: {**document, "$schema": dialect.uri} if isinstance(document, dict) else document
            for uri, (contents, dialect) in self._by_uri.items()
            for document in [taken(contents, dialect) if self._renamed or apart else contents]
        }

    def part(self, kind: "type[Part]", reference: str) -> "Part":
        """Return what judges by a part of the documents, the same each time."""
        if (kind, reference) not in self._parts:
            _, dialect = self._by_uri[reference.partition("#")[0]]
            self._parts[kind, reference] = kind(reference, dialect, self)
        return self._parts[kind, reference]

    def apart(self, kind: "type[Part]") -> Apart:
        """Return what judges by all parts of a kind that are apart from what refers to them."""

        def accepts(reference: str, value: JsonValue) -> bool:
            return is_valid(self.part(kind, reference).validator, value)

        return self._apart_by_kind.setdefault(kind, Apart(accepts))

    @cached_property
    def _digest(self) -> str:
        """A plan holds many acceptors, and documents may be large."""
        return sha256(repr(self.contents).encode()).hexdigest()

    @cached_property
    def registry(self) -> Registry:
        """The documents for the engine, which may refuse them with an EngineError."""
        return registry_of(self.contents)


@dataclass(frozen=True)
class Part:
    """A schema inside documents, for values to be held against; picklable."""

    formats: ClassVar[Formats] = {}
    reference: str
    """An absolute reference to the schema."""
    dialect: Dialect
    documents: Documents

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.reference, self.dialect, self.documents)

    @cached_property
    def _apart(self) -> Apart:
        return self.documents.apart(type(self))

    @cached_property
    def validator(self) -> Validator:
        """The validator of the schema, built when first asked for; see `build`."""
        registry = self.documents.registry
        # As the whole document it is known to be the outermost, which `$recursiveRef` looks for.
        base = self.reference.removesuffix("#")
        whole = self.documents.contents.get(base)
        schema: Schema = whole if isinstance(whole, dict) else {"$ref": self.reference}
        return build(
            schema,
            self.dialect,
            registry=registry,
            base=base,
            formats=self.formats,
            keywords=self._apart.keywords,
        )

    def is_valid(self, value: JsonValue) -> bool:
        """Return whether a value is valid, as the function of that name does."""
        return self._apart.settled(lambda: is_valid(self.validator, value))

    def errors(self, document: JsonDocument) -> Iterator[tuple[Error, Path, Path]]:
        """Yield what is wrong with a document, with its path in the schema and in the document.

        Raises:
            ValueError: it holds what the engine cannot name.
        """

        def found(part: Part, value: JsonValue, *above: Path) -> list[tuple[Error, Path, Path]]:
            errors = self._apart.settled(lambda: list(part.validator.iter_errors(value)))
            return [
                (each, (*above[0], *each.evaluation_path), (*above[1], *each.instance_path))
                for each in reversed(errors)
            ]

        waiting, told = found(self, document, (), ()), set()
        while waiting:
            error, steps, place = waiting.pop()
            if error.kind.name == APART:  # its message is the reference
                if (error.message, place) in told:
                    continue
                told.add((error.message, place))
                value: Any = reduce(getitem, place, document)  # type: ignore[arg-type]
                waiting += found(
                    self.documents.part(type(self), error.message), value, steps, place
                )
            else:
                yield error, steps, place

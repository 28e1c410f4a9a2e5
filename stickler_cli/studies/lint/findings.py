"""The rules of lint, its findings, and their record and report.

Findings are kept in a bounded amount of memory.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from stickler_cli.core.figures import INFERRED_FROM, number_of
from stickler_cli.core.json_values import Gold, JsonDocument
from stickler_cli.core.locations import Path, field_path, json_pointer
from stickler_cli.core.problems import Problem
from stickler_cli.core.rules import Count, Some
from stickler_cli.core.sections import (
    INDENT,
    Block,
    FigureColumn,
    Figures,
    Report,
    Text,
    Tone,
)
from stickler_cli.documents.document import FileReference, LineReference, Reference, bytes_of
from stickler_cli.documents.reading import BOM, MAX_DOCUMENT_BYTES, lines_in
from stickler_cli.schema.loading import LoadedSchema
from stickler_cli.studies.study import StudyRecord

Severity = Literal["error", "warning", "note"]


@dataclass(frozen=True, slots=True)
class FoundRecord:
    """One location of a finding."""

    file: str
    """The file of the document, or of the schema."""
    line: int | None
    """The line; null if it is unknown."""
    pointer: str | None
    """JSON Pointer to the value in the document. Null if the finding is about several values."""
    found: str
    """The value at the location, or a description of it."""
    expected: str
    """What is expected instead. Empty if the advice of the finding says it."""


@dataclass(frozen=True, slots=True)
class FindingRecord:
    """The findings of one rule in one field."""

    rule: str
    """Name of the rule, as `--ignore` takes it."""
    severity: Severity
    """Severity of the rule."""
    field: str
    """Path of the field without list indexes; empty for whole documents."""
    means: str
    """Description of the defect."""
    advice: str
    """Advice on how to mend the defect."""
    count: Some
    """Number of locations."""
    places: list[FoundRecord]
    """The first locations, at most a hundred."""


@dataclass(frozen=True, slots=True)
class LintRecord(StudyRecord):
    """Mistakes in a schema and its ground truth, as `stickler lint --format json` writes them."""

    format: Literal["stickler-lint/1"]
    schema: str
    """The file of the schema."""
    gt: str
    """The ground truth, as the user named it."""
    documents: Count
    """Number of documents."""
    findings: list[FindingRecord]
    """All findings, the worst first."""
    notes: list[str]
    """Notes on omitted checks, and problems of the source."""


_TONES: Final[dict[Severity, Tone]] = {"error": "bad", "warning": "warn", "note": "dim"}


def _row_column(name: str, side: int) -> FigureColumn:
    """Return a column of the table of findings. It shows the attribute `name`.

    A row of the table is a pair: a finding, and one location of the finding. If `side` is 0, the
    attribute is read from the finding. If `side` is 1, it is read from the location.
    """
    return FigureColumn(name, lambda row: getattr(row[side], name), int if name == "line" else str)


# A row is a pair of a finding and one of its locations.
_ROWS: Final = (
    *(_row_column(name, 0) for name in ("rule", "severity", "field")),
    *(_row_column(name, 1) for name in ("file", "line", "pointer", "found", "expected")),
)


def make_report(record: LintRecord, max_places: int) -> Report:
    """Return the report of all findings, with the first locations and the advice of each."""
    n_findings = Counter(finding.severity for finding in record.findings)
    counts = [
        number_of(n_findings[severity], severity) for severity in SEVERITIES if n_findings[severity]
    ]
    preposition = ", schema" if record.schema.startswith(INFERRED_FROM) else " checked against"
    documents = number_of(record.documents, "document")
    head = f"{record.gt}: {documents}{preposition} {record.schema}"
    summary = [Text(", ".join(counts) or "nothing found")]
    sections = ([*_finding_blocks(finding, max_places)] for finding in record.findings)
    rows = [(finding, place) for finding in record.findings for place in finding.places]
    return Report.of_study(record, head, summary, *sections, rows=Figures(_ROWS, rows))


def _finding_blocks(finding: FindingRecord, max_places: int) -> Iterator[Block]:
    """Yield what the report shows of a finding: a sentence, the first locations, and advice."""
    tone = _TONES[finding.severity]
    yield Text(f"{finding.severity}[{finding.rule}] {sentence(finding)}", lead=tone, indent=INDENT)
    first_places = finding.places[:max_places]
    for place in first_places:
        yield Text(f"{_location_text(place)}: {found_text(place)}", indent=INDENT, margin=INDENT)
    if finding.count > len(first_places):
        yield Text(f"and {finding.count - len(first_places)} more", "dim", margin=INDENT)
    yield Text(text=f"-> {finding.advice}", tone="dim", indent=INDENT, margin=INDENT)


def sentence(finding: FindingRecord) -> str:
    """Return a sentence that describes a finding and counts its locations."""
    field = f"{finding.field}: " if finding.field else ""
    times = f" ({finding.count} places)" if finding.count > 1 else ""
    return f"{field}{finding.means}{times}"


def found_text(place: FoundRecord) -> str:
    """Return the value at a location as text, with what is expected instead."""
    expected = f", expected {place.expected}" if place.expected else ""
    return f"{place.found}{expected}"


def _location_text(place: FoundRecord) -> str:
    """Return file, line and pointer of a location as text."""
    line = f":{place.line}" if place.line else ""
    file = f"schema {place.file}" if place.file.startswith(INFERRED_FROM) else place.file
    return " ".join(filter(None, (f"{file}{line}", place.pointer or "")))


MAX_PLACES: Final = 100
"""Maximum number of locations that are kept for a finding. Others are only counted."""


@dataclass(frozen=True, slots=True)
class LintRule:
    """A kind of mistake that lint looks for."""

    severity: Severity
    means: str
    """Description of the defect, as a clause."""
    advice: str
    """Advice on how to mend the defect, as a clause."""


RULES: Final = {
    "unusable-document": LintRule(
        "error",
        "documents that cannot be evaluated",
        "correct or remove these documents; otherwise runs end with exit code 3",
    ),
    "duplicate-id": LintRule(
        "error",
        "two documents with the same id",
        "give each document a different id; only one document of each id counts",
    ),
    "never-matches": LintRule(
        "error",
        "values that do not match even themselves, so every prediction counts as wrong",
        "correct the values, or give the field a comparator that can read them",
    ),
    "unreadable-value": LintRule(
        "error",
        "values that the comparator cannot read, so only exactly the same value counts as right",
        "correct the values, or give the field a comparator that can read them",
    ),
    "unreachable-threshold": LintRule(
        "error",
        "no ground-truth value of the field reaches the threshold, even when compared with itself",
        "lower the threshold, or choose another comparator",
    ),
    "wrong-kind": LintRule(
        "error",
        "values whose type differs from the type in the schema",
        ("correct the values, or the type in the schema"),
    ),
    "not-listed": LintRule(
        "warning",
        "values that are not in the list (enum) of the schema",
        ("correct the values, or add them to the enum"),
    ),
    "wrong-format": LintRule(
        "warning",
        "values that do not match the format or pattern in the schema",
        ("correct the values, or the format or pattern in the schema"),
    ),
    "out-of-range": LintRule(
        "warning",
        "values outside the limits that the schema sets",
        ("correct the values, or the limits in the schema"),
    ),
    "missing-required": LintRule(
        "note",
        "values that the schema requires are missing",
        ("add the values, or do not list them as required"),
    ),
    "not-valid": LintRule(
        "warning", "values that the schema does not allow", "correct the values, or the schema"
    ),
    "undeclared-key": LintRule(
        "warning",
        "keys that the schema does not declare, so they are never compared",
        "declare the keys in the schema, or remove them",
    ),
    "duplicate-key": LintRule(
        "warning",
        "objects that have the same key twice",
        ("remove one of the two keys; only the last one counts"),
    ),
    "duplicate-value": LintRule(
        "warning",
        "several documents with the same value in an id field",
        "give each document a unique id",
    ),
    "duplicate-document": LintRule(
        "warning",
        "documents with the same content as another document",
        "keep only one document: copies count twice, and make intervals too narrow",
    ),
    "near-duplicate": LintRule(
        "warning",
        "documents that share nearly all of their distinctive values with another document",
        "check whether the documents are copies, and keep only one",
    ),
    "duplicate-item-key": LintRule(
        "warning",
        "list items that have the same key as another item of the list",
        "correct the items, or name more fields in x-aws-stickler-key",
    ),
    "absent-item-key": LintRule(
        "warning",
        "list items without a value for the list's key, so they are paired by similarity",
        "add the missing key values, or name another field in x-aws-stickler-key",
    ),
    "equal-alternatives": LintRule(
        "warning",
        "lists of right values (any-of) that contain the same value twice",
        ("remove one of the two equal values"),
    ),
    "unmet-alias": LintRule(
        "note",
        (
            "names in the schema that do not occur in the ground truth, and whose aliases do "
            "not occur either"
        ),
        "check the spelling of the names, or remove them",
    ),
    "text-for-null": LintRule(
        "warning",
        'texts that usually mean "no value", but are compared like values',
        "write null, leave out the key, or list the texts in x-aws-stickler-absent-values",
    ),
    "mixed-absence": LintRule(
        "note",
        "missing values that are written in several ways (all of these ways count the same)",
        "choose one way to write missing values, so that people and other programs agree",
    ),
    "null-not-allowed": LintRule(
        "note",
        "null where the schema does not allow null; it counts as absent",
        "leave out the key, or allow null in the schema",
    ),
    "outlier": LintRule(
        "warning",
        "values that are far from all other values of the field",
        "check whether these values are mistakes",
    ),
    "odd-format": LintRule(
        "note",
        "values that are written differently from all other values of the field",
        "check whether these values are mistakes",
    ),
    "mixed-date-order": LintRule(
        "warning",
        "some dates have the day first, but others in the same field have the month first",
        "write all dates of a field in the same order; until then, both orders are tried",
    ),
    "inconsistent-spelling": LintRule(
        "warning",
        "values that are spelt differently elsewhere in the same field",
        "choose one spelling",
    ),
    "forgiving-text": LintRule(
        "warning",
        "codes, numbers or years that are compared as ordinary texts, so a wrong digit may pass",
        "use ExactComparator or NumericComparator, or set same_digits in the comparator-config",
    ),
    "letters-decide": LintRule(
        "note",
        "long texts that are compared by edit distance, so a wrong word or number may pass",
        (
            "set same_words and same_digits in the comparator-config, or use a comparator "
            "that asks a model"
        ),
    ),
    "numbers-decide": LintRule(
        "note",
        "texts that count as wrong if they differ in a number or in the unit of a number",
        "if numbers do not matter, give the field another comparator or comparator-config",
    ),
    "words-tolerated": LintRule(
        "note",
        (
            "long texts (at least 50 words, not counting words such as 'the') that count as right "
            "although one or two words differ"
        ),
        "set same_letters in the comparator-config, or use a comparator that asks a model",
    ),
    "letters-tolerated": LintRule(
        "note",
        (
            "texts that count as right although a word is missing, is added, or differs by one "
            "letter (as Ford and Fjord do)"
        ),
        (
            "set same_letters in the comparator-config; if no word may be missing, also "
            "raise the threshold"
        ),
    ),
    "threshold-zero": LintRule("warning", "the threshold is 0, so every value passes", "raise it"),
    "threshold-below-floor": LintRule(
        "warning",
        (
            "list items with a similarity at or below the pairing floor are never paired, so "
            "this lower threshold has no effect"
        ),
        "raise the threshold, or lower the pairing floor",
    ),
    "irrelevant-weight": LintRule(
        "warning",
        (
            "the weight of this field is so small, compared with other fields of the object, "
            "that the field has no influence"
        ),
        "raise the weight, or exclude the field with x-aws-stickler-ignore: true",
    ),
}
"""The rules of lint. Keys are the names that users see, which must never change."""

SEVERITIES: Final[tuple[Severity, ...]] = ("error", "warning", "note")
"""Severities of rules, the worst first."""

_ORDER: Final = sorted(RULES, key=lambda rule: SEVERITIES.index(RULES[rule].severity))


@dataclass(frozen=True, slots=True)
class Spot:
    """A location: a document, and a JSON Pointer to a value in the document."""

    reference: Reference
    pointer: str = ""

    @property
    def name(self) -> str:
        """The name of the file, with the line number in JSON Lines."""
        line = f":{self.reference.line}" if isinstance(self.reference, LineReference) else ""
        return f"{self.reference.source}{line}"


@dataclass(frozen=True, slots=True)
class Document:
    """A document of the ground truth."""

    reference: Reference
    value: JsonDocument
    root: str = ""
    """The JSON Pointer to the document in its file or line."""
    gold: Gold | None = None
    """Annotations of the ground truth, such as alternatives; None if the document has none."""

    def spot(self, place: Path | str = ()) -> Spot:
        """Return the location of a value in the document, given its path or its JSON Pointer."""
        pointer = place if isinstance(place, str) else json_pointer(place)
        return Spot(self.reference, self.root + pointer)


class Findings:
    """Collects findings for each rule and field, in a bounded amount of memory."""

    def __init__(self, schema: LoadedSchema) -> None:
        """Create an empty collection of findings. `schema` is the schema of the documents."""
        self._counts = Counter[tuple[str, str]]()
        self._kept: defaultdict[tuple[str, str], list[tuple[Spot, Problem]]] = defaultdict(list)
        self._schema = schema.path
        self._stands = {
            field_path(field.path): field.stands[0] for field in schema.fields if field.stands
        }

    def add(  # noqa: PLR0913, PLR0917 - rule, field, place and finding
        self,
        rule: str,
        path: str,
        spot: Spot,
        found: str,
        expected: str = "",
        times: int = 1,
    ) -> None:
        """Add a finding at a location in a document.

        `path` is the path of the field. `times` counts equal findings that are added at once.
        """
        problem = Problem(spot.reference.source, found, expected, pointer=spot.pointer)
        self.add_problem(rule, spot, problem, path, times)

    def add_problem(
        self, rule: str, spot: Spot, problem: Problem, path: str = "", times: int = 1
    ) -> None:
        """Add the problem of a document as a finding.

        `path` is the field that has the problem. It is empty if the problem is not in a field.
        """
        self._counts[rule, path] += times
        if len(kept := self._kept[rule, path]) < MAX_PLACES:
            kept.append((spot, problem))

    def add_of_schema(self, rule: str, path: str, found: str, expected: str = "") -> None:
        """Add a finding about the schema itself. `path` is the path of the field in the schema."""
        problem = Problem(self._schema, found, expected, pointer=self._stands.get(path))
        spot = Spot(FileReference(self._schema, MAX_DOCUMENT_BYTES))
        self.add_problem(rule, spot, problem, path)

    def make_records(self) -> list[FindingRecord]:
        """Return the records of all findings with their locations. The worst finding is first."""
        lines = self._find_lines()
        records = []
        for name, path in sorted(self._kept, key=lambda key: (_ORDER.index(key[0]), key[1])):
            count, rule = self._counts[name, path], RULES[name]
            places = [
                FoundRecord(
                    file=problem.source,
                    line=_line_of(spot.reference, problem, lines),
                    pointer=problem.pointer,
                    found=problem.found,
                    expected=problem.expected,
                )
                for spot, problem in self._kept[name, path]
            ]
            records.append(
                FindingRecord(
                    rule=name,
                    severity=rule.severity,
                    field=path,
                    means=rule.means,
                    advice=rule.advice,
                    count=count,
                    places=places,
                )
            )
        return records

    def _find_lines(self) -> dict[tuple[str, str], int]:
        """Return a dict from (file, JSON Pointer) to the line number of each value with a finding.

        Only files with a single document are read again. If a file has one document on each line,
        line numbers are already known.
        """
        wanted: defaultdict[FileReference, set[str]] = defaultdict(set)
        for kept in self._kept.values():
            for spot, problem in kept:
                if isinstance(spot.reference, FileReference) and problem.pointer is not None:
                    wanted[spot.reference].update(_with_parents(problem.pointer))
        lines: dict[tuple[str, str], int] = {}
        for reference, pointers in wanted.items():
            data = bytes_of(reference)
            if isinstance(data, bytes):
                line_of_pointer = lines_in(data.removeprefix(BOM), pointers)
                lines |= {
                    (reference.file, pointer): line for pointer, line in line_of_pointer.items()
                }
        return lines


def _line_of(
    reference: Reference, problem: Problem, lines: Mapping[tuple[str, str], int]
) -> int | None:
    """Return the line of a value that has a problem, or None if no line is known.

    If the line of the value itself is unknown, the innermost object or list around it with a known
    line is used. `lines` is the result of `_find_lines`.
    """
    match reference:
        case FileReference() if problem.pointer is not None:
            places = ((reference.file, pointer) for pointer in _with_parents(problem.pointer))
            return next((lines[place] for place in places if place in lines), None)
        case LineReference():
            return reference.line
        case _:
            return problem.line


def _with_parents(pointer: str) -> Iterator[str]:
    """Yield a JSON Pointer and the pointers of all its parents. The nearest parent is first."""
    while pointer:
        yield pointer
        pointer = pointer.rpartition("/")[0]
    yield pointer

"""The sets of documents that are timed: for each a schema and a maker of pairs."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random
from typing import Any, Final

from benchmarks.documents import (
    Record,
    amount,
    code,
    day,
    misread,
    mistaken,
    predicted_items,
    words,
)

Schema = dict[str, Any]
Makers = dict[str, Callable[[], Any]]


@dataclass(frozen=True, slots=True)
class DocumentSet:
    """Documents of one shape."""

    name: str
    schema: Schema
    make: Callable[[Random], tuple[Record, Record]]
    """Makes a ground truth and its prediction."""
    documents: int
    """How many take this project one to five seconds."""
    reference_documents: int
    """How many stickler-eval gets through in half a minute or so; 0 where one takes longer."""


@dataclass(frozen=True, slots=True)
class Written:
    """A set on disk."""

    schema: Path
    gt: Path
    pred: Path
    documents: int


def pairs(documents: DocumentSet, count: int, seed: int) -> Iterator[tuple[Record, Record]]:
    """Make the first `count` pairs of a set; the first of 5 are the first of 500."""
    for index in range(count):
        # A string seeds the same generator on every platform and in every process.
        yield documents.make(Random(f"{seed}/{documents.name}/{index}"))


def write(documents: DocumentSet, directory: Path, count: int, seed: int) -> Written:
    """Write schema.json, gt/ and pred/ into a directory."""
    written = Written(directory / "schema.json", directory / "gt", directory / "pred", count)
    written.gt.mkdir(parents=True)
    written.pred.mkdir()
    written.schema.write_text(json.dumps(documents.schema, indent=1), "utf-8")
    for index, (gt, pred) in enumerate(pairs(documents, count, seed)):
        (written.gt / f"{index:06}.json").write_text(json.dumps(gt), "utf-8")
        (written.pred / f"{index:06}.json").write_text(json.dumps(pred), "utf-8")
    return written


def _leaf(kind: str, comparator: str, threshold: float, weight: float) -> Schema:
    return {
        "type": kind,
        "x-aws-stickler-comparator": comparator,
        "x-aws-stickler-threshold": threshold,
        "x-aws-stickler-weight": weight,
        "x-aws-stickler-clip-under-threshold": False,
    }


def _text(threshold: float = 0.75, weight: float = 1.0) -> Schema:
    return _leaf("string", "LevenshteinComparator", threshold, weight)


def _code(weight: float = 1.0) -> Schema:
    return _leaf("string", "ExactComparator", 1.0, weight)


def _number(weight: float = 1.0) -> Schema:
    return _leaf("number", "NumericComparator", 1.0, weight)


def _date(weight: float = 1.0) -> Schema:
    return _leaf("string", "DateComparator", 1.0, weight)


def _object(properties: dict[str, Schema], name: str) -> Schema:
    return {
        "type": "object",
        "x-aws-stickler-model-name": name,
        "x-aws-stickler-match-threshold": 0.7,
        "properties": properties,
    }


def _field(node: Schema) -> Schema:
    """Give an object the annotations of a field."""
    return {
        **node,
        "x-aws-stickler-threshold": 0.7,
        "x-aws-stickler-weight": 1.0,
        "x-aws-stickler-clip-under-threshold": False,
    }


def _objects(properties: dict[str, Schema], name: str, weight: float = 1.0) -> Schema:
    return {
        "type": "array",
        "x-aws-stickler-weight": weight,
        "x-aws-stickler-clip-under-threshold": False,
        "items": _object(properties, name),
    }


def _texts(threshold: float = 0.75) -> Schema:
    return {**_text(threshold), "type": "array", "items": {"type": "string"}}


_ADDRESS: Final = {"street": _text(), "city": _text(), "postal_code": _code(), "country": _code()}
_LINE_ITEM: Final = {
    "description": _text(weight=2.0),
    "sku": _code(),
    "quantity": _number(),
    "unit_price": _number(),
    "amount": _number(),
}
_INVOICE: Final = {
    "document_type": _code(),
    "invoice_number": _code(weight=3.0),
    "issue_date": _date(),
    "due_date": _date(),
    "currency": _code(),
    "supplier_name": _text(weight=2.0),
    "supplier_address": _field(_object(_ADDRESS, "Address")),
    "customer_name": _text(weight=2.0),
    "customer_id": _code(),
    "purchase_order": _code(),
    "payment_terms": _text(),
    "subtotal": _number(),
    "tax": _number(),
    "total": _number(weight=2.0),
    "notes": _text(weight=0.5),
    "tags": _texts(),
    "line_items": _objects(_LINE_ITEM, "LineItem", weight=3.0),
}


def _invoice(random: Random, *, items: int) -> tuple[Record, Record]:
    address: Makers = {
        "street": partial(words, random, 2, 4),
        "city": partial(words, random, 1, 2),
        "postal_code": partial(code, random, 5),
        "country": partial(code, random, 2),
    }
    item: Makers = {
        "description": partial(words, random, 3, 6),
        "sku": partial(code, random),
        "quantity": partial(random.randint, 1, 40),
        "unit_price": partial(amount, random, 200),
        "amount": partial(amount, random),
    }
    invoice: Makers = {
        "document_type": partial(random.choice, ("INVOICE", "RECEIPT")),
        "invoice_number": partial(code, random, 10),
        "issue_date": partial(day, random, 1),
        "due_date": partial(day, random, 1),
        "currency": partial(random.choice, ("EUR", "USD", "JPY", "SEK")),
        "supplier_name": partial(words, random, 2, 4),
        "customer_name": partial(words, random, 2, 4),
        "customer_id": partial(code, random),
        "purchase_order": partial(code, random),
        "payment_terms": partial(words, random, 3, 5),
        "subtotal": partial(amount, random),
        "tax": partial(amount, random),
        "total": partial(amount, random),
        "notes": partial(words, random, 5, 15),
    }
    gt = _made(invoice)
    gt["supplier_address"] = _made(address)
    gt["tags"] = [words(random, 1, 2) for _ in range(5)]
    gt["line_items"] = [_made(item) for _ in range(items)]
    pred = mistaken(random, gt, invoice)
    pred["supplier_address"] = mistaken(random, gt["supplier_address"], address)
    pred["tags"] = predicted_items(
        random, gt["tags"], lambda tag: misread(random, tag) if random.random() < 0.3 else tag
    )
    pred["line_items"] = predicted_items(
        random, gt["line_items"], lambda line: mistaken(random, line, item)
    )
    if random.random() < 0.2:
        del gt["notes"]
        pred.setdefault("notes", words(random, 5, 15))
    return gt, pred


_MEMBER: Final = {"name": _text(), "role": _text(), "hours": _number()}
_TEAM: Final = {"name": _text(), "budget": _number(), "members": _objects(_MEMBER, "Member")}
_DEPARTMENT: Final = {"name": _text(), "head": _text(), "teams": _objects(_TEAM, "Team")}
_COMPANY: Final = {"name": _text(), "departments": _objects(_DEPARTMENT, "Department")}


def _company(random: Random, *, width: int = 5) -> tuple[Record, Record]:
    name = partial(words, random, 1, 3)
    member: Makers = {"name": name, "role": name, "hours": partial(random.randint, 1, 200)}
    team: Makers = {"name": name, "budget": partial(amount, random)}
    department: Makers = {"name": name, "head": name}

    def make(makers: Makers, inner: str = "", *below: Any) -> Record:
        lists = {inner: [make(*below) for _ in range(width)]} if inner else {}
        return _made(makers) | lists

    def predict(record: Record, makers: Makers, inner: str = "", *below: Any) -> Record:
        again = mistaken(random, record, makers)
        if inner:
            again[inner] = predicted_items(
                random, record[inner], lambda item: predict(item, *below)
            )
        return again

    company: Makers = {"name": name}
    levels = (company, "departments", department, "teams", team, "members", member)
    gt = make(*levels)
    return gt, predict(gt, *levels)


_WIDE: Final = {
    f"{kind}_{index:03}": leaf()
    for kind, leaf, count in (("text", _text, 150), ("number", _number, 100), ("code", _code, 50))
    for index in range(count)
}


def _form(random: Random) -> tuple[Record, Record]:
    kinds: Makers = {
        "text": partial(words, random, 1, 5),
        "number": partial(amount, random),
        "code": partial(code, random),
    }
    makers = {name: kinds[name.split("_")[0]] for name in _WIDE}
    gt = _made(makers)
    return gt, mistaken(random, gt, makers)


_REPORT: Final = {
    "title": _text(),
    "summary": _text(),
    "body": _text(),
    "conclusion": _text(),
    "paragraphs": _texts(),
}


def _report(random: Random) -> tuple[Record, Record]:
    paragraph = partial(words, random, 30, 80)
    makers: Makers = {
        "title": partial(words, random, 10, 20),
        "summary": paragraph,
        "body": partial(words, random, 250, 400),
        "conclusion": paragraph,
    }
    gt = _made(makers) | {"paragraphs": [paragraph() for _ in range(8)]}

    def again(text: str) -> str:
        return misread(random, text, len(text) // 8)

    pred = {name: again(gt[name]) for name in makers}
    return gt, pred | {"paragraphs": predicted_items(random, gt["paragraphs"], again)}


_EVENT: Final = {"begins": _date(), "ends": _date(), "title": _text()}
_CALENDAR: Final = {
    **{f"date_{index:02}": _date() for index in range(20)},
    "events": _objects(_EVENT, "Event", weight=5.0),
}


def _calendar(random: Random) -> tuple[Record, Record]:
    date = partial(day, random)
    makers: Makers = dict.fromkeys(list(_CALENDAR)[:20], date)
    event: Makers = {"begins": date, "ends": date, "title": partial(words, random, 2, 4)}

    gt = _made(makers) | {"events": [_made(event) for _ in range(20)]}
    pred = mistaken(random, gt, makers)
    pred["events"] = predicted_items(
        random, gt["events"], lambda item: mistaken(random, item, event)
    )
    return gt, pred


def _made(makers: Makers) -> Record:
    return {name: make() for name, make in makers.items()}


def invoices(items: int, documents: int = 1, reference_documents: int = 0) -> DocumentSet:
    """Give the set of invoices with so many line items."""
    return DocumentSet(
        f"invoices-{items}",
        _object(_INVOICE, "Invoice"),
        partial(_invoice, items=items),
        documents,
        reference_documents,
    )


_NOTE: Final = {"number": _code(), "title": _text(), "author": _text(), "total": _number()}


def _note(random: Random) -> tuple[Record, Record]:
    makers: Makers = {
        "number": partial(code, random),
        "title": partial(words, random, 2, 5),
        "author": partial(words, random, 2, 2),
        "total": partial(amount, random),
    }
    gt = _made(makers)
    return gt, mistaken(random, gt, makers)


NOTE: Final = DocumentSet("note", _object(_NOTE, "Note"), _note, 1000, 0)
"""Small documents without lists, for what is measured of start-up and memory."""

SETS: Final = {
    documents.name: documents
    for documents in (
        invoices(10, 3000, 200),
        invoices(50, 600, 8),
        invoices(200, 100, 1),
        invoices(1000, 10),
        DocumentSet("deep", _object(_COMPANY, "Company"), _company, 150, 3),
        DocumentSet("wide", _object(_WIDE, "Form"), _form, 1000, 60),
        DocumentSet("text", _object(_REPORT, "Report"), _report, 1000, 6),
        DocumentSet("dates", _object(_CALENDAR, "Calendar"), _calendar, 1000, 15),
    )
}

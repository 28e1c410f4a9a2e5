"""The sets of documents that are timed: for each a schema and a maker of pairs."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random
from typing import Any, Final

from benchmarks import schemas
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

Makers = dict[str, Callable[[], Any]]


@dataclass(frozen=True, slots=True)
class DocumentSet:
    """Documents of one shape."""

    name: str
    schema: schemas.Schema
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


_ADDRESS: Final = {
    "street": schemas.text(),
    "city": schemas.text(),
    "postal_code": schemas.exact(),
    "country": schemas.exact(),
}
_LINE_ITEM: Final = {
    "description": schemas.text(weight=2.0),
    "sku": schemas.exact(),
    "quantity": schemas.number(),
    "unit_price": schemas.number(),
    "amount": schemas.number(),
}
_INVOICE: Final = {
    "document_type": schemas.exact(),
    "invoice_number": schemas.exact(weight=3.0),
    "issue_date": schemas.date(),
    "due_date": schemas.date(),
    "currency": schemas.exact(),
    "supplier_name": schemas.text(weight=2.0),
    "supplier_address": schemas.as_field(schemas.record(_ADDRESS, "Address")),
    "customer_name": schemas.text(weight=2.0),
    "customer_id": schemas.exact(),
    "purchase_order": schemas.exact(),
    "payment_terms": schemas.text(),
    "subtotal": schemas.number(),
    "tax": schemas.number(),
    "total": schemas.number(weight=2.0),
    "notes": schemas.text(weight=0.5),
    "tags": schemas.texts(),
    "line_items": schemas.records(_LINE_ITEM, "LineItem", weight=3.0),
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


_MEMBER: Final = {"name": schemas.text(), "role": schemas.text(), "hours": schemas.number()}
_TEAM: Final = {
    "name": schemas.text(),
    "budget": schemas.number(),
    "members": schemas.records(_MEMBER, "Member"),
}
_DEPARTMENT: Final = {
    "name": schemas.text(),
    "head": schemas.text(),
    "teams": schemas.records(_TEAM, "Team"),
}
_COMPANY: Final = {
    "name": schemas.text(),
    "departments": schemas.records(_DEPARTMENT, "Department"),
}


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
    for kind, leaf, count in (
        ("text", schemas.text, 150),
        ("number", schemas.number, 100),
        ("code", schemas.exact, 50),
    )
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
    "title": schemas.text(),
    "summary": schemas.text(),
    "body": schemas.text(),
    "conclusion": schemas.text(),
    "paragraphs": schemas.texts(),
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


_EVENT: Final = {"begins": schemas.date(), "ends": schemas.date(), "title": schemas.text()}
_CALENDAR: Final = {
    **{f"date_{index:02}": schemas.date() for index in range(20)},
    "events": schemas.records(_EVENT, "Event", weight=5.0),
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
        schemas.record(_INVOICE, "Invoice"),
        partial(_invoice, items=items),
        documents,
        reference_documents,
    )


_CLAUSE: Final = {"title": schemas.text(), "wording": schemas.text(weight=2.0)}


def _contract(random: Random, *, items: int) -> tuple[Record, Record]:
    clause: Makers = {
        "title": partial(words, random, 2, 5),
        "wording": partial(words, random, 4, 9),
    }
    gt = {"clauses": [_made(clause) for _ in range(items)]}
    pred = predicted_items(random, gt["clauses"], lambda one: mistaken(random, one, clause))
    return gt, {"clauses": pred}


def free_texts(items: int) -> DocumentSet:
    """Give documents with a list of so many items that no field identifies."""
    fields = {"clauses": schemas.records(_CLAUSE, "Clause")}
    make = partial(_contract, items=items)
    return DocumentSet(f"texts-{items}", schemas.record(fields, "Contract"), make, 1, 0)


_POSITION: Final = {
    "name": schemas.text(),
    "quantity": schemas.number(),
    "unit_price": schemas.number(),
    "amount": schemas.number(),
}
_BILL: Final = {
    "merchant_name": schemas.text(),
    "date": schemas.date(),
    "total_amount": schemas.number(weight=2.0),
    "subtotal": schemas.number(weight=2.0),
    "tax": schemas.number(),
    "currency": schemas.exact(),
    "items": schemas.records(_POSITION, "Item", weight=2.0),
}


def _bill(random: Random) -> tuple[Record, Record]:
    position: Makers = {
        "name": partial(words, random, 2, 4),
        "quantity": partial(random.randint, 1, 40),
        "unit_price": partial(amount, random, 200),
        "amount": partial(amount, random),
    }
    bill: Makers = {
        "merchant_name": partial(words, random, 2, 3),
        "date": partial(day, random, 1),
        "total_amount": partial(amount, random),
        "subtotal": partial(amount, random),
        "tax": partial(amount, random),
        "currency": partial(code, random, 3),
    }
    gt = _made(bill) | {"items": [_made(position) for _ in range(4)]}
    pred = mistaken(random, gt, bill)
    pred["items"] = predicted_items(
        random, gt["items"], lambda item: mistaken(random, item, position)
    )
    return gt, pred


BILL: Final = DocumentSet("bill", schemas.record(_BILL, "Bill"), _bill, 50, 0)
"""Short invoices, of which one at a time is compared."""

_NOTE: Final = {
    "number": schemas.exact(),
    "title": schemas.text(),
    "author": schemas.text(),
    "total": schemas.number(),
}


def _note(random: Random) -> tuple[Record, Record]:
    makers: Makers = {
        "number": partial(code, random),
        "title": partial(words, random, 2, 5),
        "author": partial(words, random, 2, 2),
        "total": partial(amount, random),
    }
    gt = _made(makers)
    return gt, mistaken(random, gt, makers)


NOTE: Final = DocumentSet("note", schemas.record(_NOTE, "Note"), _note, 1000, 0)
"""Small documents without lists, for what is measured of start-up and memory."""

SETS: Final = {
    documents.name: documents
    for documents in (
        invoices(10, 3000, 200),
        invoices(50, 2000, 10),
        invoices(200, 300, 2),
        invoices(1000, 30),
        DocumentSet("deep", schemas.record(_COMPANY, "Company"), _company, 300, 3),
        DocumentSet("wide", schemas.record(_WIDE, "Form"), _form, 2000, 60),
        DocumentSet("text", schemas.record(_REPORT, "Report"), _report, 1000, 6),
        DocumentSet("dates", schemas.record(_CALENDAR, "Calendar"), _calendar, 2000, 15),
    )
}

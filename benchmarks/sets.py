"""The sets of documents that are timed: each has a schema and a function that makes documents."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random
from typing import Any, Final

from benchmarks import schemas
from benchmarks.documents import (
    Record,
    make_amount,
    make_code,
    make_day,
    make_words,
    misread,
    predict_items,
    predict_record,
)

Makers = dict[str, Callable[[], Any]]
Levels = Sequence[tuple[Makers, str]]
"""The levels of a nested document, from the outside in. Each is (functions that make the fields, by
name; name of the field that contains the list of the next level)."""


@dataclass(frozen=True, slots=True)
class DocumentSet:
    """A set of documents with the same schema."""

    name: str
    schema: schemas.Schema
    make: Callable[[Random], tuple[Record, Record]]
    """Function that makes a ground truth and its prediction from a random generator."""
    documents: int
    """Number of documents that this project evaluates in one to five seconds."""
    reference_documents: int
    """Number of documents that stickler-eval evaluates in about half a minute. 0 if a single
    document takes longer."""


@dataclass(frozen=True, slots=True)
class Written:
    """Paths of a set of documents that was written to disk, and the number of documents."""

    schema: Path
    gt: Path
    pred: Path
    documents: int


def pairs(documents: DocumentSet, count: int, seed: int) -> Iterator[tuple[Record, Record]]:
    """Yield the first `count` pairs (ground truth, prediction) of a set.

    A pair depends only on the seed, the set and its position.
    """
    for index in range(count):
        # A string seeds the same generator on every platform and in every process.
        yield documents.make(Random(f"{seed}/{documents.name}/{index}"))


def write(documents: DocumentSet, directory: Path, count: int, seed: int) -> Written:
    """Write the first `count` documents of a set to a directory: schema.json, gt/ and pred/."""
    written = Written(
        schema=directory / "schema.json",
        gt=directory / "gt",
        pred=directory / "pred",
        documents=count,
    )
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
        "street": partial(make_words, random, 2, 4),
        "city": partial(make_words, random, 1, 2),
        "postal_code": partial(make_code, random, 5),
        "country": partial(make_code, random, 2),
    }
    item: Makers = {
        "description": partial(make_words, random, 3, 6),
        "sku": partial(make_code, random),
        "quantity": partial(random.randint, 1, 40),
        "unit_price": partial(make_amount, random, 200),
        "amount": partial(make_amount, random),
    }
    invoice: Makers = {
        "document_type": partial(random.choice, ("INVOICE", "RECEIPT")),
        "invoice_number": partial(make_code, random, 10),
        "issue_date": partial(make_day, random, 1),
        "due_date": partial(make_day, random, 1),
        "currency": partial(random.choice, ("EUR", "USD", "JPY", "SEK")),
        "supplier_name": partial(make_words, random, 2, 4),
        "customer_name": partial(make_words, random, 2, 4),
        "customer_id": partial(make_code, random),
        "purchase_order": partial(make_code, random),
        "payment_terms": partial(make_words, random, 3, 5),
        "subtotal": partial(make_amount, random),
        "tax": partial(make_amount, random),
        "total": partial(make_amount, random),
        "notes": partial(make_words, random, 5, 15),
    }
    gt = _make_record(invoice)
    gt["supplier_address"] = _make_record(address)
    gt["tags"] = [make_words(random, 1, 2) for _ in range(5)]
    gt["line_items"] = [_make_record(item) for _ in range(items)]
    pred = predict_record(random, gt, invoice)
    pred["supplier_address"] = predict_record(random, gt["supplier_address"], address)
    pred["tags"] = predict_items(
        random, gt["tags"], lambda tag: misread(random, tag) if random.random() < 0.3 else tag
    )
    pred["line_items"] = predict_items(
        random, gt["line_items"], lambda line: predict_record(random, line, item)
    )
    if random.random() < 0.2:
        del gt["notes"]
        pred.setdefault("notes", make_words(random, 5, 15))
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
    name = partial(make_words, random, 1, 3)
    member: Makers = {"name": name, "role": name, "hours": partial(random.randint, 1, 200)}
    team: Makers = {"name": name, "budget": partial(make_amount, random)}
    department: Makers = {"name": name, "head": name}

    def make(levels: Levels) -> Record:
        (makers, list_name), *inner_levels = levels
        lists = {list_name: [make(inner_levels) for _ in range(width)]} if inner_levels else {}
        return _make_record(makers) | lists

    def predict(record: Record, levels: Levels) -> Record:
        (makers, list_name), *inner_levels = levels
        prediction = predict_record(random, record, makers)
        if inner_levels:
            prediction[list_name] = predict_items(
                random, record[list_name], lambda item: predict(item, inner_levels)
            )
        return prediction

    company: Makers = {"name": name}
    levels = [(company, "departments"), (department, "teams"), (team, "members"), (member, "")]
    gt = make(levels)
    return gt, predict(gt, levels)


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
        "text": partial(make_words, random, 1, 5),
        "number": partial(make_amount, random),
        "code": partial(make_code, random),
    }
    makers = {name: kinds[name.split("_")[0]] for name in _WIDE}
    gt = _make_record(makers)
    return gt, predict_record(random, gt, makers)


_REPORT: Final = {
    "title": schemas.text(),
    "summary": schemas.text(),
    "body": schemas.text(),
    "conclusion": schemas.text(),
    "paragraphs": schemas.texts(),
}


def _report(random: Random) -> tuple[Record, Record]:
    paragraph = partial(make_words, random, 30, 80)
    makers: Makers = {
        "title": partial(make_words, random, 10, 20),
        "summary": paragraph,
        "body": partial(make_words, random, 250, 400),
        "conclusion": paragraph,
    }
    gt = _make_record(makers) | {"paragraphs": [paragraph() for _ in range(8)]}

    def reread(text: str) -> str:
        return misread(random, text, len(text) // 8)

    pred = {name: reread(gt[name]) for name in makers}
    return gt, pred | {"paragraphs": predict_items(random, gt["paragraphs"], reread)}


_EVENT: Final = {"begins": schemas.date(), "ends": schemas.date(), "title": schemas.text()}
_CALENDAR: Final = {
    **{f"date_{index:02}": schemas.date() for index in range(20)},
    "events": schemas.records(_EVENT, "Event", weight=5.0),
}


def _calendar(random: Random) -> tuple[Record, Record]:
    date = partial(make_day, random)
    makers: Makers = dict.fromkeys(list(_CALENDAR)[:20], date)
    event: Makers = {"begins": date, "ends": date, "title": partial(make_words, random, 2, 4)}

    gt = _make_record(makers) | {"events": [_make_record(event) for _ in range(20)]}
    pred = predict_record(random, gt, makers)
    pred["events"] = predict_items(
        random, gt["events"], lambda item: predict_record(random, item, event)
    )
    return gt, pred


def _make_record(makers: Makers) -> Record:
    return {name: make() for name, make in makers.items()}


def invoices(items: int, documents: int = 1, reference_documents: int = 0) -> DocumentSet:
    """Return the set of invoices with `items` line items.

    `documents` and `reference_documents` are attributes of the set.
    """
    return DocumentSet(
        name=f"invoices-{items}",
        schema=schemas.record(_INVOICE, "Invoice"),
        make=partial(_invoice, items=items),
        documents=documents,
        reference_documents=reference_documents,
    )


_CLAUSE: Final = {"title": schemas.text(), "wording": schemas.text(weight=2.0)}


def _contract(random: Random, *, items: int) -> tuple[Record, Record]:
    clause: Makers = {
        "title": partial(make_words, random, 2, 5),
        "wording": partial(make_words, random, 4, 9),
    }
    gt = {"clauses": [_make_record(clause) for _ in range(items)]}
    pred = predict_items(random, gt["clauses"], lambda item: predict_record(random, item, clause))
    return gt, {"clauses": pred}


def free_texts(items: int) -> DocumentSet:
    """Return the set of contracts with `items` clauses; no field identifies a clause."""
    fields = {"clauses": schemas.records(_CLAUSE, "Clause")}
    make = partial(_contract, items=items)
    return DocumentSet(
        name=f"texts-{items}",
        schema=schemas.record(fields, "Contract"),
        make=make,
        documents=1,
        reference_documents=0,
    )


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
        "name": partial(make_words, random, 2, 4),
        "quantity": partial(random.randint, 1, 40),
        "unit_price": partial(make_amount, random, 200),
        "amount": partial(make_amount, random),
    }
    bill: Makers = {
        "merchant_name": partial(make_words, random, 2, 3),
        "date": partial(make_day, random, 1),
        "total_amount": partial(make_amount, random),
        "subtotal": partial(make_amount, random),
        "tax": partial(make_amount, random),
        "currency": partial(make_code, random, 3),
    }
    gt = _make_record(bill) | {"items": [_make_record(position) for _ in range(4)]}
    pred = predict_record(random, gt, bill)
    pred["items"] = predict_items(
        random, gt["items"], lambda item: predict_record(random, item, position)
    )
    return gt, pred


BILL: Final = DocumentSet(
    name="bill",
    schema=schemas.record(_BILL, "Bill"),
    make=_bill,
    documents=50,
    reference_documents=0,
)
"""Short invoices, for timing the comparison of a single document."""

_NOTE: Final = {
    "number": schemas.exact(),
    "title": schemas.text(),
    "author": schemas.text(),
    "total": schemas.number(),
}


def _note(random: Random) -> tuple[Record, Record]:
    makers: Makers = {
        "number": partial(make_code, random),
        "title": partial(make_words, random, 2, 5),
        "author": partial(make_words, random, 2, 2),
        "total": partial(make_amount, random),
    }
    gt = _make_record(makers)
    return gt, predict_record(random, gt, makers)


NOTE: Final = DocumentSet(
    name="note",
    schema=schemas.record(_NOTE, "Note"),
    make=_note,
    documents=1000,
    reference_documents=0,
)
"""Small documents without lists, for measuring start-up time and memory."""

SETS: Final = {
    documents.name: documents
    for documents in (
        invoices(10, 3000, 200),
        invoices(50, 2000, 10),
        invoices(200, 300, 2),
        invoices(1000, 30),
        DocumentSet(
            name="deep",
            schema=schemas.record(_COMPANY, "Company"),
            make=_company,
            documents=300,
            reference_documents=3,
        ),
        DocumentSet(
            name="wide",
            schema=schemas.record(_WIDE, "Form"),
            make=_form,
            documents=2000,
            reference_documents=60,
        ),
        DocumentSet(
            name="text",
            schema=schemas.record(_REPORT, "Report"),
            make=_report,
            documents=1000,
            reference_documents=6,
        ),
        DocumentSet(
            name="dates",
            schema=schemas.record(_CALENDAR, "Calendar"),
            make=_calendar,
            documents=2000,
            reference_documents=15,
        ),
    )
}

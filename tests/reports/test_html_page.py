"""The HTML report as a file: its content, what a browser may run, and what is left out."""

import base64
import gzip
import hashlib
import json
import re
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from html.parser import HTMLParser
from itertools import chain

import pytest

from stickler_cli import __version__
from stickler_cli.core.figures import interval_text
from stickler_cli.core.problems import Violation
from stickler_cli.documents.document_pair import DocumentPair
from stickler_cli.reports.cause_sentences import causes
from stickler_cli.reports.formats import render
from stickler_cli.reports.html import page, payload
from stickler_cli.reports.html.report_page import asset
from stickler_cli.reports.layout import TableStyle
from stickler_cli.reports.view import RunView
from stickler_cli.score.detail import Detail, DetailLimits
from stickler_cli.score.errors.error_classes import ErrorClass
from stickler_cli.score.errors.error_rows import Error, KeptErrors
from stickler_cli.score.folds import Validity
from stickler_cli.score.record import Provenance
from .conftest import EXACT

VOID = {"meta", "link", "input", "br", "hr", "img"}


class Page(HTMLParser):
    """A parser that collects the elements of a page, with their attributes and text."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[tuple[str, dict, list[str]]] = []
        self.elements: list[tuple[str, dict, list[str]]] = []
        self.feed(text)
        self.close()
        assert not self.open, f"{self.open[-1][0]} is not closed"

    def handle_starttag(self, tag: str, attributes: list) -> None:
        entry = (tag, dict(attributes), [])
        self.elements.append(entry)
        if tag not in VOID and self.get_starttag_text()[-2:] != "/>":
            self.open.append(entry)

    def handle_startendtag(self, tag: str, attributes: list) -> None:
        self.elements.append((tag, dict(attributes), []))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop()[0] == tag

    def handle_data(self, text: str) -> None:
        for _, _, texts in self.open:
            texts.append(text)

    def all(self, tag: str, **wanted: str) -> list[tuple[dict, str]]:
        return [
            (attributes, "".join(texts).strip())
            for name, attributes, texts in self.elements
            if name == tag and all(attributes.get(key) == value for key, value in wanted.items())
        ]

    def one(self, tag: str, **wanted: str) -> str:
        ((_, text),) = self.all(tag, **wanted)
        return text

    def data(self, name: str) -> list:
        return json.loads(gzip.decompress(base64.b64decode(self.one("script", id=f"data-{name}"))))


def html(run) -> str:
    return render("html", run, TableStyle())


def test_the_head_of_a_page_states_each_figure_once(run_of):
    # Of four values, two are right and two are missed.
    gt = {"id": "1", "total": 10}
    pairs = [DocumentPair("a", gt, gt), DocumentPair("b", gt, None)]
    figures = "precision 1.0000, recall 0.5000, mean score 0.5000"
    missing = "1 document has no prediction, so all its values are missed"

    (_, first), *_ = Page(html(run_of(pairs=pairs, detailed=True))).all(
        "p", **{"class": "headline"}
    )
    assert first == f"{missing}; {figures}"
    gated = run_of(pairs=pairs, gates=["f1>=0.7"], detailed=True)
    (_, first), *_ = Page(html(gated)).all("p", **{"class": "headline"})
    assert first.startswith(f"{missing}; F1 0.6667")
    assert first.endswith(f", {figures}")
    nothing = run_of(pairs=[DocumentPair("a", None, gt)], detailed=True)
    (_, first), *_ = Page(html(nothing)).all("p", **{"class": "headline"})
    assert first.startswith("0 documents; not counted: 1 prediction without ground truth; ")


def test_the_bar_of_a_cause_has_the_pattern_of_most_of_its_errors(run_of):
    schema = {"type": "object", "properties": {"a": EXACT, "b": EXACT, "c": EXACT}}
    gt = {"a": "x", "b": "y"}
    pred = {"a": "z", "c": "w"}
    pairs = [DocumentPair(name, gt, pred) for name in ("one", "two")]

    bars = [
        attributes["class"]
        for attributes, _ in Page(html(run_of(schema, pairs, detailed=True))).all("span")
        if attributes.get("class", "").startswith("part ") and "left:0;" in attributes["style"]
    ]
    assert sorted(bars[:3]) == ["part fa", "part fd", "part fn"]


def test_settings_without_values_are_none(run_of):
    page_of_run = Page(html(run_of(detailed=True)))
    values = {text for _, text in page_of_run.all("dd")}
    assert "none" in values
    assert "()" not in values


@pytest.fixture
def order_page(run_of):
    return Page(html(run_of(gates=["f1>=0.7", "leaves:lines.sku.recall>=0.7"], detailed=True)))


def test_the_page_has_one_heading_and_a_section_for_each_part(order_page):
    assert order_page.one("h1") == "Order"
    assert [text for _, text in order_page.all("h2")] == [
        *("Summary", "Where", "Fields", "Errors", "Documents", "Run")
    ]


def test_ids_are_unique_and_links_inside_lead_somewhere(order_page):
    ids = [attributes["id"] for _, attributes, _ in order_page.elements if "id" in attributes]
    links = {attributes["href"] for attributes, _ in order_page.all("a")}

    assert len(ids) == len(set(ids))
    assert {link[1:] for link in links if re.fullmatch("#[a-z]+", link)} <= set(ids)


def test_only_the_one_script_may_run_and_nothing_may_be_loaded(order_page):
    (script,) = [
        text
        for tag, attributes, text in order_page.elements
        if tag == "script" and "data-page" in attributes
    ]
    ((policy, _),) = order_page.all("meta", **{"http-equiv": "Content-Security-Policy"})
    digest = hashlib.sha256("".join(script).encode()).digest()

    assert f"script-src 'sha256-{base64.b64encode(digest).decode()}'" in policy["content"]
    assert policy["content"].startswith("default-src 'none'; ")
    assert [attributes["href"] for attributes, _ in order_page.all("link")] == ["data:,"]
    assert not any(
        name == "src" or name.startswith("on")
        for _, attributes, _ in order_page.elements
        for name in attributes
    )


def test_the_script_never_writes_markup():
    for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "</"):
        assert not any(word in asset(f"{name}.js") for name in page.SCRIPTS)


def test_a_row_for_each_field_in_the_order_of_the_schema(order_page):
    paths = [attributes["data-path"] for attributes, _ in order_page.all("tbody") if attributes]

    assert paths == [
        *("id", "total", "customer", "customer.name", "customer.city"),
        *("lines", "lines.sku", "lines.qty", "rates", "rates.*"),
    ]


def test_a_field_says_where_the_fields_inside_it_end(order_page):
    ends = {
        attributes["data-path"]: (attributes["data-field"], attributes["data-end"])
        for attributes, _ in order_page.all("tbody")
        if attributes
    }

    assert ends["customer"] == ("2", "5")
    assert ends["lines"] == ("5", "8")
    assert ends["rates"] == ("8", "10")
    assert ends["id"] == ("0", "1")


def test_the_summary_and_the_tables_are_there_without_the_script(order_page):
    headings = [text for _, text in order_page.all("h3")]
    rows = [text for attributes, text in order_page.all("th", scope="row")]

    assert headings[:5] == [
        *(
            "Gates",
            ("Causes, by values lost"),
            "Noticed",
            "F1 of the fields, lowest first",
        ),
        "Documents that lost at most this many values",
    ]
    assert rows[:2] == ["the whole run", "total"]
    captions = [text for _, text in order_page.all("caption")]
    assert captions == [
        (
            "6 of 6 rows, by cause; an item wrong as a whole is one row. "
            "The ground truth is above the prediction."
        ),
        "4 documents of 4, those with the lowest scores",
    ]
    assert [row for row in rows if row in "abcd"][-4:] == ["c", "b", "a", "d"]
    assert all(text for _, text in order_page.all("noscript"))


def test_without_the_script_two_items_are_told_by_the_fields_that_differ():
    differing = Error(
        "a", "x[0]", "x", "FD", ErrorClass.ITEM_WITH_ERRORS, cause="c", differing=("q",)
    )
    detail = Detail()
    errors = [
        differing._replace(gt={"p": 1, "q": 175.5}, pred={"p": 1, "q": 3}),
        differing._replace(gt={"p": "y" * 3000, "q": 1}, pred={"p": 1}),
        differing._replace(gt="y" * 3000, pred=None, differing=()),
    ]
    detail.errors.add((0.0, "a"), errors)
    (other_cause,) = payload.printed_causes(detail, [])
    by_fields, cut, long = other_cause.errors

    assert (other_cause.text, other_cause.n_errors) == ("other errors", 3)
    assert (by_fields.document, by_fields.path, by_fields.is_short) == ("a", "x[0]", True)
    assert [text_of(side) for side in (by_fields.gt, by_fields.pred)] == ["q 175.5", "q 3"]
    assert text_of(cut.gt).startswith('{"p":"yyyy')
    assert len(text_of(long.gt)) == 100
    assert text_of(long.pred) == "absent"


def text_of(spans) -> str:
    return "".join(span.text for span in spans)


def test_of_each_cause_only_the_first_errors_are_printed(run_of, monkeypatch):
    monkeypatch.setattr(payload, "FIRST_ERRORS", 40)
    pairs = [
        DocumentPair(f"{number:02}", {"id": "x", "total": 1}, {"id": "y", "total": 1})
        for number in range(30)
    ]
    run = run_of(pairs=[*pairs, DocumentPair("z", {"total": 1}, {"total": 2})], detailed=True)
    texts = [*chain(*causes(RunView(run)))]
    first, second = payload.printed_causes(run.detail, texts)

    assert (first.n_errors, len(first.errors)) == (30, payload.FIRST_OF_CAUSE)
    assert sum(error.is_on_paper for error in first.errors) == payload.ON_PAPER // 2
    assert [(error.document, error.path, error.is_on_paper) for error in second.errors] == [
        ("z", "total", True)
    ]


def test_a_gate_says_what_was_reached(order_page):
    texts = [text for _, text in order_page.all("td")]

    assert texts[:4] == ["✓ passed", "f1>=0.7", "0.759", "+0.059"]


def test_every_drawing_says_what_it_shows(order_page):
    drawings = order_page.all("svg")

    assert len(drawings) == 0  # two bars say no more than two numbers
    ((steps, _),) = order_page.all("div", **{"class": "steps"})
    assert steps["aria-label"].startswith("Of 3 documents: 0: 1, 1: 1, 2: 2")


def test_the_errors_stand_in_document_order_each_with_its_field(order_page):
    rows = order_page.data("non-matches")
    paths = [attributes["data-path"] for attributes, _ in order_page.all("tbody") if attributes]

    assert [(row[1], row[2]) for row in rows if row[1] == "b"] == [
        ("b", "total"),
        ("b", "customer"),
        ("b", "customer.city"),
        ("b", "lines[0]"),
        ("b", "lines[0].sku"),
        ("b", "lines[0].qty"),
        ("b", "note"),
    ]
    assert [paths[row[0]] if row[0] >= 0 else None for row in rows if row[1] == "b"] == [
        *("total", "customer", "customer.city", "lines", "lines.sku", "lines.qty", None)
    ]


def test_documents_stand_by_score_and_those_with_errors_are_there_whole(order_page):
    assert [(row[0], row[1]) for row in order_page.data("documents")] == [
        *(("c", "missing"), ("b", "evaluated"), ("a", "evaluated"), ("d", "unmatched"))
    ]
    assert [name for name, _ in order_page.data("comparisons")] == ["c", "b"]
    assert "Every document with errors is shown here in full." in order_page.one(
        "section", id="documents"
    )


def test_error_classes_are_counted_for_a_field_with_those_in_it(order_page):
    section = [
        attributes["href"]
        for attributes, _ in order_page.all("a")
        if "class=" in attributes.get("href", "")
    ]

    assert "#errors&field=customer&class=other&what=all" in section
    assert "#errors&field=customer.city&class=other&what=all" in section
    assert "#errors&at=id&class=missed_value&what=values" in section


def test_confidence_intervals_stand_beside_the_figures(run_of):
    pairs = [
        DocumentPair(f"{index}", {"id": "x"}, {"id": "x" if index % 2 else "y"})
        for index in range(40)
    ]
    run = run_of(pairs=pairs, detailed=True, intervals=True)
    intervals = run.evaluation.intervals(run.rule)

    drawn_page = Page(html(run))
    figures = drawn_page.one("div", **{"class": "figures"})
    bounds = [text for _, text in drawn_page.all("td", **{"class": "number minor note"})]

    assert figures.startswith("20 of 40 documents wholly right: 50.0% (33.8% to 66.2%)")
    assert bounds[0] == interval_text(intervals.rates["leaves"]["f1"], digits=2)
    assert f"95% CI of F1 {interval_text(intervals.rates['leaves']['f1'], digits=2)}" in {
        text for _, text in drawn_page.all("span")
    }


@pytest.mark.parametrize(
    ("settings", "changes", "tone", "message"),
    [
        ({}, {}, "open", "no gate set; F1 0.7586"),
        (
            {"intervals": True},
            {},
            "open",
            "no gate set; F1 0.76 (3 documents are too few for an interval)",
        ),
        ({"gates": ["f1>=0"]}, {}, "good", "✓ 1 gate passed"),
        ({"gates": ["f1>=1", "f1>0"]}, {}, "bad", "✕ 1 of 2 gates failed: f1 0.759 < 1"),
        (
            {"gates": ["f1>=0"]},
            {"partial": True},
            "bad",
            "✕ partial: 4 documents; 1 gate passed",
        ),
        (
            {"gates": ["f1>=0"], "strict": True},
            {},
            "bad",
            "✕ 2 documents could not be evaluated; 1 gate passed",
        ),
    ],
)
def test_the_verdict_is_always_told(run_of, settings, changes, tone, message):
    drawn_page = Page(html(replace(run_of(**settings), **changes)))

    assert " ".join(drawn_page.one("p", **{"class": f"verdict {tone}"}).split()) == message


def test_the_head_says_what_was_compared_with_what(run_of):
    began = (
        Provenance("2026-01-02T03:04:05Z", "truth/", "found/", ("v2", "<b>")),
        Provenance("2026-01-03T03:04:05Z", "truth/", "more/", ("v2",)),
    )
    drawn_page = Page(html(replace(run_of(missing="skip"), provenance=began)))
    terms = dict(
        zip(*([text for _, text in drawn_page.all(tag)] for tag in ("dt", "dd")), strict=True)
    )

    assert terms["label"] == "v2, <b>"
    assert terms["ground truth"] == "truth/"
    assert terms["predictions"] == "found/, more/"
    assert terms["options"] == "missing: left out"
    assert terms["made by"] == f"stickler {__version__}"


def test_what_mending_causes_gives_adds_up_to_all_right(order_page):
    mended = [text for _, text in order_page.all("span", **{"class": "number mended"})]

    assert mended == sorted(mended)
    assert mended[-1] == "1.0000"


def test_every_error_that_lost_values_leads_back_to_its_cause(order_page):
    promised = [int(link["data-count"]) for link, _ in order_page.all("a") if "data-cause" in link]
    lost = Counter()
    for row in order_page.data("non-matches"):
        lost[row[-2]] += 1 if row[10] is None else row[10]  # values inside an item, or one value
    repeated = {(row[2], row[-2]) for row in order_page.data("non-matches") if row[-2] < 0}

    assert [lost[position] for position in range(len(lost) - 1)] == promised
    assert repeated == {("customer", -1), ("lines[0].sku", -1), ("lines[0].qty", -1)}


def test_the_options_of_the_run_are_told(run_of):
    drawn_page = Page(html(run_of(intervals=True, missing="skip", recall_with_fd=True)))
    names = [text for _, text in drawn_page.all("dt")]
    values = dict(zip(names, (text for _, text in drawn_page.all("dd")), strict=True))

    assert values["pairing floor"] == "0.2"
    assert values["recall with fd"] == "yes"
    assert values["missing"] == "left out"
    assert values["intervals: level"] == "0.95"


def test_without_intervals_none_are_shown(order_page):
    assert order_page.all("td", **{"class": "number minor note"}) == []
    assert order_page.all("span", **{"class": "reach"}) == []


def test_groups_have_a_table_for_each_key(run_of):
    run = run_of(detailed=True)
    run.evaluation.by = {
        "supplier <b>": {"one": run_of().evaluation, "none": run_of(pairs=[]).evaluation}
    }

    drawn_page = Page(html(run))
    (table,) = (text for _, text in drawn_page.all("table") if text.startswith("by supplier"))

    assert "Groups by supplier <b>" in [text for _, text in drawn_page.all("h3")]
    assert "one31" in table
    assert table.endswith("none00--")


def test_the_verdict_of_the_schema_is_told_side_by_side(run_of, monkeypatch):
    monkeypatch.setattr(page, "MOST_VIOLATIONS", 1)
    run = run_of(detailed=True)
    validity = Validity()
    validity.update("a", ())
    validity.update("b", None)
    validity.update(
        "c",
        [
            Violation("type", "total", "/total", "it is no number"),
            Violation("type", "total", "/total", "it is no number"),
            Violation("required", "", "", "id is missing"),
        ],
    )
    run.evaluation.validity["pred"] = validity

    summary = " ".join(Page(html(run)).one("section", id="summary").split())

    verdict_text = "Predictions 0.3333: 1 of 3 are valid; 1 cannot be read"
    assert verdict_text in summary
    assert "typetotal21" in summary.replace(" ", "")
    assert "and 1 more; the JSON report lists all of them" in summary


def test_numbers_keep_all_their_digits(run_of):
    pairs = [DocumentPair("a", {"total": 12345678901234567890, "id": "1"}, {"total": 1.0})]
    ((*_, error),) = [
        [
            row
            for row in Page(html(run_of(pairs=pairs, detailed=True))).data("non-matches")
            if row[2] == "total"
        ]
    ]

    assert error[6:8] == ["12345678901234567890", "1.0"]


def test_the_same_run_gives_the_same_bytes(run_of):
    assert html(run_of(detailed=True)) == html(run_of(detailed=True))


def test_what_the_page_leaves_out_it_says(run_of, monkeypatch):
    run = run_of(detailed=True)
    detail = Detail(DetailLimits(comparisons=1), errors=KeptErrors(max_lines=1))
    detail.merge(run.detail)
    monkeypatch.setattr(page, "MOST_DOCUMENTS", 2)
    monkeypatch.setattr(page, "MOST_FIELDS", 4)
    monkeypatch.setattr(payload, "MOST_FIELDS", 4)

    drawn_page = Page(html(replace(run, detail=detail)))

    errors = drawn_page.one("section", id="errors")
    assert "6 of 9 errors: all errors of the 1 document with the lowest scores" in errors
    documents = drawn_page.one("section", id="documents")
    assert (
        "The 2 documents with the lowest scores, out of 4. To write a line for every "
        "document, use --documents FILE"
    ) in documents
    assert (
        "Shown in full: the 1 document with the lowest scores, with up to 2,000 lines" in documents
    )
    assert "6 more fields are not on this page" in drawn_page.one("section", id="fields")
    assert [len(drawn_page.data(name)) for name in ("non-matches", "documents", "comparisons")] == [
        6,
        2,
        1,
    ]


def test_a_run_that_was_read_from_a_file_says_what_it_lacks(run_of):
    drawn_page = Page(html(run_of()))

    assert "A run file does not contain individual errors" in drawn_page.one("section", id="errors")
    documents = drawn_page.one("section", id="documents")
    assert (
        "This run file has no rows for single documents; evaluate with --rows inline to "
        "list the documents here."
    ) in documents
    assert "A run file does not contain values" in documents
    assert "A run file does not contain the similarities" in drawn_page.one("section", id="fields")


def test_a_run_without_documents_or_fields_has_a_page(run_of):
    drawn_page = Page(html(run_of({"type": "object"}, [], detailed=True)))

    assert drawn_page.data("non-matches") == drawn_page.data("documents") == []
    assert "All 0 errors of the run." in drawn_page.one("section", id="errors")
    assert "The schema has no fields." in drawn_page.one("section", id="fields")


def test_markup_in_names_ids_and_values_is_text(run_of):
    evil = "</script><img src=x onerror=alert(1)>"
    schema = {
        "type": "object",
        "x-aws-stickler-model-name": evil,
        "properties": {evil: {"type": "string"}},
    }
    pairs = [DocumentPair(evil, {evil: evil, "\u202e": "\x1b"}, {evil: "no", "</style>": 1})]

    text = html(run_of(schema, pairs, gates=[f'["{evil}"].f1>=0.5'], detailed=True))
    drawn_page = Page(text)

    assert drawn_page.all("img") == []
    assert drawn_page.one("h1").startswith(evil)
    assert drawn_page.data("non-matches")[0][1] == evil
    assert "\u202e" not in text
    assert len(drawn_page.all("script")) == 5
    assert len(drawn_page.all("style")) == 1


def test_a_page_of_many_map_keys_has_one_row_for_them(run_of):
    pairs = [
        DocumentPair("a", {"rates": {f"k{index}": 1 for index in range(60)}}, {"rates": {"k1": 2}})
    ]

    drawn_page = Page(html(run_of(pairs=pairs, detailed=True)))
    rows = {
        attributes["data-path"]: attributes
        for attributes, _ in drawn_page.all("tbody")
        if attributes
    }

    assert rows["rates.*"]["data-fd"] == "1"
    places = {row[2]: row[0] for row in drawn_page.data("non-matches")}
    assert len(places) == 61
    assert places.pop("rates") == int(rows["rates"]["data-field"])
    assert set(places.values()) == {int(rows["rates.*"]["data-field"])}


@pytest.mark.slow
def test_other_reports_do_not_load_the_template_engine():
    code = (
        "import sys, stickler_cli.reports.run_sections, stickler_cli.runs.evaluate;"
        "import stickler_cli.cli;"
        "sys.exit('jinja2' in sys.modules)"
    )

    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0

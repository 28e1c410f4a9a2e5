"""The HTML report in a browser: it sorts, filters, opens, and makes no requests.

Playwright controls an installed Chromium: the one that `STICKLER_CHROMIUM` names, or one on the
path. Without a Chromium, these tests are skipped; with `CI=true`, they fail.
"""

import json
import os
import shlex
import shutil
from collections import Counter
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from threading import Thread

import jsonschema
import pytest

from schemas.writing import schema_of
from stickler_cli.cli import main
from stickler_cli.cli.viewing import make_server
from stickler_cli.core.locations import field_path
from stickler_cli.documents.document_pair import DocumentPair
from stickler_cli.records.account_format import VerdictRecord
from stickler_cli.records.codec import decode
from stickler_cli.reports.formats import render
from stickler_cli.reports.layout import TableStyle
from stickler_cli.score.detail import PageSources, Picture, PlacedBox
from stickler_cli.score.errors.error_rows import KeptErrors, error_record
from stickler_cli.studies.audit.record import make_page
from stickler_cli.studies.diff.answer import compare_runs
from stickler_cli.studies.diff.changed_values import changed_values
from stickler_cli.studies.diff.record import RunsBeside
from .conftest import ORDERS, RIGHT

pytestmark = pytest.mark.slow

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync")

PATIENCE = int(os.environ.get("STICKLER_PATIENCE", "120000"))
"""Number of milliseconds within which a page must show its content; enough for a busy machine."""

EVIL = '</script><img src=x onerror="document.title=1"><b>&amp;'
TURNED = "\u202egnp.exe"


def installed() -> str | None:
    """Return the path of an installed Chromium, or None."""
    return os.environ.get("STICKLER_CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)


def missing(purpose: str) -> None:
    """Skip a test with a message; with `CI=true`, fail instead."""
    if os.environ.get("CI") == "true":
        pytest.fail(purpose)
    pytest.skip(purpose)


@pytest.fixture(scope="module")
def browser():
    try:
        from playwright import sync_api  # not among what the tests need by default
    except ImportError:
        missing("PLAYWRIGHT IS NOT INSTALLED: the page is not tried out")
    path = installed()
    if path is None:
        missing("NO CHROMIUM IS INSTALLED: the page is not tried out in a browser")
    with sync_api.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        yield chromium
        chromium.close()


@pytest.fixture
def open_page(browser, tmp_path):
    """Return a function that opens the HTML page of a run, and returns the page.

    The test fails if a page makes a request or writes to the console.
    """
    requests, messages, pages = [], [], []

    def show(run, link="", **options):
        file = tmp_path / "report.html"
        file.write_text(render("html", run, TableStyle()), encoding="utf-8")
        page = browser.new_page(**options)
        pages.append(page)
        page.set_default_timeout(PATIENCE)
        page.on("request", lambda request: requests.append(request.url))
        page.on("console", lambda message: messages.append(message.text))
        page.on("pageerror", lambda error: messages.append(str(error)))
        page.goto(f"file://{file}{link}")
        if options.get("java_script_enabled", True):
            page.wait_for_selector("html[data-ready]", state="attached")
        return page

    yield show
    assert [url for url in requests if not url.startswith(("file://", "data:", "blob:"))] == []
    assert len({url.partition("#")[0] for url in requests if url.startswith("file://")}) <= 1
    assert messages == []
    for page in pages:
        page.close()


@pytest.fixture
def page(open_page, run_of):
    return open_page(run_of(gates=["f1>=0.9"], detailed=True))


def becomes(page, read, expected) -> None:
    """Wait until `read()` returns the expected content; pages change some time after a click."""
    for _ in range(0, PATIENCE, 20):
        if read() == expected:
            return
        page.wait_for_timeout(20)
    assert read() == expected


def headed(page, expected: str) -> None:
    """Wait until the panel has the expected heading."""
    heading = page.locator("#panel[open] h2 .path, #panel[open] h2:not(:has(.path))")
    becomes(page, heading.all_text_contents, [expected])


def paths(page) -> list[str]:
    """Return the paths of the visible fields, in their order."""
    return page.locator("#fields-table tbody[data-field]:not([hidden])").evaluate_all(
        "all => all.map(body => body.dataset.path)"
    )


def rows(page, name: str = "errors", column: str = ".path") -> list[str]:
    """Return a column of a list, in the order of its rows, when the page has loaded them."""
    page.wait_for_selector("html:not([data-busy])", state="attached")
    cells = page.locator(f"#{name}-list .row:not(.group)").evaluate_all(
        "(all, column) => all.sort((a, b) => a.dataset.index - b.dataset.index)"
        ".map(row => row.querySelector(column).textContent)",
        column,
    )
    return list(cells)


def test_fields_sort_by_any_column_both_ways_and_back(page):
    schema_order = paths(page)
    head = page.locator("#fields-table th[data-sort=fd]")

    head.get_by_role("button").click()
    assert head.get_attribute("aria-sort") == "descending"
    assert paths(page)[:3] == ["total", "customer", "customer.city"]

    head.get_by_role("button").click()
    assert head.get_attribute("aria-sort") == "ascending"
    assert paths(page)[-3:] == ["total", "customer", "customer.city"]

    page.get_by_role("button", name="Schema order").click()
    assert head.get_attribute("aria-sort") is None
    assert paths(page) == schema_order


def test_fields_are_found_by_a_part_of_their_path(page):
    page.locator("#fields-find").fill("CUSTOMER.")

    assert paths(page) == ["customer.name", "customer.city"]
    assert page.locator("#fields-count").text_content() == "2 of 10 fields"
    assert page.locator("tbody[data-path='customer.name'] .above").is_visible()


def test_only_fields_with_errors_can_be_shown(page):
    page.get_by_label("only with errors").first.check()

    assert "lines.sku" in paths(page)
    assert "customer.city" in paths(page)
    assert "customer.name" not in paths(page)
    assert "rates.*" not in paths(page)


def test_a_field_folds_away_what_is_in_it(page):
    button = page.get_by_role("button", name="Fields inside customer")

    button.click()
    assert button.get_attribute("aria-expanded") == "false"
    assert "customer.name" not in paths(page)
    assert "lines.sku" in paths(page)

    button.click()
    assert "customer.name" in paths(page)


def test_a_field_opens_to_its_histogram_and_leads_to_its_errors(page):
    page.get_by_role("link", name="lines", exact=True).click()
    more_button = page.locator("tbody[data-path=lines] .more")
    assert more_button.locator("svg").count() == 0  # two bars say no more than two numbers
    assert page.url.endswith("#fields&open=lines")

    more_button.get_by_role("link", name="Show its errors").click()

    becomes(page, lambda: rows(page), ["lines[0]"])
    page.locator("#errors-what").select_option("all")
    becomes(page, lambda: rows(page), ["lines[0]", "lines[0].sku", "lines[0].qty"])
    assert page.locator("#errors-field option:checked").text_content() == "lines"


def test_errors_filter_by_outcome_and_text(page):
    n_rows = len(rows(page))
    for name in ("invented", "missed"):
        page.get_by_role("checkbox", name=name).uncheck()
    becomes(page, lambda: rows(page), ["customer.city", "total"])

    page.locator("#errors-find").fill("oslo")
    becomes(page, lambda: rows(page), ["customer.city"])

    page.get_by_role("button", name="Reset").click()
    becomes(page, lambda: len(rows(page)), n_rows)


def test_what_is_shown_is_in_the_address_and_comes_back_with_it(page, open_page, run_of):
    page.locator("#errors-group").select_option("document")
    page.locator("#errors-sort").select_option("field")
    page.get_by_role("checkbox", name="invented").uncheck()
    page.locator("#fields-table th[data-sort=f1]").get_by_role("button").click()
    becomes(page, lambda: page.locator("#errors-list .group").count(), 2)
    address = (
        "#fields&sort=f1&errors.outcome=fd&errors.outcome=fn"
        "&errors.sort=field&errors.group=document"
    )
    becomes(page, lambda: page.url[page.url.index("#") :], address)
    row_texts = page.locator("#errors-list .row").all_text_contents()
    again = open_page(run_of(gates=["f1>=0.9"], detailed=True), address)

    assert again.locator("#errors-list .row").all_text_contents() == row_texts
    assert paths(again) == paths(page)


def test_what_was_done_last_leads_the_address_however_soon_it_was_done(page):
    page.evaluate(
        "document.querySelector('#errors-tools [value=fa]').click();"
        "document.querySelector('#fields-table th[data-sort=f1] button').click()"
    )
    page.wait_for_timeout(200)  # longer than what is typed waits for more of it

    assert page.url.partition("#")[2] == "fields&sort=f1&errors.outcome=fd&errors.outcome=fn"


def test_a_link_leaves_other_lists_alone_and_back_undoes_it(page):
    page.locator("#errors-find").fill("oslo")
    becomes(page, lambda: rows(page), ["customer.city"])
    page.evaluate("location.hash = '#documents&sort=id'")
    becomes(page, lambda: rows(page, "documents", "span"), ["a", "b", "c", "d"])
    page.go_back()

    becomes(page, lambda: rows(page, "documents", "span"), ["c", "b", "a", "d"])
    assert rows(page) == ["customer.city"]


def test_groups_fold_by_keys(open_page, run_of):
    page = open_page(run_of(detailed=True), "#errors&group=class")
    groups = page.locator("#errors-list .group")
    n_rows = page.locator("#errors-list .row").count()
    first = groups.first.get_by_role("gridcell").first.text_content()

    page.locator("#errors-list [role=row][tabindex='0']").focus()
    page.keyboard.press("ArrowLeft")
    assert groups.first.get_attribute("aria-expanded") == "false"
    assert page.locator("#errors-list .row").count() < n_rows
    page.keyboard.press("ArrowRight")

    assert page.locator("#errors-list .row").count() == n_rows
    assert groups.first.get_by_role("gridcell").first.text_content() == first


def test_values_and_documents_filter_errors_by_links(open_page, run_of):
    page = open_page(run_of(detailed=True), '#errors&of=b&gt="Rome"&pred="Oslo"')

    assert rows(page) == ["customer.city"]
    page.get_by_role("button", name="document b").click()
    assert "of=" not in page.url
    page.get_by_role("button", name="Reset").click()
    becomes(page, lambda: len(rows(page)) > 1, expected=True)


def test_an_error_shows_which_characters_differ_and_leads_on(page):
    page.locator("#errors-list .row:not(.group)").first.click()
    panel = page.get_by_role("dialog")

    headed(page, "id")
    page.evaluate("location.hash = '#document=b&path=total'")
    headed(page, "total")
    # 20 and 21 differ as numbers: that both begin with 2 says nothing.
    assert panel.locator(".sides mark.expected").all_text_contents() == ["20"]
    assert panel.locator(".sides mark.wrong").all_text_contents() == ["21"]

    page.keyboard.press("k")
    headed(page, "customer.city")
    assert page.url.endswith("#document=b&path=customer.city")

    page.keyboard.press("Escape")
    panel.wait_for(state="hidden")
    becomes(page, lambda: "path=" in page.url, expected=False)
    assert focused(page) == "customer.city"


def focused(page) -> str | None:
    """Return the path of the row that has the focus."""
    text = "document.activeElement.querySelector('.path')?.textContent"
    return str(page.evaluate(text)) if page.evaluate(text) else None


def test_the_panel_stands_beside_the_list_and_gives_the_focus_back_after_a_verdict(page):
    page.locator("#errors-list .row:not(.group)").nth(2).click()
    headed(page, "lines[0]")
    list_of, panel = (
        page.locator(selector).bounding_box() for selector in ("#errors-list", "#panel")
    )
    assert list_of["x"] + list_of["width"] <= panel["x"]
    assert page.locator("#panel").evaluate("it => it.matches(':modal')") is False

    page.keyboard.press("3")
    assert page.locator("[data-verdict][aria-pressed=true]").text_content() == "Both acceptable"
    page.keyboard.press("Escape")
    assert focused(page) == "lines[0]"
    page.keyboard.press("4")
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    headed(page, "note")
    page.keyboard.press("k")
    headed(page, "lines[0]")
    assert page.locator("[data-verdict][aria-pressed=true]").text_content() == "Neither"


def test_on_a_narrow_screen_the_panel_lies_over_the_page(open_page, run_of):
    page = open_page(run_of(detailed=True), viewport={"width": 390, "height": 800})
    page.locator("#errors-list .row:not(.group)").first.click()
    headed(page, "id")

    assert page.locator("#panel").evaluate("it => it.matches(':modal')")
    page.keyboard.press("Escape")
    page.locator("#panel").wait_for(state="hidden")
    assert focused(page) == "id"


def test_numbers_are_drawn_found_against_true_and_lead_to_their_errors(open_page, run_of):
    lines = [{"sku": f"s{index}", "qty": 10.0**index} for index in range(5)]
    wrong = [
        {**line, "qty": line["qty"] * (-10 if index else 10)} for index, line in enumerate(lines)
    ]
    page = open_page(
        run_of(ITEMS, [DocumentPair("a", {"lines": lines}, {"lines": wrong})], detailed=True)
    )
    points = page.locator("#scatter circle")
    becomes(page, points.count, 5)
    assert page.locator("#scatter circle.hollow").count() == 4  # of another sign
    assert page.locator("#by-place b").all_text_contents() == ["50.0%"] * 5
    assert page.locator("#by-place small").all_text_contents() == ["2"] * 5
    points.first.click(force=True)
    headed(page, "lines[0].qty")


def test_a_cause_shows_the_places_of_its_errors(open_page, with_pictures):
    page = open_page(with_pictures)
    page.get_by_role("link", name="total 20 -> 21 once").click()
    becomes(page, page.locator("#errors-strip svg").count, 1)
    assert page.locator("#errors-strip a").all_text_contents() == ["b"]
    assert page.locator("#on-page rect").count() > 1


def test_the_page_is_searched_and_sorted_by_a_worker(open_page, run_of):
    page = open_page(run_of(detailed=True))

    assert len(page.workers) == 1


def test_errors_open_by_cause_and_an_item_is_one_row_of_the_fields_that_differ(open_page, run_of):
    page = open_page(run_of(ITEMS, INVOICES, detailed=True))
    titles = page.locator("#errors-list .group .title").all_text_contents()
    assert titles[0] == "1 lines: qty wrong in 2 items of 2 documents"
    assert rows(page)[:2] == ["lines[0]"] * 2
    assert page.locator(".change").all_text_contents()[1:3] == ["qty 12345678901234567890 → 7"] * 2
    count_text = page.locator("#errors-count").text_content()
    assert count_text == "4 values"


def test_a_cause_takes_the_focus_along(page):
    page.locator(".causes a").nth(1).click()
    becomes(page, lambda: page.locator("#errors-chosen button").count(), 1)
    has_focus = "document.activeElement.matches('#errors-list [role=row]')"
    becomes(page, lambda: page.evaluate(has_focus), expected=True)


@pytest.mark.parametrize(
    ("link", "message"),
    [
        ("#document=bb", "No document on this page is called bb; nearest: b."),
        ("#errors&cause=0123456789", "no cause is called 0123456789 ✕"),
        ("#errors&at=custmer.city", "no field is called custmer.city; nearest: customer.city ✕"),
        ("#errors&field=totl", "no field is called totl; nearest: total"),
        ("#errors&group=clas", "no group is called clas; nearest: class ✕"),
        ("#errors&similarity=abc", "similarity is a number from 0 to 1, not abc ✕"),
        ("#documents&sort=worst", "no sort is called worst"),
    ],
)
def test_a_name_in_an_address_that_is_unknown_is_said(open_page, run_of, link, message):
    page = open_page(run_of(detailed=True), link)
    page.get_by_text(message).wait_for()


def test_a_cause_that_is_gone_has_no_errors(open_page, run_of):
    page = open_page(run_of(detailed=True), "#errors&cause=0123456789")

    assert page.locator("#errors-count").text_content() == "0 values"
    assert rows(page) == []


def test_a_class_inside_a_cause_chooses_among_the_values_of_its_items(open_page, run_of):
    page = open_page(run_of(ITEMS, INVOICES, detailed=True))
    page.locator(".causes a", has_text="lines").click()
    becomes(page, lambda: rows(page), ["lines[0]", "lines[0]"])
    page.locator("#errors-class").select_option("other")

    becomes(page, lambda: rows(page), ["lines[0].qty", "lines[0].qty"])
    assert page.locator("#errors-list .group").count() == 1


def test_after_the_panel_is_closed_back_leaves_the_list_as_it_was_before(page):
    page.evaluate("location.hash = '#errors&find=b'")
    page.evaluate("location.hash = '#errors&outcome=fd'")
    becomes(page, lambda: rows(page), ["customer.city", "total"])
    page.locator("#errors-list .row:not(.group)").first.click()
    headed(page, "customer.city")
    page.keyboard.press("ArrowRight")
    headed(page, "total")
    page.keyboard.press("Escape")
    becomes(page, page.locator("#panel[open]").count, 0)
    becomes(page, lambda: page.url.partition("#")[2], "errors&outcome=fd")
    page.go_back()

    becomes(page, lambda: page.locator("#errors-find").input_value(), "b")


def test_a_link_to_a_value_inside_an_item_marks_the_row_of_the_item(open_page, run_of):
    page = open_page(run_of(ITEMS, INVOICES, detailed=True), "#document=a&path=lines[0].qty")
    marked = page.locator("#errors-list .row.active .path")

    becomes(page, marked.all_text_contents, ["lines[0]"])


def test_what_lost_nothing_says_so(open_page, run_of):
    page = open_page(run_of(pairs=ORDERS[:1], detailed=True))

    page.locator("#summary").get_by_text("Nothing was lost: all 9 values are right.").wait_for()


DOT = "data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///ywAAAAAAQABAAACAUwAOw=="


@pytest.fixture
def with_pictures(run_of):
    """A run with pictures of two pages of document b, and with boxes of two of its values."""
    run = run_of(detailed=True)
    right, wrong = ("id", "TP"), ("total", "FD")
    run.detail.boxes["b"] = [
        PlacedBox(*right, "pred", "0", 0.1, 0.1, 0.3, 0.2, in_pixels=False),
        PlacedBox(*wrong, "gt", "1", 100, 50, 200, 75, in_pixels=True),
        PlacedBox(*wrong, "pred", "1", 0.5, 0.5, 0.9, 0.6, in_pixels=False),
    ]
    pictures = {"b": [Picture(1, DOT, 400, 100), Picture(2, DOT, 400, 100)]}
    return replace(run, sources=PageSources("https://host/{id}.pdf#page={page}", None, pictures))


def test_an_error_is_shown_on_its_page_with_the_boxes_of_both_sides(open_page, with_pictures):
    page = open_page(with_pictures, "#errors&document=b&path=total")
    headed(page, "total")
    link = page.locator("#panel a[target=_blank]")
    assert link.get_attribute("href") == "https://host/b.pdf#page=2"
    assert page.locator("#panel figcaption").all_text_contents() == ["Page 2 Whole page"]
    boxes = page.locator("#panel rect")
    assert boxes.evaluate_all("all => all.map(box => box.getAttribute('class'))") == [
        "wrong gt chosen",
        "wrong pred chosen",
    ]
    places = "all => all.map(box => ['x', 'y', 'width', 'height'].map(it => +box.getAttribute(it)))"
    assert boxes.evaluate_all(places)[0] == [100, 50, 100, 25]
    drawing = page.locator("#panel .source svg")
    assert drawing.get_attribute("viewBox") == "68 47 324 31"  # both boxes, and a margin
    page.get_by_role("button", name="Whole page").click()
    assert drawing.get_attribute("viewBox") == "0 0 400 100"
    assert boxes.locator("title").all_text_contents()[1] == "total, prediction: wrong"


def test_a_document_is_shown_with_all_its_pages(open_page, with_pictures):
    page = open_page(with_pictures, "#documents&document=b")
    headed(page, "b")
    assert page.locator("#panel figcaption").all_text_contents() == ["Page 1 ", "Page 2 "]
    assert page.locator("#panel rect.right").count() == 1
    assert page.locator("#panel rect.wrong").count() == 2
    assert page.locator("#panel image").count() == 2


def test_axe_finds_nothing_where_a_document_is_shown(open_page, with_pictures, findings):
    assert findings(open_page(with_pictures, "#errors&document=b&path=total")) == []


def test_the_list_of_errors_is_walked_by_keys(page):
    page.locator("#errors-list [role=row][tabindex='0']").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")

    headed(page, "id")


def test_an_error_is_copied_as_the_line_that_files_hold(page, errors_of):
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.evaluate("location.hash = '#document=b&path=total'")
    page.get_by_role("button", name="Copy as JSON").click()
    page.get_by_role("button", name="Copied").wait_for()
    written = error_record(errors_of()[0])
    del written["cause"]

    copied = json.loads(page.evaluate("navigator.clipboard.readText()"))

    assert copied == written
    assert list(copied) == list(written)


def test_a_document_opens_in_full_and_can_hide_what_is_right(page):
    page.locator("#documents-list .row").nth(1).click()
    panel = page.get_by_role("dialog")
    names = panel.locator("tbody th")
    headed(page, "b")

    assert names.all_text_contents()[:5] == ["id", "total", "customer", "name", "city"]

    panel.get_by_label("only differences").check()
    assert names.all_text_contents()[:3] == ["total", "customer", "city"]


def test_documents_sort_and_filter(page):
    assert rows(page, "documents", "span") == ["c", "b", "a", "d"]

    page.locator("#documents-order").select_option("id")
    assert rows(page, "documents", "span") == ["a", "b", "c", "d"]

    page.locator("#documents-find").fill("B")
    assert rows(page, "documents", "span") == ["b"]
    assert page.locator("#documents-count").text_content() == "1 of 4 documents"


@pytest.mark.parametrize(
    ("link", "heading"),
    [
        ("#document=b&path=customer", "customer"),
        ("#document=b", "b"),
        ("#document=no%ZZ", None),
        ("#document=b&path=id", "id"),
    ],
)
def test_a_link_leads_to_what_it_names(open_page, run_of, link, heading):
    page = open_page(run_of(detailed=True), link)

    if heading is None:
        assert page.locator("#failure").is_hidden()
    else:
        headed(page, heading)


def test_a_link_to_a_field_opens_it(open_page, run_of):
    page = open_page(run_of(detailed=True), "#fields&open=customer.city")

    page.locator("tbody[data-path='customer.city'] .more").wait_for(state="visible")
    assert page.locator("tbody[data-path='id'] .more").is_hidden()


def test_hostile_values_stay_text(open_page, run_of):
    schema = {
        "type": "object",
        "x-aws-stickler-model-name": EVIL,
        "properties": {EVIL: {"type": "string"}},
    }
    pairs = [DocumentPair(EVIL, {EVIL: f"{EVIL}{TURNED}"}, {EVIL: "no", TURNED: EVIL})]
    page = open_page(run_of(schema, pairs, detailed=True))

    page.locator("#errors-list .row:not(.group)").nth(1).click()
    panel = page.get_by_role("dialog")
    headed(page, field_path((EVIL,)))
    assert EVIL.replace('"', '\\"') in panel.locator(".value").first.text_content()
    assert "\\u202egnp.exe" in panel.locator(".value").first.text_content()

    panel.get_by_role("link", name=EVIL).first.click()
    headed(page, EVIL)
    assert page.locator("img").count() == 0
    assert page.title().startswith(EVIL)


def test_only_rows_that_can_be_seen_are_in_the_page(open_page, run_of):
    pairs = [DocumentPair(f"{index:05}", {"id": "x"}, {"id": "y"}) for index in range(3000)]
    page = open_page(run_of(pairs=pairs, detailed=True))
    assert len(rows(page)) < 60

    page.locator("#errors-list [role=row][tabindex='0']").focus()
    page.keyboard.press("End")
    becomes(page, lambda: "02999" in page.locator("#errors-list .active").text_content(), True)
    page.keyboard.press("Enter")
    headed(page, "id")
    assert page.url.endswith("#document=02999&path=id")


def test_a_document_that_is_not_there_in_full_lists_its_errors(open_page, run_of):
    pairs = [DocumentPair(f"{index:03}", {"id": "x"}, {"id": "y"}) for index in range(102)]
    page = open_page(run_of(pairs=pairs, detailed=True), "#document=101")

    headed(page, "101")
    panel = page.get_by_role("dialog")
    assert "to see it, use stickler compare" in panel.text_content()
    panel.get_by_role("link", name="id").click()
    headed(page, "id")
    assert page.url.endswith("#document=101&path=id")


def test_without_scripts_the_figures_can_be_read(open_page, run_of):
    page = open_page(run_of(detailed=True), java_script_enabled=False)

    assert page.get_by_role("heading", name=("Causes, by values lost")).is_visible()
    assert page.locator("tbody[data-path='customer.city'] .modes").is_visible()
    assert page.get_by_text("those with the lowest scores").is_visible()
    assert page.locator("#errors-tools").is_hidden()


@pytest.mark.parametrize("width", [390, 900, 1440])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_is_wider_than_the_window(open_page, run_of, width, scheme):
    page = open_page(
        run_of(gates=["f1>=0.9"], detailed=True),
        viewport={"width": width, "height": 800},
        color_scheme=scheme,
    )

    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    background = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (background == "rgb(246, 247, 249)") == (scheme == "light")


def test_on_paper_there_are_tables_and_no_tools(page):
    n_rows = len(rows(page))
    page.emulate_media(media="print")

    assert page.locator("#fields-table").is_visible()
    assert page.get_by_text("those with the lowest scores").is_visible()
    assert page.locator("#errors-list").is_hidden()
    assert page.locator("nav").is_hidden()
    for text in ("On paper are the main tables", "Not on paper: the other charts"):
        assert page.get_by_text(text).is_visible()
    caption = page.locator(".first-errors caption").inner_text()
    assert caption.startswith(f"{n_rows} of {n_rows} rows, by cause;")


def counted_links(page) -> list[tuple[str, int]]:
    """Return (link, number) for each link that shows a number of errors or documents.

    Links in opened fields are included.
    """
    page.evaluate("location.hash = '#fields&open=*'")
    page.locator(".opened .more .button").first.wait_for()
    return page.locator("a[data-count]").evaluate_all(
        "all => all.map(link => [link.getAttribute('href'), Number(link.dataset.count)])"
    )


def follow(page, link: str) -> int:
    """Follow a link, and return the number of entries in the list to which it leads."""
    page.evaluate("link => { location.hash = link; }", link)
    name = link[1:].partition("&")[0]
    text = page.locator(f"#{name}-count").text_content()
    return int(text.split()[0].replace(",", ""))


NESTED = {
    "type": "object",
    "properties": {
        "tags": {"type": "array", "items": {"type": "string"}},
        "rates": {"type": "object", "additionalProperties": {"type": "number"}},
        "rows": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "name": {"type": "string", "x-aws-stickler-comparator": "ExactComparator"},
                    "codes": {"type": "array", "items": {"type": "string"}},
                    "place": {"type": "object", "properties": {"x": {"type": "integer"}}},
                },
            },
        },
    },
}
NESTED_PAIRS = (
    DocumentPair(
        "one+two&three=4 %",
        {
            "tags": ["red", "blue", "green"],
            "rates": {"a": 1, "b": 2},
            "rows": [
                {"name": "n1", "codes": ["c1", "c2"], "place": {"x": 1}},
                {"name": "n2", "codes": ["c3", "c4"], "place": {"x": 2}},
                {"name": "n3", "codes": ["c5"], "place": {"x": 3}},
            ],
        },
        {
            "tags": ["red", "black"],
            "rates": {"a": 1.5, "c": 2},
            "rows": [
                {"name": "n1", "codes": ["c1", "zzz"], "place": {"x": 2, "extra": 1}},
                {"name": "other", "codes": ["c3", "qqq"], "place": {"x": 7, "more": {"y": 1}}},
            ],
            "unknown": 5,
        },
    ),
    DocumentPair("empty", {"tags": ["red"], "rows": [{"name": "n", "codes": ["c"]}]}, None),
)


@pytest.mark.parametrize("name", ["invoice", "order", "nested"])
def test_a_link_leads_to_as_many_as_it_promises(open_page, fixture_run, run_of, name):
    run_options = {"order": {}, "nested": {"schema": NESTED, "pairs": NESTED_PAIRS}}
    run = (
        run_of(**run_options[name], detailed=True)
        if name in run_options
        else fixture_run(name, detailed=True)
    )
    page = open_page(run)
    links = counted_links(page)
    assert len(links) > 20

    for link, count in links:
        becomes(page, partial(follow, page, link), count)


def test_the_grid_is_walked_by_keys_and_leads_to_the_errors_of_a_cell(open_page, run_of):
    page = open_page(run_of(NESTED, NESTED_PAIRS, detailed=True))
    cell_hint = page.locator("#grid-cell")

    page.locator("#grid").focus()
    page.keyboard.press("Home")
    becomes(page, cell_hint.text_content, f"{NESTED_PAIRS[0].id} · rows.codes: 7 values lost")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowDown")
    becomes(page, cell_hint.text_content, "empty · rows.codes: 1 value lost")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")

    becomes(page, lambda: page.locator("#errors-count").text_content().split()[0], "7")
    assert all(path.startswith("rows[") and ".codes[" in path for path in rows(page))
    assert set(rows(page, column=".document")) == {NESTED_PAIRS[0].id}


ITEMS = {
    "type": "object",
    "x-aws-stickler-model-name": "Invoice",
    "properties": {
        "name": {"type": "string", "x-aws-stickler-threshold": 1.0},
        "lines": {
            "type": "array",
            "items": {
                "type": "object",
                "x-aws-stickler-match-threshold": 0.9,
                "properties": {"sku": {"type": "string"}, "qty": {"type": "number"}},
            },
        },
    },
}
INVOICES = [
    DocumentPair(
        name,
        {"name": "Meyer and Sons Limited", "lines": [{"sku": "pen", "qty": 12345678901234567890}]},
        {"name": "Meyer und Sons Limited", "lines": [{"sku": "pen", "qty": 7}]},
    )
    for name in ("a", "it's")
]


def test_two_items_are_shown_field_by_field_with_all_digits(open_page, run_of):
    page = open_page(run_of(ITEMS, INVOICES, detailed=True), "#document=a&path=lines[0]")
    headed(page, "lines[0]")
    panel = page.get_by_role("dialog")
    cells = panel.locator("tbody tr").evaluate_all(
        "rows => rows.map(row => Array.from(row.children, cell => cell.textContent))"
    )

    assert cells == [["qty", "12345678901234567890", "7"], ["sku", '"pen"', '"pen"']]
    assert panel.locator("tr.wrong-row th").all_text_contents() == ["qty"]
    assert (
        "It cost 1 value, all inside it. One of 2 errors of cause 1, which cost 2 values"
        in panel.text_content()
    )
    assert panel.get_by_role("heading", name="Wrong inside it").is_visible()
    panel.get_by_role("link", name="lines[0].qty").click()
    headed(page, "lines[0].qty")
    panel.get_by_role("link", name="lines[0]", exact=True).first.click()
    headed(page, "lines[0]")


def test_words_that_differ_are_marked_as_words_or_by_their_characters(open_page, run_of):
    pairs = [
        DocumentPair("a", {"name": "the quick brown fox sat"}, {"name": "the quick browm cat sat"})
    ]
    strict = {
        "type": "object",
        "properties": {"name": {"type": "string", "x-aws-stickler-threshold": 1.0}},
    }
    page = open_page(run_of(strict, pairs, detailed=True), "#document=a&path=name")
    headed(page, "name")
    panel = page.get_by_role("dialog")

    assert panel.locator("mark.expected").all_text_contents() == ["n", "fox"]
    assert panel.locator("mark.wrong").all_text_contents() == ["m", "cat"]


def test_the_command_that_explains_an_error_is_copied_for_a_shell(open_page, run_of):
    run = replace(
        run_of(ITEMS, INVOICES, detailed=True), explain_command="stickler compare s.json gt/ pred/"
    )
    page = open_page(run, "#document=it's&path=lines[0].qty")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    headed(page, "lines[0].qty")
    page.get_by_role("button", name="Copy command").click()
    page.get_by_role("button", name="Copied").wait_for()

    words = shlex.split(page.evaluate("navigator.clipboard.readText()"))
    assert words == [
        *("stickler", "compare", "s.json", "gt/", "pred/"),
        *("--document", "it's", "--field", "lines[0].qty"),
    ]


def test_verdicts_are_kept_with_the_page_and_downloaded_as_records(open_page, run_of):
    run = run_of(ITEMS, INVOICES, detailed=True)
    page = open_page(run, "#document=a&path=name")
    headed(page, "name")
    page.get_by_role("button", name="Both acceptable").click()
    page.evaluate("location.hash = '#document=a&path=lines[0]'")
    headed(page, "lines[0]")
    page.keyboard.press("2")
    page.keyboard.press("1")
    pressed = page.locator("[data-verdict][aria-pressed=true]").all_text_contents()
    assert pressed == ["Prediction right"]
    page.reload()
    page.wait_for_selector("html[data-ready]", state="attached")
    assert page.locator("[data-verdict][aria-pressed=true]").all_text_contents() == pressed
    page.keyboard.press("Escape")
    with page.expect_download() as download:
        page.get_by_role("button", name="Download verdicts.jsonl").click()

    lines = Path(download.value.path()).read_text().splitlines()
    assert download.value.suggested_filename == "verdicts.jsonl"
    records = [decode(VerdictRecord, json.loads(line), "verdicts.jsonl") for line in lines]
    for record in records:
        jsonschema.validate(record, schema_of("stickler-verdict"))
    assert [(record["path"], record["verdict"]) for record in records] == [
        ("name", "both_acceptable"),
        ("lines[0]", "prediction_right"),
    ]
    assert records[0]["gt"] == "Meyer and Sons Limited"
    assert records[1]["gt"] == {"sku": "pen", "qty": 12345678901234567890}
    assert {record["schema"] for record in records} == {run.schema.digest}
    assert all(
        datetime.fromisoformat(record["time"]).utcoffset() == timedelta() for record in records
    )
    page.on("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name="Forget").click()
    assert page.locator(".verdicts span").text_content() == "No verdicts yet"


def test_of_too_many_errors_every_part_says_how_many_there_are(open_page, run_of):
    pairs = [
        DocumentPair(
            f"{index:03}", {"id": "x", "total": 5}, {"id": f"{index}", "total": 5 + index % 2}
        )
        for index in range(90)
    ]
    run = run_of(pairs=pairs, detailed=True)
    kept = KeptErrors(max_lines=10)
    kept.merge(run.detail.errors)
    page = open_page(replace(run, detail=replace(run.detail, errors=kept)))
    count = page.locator("#errors-count")

    assert page.locator("#errors-badge").text_content() == "135"
    count_text = count.text_content()
    assert count_text.endswith(" of 135 errors on this page")
    assert 10 < int(count_text.split()[0]) < 135
    page.evaluate("location.hash = '#errors&field=total'")
    becomes(
        page, lambda: count.text_content().endswith(" of 45 errors on this page"), expected=True
    )
    page.evaluate("location.hash = '#errors&group=field'")
    becomes(page, page.locator(".group .title").all_text_contents, ["id"])
    assert page.locator(".group .note").text_content() == "90 values"
    page.evaluate("location.hash = '#errors&group=field&field=total'")
    becomes(page, page.locator(".group .title").all_text_contents, ["total"])
    assert page.locator(".group .note").text_content().endswith(" of 45 rows")


def test_of_many_fields_only_some_are_laid_out_until_one_scrolls(open_page, run_of):
    names = [f"field_{index}" for index in range(150)]
    schema = {"type": "object", "properties": {name: {"type": "string"} for name in names}}
    pairs = [DocumentPair("a", dict.fromkeys(names, "x"), dict.fromkeys(names, "y"))]
    run = run_of(schema, pairs, detailed=True)
    page = open_page(run, "#fields&sort=-path")

    def visible_paths() -> list[str]:
        shown_fields = page.locator("#fields-table tbody[data-field]:visible")
        return list(shown_fields.evaluate_all("all => all.map(body => body.dataset.path)"))

    assert visible_paths() == sorted(names, reverse=True)[:60]
    assert page.locator("#fields-table .modes").count() == 0
    page.locator("#fields-table tfoot").scroll_into_view_if_needed()
    becomes(page, lambda: len(visible_paths()) > 60, expected=True)
    page.evaluate("location.hash = '#fields&sort=-path&open=field_0'")
    page.locator("tbody[data-path=field_0] .more .modes").first.wait_for(state="visible")
    page = open_page(run, java_script_enabled=False)
    assert page.locator("tbody[data-path=field_149] .modes").first.is_visible()


def test_errors_can_be_read_without_scripts_and_on_paper(open_page, run_of):
    pairs = [DocumentPair(f"{index:03}", {"id": "x"}, {"id": f"y{index}"}) for index in range(250)]
    run = run_of(pairs=pairs, detailed=True)
    for page in (open_page(run, java_script_enabled=False), open_page(run)):
        page.emulate_media(media="print")
        table = page.locator("table.first-errors")
        table.wait_for(state="visible")
        assert table.locator("tr.cause").count() == 1
        assert table.locator("tr.error").count() == 200
        assert table.locator("tr.error:visible").count() == 24  # more of them take many sheets
        assert table.locator("caption").inner_text().startswith("24 of 250 rows, by cause;")
        assert '"y199"' in table.text_content()


@pytest.mark.parametrize("width", [390, 1280])
def test_the_pages_of_several_runs_are_cut_off_nowhere(open_page, run_of, width):
    runs = [run_of(NESTED, pairs, detailed=True) for pairs in (NESTED_PAIRS, NESTED_PAIRS[1:])]
    difference = compare_runs({"base.json": runs[0]}, {"new.json": runs[1]})
    page = open_page(difference, viewport={"width": width, "height": 800})

    wide = "all => all.filter(it => it.getBoundingClientRect().right > innerWidth + 1).length"
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    visible_texts = page.locator(
        "#summary td:visible, #summary th:visible, main p:visible, main li:visible"
    )
    assert visible_texts.evaluate_all(wide) == 0
    names = (f"a_run_with_a_long_name_{index}" for index in range(3))
    runs = dict(zip(names, [runs[0], runs[1], runs[0]], strict=True))
    runs_beside = RunsBeside(runs, changed_values(*runs.values()))
    page = open_page(runs_beside, viewport={"width": width, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    first = page.locator("#documents-list .row span").first.bounding_box()
    assert first["width"] >= 64  # names of documents, whatever the runs are called


def two_runs(run_of):
    """Return two runs with different errors."""
    worse = [DocumentPair("a", RIGHT, {**RIGHT, "id": "A-2", "total": 11}), *ORDERS[1:]]
    runs = {"base": run_of(detailed=True), "new": run_of(pairs=worse, detailed=True)}
    return runs["base"], runs["new"]


def test_the_page_of_a_difference_is_filtered_sorted_and_linked(open_page, run_of):
    base, new = two_runs(run_of)
    difference = compare_runs({"base": base}, {"new": new})
    difference = replace(difference, pages=["file:///base.html", ""])
    page = open_page(difference, "#errors&outcome=broken&sort=field")
    assert rows(page) == ["id", "total"]
    values = page.locator("#errors-list .row:not(.group) .value").all_text_contents()
    assert values == ['"A-1"', "right", '"A-2"', "10", "right", "11"]

    page.locator("#errors-list .row:not(.group)").first.click()
    headed(page, "id")
    assert page.locator("#panel tbody tr").count() == 3
    links = page.locator("#panel a[href^='file:']").evaluate_all("all => all.map(it => it.href)")
    assert links == ["file:///base.html#document=a&path=id"]
    page.keyboard.press("Escape")
    assert focused(page) == "id"
    page.locator("#fields-table th[data-sort=broken] button").click()
    assert set(paths(page)[:2]) == {"id", "total"}
    # b and c have the same errors in both runs.
    assert rows(page, "documents", "span") == ["a", "b", "c"]
    page.locator("#documents-wrong").check()
    becomes(page, lambda: rows(page, "documents", "span"), expected=["a"])
    page.locator("#apart circle.worse").click()
    headed(page, "a")


def test_the_navigation_shows_which_lists_have_filters(open_page, run_of):
    base, new = two_runs(run_of)
    page = open_page(compare_runs({"base": base}, {"new": new}))
    links = page.locator("nav a").all_inner_texts
    assert not any("filtered" in text for text in links())

    page.locator("#errors-field").select_option("total")
    page.locator("nav a[href='#documents']").click()
    becomes(page, lambda: ["filtered" in text for text in links()], [False, False, True, False])
    page.evaluate("location.hash = '#documents&by=total&group=broken&errors.sort=field'")
    becomes(page, lambda: ["filtered" in text for text in links()], [False, False, False, True])


def choose_every_option(page) -> int:
    """Choose each option of each visible select; return the number of choices."""
    chosen = 0
    for select in page.locator("main select:visible").all():
        values = select.locator("option").evaluate_all("all => all.map(it => it.value)")
        for value in [*values, values[0]]:
            select.select_option(value)
            page.wait_for_selector("html:not([data-busy])", state="attached")
            page.wait_for_timeout(30)
            chosen += 1
    return chosen


def press_everything(page) -> int:
    """Choose every option, type into every search, and press every checkbox and button of a page.

    Of many buttons with the same text, such as those of the rows of a list, only the first three
    are pressed. Return how many controls were used.
    """
    used = choose_every_option(page)
    for search in page.locator("main input[type=search]:visible").all():
        for text in ("a", ""):
            search.fill(text)
            page.wait_for_timeout(100)
            used += 1
    for kind in ("main input[type=checkbox]", "main button"):
        controls = page.locator(kind)
        texts = Counter()
        # A button may show or hide others; each that can be seen in its turn is pressed twice.
        for index, text in enumerate(controls.all_text_contents()):
            texts[text] += 1
            if text and texts[text] > 3:
                continue
            for _ in range(2):
                if controls.nth(index).is_visible() and controls.nth(index).is_enabled():
                    controls.nth(index).click()
                    page.wait_for_selector("html:not([data-busy])", state="attached")
                    used += 1
    return used


def test_every_option_and_every_button_can_be_used(open_page, run_of):
    base, new = two_runs(run_of)
    runs = {"base": base, "new": new, "again": base}
    subjects = {
        "report": base,
        "difference": compare_runs({"base": base}, {"new": new}),
        "runs": RunsBeside(runs, changed_values(*runs.values())),
    }
    for name, subject in subjects.items():
        page = open_page(subject)
        assert press_everything(page) > 10, name
        for group in ("cause", "none", "field", "document"):
            page.evaluate("group => { location.hash = `#errors&group=${group}` }", group)
            page.wait_for_selector("html:not([data-busy])", state="attached")
        assert page.locator("#failure").is_hidden(), name


def test_heads_of_groups_count_what_stands_below_them(open_page, run_of):
    page = open_page(run_of(detailed=True))
    for group in ("", "field", "class", "pair", "document"):
        page.locator("#errors-group").select_option(group)
        for text in ("", "a"):
            page.locator("#errors-find").fill(text)
            page.wait_for_timeout(300)
            page.wait_for_selector("html:not([data-busy])", state="attached")
            notes = page.locator("#errors-list .group > .note").all_text_contents()
            counts = [int(note.split()[0]) for note in notes]
            head = page.locator("#errors-count").text_content()
            assert sum(counts) == int(head.split()[0]), (group, text, notes, head)


def test_each_number_of_a_difference_stands_at_the_head_of_its_list(open_page, run_of):
    base, new = two_runs(run_of)
    page = open_page(compare_runs({"base": base}, {"new": new}))
    links = page.locator("main a[href^='#errors'], main a[href^='#documents']").evaluate_all(
        "all => all.map(link => "
        "[link.getAttribute('href'), link.dataset.count ?? link.textContent])"
    )
    assert any(href.startswith("#errors&after=") for href, _ in links)
    assert any(href.startswith("#documents&by=") for href, _ in links)

    for href, text in links:
        page.evaluate("link => { location.hash = link }", href)
        page.wait_for_selector("html:not([data-busy])", state="attached")
        name = href[1:].partition("&")[0]
        head = page.locator(f"#{name}-count")
        becomes(page, lambda head=head: head.text_content().split()[0], text.split()[0])


def test_the_panel_of_a_difference_begins_with_the_reason_and_its_cause(open_page, run_of):
    base, new = two_runs(run_of)
    page = open_page(compare_runs({"base": base}, {"new": new}), "#document=a&path=total")
    headed(page, "total")
    panel = page.locator("#panel .inside > p")

    assert panel.first.text_content().startswith("after: ")
    assert "below threshold (0.000 < " in panel.first.text_content()
    assert panel.first.locator("a").get_attribute("href").startswith("#errors&after=")


def test_an_item_with_a_wrong_value_inside_is_not_called_right(open_page, run_of):
    gt = {"lines": [{"sku": "bolt", "qty": 5}]}
    worse = {"lines": [{"sku": "bolt", "qty": 7}]}
    runs = {
        name: run_of(ITEMS, [DocumentPair("a", gt, pred)], detailed=True)
        for name, pred in (("base", worse), ("new", {"lines": []}))
    }
    page = open_page(compare_runs({"base": runs["base"]}, {"new": runs["new"]}))
    row = page.locator("#errors-list .row:not(.group)", has_text="absent").first

    assert "wrong inside: qty" in row.text_content()
    assert "right" not in row.locator(".value").all_text_contents()


def test_items_of_a_difference_can_be_read_without_json(open_page, run_of):
    gt = {"lines": [{"sku": "bolt", "qty": 5}]}
    base, new = (
        run_of(ITEMS, [DocumentPair("a", gt, pred)], detailed=True) for pred in (gt, {"lines": []})
    )
    page = open_page(compare_runs({"base": base}, {"new": new}))
    row = page.locator("#errors-list .row:not(.group)").first

    assert row.locator(".value").all_text_contents() == ['"bolt" · 5', "right", "absent"]
    row.click()
    values = page.locator("#panel .value").all_text_contents()
    assert values == ['sku "bolt" · qty 5', "right", "absent"]


def test_the_documents_of_a_difference_have_one_line_each_beside_a_panel(open_page, run_of):
    base, new = two_runs(run_of)
    difference = compare_runs({"base": base}, {"new": new})
    page = open_page(difference, "#document=a", viewport={"width": 1440, "height": 900})
    headed(page, "a")

    lines = "all => all.map(row => new Set([...row.children].map(cell => cell.offsetTop)).size)"
    rows_and_head = page.locator("#documents-list :is(.head, .row)")
    assert set(rows_and_head.evaluate_all(lines)) == {1}
    assert rows_and_head.first.locator("> *").count() == 4


def test_documents_that_are_no_longer_right_are_a_link_of_a_difference(open_page, run_of):
    base, new = two_runs(run_of)
    page = open_page(compare_runs({"base": base}, {"new": new}))
    sums = page.locator("#flow li")

    assert "by kind, before: " in sums.last.text_content()
    link = sums.first.locator("a")
    assert link.text_content() == "1 no longer"
    link.click()
    page.wait_for_selector("html:not([data-busy])", state="attached")
    assert rows(page, "documents", "span") == ["a"]
    assert page.locator("#documents .chip").all_text_contents() == ["no longer wholly right ✕"]


SMALL_TARGETS = """all => all.filter(it => it.offsetParent !== null).filter(it => {
  const { width, height } = it.getBoundingClientRect();
  return width < 24 || height < 24;
}).map(it => it.textContent)"""


@pytest.mark.parametrize("kind", ["report", "difference"])
def test_on_a_phone_nothing_is_cut_off_or_too_small_for_a_finger(open_page, run_of, kind):
    run = run_of(ITEMS, INVOICES, detailed=True)
    if kind == "difference":
        base, new = two_runs(run_of)
        run = compare_runs({"base": base}, {"new": new})
    page = open_page(run, viewport={"width": 390, "height": 844})

    assert page.evaluate("document.documentElement.scrollWidth") == 390
    targets = "table a, button:not([hidden]), select, nav a, #flow a"
    assert page.locator(targets).evaluate_all(SMALL_TARGETS) == []
    wide = "all => all.filter(it => it.scrollWidth > it.clientWidth + 1).map(it => it.ariaLabel)"
    assert page.locator(".scroll, nav .page").evaluate_all(wide) == []
    page.evaluate("location.hash = '#errors&find=a'")
    page.wait_for_selector("nav .filtered", state="attached")
    assert page.locator("nav .page").evaluate_all(wide) == []


def test_runs_side_by_side_have_a_column_each(open_page, run_of):
    base, new = two_runs(run_of)
    runs = {"one": base, "two": new, "three": base}
    page = open_page(RunsBeside(runs, changed_values(*runs.values())))
    heads = page.locator("#errors-list .head > span").all_text_contents()

    assert heads == ["Outcome", "Field", "Truth", "one", "two", "three", "Document"]
    assert rows(page) == ["id", "total"]
    assert rows(page, "documents", "span")[0] == "a"
    page.locator("#documents-list .row").first.click()
    headed(page, "a")
    text = page.locator("#panel").text_content()
    assert "one: 0 wrong values · two: 2 wrong values · three: 0 wrong values" in text


COLOUR_RULES = ("color-contrast", "link-in-text-block")


@pytest.fixture
def findings():
    """Return a function that checks a page with axe-core.

    It returns each violated rule, with the first place that violates it. All rules are checked with
    light colours, and the rules about colours with dark colours, too.
    """
    try:
        from axe_playwright_python.sync_playwright import Axe
    except ImportError:
        missing("AXE-PLAYWRIGHT-PYTHON IS NOT INSTALLED: the page is not tried for everyone")

    def run(page) -> list[tuple[str, str]]:
        violations = Axe().run(page).response["violations"]
        page.emulate_media(color_scheme="dark")
        dark = Axe().run(page, options={"runOnly": COLOUR_RULES, "resultTypes": ["violations"]})
        page.emulate_media(color_scheme="light")
        violations += dark.response["violations"]
        return [(violation["id"], violation["nodes"][0]["html"]) for violation in violations]

    return run


def test_colours_that_are_too_much_alike_in_the_dark_are_found(browser, findings):
    page = browser.new_page()
    page.set_content(
        "<!doctype html><html lang=en><title>A</title><style>@media (prefers-color-scheme: dark) "
        "{ body { background: #111; color: #222 } }</style><main><h1>Run</h1>"
    )

    assert [rule for rule, _ in findings(page)] == ["color-contrast"]
    page.close()


def wide_run(run_of):
    names = [f"field {index}" for index in range(120)]
    schema = {"type": "object", "properties": {name: {"type": "string"} for name in names}}
    return run_of(schema, [DocumentPair("a", dict.fromkeys(names, "x"), {})], detailed=True)


def cut_run(run_of):
    pairs = [DocumentPair(f"{index}", {"id": "x"}, {"id": f"{index % 7}"}) for index in range(60)]
    run = run_of(pairs=pairs, detailed=True)
    kept = KeptErrors(max_lines=5)
    kept.merge(run.detail.errors)
    return replace(run, detail=replace(run.detail, errors=kept))


def test_a_run_of_many_fields_prints_on_two_sheets(open_page, run_of):
    page = open_page(wide_run(run_of))

    pdf = pytest.importorskip("pypdfium2").PdfDocument(page.pdf(format="A4"))
    assert len(pdf) == 2


@pytest.mark.parametrize("width", [390, 1440])
def test_type_has_five_sizes_and_rows_of_a_list_have_one_height(open_page, run_of, width):
    run = run_of(gates=["f1>=0.9"], detailed=True)
    page = open_page(run, "#fields&open=*", viewport={"width": width, "height": 900})
    sizes = page.locator("body :visible").evaluate_all(
        "all => all.filter(it => it.innerText?.trim()).map(it => getComputedStyle(it).fontSize)"
    )
    heights = page.locator(".list .row").evaluate_all("all => all.map(it => it.offsetHeight)")

    assert len(set(sizes)) <= 5
    assert set(heights) == ({32, 40} if width == 1440 else {56, 72})


@pytest.mark.parametrize(
    ("make", "link"),
    [
        (lambda run_of: run_of({"type": "object"}, [], detailed=True), ""),
        (lambda run_of: run_of(pairs=ORDERS[1:2], single=True, detailed=True), ""),
        (lambda run_of: run_of(gates=["f1>=0.9"], intervals=True, detailed=True), "#fields&open=*"),
        (lambda run_of: run_of(ITEMS, INVOICES, detailed=True), "#document=a&path=lines[0]"),
        (lambda run_of: run_of(ITEMS, INVOICES, detailed=True), "#document=a"),
        (wide_run, "#errors&group=class"),
        (cut_run, "#errors&group=cause&sort=pred"),
    ],
)
def test_axe_finds_nothing_on_pages_of_runs(open_page, run_of, findings, make, link):
    assert findings(open_page(make(run_of), link)) == []


def test_axe_finds_nothing_on_pages_of_several_runs(open_page, run_of, findings):
    base, new = two_runs(run_of)
    assert findings(open_page(compare_runs({"a": base}, {"b": new}), "#document=a")) == []
    runs = {"one": base, "two": new, "three": base}
    assert findings(open_page(RunsBeside(runs, changed_values(*runs.values())))) == []


STUDIES = [
    (
        "audit fixtures/audit/schema.json fixtures/audit/gt.jsonl fixtures/audit/a.jsonl "
        "fixtures/audit/b.jsonl fixtures/audit/c.jsonl --id-field id --draw 30"
    ),
    "lint schemas/resume.json fixtures/resume/gt",
    (
        "places fixtures/places/schema.json fixtures/places/gt.jsonl fixtures/places/pred.jsonl "
        "--id-field id"
    ),
    "tune schemas/receipt.json fixtures/receipt/gt fixtures/receipt/pred",
    "plan run.json --half-width 0.02 --all --detect 0.01 --gate f1>=0.5",
    (
        "accept fixtures/confidence/schema.json fixtures/confidence/calibration-gt.jsonl "
        "fixtures/confidence/calibration-pred.jsonl --id-field id --max-error 0.1 -o policy.json"
    ),
    (
        "audit fixtures/audit/schema.json fixtures/audit/gt.jsonl fixtures/audit/a.jsonl "
        "fixtures/audit/b.jsonl fixtures/audit/c.jsonl --id-field id"
    ),
    "split fixtures/packets/gt.jsonl fixtures/packets/pred.jsonl",
]


@pytest.fixture
def open_study(browser, tmp_path, monkeypatch):
    """Return a function that runs the command of a study, and opens its page.

    The test fails if a page writes to the console.
    """
    monkeypatch.chdir(tmp_path)
    for name in ("fixtures", "schemas"):
        (tmp_path / name).symlink_to(Path(__file__).parents[2] / name)
    messages, pages = [], []

    def show(command, **options):
        if command.startswith("plan"):
            receipts = ("schemas/receipt.json", "fixtures/receipt/gt", "fixtures/receipt/pred")
            assert main(["eval", *receipts, "-q", "-o", "run.json"]) == 0
        assert main([*command.split(), "-o", "page.html"]) == 0
        page = browser.new_page(**options)
        pages.append(page)
        page.on("console", lambda message: messages.append(message.text))
        page.on("pageerror", lambda error: messages.append(str(error)))
        page.goto(f"file://{tmp_path}/page.html")
        return page

    yield show
    assert messages == []
    for page in pages:
        page.close()


@pytest.mark.parametrize("command", STUDIES)
def test_axe_finds_nothing_on_pages_of_studies(open_study, findings, command):
    page = open_study(command, viewport={"width": 390, "height": 800})
    wide = "all => all.every(it => it.scrollWidth <= it.clientWidth)"

    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.locator(".scroll").evaluate_all(wide)
    assert findings(page) == []


@pytest.mark.parametrize("command", STUDIES)
def test_every_control_of_the_page_of_a_study_can_be_used(open_study, findings, command):
    page = open_study(command, viewport={"width": 1280, "height": 800})
    n_controls = page.locator("main :is(select, button, input):visible").count()

    n_used = press_everything(page)
    assert (n_used > 0) is (n_controls > 0)
    if command.startswith("lint") or "--draw" in command:
        assert n_used > 1
    assert findings(page) == []


@pytest.mark.parametrize("width", [390, 900, 1440])
@pytest.mark.parametrize("kind", ["report", "difference"])
def test_a_link_leads_to_its_place_and_back_to_itself(open_page, run_of, width, kind):
    base, new = two_runs(run_of)
    run = base if kind == "report" else compare_runs({"base": base}, {"new": new})
    options = {"viewport": {"width": width, "height": 800}}
    top = "id => Math.round(document.getElementById(id).getBoundingClientRect().top)"
    for name in ("fields", "errors", "documents"):
        page = open_page(run, f"#{name}", **options)
        page.wait_for_timeout(300)  # drawings above the section may still come
        # Below the navigation, or as near to it as the end of the page allows.
        bottom = "document.documentElement.scrollHeight - innerHeight - Math.round(scrollY)"
        assert page.evaluate(top, name) == 48 or page.evaluate(bottom) <= 1

    page = open_page(run, **options)
    link = page.locator("#summary a[href^='#errors']").first
    link.click()
    page.wait_for_selector("html:not([data-busy])", state="attached")
    page.go_back()
    focused_link = "document.activeElement.getAttribute('href')"
    becomes(page, lambda: page.evaluate(focused_link), link.get_attribute("href"))
    assert page.evaluate("document.activeElement.getBoundingClientRect().top") < 800
    # An edited address leads to its place, not back to the link.
    page.evaluate("location.hash = '#errors&sort=field'")
    page.wait_for_selector("html:not([data-busy])", state="attached")
    becomes(page, lambda: page.locator("#errors :focus").count(), 1)


def test_the_page_behind_a_panel_that_covers_it_stands_at_its_list(open_page, run_of):
    page = open_page(
        run_of(detailed=True), "#document=b&path=total", viewport={"width": 390, "height": 800}
    )
    page.locator("#panel[open]").wait_for()
    page.keyboard.press("Escape")
    row = page.locator("#errors-list .row.active")
    row.wait_for()

    assert 0 < row.bounding_box()["y"] < 800


def test_with_forced_colours_bars_and_marks_can_still_be_seen(open_page, run_of):
    page = open_page(run_of(ITEMS, INVOICES, detailed=True), forced_colors="active")

    kept = "getComputedStyle(document.querySelector('.part.fd')).forcedColorAdjust"
    assert page.evaluate(kept) == "none"


LISTS = [
    "",
    "#errors&sort=-similarity",
    "#errors&group=cause",
    "#errors&group=pair&sort=document",
    "#errors&field=line_items&group=class",
    "#errors&outcome=fd&find=E",
    "#errors&of=midori-jp&sort=pred",
]


def is_listed(page) -> bool:
    """Return whether all rows of the list of errors are loaded."""
    rows_of = page.locator(".list .row").all_text_contents()
    counts = page.locator("#errors-count, #documents-count").all_text_contents()
    return all(counts) and "…" not in rows_of


def test_a_served_page_lists_what_a_page_that_has_all_lists(browser, open_page, tmp_path):
    folder = Path(__file__).parents[2]
    sources = [str(folder / "schemas" / "invoice.json")]
    sources += [str(folder / "fixtures" / "invoice" / side) for side in ("gt", "pred")]
    kept, file = str(tmp_path / "kept"), str(tmp_path / "report.html")
    assert main(["eval", *sources, "--no-config", "-q", "--run-dir", kept, "-o", file]) == 0
    server, address = make_server(kept, 0)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        full_page, asked_page = browser.new_page(), browser.new_page()
        for page in (full_page, asked_page):
            page.set_default_timeout(PATIENCE)
        for link in LISTS:
            documents_shown = []
            for page, place in ((full_page, f"file://{file}"), (asked_page, address)):
                page.goto("about:blank")
                page.goto(f"{place}{link}")
                page.wait_for_selector("html[data-ready]", state="attached")
                becomes(page, partial(is_listed, page), expected=True)
                rows_of = page.locator("#errors-list .row").all_text_contents()
                documents_shown.append([page.locator("#errors-count").text_content(), *rows_of])
                documents_shown[-1] += page.locator("#documents-list .row").all_text_contents()
                documents_shown[-1] += page.locator(
                    "#documents-count, #grid-count"
                ).all_text_contents()
                page.locator("#scatter").wait_for()  # drawn once lists are there
                documents_shown[-1] += page.locator("#scatter title").all_text_contents()
            assert documents_shown[0] == documents_shown[1], link
            assert len(documents_shown[0]) > 1, link
    finally:
        full_page.close()
        asked_page.close()
        server.shutdown()
        thread.join()
        server.server_close()


def test_rows_of_a_study_have_buttons_whose_verdicts_are_downloaded(open_page, tmp_path):
    line = {"document": EVIL, "path": "total", "gt": TURNED, "agree": [], "verdict": None}
    line["others"] = [{"answer": 12.5, "runs": ["a"]}]
    page = open_page(make_page([line, line | {"path": "tax", "others": []}], ["a"]))
    pressed = page.locator("button[aria-pressed=true]").all_inner_texts
    first, second = (page.locator("[data-line]").nth(index).locator("button") for index in (0, 1))
    assert second.all_inner_texts() == ["ground truth right", "neither"]
    first.nth(1).click()
    second.nth(0).click()
    second.nth(1).click()
    becomes(page, pressed, ["12.5 right", "neither"])
    page.reload()
    becomes(page, pressed, ["12.5 right", "neither"])
    with page.expect_download() as download:
        page.get_by_text("Download verdicts.jsonl").click()
    download.value.save_as(tmp_path / "verdicts.jsonl")
    lines = (tmp_path / "verdicts.jsonl").read_text("utf-8").splitlines()
    verdict, other = map(json.loads, lines)
    assert verdict == line | {"verdict": "ground_truth_wrong", "right": 12.5}
    assert other["verdict"] == "neither"
    second.nth(1).click()
    becomes(page, pressed, ["12.5 right"])
    page.once("dialog", lambda dialog: dialog.accept())
    page.get_by_text("Forget").click()
    becomes(page, pressed, [])

"""An evaluation in the Python API: adding to it, saving, restoring and displaying it."""

import csv
import io
import json
import sys
from dataclasses import replace
from html.parser import HTMLParser
from importlib.util import find_spec
from types import SimpleNamespace

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stickler_cli import __version__
from stickler_cli.api.evaluation_views import Evaluation
from stickler_cli.compare.field_listing import field_listing
from stickler_cli.compare.result import FieldInfo
from stickler_cli.core.option import options_record
from stickler_cli.core.problems import Problem, UnavailableError, UsageError
from stickler_cli.reports.formats import render
from stickler_cli.reports.layout import MOST_ROWS, TableStyle
from stickler_cli.reports.row_reports import TIDY, WIDE
from stickler_cli.schema.compiler import compile_schema
from stickler_cli.score.batch import batch_of_unit
from stickler_cli.score.document_result import Status
from stickler_cli.score.evaluation import Conditions
from stickler_cli.score.intervals import IntervalSettings
from stickler_cli.score.record import Run, SchemaSignature, run_record
from stickler_cli.settings.deciding import DecidingOptions, RunOptions
from .batches import batch, compare, evaluate, not_compared

HOSTILE = "<script>\u202e\x07"
SCHEMA = {
    "type": "object",
    "properties": {
        "b": {"type": "string", "x-aws-stickler-weight": 3},
        "a": {"type": "number"},
        "c d": {"type": "object", "properties": {"e.f": {"type": "string"}}},
        "lines": {
            "type": "array",
            "items": {"type": "object", "properties": {"sku": {"type": "string"}}},
        },
        "map": {"type": "object", "additionalProperties": {"type": "string"}},
        "either": {"anyOf": [{"type": "number"}, {"type": "string"}]},
        "never": {"type": "object", "properties": {"x": {"type": "string"}}},
    },
}
PLAN = compile_schema(SCHEMA)
FIELDS = field_listing(PLAN)
TERMS = Conditions(DecidingOptions(recall_with_fd=True), FIELDS)
PAIRS = (
    ({"a": 1, "map": {"z": "x"}}, {"a": 1, "map": {"z": "y", "k": "v"}}),
    ({"b": "abc", "a": 0.1, "note": 1}, {"b": "abd", "a": 0.1, "extra": 2}),
    ({"b": "abcdefg", "no.te": 2, "": 3}, {"b": "xbcdefg"}),
    ({"map": {"": "x", 'q"': "x", "u\u2028v": "x", HOSTILE: "y"}}, {"map": {"[0]": "x"}}),
    ({"lines": [{"sku": "mouse"}, {"sku": "lamp", "colour": "red"}]}, {"lines": [{"sku": "lamp"}]}),
    ({"c d": {"e.f": "x", "g": 1}, "either": "x"}, {"c d": {"e.f": "y"}, "either": 1}),
    ({}, {}),
)
EMPTY = {"a": 1}, {}
RESULTS = (
    *(batch(PLAN, {str(position): pair}) for position, pair in enumerate(PAIRS)),
    batch(PLAN, {"gone": EMPTY}, status=Status.MISSING, problems=(Problem("g", "none"),)),
    batch(PLAN, {"bad": EMPTY}, status=Status.INVALID, problems=(Problem("b", "no JSON"),)),
    not_compared("skip", Status.MISSING, Problem("skip", "there is none")),
    not_compared("fail", Status.FAILED, Problem("f", "empty"), Problem("f", "torn")),
    not_compared("only", Status.UNMATCHED, Problem("only", "no ground truth")),
)

documents = st.lists(st.sampled_from(RESULTS), max_size=8)
terms = st.sampled_from((None, TERMS))


def evaluation_of(results, terms=TERMS):
    evaluation = Evaluation.of(evaluate(results))
    evaluation.conditions = terms
    return evaluation


def text_of(evaluation):
    return orjson.dumps(evaluation.to_dict())


def run_of(evaluation):
    options = RunOptions(recall_with_fd=True, strict=True)
    signature = SchemaSignature("s.json", f"sha256:{'0' * 64}", "Doc", None)
    return Run(evaluation, signature, options, FIELDS, notes=("a note",))


# --- laws


@given(documents, terms)
def test_restoring_gives_an_equal_evaluation(results, terms):
    total = evaluation_of(results, terms)

    restored = Evaluation.from_dict(json.loads(text_of(total)))

    assert restored == total
    assert restored.tally == total.tally
    assert restored.conditions == total.conditions
    assert text_of(restored) == text_of(total)


@given(documents)
def test_a_run_is_restored_too(results):
    total = evaluation_of(results)
    record = json.loads(orjson.dumps(run_record(run_of(total))))

    restored = Evaluation.from_dict(record, "run.json")

    assert restored == total
    assert run_record(run_of(restored)) == record


# --- adding


def test_evaluations_under_different_terms_do_not_merge():
    options = DecidingOptions(pairing_floor=0.5, recall_with_fd=True, missing="skip")
    single = evaluation_of(RESULTS)
    before = text_of(single)

    with pytest.raises(UsageError) as caught:
        single.merge(evaluation_of(RESULTS, Conditions(options, FIELDS[1:])))

    assert str(caught.value) == (
        "the evaluations cannot be combined: the option pairing_floor is 0.2 in one evaluation and "
        "0.5 in the other; "
        "the option missing is "
        "'fn' in one evaluation and 'skip' in the other; the two schemas have different "
        "fields, expected "
        "evaluations with the same schema and options"
    )
    assert text_of(single) == before


def test_evaluations_with_other_documents_are_not_equal():
    assert evaluation_of(RESULTS) != evaluation_of(RESULTS[1:])
    assert evaluation_of(RESULTS) != evaluation_of(RESULTS, None)
    assert Evaluation() != {}


def test_an_evaluation_says_in_a_line_what_it_is():
    assert repr(Evaluation()) == "<Evaluation total=0, overall_score=None>"
    # Right: b, a, and nothing else is there; score 1.
    single = Evaluation()
    single.add(batch_of_unit(compare(PLAN, {"a": 1}, {"a": 1})))
    assert repr(single) == "<Evaluation total=1, evaluated=1, overall_score=1.0>"


# --- data frames


class Frame(SimpleNamespace):
    """A stand-in for the module of a data frame library."""

    def __init__(self, name):
        super().__init__(DataFrame=lambda columns: (name, columns))


@pytest.fixture
def libraries(monkeypatch):
    """Return a function that sets which data frame libraries seem to be installed."""

    def install(*names):
        for name in ("pandas", "polars"):
            monkeypatch.setitem(sys.modules, name, Frame(name) if name in names else None)

    return install


@pytest.mark.parametrize(("wide", "headers"), [(False, TIDY), (True, WIDE)])
def test_a_frame_has_the_rows_and_columns_of_the_csv(libraries, wide, headers):
    libraries("pandas")
    plain = [*RESULTS[:3], *RESULTS[4:]]  # no name that CSV must defuse
    evaluation = evaluation_of(plain)

    _, columns = evaluation.to_frame(wide=wide)
    assert evaluation.interval_settings is None

    evaluation.interval_settings = IntervalSettings()  # as a run has them by default
    text = render("csv", run_of(evaluation), TableStyle(wide=wide))
    header, *lines = csv.reader(io.StringIO(text))
    rows = [
        ["" if cell is None else str(cell) for cell in row]
        for row in zip(*columns.values(), strict=True)
    ]
    assert list(columns) == header == list(headers)
    assert rows == lines


def test_the_intervals_of_a_frame_have_the_level_of_the_run(libraries):
    libraries("pandas")
    evaluation = evaluation_of(RESULTS[:3])
    usual = evaluation.to_frame()[1]["f1_lower"][0]

    evaluation.interval_settings = IntervalSettings(level=0.5)

    assert usual < evaluation.to_frame()[1]["f1_lower"][0] < evaluation.f1


def test_rates_of_an_evaluation_count_what_its_reports_count():
    # b is not close enough, a is right, an undeclared key is invented.
    evaluation = evaluation_of(RESULTS[1:2], None)

    assert (evaluation.precision, evaluation.recall) == (2 / 3, 1.0)
    assert evaluation.f1 == pytest.approx(0.8)
    assert Evaluation().f1 is None


def test_a_frame_of_documents_without_terms_has_their_fields_by_name(libraries):
    libraries("pandas")

    _, columns = evaluation_of(RESULTS[1:2], None).to_frame()

    # Nothing is known of the schema but what the document met. abc and abd are alike enough (2/3).
    assert columns["field"][:4] == ["", "a", "b", '["c d"]']
    assert set(columns["kind"]) == {"document", ""}
    assert columns["weight"][:4] == [None, 1.0, 3.0, 1.0]
    assert columns["tp"][:4] == [2, 1, 1, 0]


def test_all_numbers_of_a_column_have_one_type(libraries):
    libraries("pandas")
    field = FieldInfo(("a",), "leaf", "NumericComparator", 1, 2)
    terms = Conditions(TERMS.options, (field,))

    _, columns = evaluation_of([], terms).to_frame()

    assert [type(cell) for cell in columns["weight"]] == [type(None), float]
    assert [type(cell) for cell in columns["threshold"]] == [type(None), float]


def test_a_lone_surrogate_is_spelt_out(libraries):
    libraries("polars")
    evaluation = Evaluation()
    evaluation.add(batch_of_unit(compare(PLAN, {"map": {"\ud800": "x"}}, {})))

    assert r"map.\ud800" in evaluation.to_frame()[1]["field"]
    assert r"map.\ud800" in evaluation._repr_html_()


@pytest.mark.parametrize(
    ("installed", "requested", "library"),
    [
        (("pandas", "polars"), None, "pandas"),
        (("polars",), None, "polars"),
        (("pandas", "polars"), "polars", "polars"),
    ],
)
def test_a_frame_is_of_the_library_that_is_asked_for_or_there(
    libraries, installed, requested, library
):
    libraries(*installed)

    assert evaluation_of(RESULTS).to_frame(requested)[0] == library


@pytest.mark.parametrize(
    ("installed", "requested", "message"),
    [
        (
            (),
            None,
            "a data frame needs pandas or polars, which is not installed; pip install pandas",
        ),
        (
            ("pandas",),
            "polars",
            "a data frame needs polars, which is not installed; pip install polars",
        ),
    ],
)
def test_a_library_that_is_not_there_is_named(libraries, installed, requested, message):
    libraries(*installed)

    with pytest.raises(UnavailableError) as caught:
        evaluation_of(RESULTS).to_frame(requested)

    assert str(caught.value) == message


def test_an_unknown_library_is_refused():
    with pytest.raises(
        UsageError, match=r"the value is 'panda', .* pandas, polars; did you mean pandas"
    ):
        Evaluation().to_frame("panda")


def test_a_library_that_is_broken_is_not_taken_for_one_that_is_missing(monkeypatch, tmp_path):
    (tmp_path / "pandas.py").write_text("import nowhere_to_be_found", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "pandas", raising=False)

    with pytest.raises(ModuleNotFoundError, match="nowhere_to_be_found"):
        Evaluation().to_frame("pandas")


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_real_library_takes_the_columns(library):
    if find_spec(library) is None:
        pytest.skip(f"{library} IS NOT INSTALLED: no real data frame is made")
    frame = evaluation_of(RESULTS).to_frame(library)

    assert list(frame.columns) == list(TIDY)
    # Of the numbers, two are right (documents 0 and 1), two missed (gone, bad): 2 of 4.
    row = list(frame["field"]).index("a")
    assert (frame["tp"][row], frame["fn"][row]) == (2, 2)
    assert frame["recall"][row] == 0.5


# --- notebooks


class Page(HTMLParser):
    """A parser of HTML: the tags that are open at the end, all tags, and the cells of each row."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.rows, self.text = [], set(), [], ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        self.tags.add(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("th", "td"):
            self.rows[-1].append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data
        if {"th", "td"} & set(self.open):
            self.rows[-1][-1] += data


def page_of(evaluation):
    return Page(evaluation._repr_html_())


def test_a_notebook_shows_the_fields_that_lost_most_first():
    page = page_of(evaluation_of(RESULTS))

    assert page.open == []
    assert [row[0] for row in page.rows[:2]] == ["field", "all fields"]
    # All but the first two columns, right and F1, are values lost.
    lost = [sum(int(cell) for cell in row[2:5] if cell) for row in page.rows[2:]]
    assert lost == sorted(lost, reverse=True)
    # a is right in documents 0 and 1, missed in gone and bad, absent in the other five. With
    # recall_with_fd as without: 2 of 4 found, F1 4 / (2 + 4).
    assert ["a", "2", "", "2", "", "0.67", ""] in page.rows


def test_a_notebook_shows_intervals_of_enough_documents():
    evaluation = Evaluation()
    for number in range(30):
        gt = {"a": f"{number}"}
        evaluation.add(batch_of_unit(compare(PLAN, gt, {"a": "0"} if number else gt)))
    page = page_of(evaluation)

    assert page.rows[0][:7] == ["field", "right", "wrong", "missed", "invented", "F1", "95% CI"]
    (row,) = (row for row in page.rows if row[0] == "a")
    lower, upper = map(float, row[6].strip("[]").split(", "))
    assert lower < float(row[5]) < upper


def test_a_notebook_shows_no_interval_of_too_few_documents():
    assert "CI" not in page_of(evaluation_of(RESULTS)).text


def test_a_notebook_tells_what_became_of_the_documents():
    text = page_of(evaluation_of(RESULTS)).text

    assert "1 document could not be evaluated; no gate set; F1 " in text
    assert (
        "2 wholly right; 2 documents have no prediction, so all their values are missed; " in text
    )
    assert "1 document has no prediction" in text
    assert "nothing was compared; no gate set; F1 -" in page_of(Evaluation()).text


def test_names_from_documents_are_harmless_in_a_notebook():
    text = evaluation_of(RESULTS)._repr_html_()

    assert "script" not in Page(text).tags
    assert r"map.&lt;script&gt;\u202e\x07" in text
    assert "http" not in text
    assert text.isprintable()


def test_a_notebook_shows_no_more_fields_than_anyone_reads():
    keys = {f"k{number:04}": "x" for number in range(MOST_ROWS)}
    evaluation = Evaluation()
    evaluation.add(batch_of_unit(compare(PLAN, {"map": keys}, {"map": keys})))

    page = page_of(evaluation)

    # All fields together, the keys of the map and the seven fields of the schema; nothing is met
    # inside absent ones.
    assert len(page.rows) == 1 + MOST_ROWS
    assert "8 more: to_frame() returns every field." in page.text


def test_an_evaluation_is_reported_as_the_command_reports_it():
    evaluation = evaluation_of(RESULTS)
    with_intervals = replace(evaluation, interval_settings=IntervalSettings())  # as the command's
    signature = SchemaSignature("", "", "Orders", None)
    run = Run(with_intervals, signature, RunOptions(recall_with_fd=True), FIELDS)

    assert evaluation.report(title="Orders", width=90) == render(
        "table", run, TableStyle(90, plain=False)
    )
    assert evaluation.report(title="Orders").startswith("Orders: 9 documents, 2 wholly right")
    assert "`lines.sku`" in evaluation.report("markdown")
    page = evaluation.report("html", title="Orders")
    assert "<title>Orders" in page
    assert "schema digest" not in page


def test_only_reports_that_show_figures_are_made():
    with pytest.raises(UsageError, match=r"the value is 'markdwn'.*did you mean markdown"):
        Evaluation().report("markdwn")


def test_an_evaluation_as_json_says_who_made_it_how_and_what_no_document_had():
    evaluation = Evaluation(conditions=Conditions(DecidingOptions(), ()))
    evaluation.add(batch(compile_schema(SCHEMA), {"1": ({"b": "x"}, {"b": "x"})}))
    record = evaluation.to_dict()

    assert record["version"] == __version__
    assert record["options"] == {**options_record(DecidingOptions()), "counting": "leaves"}
    assert "never" in record["never_present"]
    assert Evaluation().to_dict()["options"] is None


def test_other_options_alone_are_enough_not_to_merge():
    options = DecidingOptions()

    with pytest.raises(
        UsageError,
        match=(
            "combined: the option recall_with_fd is True in one evaluation and False in the other,"
        ),
    ):
        evaluation_of(RESULTS).merge(evaluation_of(RESULTS, Conditions(options, FIELDS)))

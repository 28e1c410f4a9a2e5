"""All reports of a run show the same figures for the same field."""

import csv
import io
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import junitparser
import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families

from stickler_cli.api.evaluation_views import Evaluation
from stickler_cli.cli import main
from stickler_cli.core.figures import rate
from stickler_cli.core.locations import field_path
from stickler_cli.reports.view import RunView
from stickler_cli.runs.saved import load_run
from stickler_cli.studies.diff.answer import compare_runs
from stickler_cli.studies.diff.record import TrendSettings

ROOT = Path(__file__).parents[2]
SETS = ("bank-statement", "invoice", "receipt", "resume")
MODES = ("leaves", "overall", "aggregate")


def sources(name, pred="pred"):
    folder = ROOT / "fixtures" / name
    return [str(ROOT / "schemas" / f"{name}.json"), str(folder / "gt"), str(folder / pred)]


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """For each set of fixtures, two runs with different errors."""
    folder = tmp_path_factory.mktemp("runs")
    records = {}
    for name in SETS:
        # The ground truth is a prediction without an error.
        for pred in ("pred", "pred-next" if name == "receipt" else "gt"):
            file = folder / f"{name}-{pred}.json"
            assert main(["eval", *sources(name, pred), "-q", "-o", str(file)]) in (0, 3)
            records.setdefault(name, []).append(load_run(str(file)))
    return records


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", SETS)
def test_before_and_after_of_a_difference_are_what_the_tables_of_both_runs_show(runs, name, mode):
    base, new = runs[name]
    for first, second in ((base, new), (new, base), (base, base)):
        difference = compare_runs({"a": first}, {"b": second}, (), TrendSettings(counting=mode))
        changes = [difference.whole[0], *difference.fields]

        assert len(changes) > 5
        assert {change.field: change.before for change in changes} == _f1_of(first, mode)
        assert {change.field: change.after for change in changes} == _f1_of(second, mode)


def _f1_of(run, mode):
    view = RunView(replace(run, options=replace(run.options, counting=mode)))
    return {(): view.whole.rates.f1, **{row.path: row.rates.f1 for row in view.rows}}


@pytest.fixture(scope="module", params=MODES)
def case(request, tmp_path_factory):
    """All reports of the receipts, in one counting mode."""
    return Told(request.param, tmp_path_factory.mktemp("case"))


class Told:
    """All reports of one run. Counts are in the order right, wrong, missed, invented."""

    def __init__(self, mode, folder):
        self.mode, self.folder = mode, folder
        names = ("run.json", "t.txt", "m.md", "p.html", "c.csv", "j.junit.xml", "o.metrics.txt")
        self.files = {name: folder / name for name in names}
        outputs = [word for file in self.files.values() for word in ("-o", str(file))]
        self.eval("--junit-fields", *outputs)
        self.run = load_run(str(self.files["run.json"]))
        self.rows = RunView(self.run).rows

    def eval(self, *options):
        return main(["eval", *sources("receipt"), "-q", "--counting", self.mode, *options])

    def text(self, name):
        return self.files[name].read_text(encoding="utf-8")

    @property
    def record(self):
        """For each field in the JSON record: F1 (None if nothing is counted) and four counts."""
        found = {}

        def walk(node, path):
            counts = node[self.mode]
            four = tuple(counts[key] for key in ("tp", "fd", "fn", "fa"))
            found[path] = (counts["derived"]["cm_f1"] if any(four) else None, four)
            for name, inner in node.get("fields", {}).items():
                walk(inner, (*path, name))

        walk(json.loads(self.text("run.json"))["confusion_matrix"], ())
        return {field_path(path): figures for path, figures in found.items()}

    @property
    def shown(self):
        """Same as `record`, but with F1 as text, as reports for people show it."""
        digits = RunView(self.run).digits
        return {path: (rate(f1, digits=digits), four) for path, (f1, four) in self.record.items()}


def _columns(header, cells):
    row = dict(zip(header, cells, strict=True))
    four = (
        int(row[name].replace(",", "") or 0) for name in ("right", "wrong", "missed", "invented")
    )
    return row["F1"], tuple(four)


def of_table(case):
    text = case.text("t.txt")
    header, *lines = text[text.index("field  ") :].partition("\nF1 ")[0].splitlines()
    titles = ["right", "wrong", "missed", "invented", "F1"]
    ends = [header.index("field") + 5, *(header.index(title) + len(title) for title in titles)]
    ends[0] = header.index("right") - 2  # names are to the left
    figures = {}
    for line in lines:
        cells = [line[start:end].strip() for start, end in pairwise(ends)]
        figures[line[2:].split()[0]] = _columns(titles, cells)
    return figures


def of_markdown(case):
    table = case.text("m.md").partition("|  | field")[2]
    header, _, *rows = [
        [cell.strip().strip("`") for cell in line.removeprefix("|").removesuffix("|").split("|")]
        for line in f"|  | field{table.partition(chr(10) * 2)[0]}".splitlines()
    ]
    return {row[1]: _columns(header, row) for row in rows}


class Rows(HTMLParser):
    """The attributes of parts of tables, and the cells of rows."""

    def __init__(self, text):
        super().__init__()
        self.bodies, self.rows = [], []
        self._in_cell = False
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        if tag == "tbody" and "data-f1" in dict(attributes):
            self.bodies.append(dict(attributes))
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self._in_cell = True
            self.rows[-1].append("")

    def handle_endtag(self, tag):
        self._in_cell = self._in_cell and tag not in ("td", "th")

    def handle_data(self, data):
        if self._in_cell:
            self.rows[-1][-1] += data


def of_page(case):
    return {
        body["data-path"]: (
            None if float(body["data-f1"]) < 0 else float(body["data-f1"]),
            tuple(int(body[f"data-{key}"]) for key in ("tp", "fd", "fn", "fa")),
        )
        for body in Rows(case.text("p.html")).bodies
    }


def of_notebook(case):
    header, *rows = Rows(Evaluation.of(case.run.evaluation)._repr_html_()).rows
    figures_by_name = {row[0]: _columns(header, row) for row in rows}
    return {
        "" if name == "all fields" else name: figures for name, figures in figures_by_name.items()
    }


def of_csv(case):
    return {
        row["field"]: (
            float(row["f1"]) if row["f1"] else None,
            tuple(int(row[key]) for key in ("tp", "fd", "fn", "fa")),
        )
        for row in csv.DictReader(io.StringIO(case.text("c.csv")))
    }


def of_junit(case):
    figures = {}
    (suite,) = junitparser.JUnitXml.fromstring(case.text("j.junit.xml").encode())
    for test_case in suite:
        if test_case.classname == "stickler.fields":
            body = test_case.system_out or "\n".join(result.text for result in test_case.result)
            counts = dict(re.findall(r"\b(TP|FD|FA|FN) (\d+)", body))
            four = tuple(int(counts[key]) for key in ("TP", "FD", "FN", "FA"))
            figures[test_case.name] = (re.search(r"F1 ([\d.]+|-)", body)[1], four)
    return figures


def of_openmetrics(case):
    families = text_string_to_metric_families(case.text("o.metrics.txt"))
    samples = [sample for family in families for sample in family.samples]
    values = [sample.value for sample in samples if sample.name == "stickler_f1"]
    assert [sample.labels["mode"] for sample in samples if sample.name == "stickler_f1"] == [
        case.mode
    ]
    fields = {
        sample.labels["field"]: sample.value
        for sample in samples
        if sample.name == "stickler_field_f1"
    }
    return {"": values[0], **fields}


def of_gates(case, capsys):
    paths = [path for path, (f1, _) in case.record.items() if f1 is not None and path]
    gates = [word for path in paths for word in ("--gate", f"{path}.f1>=0")]
    case.eval("--gate", "f1>=0", *gates, "-f", "json")
    results = json.loads(capsys.readouterr().out)["gates"]
    return {result["field"]: result["value"] for result in results}


def of_difference(case, capsys):
    run = str(case.files["run.json"])
    assert main(["diff", run, run, "-f", "csv"]) == 0
    rows = [*csv.DictReader(io.StringIO(capsys.readouterr().out))]
    assert {row["trend"] for row in rows} == {"identical"}
    assert {row["mode"] for row in rows} == {case.mode, ""}
    read = [row for row in rows if row["metric"] == "f1"]
    assert [row["before"] for row in read] == [row["after"] for row in read]
    return {row["field"]: float(row["before"]) if row["before"] else None for row in read}


def of_repeats(case, capsys):
    case.eval("--repeat", sources("receipt", "pred-next")[-1], "-f", "json")
    repeats = json.loads(capsys.readouterr().out)["repeats"]
    return {entry["field"]: entry["f1"][0] for entry in (repeats["whole"], *repeats["fields"])}


@pytest.mark.slow
@pytest.mark.parametrize("report", [of_table, of_markdown, of_notebook])
def test_what_people_read_shows_f1_and_counts_of_the_record(case, report):
    figures = case.shown
    if report is not of_notebook:
        del figures[""]

    assert report(case) == figures


def test_the_first_lines_show_what_the_table_counts(case):
    f1, four = case.shown[""]
    first, values, rates, *_ = case.text("t.txt").splitlines()

    assert (f"counting {case.mode}" in first) is (case.mode != "leaves")
    assert [int(count) for count in re.findall(r"\d+", values)] == [sum(four), *four]
    assert rates.startswith(f"F1 {f1} (")
    assert rates.partition(" (")[0] in case.text("m.md")


@pytest.mark.parametrize("report", [of_page, of_csv])
def test_files_have_f1_and_counts_of_the_record(case, report):
    figures, record = report(case), case.record
    record = {path: record[path] for path in figures}

    assert len(figures) >= len(case.rows)
    assert figures == {path: (pytest.approx(f1), four) for path, (f1, four) in record.items()}


def test_junit_and_openmetrics_show_the_same(case):
    figures, record = case.shown, case.record
    exact = {path: f1 for path, (f1, _) in record.items() if f1 is not None}
    del figures[""]

    assert of_junit(case) == figures
    assert of_openmetrics(case) == {path: pytest.approx(f1, abs=1e-6) for path, f1 in exact.items()}


@pytest.mark.slow
def test_gates_differences_and_repeats_read_the_same(case, capsys):
    exact = {path: f1 for path, (f1, _) in case.record.items()}

    assert of_gates(case, capsys) == {path: f1 for path, f1 in exact.items() if f1 is not None}
    assert of_difference(case, capsys) == exact
    assert of_repeats(case, capsys) == exact


def test_items_and_documents_right_as_a_whole_are_the_same_everywhere(case):
    record = json.loads(case.text("run.json"))
    fields = record["confusion_matrix"]["fields"]
    right, n_items = fields["items"]["whole"], fields["items"]["items"]
    # Of 17 items one is missed and one has errors; one more is invented. Two receipts are right.
    assert (right, n_items) == (15, 18)
    assert record["wholly_right"]["right"] == 2

    assert all(
        f"{right} of {n_items} items" in case.text(name) for name in ("t.txt", "m.md", "p.html")
    )
    assert f"{right} of {n_items} items" in Evaluation.of(case.run.evaluation)._repr_html_()
    rows = {row["field"]: row for row in csv.DictReader(io.StringIO(case.text("c.csv")))}
    assert (rows["items"]["whole"], rows["items"]["items"]) == (str(right), str(n_items))
    assert (rows[""]["whole"], rows[""]["items"], rows["total"]["items"]) == ("2", "7", "")
    assert 'stickler_field_items{field="items",items="whole"} 15\n' in case.text("o.metrics.txt")
    assert "stickler_documents_right 0.285714\n" in case.text("o.metrics.txt")
    for name in ("t.txt", "m.md", "j.junit.xml"):
        assert "7 documents, 2 wholly right" in case.text(name)
    assert "<b>2 of 7</b> documents wholly right" in case.text("p.html")

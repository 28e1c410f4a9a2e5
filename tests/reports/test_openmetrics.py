"""Metrics, read by the parser of Prometheus' own client, and in the way of GitLab."""

import re
import shlex
from functools import partial

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families

from stickler_cli.documents.document_pair import DocumentPair
from stickler_cli.reports import formats
from stickler_cli.reports.layout import TableStyle
from stickler_cli.reports.openmetrics import Gauge, metrics_text

render = partial(formats.render, "openmetrics")

STYLE = TableStyle()


def read_samples(text):
    """Return a dict from (name, *labels) to the value, as Prometheus reads the text."""
    return {
        (sample.name, *sorted(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def read_as_gitlab(text):
    """Return a dict from name with labels to value, as GitLab reads the text.

    These are the first two words of each line; text after `#` is ignored.
    """
    words = (shlex.split(re.sub("#.*", "", line)) for line in text.splitlines())
    return {match[0]: match[1] for match in words if match}


def test_the_whole_each_field_and_each_gate_have_a_metric(orders):
    samples = read_samples(render(orders, STYLE))

    values = orders.evaluation.tally.counts("leaves")
    total = orders.evaluation.sums["total",].counts("leaves")
    assert samples["stickler_documents", ("status", "evaluated")] == 3
    assert samples["stickler_f1", ("mode", "leaves")] == pytest.approx(
        values.derived()["f1"], abs=1e-6
    )
    assert samples["stickler_units", ("mode", "leaves"), ("outcome", "fn")] == values.fn
    assert samples["stickler_field_recall", ("field", "total")] == pytest.approx(
        total.derived()["recall"], abs=1e-6
    )
    assert [
        samples["stickler_gate_passed", ("gate", entry.gate.text)] for entry in orders.gates
    ] == [entry.passed for entry in orders.gates]


def test_gitlab_reads_as_many_metrics_as_prometheus(orders):
    text = render(orders, STYLE)

    assert len(read_as_gitlab(text)) == len(read_samples(text))
    assert read_as_gitlab(text)["stickler_documents{status=total}"] == "4"


def test_a_rate_of_nothing_and_a_score_of_no_document_are_left_out(run_of):
    samples = read_samples(render(run_of(pairs=[]), STYLE))

    assert set(samples) == {
        *(
            ("stickler_documents", ("status", status))
            for status in ("total", "evaluated", "missing", "invalid", "failed", "unmatched")
        ),
        *(("stickler_documents_lost", ("values", str(index))) for index in range(11)),
        *(
            ("stickler_units", ("mode", "leaves"), ("outcome", outcome))
            for outcome in ("tp", "fd", "fa", "fn", "tn")
        ),
    }


def test_rates_have_six_decimals(run_of):
    pairs = [DocumentPair(str(n), {"id": "A"}, {"id": "A" if n else "B"}) for n in range(3)]
    text = render(run_of(pairs=pairs), STYLE)

    assert 'stickler_field_precision{field="id"} 0.666667\n' in text


@pytest.mark.parametrize(
    ("label", "read_back"),
    [
        ('a "b" \\', 'a "b" \\'),
        ("it's {a=b},", "it's {a=b},"),
        ("a\nb", "a\\nb"),
        ("a#b", "a\\x23b"),
        ("\x1b", "\\x1b"),
        ("$x `y`", "$x `y`"),
        ("東京", "東京"),
    ],
)
def test_any_text_may_be_a_label(label, read_back):
    text = metrics_text([Gauge("m", "Help.", [({"field": label}, 0.5)])])

    assert read_samples(text) == {("m", ("field", read_back)): 0.5}
    assert list(read_as_gitlab(text).values()) == ["0.5"]


def test_a_file_ends_with_its_mark_even_if_there_is_nothing_in_it():
    assert metrics_text([]) == "# EOF\n"
    assert metrics_text([Gauge("m", "Help.", [({}, None)])]) == "# EOF\n"

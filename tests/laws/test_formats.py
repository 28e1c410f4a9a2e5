"""Any text can be read back from formats for machines, and is never a command in a CI log."""

import re
from xml.etree import ElementTree as ET

from hypothesis import given
from hypothesis import strategies as st
from prometheus_client.openmetrics.parser import text_string_to_metric_families

from stickler_cli.core.figures import visible
from stickler_cli.reports.github import Annotation, annotation_lines
from stickler_cli.reports.junit import Case, junit_text
from stickler_cli.reports.openmetrics import Gauge, metrics_text

TEXTS = st.text(st.characters(), max_size=20) | st.text("#[]:e\n\r\\ \"'%,=\x1b", max_size=12)


@given(TEXTS)
def test_visible_text_is_one_line_and_no_command(text):
    shown_text = visible(text)

    assert shown_text.isprintable() or "\u3000" in shown_text
    assert not shown_text.lstrip().startswith("::")
    assert not re.search(r"##\w*\[", shown_text)


@given(TEXTS)
def test_text_made_visible_once_stays_so(text):
    assert visible(visible(text)) == visible(text)


@given(TEXTS, TEXTS)
def test_junit_xml_gives_back_what_is_visible(name, message):
    root = ET.fromstring(junit_text("s", [Case("c", name, "error", message)]))  # noqa: S314
    case = root.find("testsuite/testcase")

    assert case.get("name") == visible(name)
    assert case.find("error").get("message") == visible(message)
    assert (case.find("error").text or "") == visible(message)


@given(TEXTS, TEXTS)
def test_an_annotation_is_one_command_with_one_title(title, message):
    (line,) = annotation_lines([Annotation("error", title, message)])
    head, _, shown_message = line.removeprefix("::error title=").partition("::")

    assert line.isprintable() or "\u3000" in line
    assert not {":", ","} & set(head)
    assert shown_message == visible(message).replace("%", "%25")


@given(TEXTS)
def test_a_metric_reads_back_with_one_label(text):
    (family,) = text_string_to_metric_families(
        metrics_text([Gauge("m", "Help.", [({"field": text}, 1)])])
    )

    (sample,) = family.samples
    assert sample.labels == {"field": visible(text).replace("#", "\\x23")}

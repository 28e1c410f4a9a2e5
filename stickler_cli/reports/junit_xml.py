"""JUnit XML as CI servers read it: cases with an outcome, in one suite.

Source: junit-10.xsd of the Jenkins xunit plugin, and what GitLab reads: the body of a failure, not
its attribute; one case of those with the same class and name.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal
from xml.etree import ElementTree as ET

from stickler_cli.reports.figures import visible

Outcome = Literal["passed", "failure", "error", "skipped"]

_HEADER: Final = '<?xml version="1.0" encoding="UTF-8"?>\n'
_NO_TIME: Final = "0"
"""Some readers want a time; reports have no clock, so that equal runs give equal bytes."""


@dataclass(frozen=True, slots=True)
class Case:
    """One test case."""

    classname: str
    name: str
    outcome: Outcome = "passed"
    message: str = ""
    """What came out, on one line."""
    detail: Sequence[str] = ()
    """More lines on it."""


@dataclass(frozen=True, slots=True)
class Suite:
    """All test cases of a report."""

    name: str
    cases: Sequence[Case]
    """At least one: an empty suite is an error to some readers, and a success to others."""
    properties: Mapping[str, str] = field(default_factory=dict)


def junit_text(suite: Suite) -> str:
    """Write a suite; ASCII, whatever is in it, so that no encoding can break it."""
    outcomes = Counter(case.outcome for case in suite.cases)
    totals = {
        "name": visible(suite.name),
        "tests": str(len(suite.cases)),
        "failures": str(outcomes["failure"]),
        "errors": str(outcomes["error"]),
        "time": _NO_TIME,
    }
    root = ET.Element("testsuites", totals)
    parent = ET.SubElement(root, "testsuite", totals, skipped=str(outcomes["skipped"]))
    properties = ET.SubElement(parent, "properties")
    for name, value in suite.properties.items():
        ET.SubElement(properties, "property", name=visible(name), value=visible(value))
    seen: Counter[tuple[str, str]] = Counter()
    for case in suite.cases:
        seen[case.classname, case.name] += 1
        _add(parent, case, seen[case.classname, case.name])
    ET.indent(root)
    text = ET.tostring(root, encoding="unicode")
    return f"{_HEADER}{text}\n".encode("ascii", "xmlcharrefreplace").decode("ascii")


def _add(parent: ET.Element, case: Case, occurrence: int) -> None:
    """Add a case; one that has the name of others is told from them by a number."""
    name = case.name if occurrence == 1 else f"{case.name} ({occurrence})"
    element = ET.SubElement(
        parent, "testcase", classname=case.classname, name=visible(name), time=_NO_TIME
    )
    message = visible(case.message)
    body = "\n".join([message, *map(visible, case.detail)])
    if case.outcome == "passed":
        ET.SubElement(element, "system-out").text = body
    else:
        told = ET.SubElement(element, case.outcome, message=message)
        told.text = body
        if case.outcome != "skipped":
            told.set("type", case.classname)

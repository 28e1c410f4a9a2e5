"""A run that was interrupted says so in the formats that are said to."""

from dataclasses import replace
from typing import get_args

import pytest

from stickler_cli.reports.layout import TableStyle
from stickler_cli.reports.registry import SAY_PARTIAL, render
from stickler_cli.settings import RunFormat

NOTE = "interrupted: these are the results of 3 of 9 documents only"


@pytest.mark.parametrize("name", get_args(RunFormat))
def test_a_format_says_that_a_run_was_interrupted_or_is_known_not_to(run_of, name):
    run = replace(run_of(), notes=(NOTE,), partial=True)
    assert (NOTE in render(name, run, TableStyle(plain=True))) == (name in SAY_PARTIAL)

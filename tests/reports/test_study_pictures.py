"""Drawings on the HTML pages of studies."""

import re
import shutil
from pathlib import Path

import pytest

from stickler_cli.cli import main
from stickler_cli.reports.html.study_pictures import draw_confusion, draw_places
from stickler_cli.studies.packets.answer import PageConfusion
from stickler_cli.studies.places.answer import PlacedField, PlacesReport

ROOT = Path(__file__).parents[2]


@pytest.fixture
def page_of(tmp_path, monkeypatch):
    """Return a function that runs a study in a copy of the fixtures, and returns its page."""
    monkeypatch.chdir(tmp_path)
    for name in ("fixtures", "schemas"):
        shutil.copytree(ROOT / name, tmp_path / name)

    def run(command: str) -> str:
        assert main([*command.split(), "-o", "page.html"]) == 0
        return (tmp_path / "page.html").read_text()

    return run


def test_lint_lists_every_place_with_a_filter(page_of):
    page = page_of("lint schemas/resume.json fixtures/resume/gt")
    listing = page.partition('<div id="listing">')[2]

    assert 'id="listing-find"' in page
    assert listing.count("<tr>") == 1 + 4  # one place of each finding
    assert "mixed-absence" in listing


def test_accept_draws_what_passes_and_what_is_for_review(page_of):
    page = page_of(
        "accept fixtures/confidence/schema.json fixtures/confidence/calibration-gt.jsonl "
        "fixtures/confidence/calibration-pred.jsonl --id-field id --max-error 0.1 -o policy.json"
    )
    bars = re.findall(r'aria-label="(pass: [^"]*)"', page)

    assert len(bars) == 5
    for bar in bars:
        passing, review = map(float, re.findall(r"([\d.]+)%", bar))
        assert passing + review == pytest.approx(100, abs=0.11)


def test_pages_of_right_classes_stand_on_the_diagonal():
    confusions = [
        PageConfusion("letter", "letter", 5),
        PageConfusion("invoice", "invoice", 9),
        PageConfusion("letter", "invoice", 2),
        PageConfusion("", None, 1),
        PageConfusion(None, "invoice", 3),
    ]
    grid = draw_confusion(confusions)

    assert grid.columns == ["invoice", "letter", "not predicted"]
    assert [(name, [(cell.right, cell.errors) for cell in row]) for name, row in grid.rows] == [
        ("invoice", [(9, 0), (0, 0), (0, 0)]),
        ("letter", [(0, 2), (5, 0), (0, 0)]),
        ("missing in the ground truth", [(0, 3), (0, 0), (0, 0)]),
        ("(no class)", [(0, 0), (0, 0), (0, 1)]),
    ]


def test_without_wrong_classes_there_is_no_grid():
    assert draw_confusion([PageConfusion("letter", "letter", 5)]) is None


def test_places_draw_a_part_for_each_kind_of_box():
    def field(name: str, *counts: int) -> PlacedField:
        return PlacedField(name, *counts, *[None] * 9)

    record = PlacesReport(
        format="stickler-places/1",
        version="0",
        schema="",
        gt="",
        pred="",
        min_overlap=0.5,
        level=None,
        documents=2,
        whole=field("", 6, 2, 0, 0, 1, 1),
        fields=[field("total", 6, 2, 0, 0, 1, 1)],
        notes=[],
    )
    page_bar, total = draw_places(record).bars

    assert (page_bar.name, total.name) == ("all", "total")
    assert [(segment.style, segment.share) for segment in total.segments] == [
        *(("tp", 0.6), ("fa", 0.2), ("fn", 0.1), ("invented", 0.1)),
    ]
    assert total.text == "6 of 10 boxes"

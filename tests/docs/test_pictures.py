"""The pictures of README and docs: each named picture exists, and each picture is named."""

import re
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]
PAGES = [PROJECT / "README.md", *sorted((PROJECT / "docs").glob("*.md"))]
IMAGE = re.compile(r"!\[(?P<description>[^\]]*)\]\((?P<target>[^)\s]+)\)")


def images(page: Path) -> list[tuple[str, Path]]:
    """Return the description and the file of each picture on a page."""
    text = page.read_text(encoding="utf-8")
    return [
        (image["description"], (page.parent / image["target"]).resolve())
        for image in IMAGE.finditer(text)
    ]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_picture_that_a_page_names_exists_and_is_described(page):
    for description, file in images(page):
        assert file.is_file(), f"{page.name} names {file.name}"
        assert len(description.split()) > 3, f"{page.name}: {file.name} needs a description"


def test_every_picture_is_on_a_page():
    drawn = {
        file.resolve()
        for ending in ("png", "svg")
        for file in (PROJECT / "docs" / "pictures").glob(f"*.{ending}")
    }
    assert drawn
    assert drawn == {file for page in PAGES for _, file in images(page)}

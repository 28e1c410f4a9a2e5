"""`--sources` and `--embed-sources`: original documents on the HTML page of a run."""

import base64
import gzip
import io
import json
import re

import pytest

from .conftest import write

SCHEMA = {
    "type": "object",
    "properties": {
        "total": {"type": "number"},
        "date": {"type": "string"},
        "stamp": {
            "type": "array",
            "items": {"type": "number"},
            "x-aws-stickler-comparator": "BBoxIoUComparator",
        },
    },
}
COMMAND = ("eval", "schema.json", "gt", "pred", "-o", "page.html", "--quiet")
TOTAL = [100, 200, 300, 250]


def wrapped(value, box, page=1, **more):
    return {"_value": value, "_bbox": box, "_page": page, **more}


@pytest.fixture
def scans(data):
    """Two documents with boxes; only one of them has an image."""
    write(data / "schema.json", SCHEMA)
    for name, total in (("one", 12.5), ("two", 13)):
        truth = {"total": wrapped(12.5, TOTAL), "date": "2024-01-02", "stamp": [0.1, 0.5, 0.3, 0.6]}
        values = {
            "total": wrapped(total, [110, 200, 310, 250], _page_size=[1000, 500]),
            "date": "?",
            "stamp": [0.1, 0.5, 0.3, 0.6],
        }
        write(data / "gt" / f"{name}.json", truth)
        write(data / "pred" / f"{name}.json", values)
    (data / "scans").mkdir()
    return data


def draw(file, size=(600, 400), **options):
    """Write an image of a page to a file."""
    image = pytest.importorskip("PIL.Image")
    image.new("RGB", size, "white").save(file, **options)


def read_page_data(data, name):
    """Return one of the data blocks that the script of the HTML page reads."""
    page = (data / "page.html").read_text()
    text = re.search(rf'id="data-{name}">([^<]*)<', page)
    return None if text is None else json.loads(gzip.decompress(base64.b64decode(text[1])))


def test_documents_are_linked_to_files_of_their_name(stickler, scans):
    (scans / "scans" / "one.PNG").write_bytes(b"")
    (scans / "scans" / "two.pdf").write_bytes(b"")
    (scans / "pages").mkdir()
    result = stickler(*COMMAND[:-1], "-o", "pages/other.html", "--sources", "scans")
    assert result.code == 0
    [[template, links, _]] = read_page_data(scans, "sources")
    assert template == ""
    assert links["one"].startswith("file:///")  # pages in two folders
    stickler(*COMMAND, "--sources", "scans")
    [[_, links, _]] = read_page_data(scans, "sources")
    assert links == {"one": "scans/one.PNG", "two": "scans/two.pdf#page={page}"}
    assert read_page_data(scans, "pictures") == []


def test_an_address_is_kept_as_it_is(stickler, scans):
    stickler(*COMMAND, "--sources", "https://host/{id}.pdf#page={page}")
    [[template, links, _]] = read_page_data(scans, "sources")
    assert (template, links) == ("https://host/{id}.pdf#page={page}", None)


def test_boxes_are_of_both_sides_and_say_what_values_count_as(stickler, scans):
    stickler(*COMMAND, "--sources", "scans")
    [[_, _, boxes]] = read_page_data(scans, "sources")
    assert boxes["two"] == [
        ["total", "FD", "gt", "1", *TOTAL, True],
        ["total", "FD", "pred", "1", 0.11, 0.4, 0.31, 0.5, False],
        ["stamp", "TP", "gt", None, 0.1, 0.5, 0.3, 0.6, False],
        ["stamp", "TP", "pred", None, 0.1, 0.5, 0.3, 0.6, False],
    ]
    assert [box[1] for box in boxes["one"][:2]] == ["TP", "TP"]


def test_boxes_may_be_a_corner_with_sizes(stickler, scans):
    stickler(*COMMAND, "--sources", "scans", "--boxes", "xywh")
    [[_, _, boxes]] = read_page_data(scans, "sources")
    assert boxes["two"][0][4:8] == [100, 200, 400, 450]


def test_the_same_boxes_come_of_several_processes(stickler, scans):
    stickler(*COMMAND, "--sources", "scans")
    sources = read_page_data(scans, "sources")
    stickler(*COMMAND, "--sources", "scans", "--jobs", "2")
    assert read_page_data(scans, "sources") == sources


def test_pictures_of_the_worst_documents_are_in_the_page(stickler, scans):
    image = pytest.importorskip("PIL.Image")
    for name in ("one", "two"):
        draw(scans / "scans" / f"{name}.png", (2800, 1000))
    stickler(*COMMAND, "--sources", "scans", "--embed-sources", "1")
    [[name, [[sheet, address, width, height]]]] = read_page_data(scans, "pictures")
    assert (name, sheet, width, height) == ("two", 1, 2800, 1000)
    kind, _, text = address.partition(",")
    assert kind == "data:image/jpeg;base64"
    assert image.open(io.BytesIO(base64.b64decode(text))).size == (1400, 500)


def test_the_pages_that_have_boxes_are_shown(stickler, scans):
    image, _ = pytest.importorskip("PIL.Image"), pytest.importorskip("pypdfium2")
    pages = [image.new("RGB", (300, 400), "white") for _ in range(4)]
    pages[0].save(scans / "scans" / "two.pdf", save_all=True, append_images=pages[1:])
    truth = {"total": wrapped(12.5, TOTAL, page=3), "date": "", "stamp": [0.1, 0.5, 0.3, 0.6]}
    write(scans / "gt" / "two.json", truth)
    stickler(*COMMAND, "--sources", "scans", "--embed-sources", "9")
    [[_, pictures]] = read_page_data(scans, "pictures")
    assert [sheet for sheet, *_ in pictures] == [1, 3]
    assert pictures[0][2:] == [300, 400]


def test_a_file_that_is_no_image_is_told_and_left_out(stickler, scans):
    pytest.importorskip("PIL.Image")
    pytest.importorskip("pypdfium2")
    (scans / "scans" / "one.png").write_bytes(b"no image")
    (scans / "scans" / "two.pdf").write_bytes(b"no pdf")
    arguments = [word for word in COMMAND if word != "--quiet"]
    result = stickler(*arguments, "--sources", "scans", "--embed-sources", "2")
    assert result.code == 0
    assert "no picture can be made from scans/one.png" in result.err
    assert "no picture can be made from scans/two.pdf" in result.err
    assert read_page_data(scans, "pictures") == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--sources", "nowhere"], "the directory nowhere does not exist"),
        (["--sources", "javascript://alert(1)/{id}"], "an http(s) address with {id}"),
        (["--sources", "https://{id}/a.pdf"], "an http(s) address with {id}"),
        (["--sources", "https://host/a.pdf"], "an http(s) address with {id}"),
        (
            ["--sources", "https://me:secret@host/{id}.pdf"],
            "the address contains a user name or password",
        ),
        (
            ["--sources", "https://me:se/cret@host/{id}.pdf"],
            "the address contains a user name or password",
        ),
        (["--embed-sources", "3"], "--sources is missing"),
        (
            ["--sources", "https://host/{id}", "--embed-sources", "3"],
            "embedded only from a directory",
        ),
    ],
)
def test_what_leads_nowhere_is_refused(stickler, scans, options, message):
    result = stickler(*COMMAND, *options)
    assert result.code == 2
    assert message in result.err


def test_a_page_without_sources_has_none_of_it(stickler, scans):
    stickler(*COMMAND)
    assert read_page_data(scans, "sources") is None


def test_the_page_of_a_finished_run_links_too(stickler, scans):
    (scans / "scans" / "two.pdf").write_bytes(b"")
    stickler("eval", "schema.json", "gt", "pred", "--run-dir", "run", "--quiet")
    stickler("report", "run", "-o", "page.html", "--sources", "scans", "--quiet")
    [[_, links, boxes]] = read_page_data(scans, "sources")
    assert links == {"two": "scans/two.pdf#page={page}"}
    assert boxes == {}

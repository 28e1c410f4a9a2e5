"""Information in a schema about the documents on which its thresholds were tuned."""

import json

import pytest

from stickler_cli.runs.saved import KEPT, Tuned, commented, hashes, overlap, tuned_on, tunings
from stickler_cli.settings.deciding import FindingOptions

SETTINGS = FindingOptions()


@pytest.fixture
def source(tmp_path):
    def write(name, documents):
        place = tmp_path / name
        place.write_text("\n".join(map(json.dumps, documents)))
        return str(place)

    return write


def documents(first, last):
    return [{"n": index, "more": [index]} for index in range(first, last)]


def test_a_comment_says_what_was_tuned_and_is_read_back():
    tuned = tuned_on("a 0.5 -> 0.6", ["aa", "bb"])
    contents = {"$comment": commented({"$comment": "by hand"}, tuned)}
    assert contents["$comment"] == "by hand [stickler tune: a 0.5 -> 0.6 on 2 documents, aa,bb]"
    assert tunings(contents) == (tuned,)


def test_a_tuning_on_the_same_documents_joins_and_others_stay():
    first, second = tuned_on("a 0.5 -> 0.6", ["aa"]), tuned_on("b 0.1 -> 0.2", ["bb"])
    contents = {"$comment": commented({"$comment": commented({}, first)}, second)}
    assert tunings(contents) == (first, second)
    again = commented(contents, tuned_on("c 0.7 -> 0.8", ["aa"]))
    assert tunings({"$comment": again}) == (
        second,
        Tuned("a 0.5 -> 0.6, c 0.7 -> 0.8", 1, frozenset({"aa"})),
    )


@pytest.mark.parametrize("contents", [{}, {"$comment": 3}, True, {"$comment": "[stickler tune]"}])
def test_a_schema_that_was_not_tuned_says_nothing(contents):
    assert tunings(contents) == ()


def test_documents_are_known_again_in_another_layout(source):
    lines = source("a.jsonl", [{"a": 1, "b": None, "c": {"x": 1, "y": 2}}])
    first = source("b.json", [{"c": {"y": 2, "x": 1}, "a": 1}])
    assert [*hashes(lines, SETTINGS)] == [*hashes(first, SETTINGS)]


@pytest.mark.parametrize(
    ("first", "last", "share"), [(0, 1000, 1.0), (500, 1500, 0.5), (900, 2000, 0.1)]
)
def test_the_share_that_comes_again_is_about_right(source, first, last, share):
    tuned = tuned_on("a 0.5 -> 0.6", hashes(source("gt.jsonl", documents(0, 1000)), SETTINGS))
    assert (tuned.count, len(tuned.kept)) == (1000, KEPT)
    (warning,) = overlap([tuned], source("more.jsonl", documents(first, last)), SETTINGS)
    share_told = int(warning.partition("about ")[2].partition("%")[0]) / 100
    assert abs(share_told - share) < 0.2


def test_other_documents_and_standard_input_are_no_overlap(source):
    tuned = tuned_on("a 0.5 -> 0.6", hashes(source("gt.jsonl", documents(0, 10)), SETTINGS))
    assert overlap([tuned], source("others.jsonl", documents(10, 50)), SETTINGS) == []
    assert overlap([tuned], "-", SETTINGS) == []

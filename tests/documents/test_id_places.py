import pytest

from stickler_cli.core.problems import Problem
from stickler_cli.documents import lines
from stickler_cli.documents.document import LineReference
from stickler_cli.documents.lines import ById, Ids


@pytest.fixture(params=[0, 3, 100])
def few(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """Maximum number of ids in memory; further ids are stored on disk: all, some or none."""
    monkeypatch.setattr(lines, "FEW", request.param)
    limit: int = request.param
    return limit


@pytest.mark.usefixtures("few")
def test_an_id_is_where_it_stood_first():
    places = ById[int]()
    names = ["a", "é", "\ud800", "", "a\0b", "a\0c"]  # what JSON may hold, and a blob as well
    for place, name in enumerate(names, 1):
        assert places.first(name, place) == place
    for place, name in enumerate(names, 1):
        assert places.first(name, place + 10) == place


@pytest.mark.usefixtures("few")
def test_what_has_no_id_of_its_own_gets_one_that_no_other_has():
    ids = Ids("gt.jsonl", "gt", "line")
    for number, name in enumerate(["a", "b", "c", "gt line 5"], 1):
        assert ids.assign_id(name, number) == (name, None)
    name, problem = ids.assign_id("a", 5)
    assert name == "gt line 5'"
    assert isinstance(problem, Problem)
    assert (
        str(problem)
        == "gt.jsonl:5:1: the id 'a' is also on line 1, expected a different id on each line"
    )


@pytest.mark.usefixtures("few")
def test_what_stands_under_ids_is_found_again_in_the_order_in_which_they_came():
    line = LineReference("a.jsonl", 1, 2, None, b"{}")
    places = ById([("b", line), ("\ud800", line), ("a", line), ("b", None)])
    assert [*places] == ["b", "\ud800", "a"]
    assert len(places) == 3
    assert (places["a"], places.get("b"), places.get("c")) == (line, None, None)
    assert "c" not in places
    assert places.first("a", None) == line


def test_documents_that_are_held_go_to_disk_before_there_are_many(monkeypatch):
    monkeypatch.setattr(lines, "LITTLE", 100)
    places = ById((str(n), LineReference("a.jsonl", n, 9, None, b"x" * 9)) for n in range(30))
    assert places._many is not None  # noqa: SLF001 - nothing else shows it
    assert places["29"] == LineReference("a.jsonl", 29, 9, None, b"x" * 9)

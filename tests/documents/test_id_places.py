import pytest

from stickler_cli.core.problems import Problem
from stickler_cli.documents import id_places
from stickler_cli.documents.id_places import Places
from stickler_cli.documents.lines import Ids


@pytest.fixture(params=[0, 3, 100])
def few(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """Have all ids on disk, some, or none."""
    monkeypatch.setattr(id_places, "FEW", request.param)
    found: int = request.param
    return found


@pytest.mark.usefixtures("few")
def test_an_id_is_where_it_stood_first():
    places = Places()
    names = ["a", "é", "\ud800", "", "a\0b", "a\0c"]  # what JSON may hold, and a blob as well
    for place, name in enumerate(names, 1):
        assert places.first(name, place) == place
    for place, name in enumerate(names, 1):
        assert places.first(name, place + 10) == place


@pytest.mark.usefixtures("few")
def test_what_has_no_id_of_its_own_gets_one_that_no_other_has():
    ids = Ids("gt.jsonl", "gt", "line")
    for number, name in enumerate(["a", "b", "c", "gt line 5"], 1):
        assert ids.place(name, number) == (name, None)
    name, problem = ids.place("a", 5)
    assert name == "gt line 5'"
    assert isinstance(problem, Problem)
    assert (
        str(problem) == "gt.jsonl:5:1: the id 'a' is also on line 1, expected one line for each id"
    )

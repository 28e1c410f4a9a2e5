"""JSON values of large reports, which are built only when they are read."""

from stickler_cli.core.deferred import DeferredList, DeferredObject, defer


def test_an_object_builds_each_value_whenever_it_is_read():
    built = []
    deferred = DeferredObject(["b", "a"], lambda name: built.append(name) or name.upper())

    assert ([*deferred], len(deferred), built) == (["b", "a"], 2, [])
    assert [*deferred.items()] == [("b", "B"), ("a", "A")]
    assert (deferred["a"], built) == ("A", ["b", "a", "a"])


def test_a_list_encodes_each_record_whenever_it_is_read():
    encoded = []
    deferred = DeferredList([3, 1], lambda number: encoded.append(number) or str(number))

    assert (len(deferred), encoded) == (2, [])
    assert ([*deferred], deferred[1], encoded) == (["3", "1"], "1", [3, 1, 1])


def test_values_that_are_built_already_keep_their_names_and_order():
    assert [*defer({"z": 1, "a": {}}).items()] == [("z", 1), ("a", {})]

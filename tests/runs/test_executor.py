"""The size of chunks: limited by number, by bytes, and by the time of the last chunk."""

import pytest

from stickler_cli.documents.document import FileReference, LineReference
from stickler_cli.documents.document_pair import DocumentPair, PairRef
from stickler_cli.runs.executors.executor import (
    ASKED_TOGETHER,
    CHUNK,
    FIRST_CHUNK,
    GROWTH,
    LEAST_SECONDS,
    Chunks,
    size_of,
)


def pairs(count):
    return iter([DocumentPair(str(number), {}, {}) for number in range(count)])


def sizes(chunks, seconds, max_documents=CHUNK.documents):
    """Take all chunks, and return their sizes.

    `seconds` returns the time that a chunk takes, given its items.
    """
    sizes_taken = []
    while items := chunks.take(max_documents):
        sizes_taken.append(len(items))
        chunks.took(size_of(items), seconds(items))
    return sizes_taken


def test_chunks_begin_small_and_grow_as_long_as_they_take_no_time():
    sizes_taken = sizes(Chunks(pairs(1000)), lambda items: 0.0)
    assert sum(sizes_taken) == 1000
    assert sizes_taken[0] == FIRST_CHUNK
    assert sizes_taken[1] <= FIRST_CHUNK * GROWTH
    assert max(sizes_taken) == CHUNK.documents


def test_documents_that_take_long_come_in_chunks_of_one():
    sizes_taken = sizes(Chunks(pairs(FIRST_CHUNK + 9)), lambda items: CHUNK.seconds * len(items))
    assert sizes_taken == [FIRST_CHUNK, *([1] * 9)]


def test_a_chunk_holds_as_much_as_time_is_for():
    seconds_each = CHUNK.seconds / 40
    sizes_taken = sizes(Chunks(pairs(2000)), lambda items: seconds_each * len(items))
    assert 38 <= max(sizes_taken) <= 41


@pytest.mark.parametrize(
    "half",
    [
        FileReference("a.json", 10**8, CHUNK.text // 8),
        LineReference("a.jsonl", 1, CHUNK.text // 8, 0, None),
    ],
)
def test_a_chunk_holds_few_documents_that_are_large(half):
    sizes_taken = sizes(Chunks(iter([PairRef("a", half, half)] * 41)), lambda items: 0.0)
    assert sizes_taken == [1, *([4] * 10)]


def test_a_size_that_is_asked_for_is_kept_to():
    assert sizes(Chunks(pairs(10), size=4), lambda items: 9.0, max_documents=1) == [4, 4, 2]


def test_where_models_are_waited_for_time_tells_nothing():
    sizes_taken = sizes(Chunks(pairs(2 * ASKED_TOGETHER), timed=False), lambda items: 9.0)
    assert sizes_taken == [ASKED_TOGETHER] * 2


def test_the_last_chunks_can_be_made_smaller():
    assert (
        sizes(Chunks(pairs(9)), lambda items: len(items) * CHUNK.seconds / 9, max_documents=3)
        == [3] * 3
    )


def test_little_work_is_not_cut_any_further():
    sizes_taken = sizes(
        Chunks(pairs(45)), lambda items: len(items) * LEAST_SECONDS / 20, max_documents=5
    )
    assert sizes_taken == [5, 20, 20]


def test_work_that_does_not_depend_on_the_documents_makes_no_chunks_of_one():
    sizes_taken = sizes(Chunks(pairs(1000)), lambda items: 0.5 + 1e-6 * len(items))
    assert max(sizes_taken) == CHUNK.documents

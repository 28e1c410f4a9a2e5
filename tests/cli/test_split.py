"""`stickler split` as a command: exit codes, and messages about odd packets."""

import json

import pytest

from .conftest import write

PACKET = {"sections": [{"id": "a", "class": "invoice", "pages": [1, 2]}, {"id": "b", "pages": [3]}]}


@pytest.fixture
def packets(data):
    for side in ("scans", "found"):
        (data / side).mkdir()
        write(data / side / "one.json", json.dumps(PACKET))
    return data


def test_right_packets_pass_a_gate(stickler, packets):
    result = stickler("split", "scans", "found", "--fail-under", "1")
    assert (result.code, result.err) == (0, "")
    assert "2 of 2 true sections were predicted with the right pages and class\n" in result.out


def test_a_packet_without_a_prediction_misses_its_sections(stickler, packets):
    write(packets / "scans" / "two.json", json.dumps(PACKET))
    result = stickler("split", "scans", "found", "--fail-under", "0.7", "-f", "json")
    report = json.loads(result.out)
    assert (result.code, report["counts"]["packets.missing"]) == (1, 1)
    assert result.err == "gate failed: sections.class.f1 0.667 < 0.7\n"
    assert report["counts"]["sections.missed"] == 2
    statuses = {packet["id"]: packet["status"] for packet in report["packets"]}
    assert statuses == {"one": "compared", "two": "missing"}


def test_packets_that_cannot_be_compared_are_named(stickler, packets):
    write(
        packets / "scans" / "two.json", json.dumps({"sections": [{"pages": [1]}, {"pages": [1]}]})
    )
    write(packets / "found" / "two.json", json.dumps(PACKET))
    write(packets / "found" / "three.json", json.dumps(PACKET))
    result = stickler("split", "scans", "found")
    assert result.code == 3
    assert (
        "error: 2 of 3 packets (scans of several documents) could not be compared\n" in result.err
    )
    assert (
        "two: GT: 1 page is in two sections, expected each page in only one section\n" in result.err
    )
    assert "three: this packet has a prediction, but no ground truth\n" in result.err


def test_a_page_that_is_predicted_twice_is_told(stickler, packets):
    twice = {"sections": [*PACKET["sections"], {"id": "c", "pages": [3]}]}
    write(packets / "found" / "one.json", json.dumps(twice))
    result = stickler("split", "scans", "found")
    assert result.code == 0
    assert "one: 1 of 3 sections wrong; 1 page is in two predicted sections; " in result.out
    assert (
        "\n2 of 2 true sections were predicted with the right pages and class; errors: 1 predicted "
        "section invented\n"
    ) in result.out

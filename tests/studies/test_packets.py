"""Packets and their sections: figures compared with other programs, and what is refused."""

import json
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment
from scipy.stats import kendalltau

from stickler_cli.core.problems import Problem
from stickler_cli.reports.formats import render
from stickler_cli.reports.layout import TableStyle
from stickler_cli.score.intervals import IntervalSettings
from stickler_cli.studies.packets.answer import PacketAccount, make_report, split_report
from stickler_cli.studies.packets.packet import (
    MAX_PAGES,
    compare_packet,
    kendall_tau,
    parse_sections,
    score_partitions,
)
from stickler_cli.studies.packets.packet import PacketSection as Section

KINDS = ["invoice", "receipt", ""]


@st.composite
def sides(draw, pages=12):
    """Draw two ways to split the same pages into sections; either way may leave out pages."""
    sections_of_sides = []
    for _ in range(2):
        owners = draw(st.lists(st.integers(-1, 4), min_size=pages, max_size=pages))
        order = draw(st.permutations(range(pages)))
        kinds = draw(st.lists(st.sampled_from(KINDS), min_size=5, max_size=5))
        members = {
            index: tuple(page for page in order if owners[page] == index) for index in range(5)
        }
        sections_of_sides.append(
            [
                Section(f"s{owner}", kinds[owner], pages_of_section)
                for owner, pages_of_section in members.items()
                if pages_of_section
            ]
        )
    return sections_of_sides


def figures_of(*packets):
    compared = [
        (PacketAccount(f"p{index}", "compared", "", []), compare_packet(*packet))
        for index, packet in enumerate(packets)
    ]
    report = split_report(("gt", "pred"), compared, None)
    return {figure.name: figure.value for figure in report.figures}


def labels(gt, pred):
    """Return the true and the predicted section of each page.

    A page that a side leaves out is a section of its own on this side.
    """
    owners = [
        {page: str(index) for index, section in enumerate(side) for page in section.pages}
        for side in (gt, pred)
    ]
    pages = sorted({*owners[0], *owners[1]})
    return [[side.get(page, f"alone {page}") for page in pages] for side in owners]


@given(sides())
def test_partitions_are_as_like_as_scikit_learn_says(packet):
    metrics = pytest.importorskip("sklearn.metrics")
    true, pred = labels(*packet)
    if not true:
        return
    agreement = score_partitions(zip(true, pred, strict=True))
    expected = metrics.homogeneity_completeness_v_measure(true, pred)
    assert (agreement.homogeneity, agreement.completeness, agreement.v_measure) == pytest.approx(
        expected
    )
    assert agreement.rand == pytest.approx(metrics.rand_score(true, pred))
    assert agreement.adjusted_rand == pytest.approx(metrics.adjusted_rand_score(true, pred))


@given(sides())
def test_sections_are_paired_one_to_one(packet):
    """Matches are those of the assignment with the greatest overlap, as above one half they are."""
    gt, pred = packet
    if not gt or not pred:
        return
    overlaps = np.array(
        [[len({*a.pages} & {*b.pages}) / len({*a.pages} | {*b.pages}) for b in pred] for a in gt]
    )
    above = np.where(overlaps > 0.5, overlaps, 0)
    chosen = above[linear_sum_assignment(-above)]
    values = figures_of(packet)
    assert values["panoptic_quality"] == pytest.approx(2 * chosen.sum() / (len(gt) + len(pred)))
    matches = int((chosen > 0).sum())
    assert values["recognition_quality"] == pytest.approx(2 * matches / (len(gt) + len(pred)))
    product = (values["segmentation_quality"] or 0) * values["recognition_quality"]
    assert values["panoptic_quality"] == pytest.approx(product)


@given(sides())
def test_whole_sections_are_counted_as_one_would_by_hand(packet):
    gt, pred = packet
    values = figures_of(packet)
    keys = {
        "pages": lambda section: frozenset(section.pages),
        "class": lambda section: (frozenset(section.pages), section.kind),
        "order": lambda section: (section.pages, section.kind),
    }
    for name, key in keys.items():
        right = len({key(section) for section in gt} & {key(section) for section in pred})
        assert values[f"sections.{name}.recall"] == (right / len(gt) if gt else None)
        assert values[f"sections.{name}.precision"] == (right / len(pred) if pred else None)


@given(st.permutations(range(7)), st.permutations(range(3, 10)))
def test_the_order_of_pages_is_that_of_kendall(true, pred):
    common = [page for page in true if page in pred]
    expected = kendalltau(range(len(common)), [pred.index(page) for page in common]).statistic
    assert kendall_tau(true, pred) == pytest.approx(expected)


@given(sides())
def test_what_is_right_is_right_in_all_figures(packet):
    gt, _ = packet
    if not gt:
        return
    values = figures_of((gt, gt))
    assert all(value == pytest.approx(1) for value in values.values() if value is not None)
    assert values["sections.order.f1"] == values["page_accuracy"] == 1


@given(st.tuples(sides(), sides(), sides()))
def test_the_order_of_packets_is_no_matter(packets):
    accounts = [PacketAccount(name, "compared", "", []) for name in ("b", "a", "c")]
    compared = [*zip(accounts, (compare_packet(*packet) for packet in packets), strict=True)]
    settings = IntervalSettings()
    first, other = (
        split_report(("", ""), packets_compared, settings)
        for packets_compared in (compared, compared[::-1])
    )
    assert first.figures == other.figures
    assert first.classes == other.classes
    assert first.confusion == other.confusion


@given(sides(), st.randoms(use_true_random=False))
def test_the_order_of_sections_is_no_matter(packet, random):
    compared = compare_packet(*packet)
    again = compare_packet(*(random.sample(side, len(side)) for side in packet))
    assert again.sums == pytest.approx(compared.sums)
    assert Counter(outcome.outcome for outcome in again.outcomes) == Counter(
        outcome.outcome for outcome in compared.outcomes
    )


def test_of_sections_that_overlap_as_much_those_of_the_first_pages_go_together():
    gt = [Section("a", "", (1, 2)), Section("b", "", (3, 4))]
    pred = [Section("c", "", (1, 3)), Section("d", "", (2, 5))]
    for gt_order, other in ((gt, pred), (gt[::-1], pred), (gt, pred[::-1])):
        preds_by_gt = {
            outcome.gt: outcome.pred
            for outcome in compare_packet(gt_order, other).outcomes
            if outcome.gt
        }
        assert preds_by_gt == {"a": "c", "b": ""}


def test_a_boundary_is_where_another_section_begins():
    gt = [
        Section("a", "", (1, 2)),
        Section("b", "", (3,)),
        Section("c", "", (4, 5)),
    ]
    pred = [
        Section("a", "", (1, 2, 3)),
        Section("b", "", (4,)),
        Section("c", "", (5,)),
    ]
    values = figures_of((gt, pred))
    assert (values["boundaries.precision"], values["boundaries.recall"]) == (1 / 2, 1 / 2)


def test_a_missed_packet_misses_all_its_sections():
    values = figures_of(([Section("a", "x", (1, 2))], []))
    assert values["sections.pages.recall"] == values["page_accuracy"] == 0
    assert values["sections.pages.precision"] is None


def test_what_became_of_each_section():
    gt = [
        Section("whole", "x", (1, 2)),
        Section("swapped", "x", (3, 4)),
        Section("renamed", "x", (5,)),
        Section("cut", "x", (6, 7)),
        Section("lost", "x", (8,)),
    ]
    pred = [
        Section("1", "x", (1, 2)),
        Section("2", "x", (4, 3)),
        Section("3", "y", (5,)),
        Section("4", "x", (6,)),
        Section("5", "x", (9,)),
    ]
    outcomes = {
        outcome.gt or outcome.pred: outcome.outcome for outcome in compare_packet(gt, pred).outcomes
    }
    assert outcomes == {
        "whole": "exact",
        "swapped": "order",
        "renamed": "class",
        "cut": "pages",
        "lost": "missed",
        "5": "invented",
    }


@pytest.mark.parametrize(
    "packet",
    [
        {"sections": [{"section_id": "a", "document_class": "x", "page_indices": [1, 2]}]},
        {"documents": [{"id": "a", "class": {"type": "x"}, "pages": ["1", 2, 2]}]},
        [{"id": "a", "label": "x", "split_document": {"page_indices": [1, 2]}}],
        {"sections": [{"id": "a", "type": "x", "start_page": 1, "end_page": 2}]},
        {"pages": [{"page": page, "section_id": "a", "class": "x"} for page in (1, 2)]},
    ],
)
def test_layouts_of_packets(packet):
    (section,) = parse_sections(packet, "p").sections
    assert (section.name, section.kind, [*section.pages]) == ("a", "x", [1, 2])


@pytest.mark.parametrize(
    ("packet", "message"),
    [
        (
            {"parts": []},
            (
                'gt.json: the packet has no list of sections (its only key is "parts"), expected a '
                'list under the key "sections", "documents" or "pages"; see docs/packets.md'
            ),
        ),
        (
            3,
            (
                "gt.json: the packet is 3, expected an object with a list of sections under the "
                'key "sections"; see docs/packets.md'
            ),
        ),
        ({"sections": [3]}, "gt.json#/sections/0: the section is 3, expected an object"),
        (
            {"sections": [{"class": "x"}]},
            (
                'gt.json#/sections/0: the section has no list of pages (its only key is "class"), '
                'expected a list under the key "page_indices", or the keys "start_page" and '
                '"end_page"; see docs/packets.md'
            ),
        ),
        (
            {"sections": [{"pages": [1.5]}]},
            "gt.json#/sections/0/pages/0: the page is 1.5, expected a whole number, not below 0",
        ),
        (
            {"sections": [{"pages": [-1]}]},
            "gt.json#/sections/0/pages/0: the page is -1, expected a whole number, not below 0",
        ),
        (
            {"sections": [{"start_page": 3, "end_page": 2}]},
            (
                "gt.json#/sections/0: the section starts at page 3 but ends at page 2, expected "
                "at least one page"
            ),
        ),
        (
            {"sections": [{"start_page": 0, "end_page": MAX_PAGES}]},
            f"gt.json: the packet has {MAX_PAGES + 1} pages, expected at most {MAX_PAGES}",
        ),
        (
            {"pages": [{"page": 1}]},
            "gt.json#/pages/0: the page does not name its section, expected a section_id",
        ),
    ],
)
def test_what_is_no_packet_is_told_with_its_place(packet, message):
    problem = parse_sections(packet, "gt.json")
    assert isinstance(problem, Problem)
    assert str(problem) == message


def test_a_page_belongs_to_the_first_section_that_has_it():
    read = parse_sections({"sections": [{"pages": [1, 2]}, {"pages": [2, 3]}]}, "p")
    assert [[*section.pages] for section in read.sections] == [[1, 2], [3]]
    assert read.claimed_again == 1


def test_intervals_hold_the_figure_and_need_two_packets():
    packet = (
        [Section("a", "x", (1, 2)), Section("b", "x", (3,))],
        [Section("a", "x", (1, 2))],
    )
    results = [
        (PacketAccount(f"p{index}", "compared", "", []), compare_packet(*packet))
        for index in range(9)
    ]
    settings = IntervalSettings()
    for figure in split_report(("", ""), results, settings).figures:
        if figure.value is not None:
            low, high = figure.interval
            assert low <= figure.value <= high
    single = split_report(("", ""), results[:1], settings)
    assert all(figure.interval is None for figure in single.figures)


@pytest.mark.parametrize(("packets", "is_shown"), [(29, False), (30, True)])
def test_of_too_few_packets_no_interval_is_shown(packets, is_shown):
    packet = ([Section("a", "x", (1, 2))], [Section("a", "x", (1,))])
    results = [
        (PacketAccount(f"p{index}", "compared", "", []), compare_packet(*packet))
        for index in range(packets)
    ]
    report = make_report(split_report(("gt", "pred"), results, IntervalSettings()))
    text = render("table", report, TableStyle())

    assert ("f1 interval" in text) == is_shown
    assert ("29 packets are too few for an interval" in text) != is_shown


def test_a_report_is_json_of_its_schema():
    jsonschema = pytest.importorskip("jsonschema")
    from schemas.writing import schema_of
    from stickler_cli.core.rules import encoded

    packet = ([Section("a", "x", (1, 2))], [Section("a", "x", (1,))])
    compared = [(PacketAccount("p", "compared", "", []), compare_packet(*packet))]
    record = json.loads(json.dumps(encoded(split_report(("", ""), compared, None))))
    jsonschema.Draft202012Validator(schema_of("stickler-split")).validate(record)

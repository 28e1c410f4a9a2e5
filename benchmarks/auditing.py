"""Simulate `stickler audit`: do votes find wrong labels, and do intervals contain the truth?"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv

from benchmarks.report import Report
from stickler_cli.studies.audit.answer import Audit, draw_places, estimate_wrong_share, stratify
from stickler_cli.studies.audit.question import AuditSettings
from stickler_cli.studies.audit.record import AuditReport
from stickler_cli.studies.audit.witnesses import (
    AnsweredPlace,
    Groups,
    PlaceMark,
    count_votes,
    find_sharing_runs,
)

LEVEL: Final = 0.95
DOCUMENTS: Final = 160
VALUES: Final = 10  # of each document
LOOKED_AT: Final = 200
SETS: Final = 400

Indexes = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Labels:
    """A kind of ground truth with mistakes, and of systems that are compared with it."""

    systems: int
    wrong: float
    """Share of wrong values in the ground truth."""
    shared: float = 0.3
    """Share of all mistakes that are the common wrong answer. Everyone who makes a common mistake,
    a system or the ground truth, has the same wrong answer; other mistakes all differ."""
    clustered: bool = True
    """Whether mistakes cluster in documents."""
    errors: float = 0.1
    """Share of values that a system gets wrong; systems tend to err on the same hard values."""
    copies: bool = False
    """Whether the second system mostly repeats the answers of the first one."""

    @property
    def name(self) -> str:
        """Name of the kind in a table."""
        clustered = ", clustered" if self.clustered else ""
        return (
            f"{self.systems} systems, {self.wrong:.1%} wrong, {self.shared:.0%} shared{clustered}"
        )


def draw_groups(
    labels: Labels, random: np.random.Generator
) -> tuple[Indexes, NDArray[np.bool_], Groups]:
    """Draw a ground truth and the answers of systems, and group equal answers.

    Return three arrays with an entry for each place: the number of its document, whether its ground
    truth is wrong, and the group of each system's answer. Answers in the same group are equal.
    Group 0 has the answers that are equal to the ground truth.
    """
    documents, truth, answers = draw_answers(labels, random)
    groups = np.where(answers == truth[:, np.newaxis], 0, answers + 1).astype(np.uint8)
    return documents, truth > 0, groups


def draw_answers(labels: Labels, random: np.random.Generator) -> tuple[Indexes, Indexes, Indexes]:
    """Draw a ground truth and the answers of systems.

    Return three arrays with an entry for each place: the number of its document, its ground truth,
    and the answer of each system. Values are numbers: 0 is right, any other number is wrong.
    """
    places = DOCUMENTS * VALUES
    documents = np.repeat(np.arange(DOCUMENTS), VALUES)
    rates = np.full(DOCUMENTS, labels.wrong)
    if labels.clustered:
        rates = random.beta(3 * labels.wrong, 3 * (1 - labels.wrong), DOCUMENTS)
    wrong = random.random(places) < rates[documents]
    # Answers: 0 is right, 1 the mistake that all make, others are of one system alone.
    truth = np.where(wrong, np.where(random.random(places) < labels.shared, 1, 99), 0)
    hard = random.beta(0.5, 0.5 / labels.errors - 0.5, places)
    answers = np.zeros((places, labels.systems), np.intp)
    for system in range(labels.systems):
        mistakes = np.where(random.random(places) < labels.shared, 1, 2 + system)
        answers[:, system] = np.where(random.random(places) < hard, mistakes, 0)
    if labels.copies:
        answers[:, 1] = np.where(random.random(places) < 0.8, answers[:, 0], answers[:, 1])
    return documents, truth, answers


def average_precision(
    groups: Groups, wrong: NDArray[np.bool_], random: np.random.Generator
) -> float:
    """Compute the average precision of a search for wrong labels in the order of the audit."""
    votes, against = count_votes(groups)
    is_found = wrong[np.lexsort((random.random(len(votes)), against, -votes))]
    return float((np.cumsum(is_found) / np.arange(1, len(is_found) + 1))[is_found].mean())


@dataclass(frozen=True, slots=True)
class AuditFigures:
    """Results of the audits of many ground truths of one kind."""

    labels: Labels
    precision: float
    """Average precision of a search for wrong labels in the order of the audit, as a mean over
    sets."""
    covered: float
    """Share of intervals that contain the true share of wrong labels."""
    width: float
    """Mean width of the audit's intervals, divided by the mean width of the intervals of a simple
    random sample of the same size."""


def simulate_audits(
    labels: Labels, sets: int = SETS, seed: int = 0, looked_at: int = LOOKED_AT
) -> AuditFigures:
    """Draw ground truths, check some places of each, and estimate how many labels are wrong."""
    random = np.random.default_rng(seed)
    precisions, n_covering, widths, plain_widths = [], 0, [], []
    for set_index in range(sets):
        documents, wrong, groups = draw_groups(labels, random)
        if wrong.any():
            precisions.append(average_precision(groups, wrong, random))
        strata = stratify(count_votes(groups)[0], labels.systems)
        looked_at_places = draw_places(strata, looked_at, set_index)
        interval = estimate_wrong_share(
            strata, looked_at_places, wrong[looked_at_places], documents, LEVEL
        ).interval or [0.0, 1.0]
        n_covering += interval[0] - 1e-9 <= wrong.mean() <= interval[1] + 1e-9
        widths.append(interval[1] - interval[0])
        sample = random.permutation(len(wrong))[:looked_at]
        plain_widths.append(plain_width(int(wrong[sample].sum()), looked_at, len(wrong)))
    width = float(np.mean(widths) / np.mean(plain_widths))
    return AuditFigures(
        labels=labels, precision=float(np.mean(precisions)), covered=n_covering / sets, width=width
    )


def measure_unseen_coverage(wrong: float, sets: int = SETS, seed: int = 0) -> float:
    """Return how often intervals contain the true share of wrong labels if no vote shows any."""
    random, places = np.random.default_rng(seed), DOCUMENTS * VALUES
    documents, strata = np.repeat(np.arange(DOCUMENTS), VALUES), np.zeros(places, np.intp)
    n_covering = 0
    for set_index in range(sets):
        mistaken = random.random(places) < wrong
        looked_at_places = draw_places(strata, LOOKED_AT, set_index)
        share = estimate_wrong_share(
            strata, looked_at_places, mistaken[looked_at_places], documents, LEVEL
        )
        low, high = share.interval or (0, 0)
        n_covering += low - 1e-9 <= mistaken.mean() <= high + 1e-9
    return n_covering / sets


def plain_width(wrong: int, looked_at: int, places: int) -> float:
    """Compute the width of the interval of a simple random sample without replacement.

    Source: Clopper and Pearson (1934), doi:10.1093/biomet/26.4.404.
    """
    right = looked_at - wrong
    lower = float(betaincinv(wrong, right + 1, (1 - LEVEL) / 2)) if wrong else 0.0
    upper = float(betaincinv(wrong + 1, right, (1 + LEVEL) / 2)) if right else 1.0
    return (upper - lower) * sqrt(1 - looked_at / places)


@dataclass(frozen=True, slots=True)
class DrawnPlaces:
    """Simulated places, with the interface of runs that the study has read."""

    documents: Sequence[str]
    runs: Sequence[int]
    found: Sequence[AnsweredPlace]

    def list_places(self) -> Iterator[AnsweredPlace]:
        """Yield all simulated places."""
        yield from self.found

    def match_values(
        self, _: str, first_values: Sequence[object], second_values: Sequence[object]
    ) -> list[bool]:
        """Return, for each pair of a first and a second value, whether the two are equal."""
        pairs = zip(first_values, second_values, strict=True)
        return [first == second for first, second in pairs]


def audit_labels(labels: Labels, random: np.random.Generator, seed: int) -> AuditReport:
    """Draw a ground truth and systems, check some places, and return the report of the audit."""
    documents, truth, answers = draw_answers(labels, random)
    groups = np.where(answers == truth[:, np.newaxis], 0, answers + 1)
    places, marks = [], {}
    looked_at = {*draw_places(stratify(count_votes(groups)[0], labels.systems), LOOKED_AT, seed)}
    # Lists are much faster than arrays if each element is used by itself.
    columns = [column.tolist() for column in (documents, truth, answers, groups)]
    for position, (document, gt, system_answers, place_groups) in enumerate(
        zip(*columns, strict=True)
    ):
        values_by_run: Any = {run: (value, value == gt) for run, value in enumerate(system_answers)}
        path = (f"v{position % VALUES}",)
        place = AnsweredPlace(
            document=str(document),
            path=path,
            names="v",
            gt=gt,
            answers=values_by_run,
            groups=place_groups,
        )
        places.append(place)
        if position in looked_at:
            marks[place.document, path[0]] = PlaceMark(not gt, (0,) if gt else ())
    settings = AuditSettings(runs=tuple(map(str, range(labels.systems))))
    names = [*dict.fromkeys(place.document for place in places)]
    answered: Any = DrawnPlaces(names, range(labels.systems), places)
    return Audit(settings=settings, witnesses=answered, marks=marks, schema="").make_record([])


def measure_coverage(labels: Labels, sets: int = SETS // 2, seed: int = 0) -> dict[str, float]:
    """Return, for each figure of the audit, the share of its intervals that contain the true value.

    The keys are `agreement`, `pairwise`, `alpha`, `f1` and `right_f1`, where `right_f1` is F1
    against the corrected ground truth. Its true value is known. For other figures, the mean over
    all sets stands for the true value.
    """
    random, estimates = np.random.default_rng(seed), defaultdict(list)
    for set_index in range(sets):
        record: Any = audit_labels(labels, random, set_index)
        total, first_run = record.whole, record.runs[0]
        estimates["agreement"].append((total.agreement, total.agreement_interval))
        estimates["pairwise"].append((total.pairwise, total.pairwise_interval))
        estimates["alpha"].append((total.alpha, total.alpha_interval))
        estimates["f1"].append((first_run.f1, first_run.f1_interval))
        estimates["right_f1"].append((first_run.right_f1, first_run.right_f1_interval))
    shares = {}
    for name, pairs in estimates.items():
        true = float(np.mean([value for value, _ in pairs]))
        if name == "right_f1":
            true = (
                2 * (1 - labels.errors) / (2 - labels.errors)
            )  # wrong values count once: not as missed
        shares[name] = sum(low <= true <= high for _, (low, high) in pairs) / sets
    return shares


KINDS: Final = [
    Labels(systems=systems, wrong=wrong, shared=shared, clustered=clustered)
    for systems in (3, 4, 6)
    for wrong in (0.005, 0.03, 0.1)
    for shared, clustered in ((0.3, False), (0.3, True), (0.9, True))
]


UNSEEN: Final = (0.002, 0.005, 0.01, 0.016, 0.02, 0.03, 0.1)
"""The simulated shares of wrong labels for `measure_unseen_coverage`."""

COVERAGE_KINDS: Final = [KINDS[at] for at in (4, 5, 22, 23)]
"""Kinds whose intervals of F1 and of agreement are measured."""


def measure_named_shares(sets: int, seed: int, *, copies: bool, systems: int = 4) -> float:
    """Return the share of sets in which the audit reports systems that share answers.

    If `copies` is True, there is such a pair: the second system repeats most answers of the first
    one.
    """
    random, labels = np.random.default_rng(seed), Labels(systems, 0.03, copies=copies)
    sharing_pairs = [find_sharing_runs(draw_groups(labels, random)[2]) for _ in range(sets)]
    return sum(any(pairs) for pairs in sharing_pairs) / sets


def measure(seed: int, share: float = 1.0) -> Report:
    """Simulate ground truths with few and many mistakes, and systems that share mistakes."""
    sets = max(20, round(SETS * share))
    cells = [simulate_audits(labels, sets, seed) for labels in KINDS]
    covering = []
    for labels in COVERAGE_KINDS:
        shares = measure_coverage(labels, sets // 2, seed).items()
        covering.append(
            f"{labels.name}: {', '.join(f'{name} {share:.3f}' for name, share in shares)}"
        )
    unseen = [measure_unseen_coverage(wrong, sets, seed) for wrong in UNSEEN]
    named = [measure_named_shares(sets // 2, seed, copies=copies) for copies in (True, False)]
    return Report(
        title="Audits of a ground truth",
        columns=("ground truth and systems", "average precision", "held", "width"),
        rows=[
            [
                cell.labels.name,
                f"{cell.precision:.2f}",
                f"{cell.covered:.3f}",
                f"{cell.width:.2f}",
            ]
            for cell in cells
        ],
        record=[[cell.labels.name, cell.precision, cell.covered, cell.width] for cell in cells],
        notes=(
            f"Intervals that held mistakes without votes: {min(unseen):.3f} at least.",
            f"Intervals that held F1 and agreement, of {sets // 2} sets: {'; '.join(covering)}.",
            (
                f"{sets} sets of {DOCUMENTS} documents with {VALUES} values, {LOOKED_AT} looked at;"
                " the width is a share of that of a plain random sample of as many."
            ),
            (
                f"Of four systems one that mostly repeats another is named in {named[0]:.0%} of"
                f" sets, and any where none does in {named[1]:.0%}."
            ),
        ),
    )

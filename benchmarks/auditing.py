"""Whether votes find wrong labels, and what `stickler audit` estimates keeps its word."""

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

Whole = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Labels:
    """A ground truth with mistakes, and systems."""

    systems: int
    wrong: float
    """The share of its values that are wrong."""
    shared: float = 0.3
    """How often a mistake, of a system or of the ground truth, is the one that others make too."""
    clustered: bool = True
    """Whether mistakes come together in documents."""
    errors: float = 0.1
    """The share of values that a system gets wrong; those of hard values come together."""
    copies: bool = False
    """Whether the second system says mostly what the first one says."""

    @property
    def name(self) -> str:
        """Its name in a table."""
        clustered = ", clustered" if self.clustered else ""
        return (
            f"{self.systems} systems, {self.wrong:.1%} wrong, {self.shared:.0%} shared{clustered}"
        )


def draw(it: Labels, random: np.random.Generator) -> tuple[Whole, NDArray[np.bool_], Groups]:
    """Return documents of places, whether the ground truth is wrong there, and the groups."""
    documents, truth, answers = draw_answers(it, random)
    groups = np.where(answers == truth[:, np.newaxis], 0, answers + 1).astype(np.uint8)
    return documents, truth > 0, groups


def draw_answers(it: Labels, random: np.random.Generator) -> tuple[Whole, Whole, Whole]:
    """Return documents of places, what the ground truth says there, and what each system does."""
    places = DOCUMENTS * VALUES
    documents = np.repeat(np.arange(DOCUMENTS), VALUES)
    rates = np.full(DOCUMENTS, it.wrong)
    if it.clustered:
        rates = random.beta(3 * it.wrong, 3 * (1 - it.wrong), DOCUMENTS)
    wrong = random.random(places) < rates[documents]
    # Answers: 0 is right, 1 the mistake that all make, others are of one system alone.
    truth = np.where(wrong, np.where(random.random(places) < it.shared, 1, 99), 0)
    hard = random.beta(0.5, 0.5 / it.errors - 0.5, places)
    answers = np.zeros((places, it.systems), np.intp)
    for system in range(it.systems):
        own = np.where(random.random(places) < it.shared, 1, 2 + system)
        answers[:, system] = np.where(random.random(places) < hard, own, 0)
    if it.copies:
        answers[:, 1] = np.where(random.random(places) < 0.8, answers[:, 0], answers[:, 1])
    return documents, truth, answers


def average_precision(
    groups: Groups, wrong: NDArray[np.bool_], random: np.random.Generator
) -> float:
    """Return the average precision of wrong labels among suspects in their order."""
    votes, against = count_votes(groups)
    found = wrong[np.lexsort((random.random(len(votes)), against, -votes))]
    return float((np.cumsum(found) / np.arange(1, len(found) + 1))[found].mean())


@dataclass(frozen=True, slots=True)
class Audited:
    """What came of many ground truths of a kind."""

    labels: Labels
    precision: float
    """The mean average precision of suspects."""
    covered: float
    """The share of intervals that hold the share of wrong labels."""
    width: float
    """The mean width of intervals, as a share of that of a plain random sample."""


def audited(it: Labels, sets: int = SETS, seed: int = 0, looked_at: int = LOOKED_AT) -> Audited:
    """Draw ground truths, look at some places of each, and estimate how many are wrong."""
    random = np.random.default_rng(seed)
    precisions, held, widths, plain = [], 0, [], []
    for number in range(sets):
        documents, wrong, groups = draw(it, random)
        if wrong.any():
            precisions.append(average_precision(groups, wrong, random))
        strata = stratify(count_votes(groups)[0], it.systems)
        at = draw_places(strata, looked_at, number)
        ends = estimate_wrong_share(strata, at, wrong[at], documents, LEVEL).interval or [0.0, 1.0]
        held += ends[0] - 1e-9 <= wrong.mean() <= ends[1] + 1e-9
        widths.append(ends[1] - ends[0])
        sample = random.permutation(len(wrong))[:looked_at]
        plain.append(plain_width(int(wrong[sample].sum()), looked_at, len(wrong)))
    width = float(np.mean(widths) / np.mean(plain))
    return Audited(it, float(np.mean(precisions)), held / sets, width)


def covered_unseen(wrong: float, sets: int = SETS, seed: int = 0) -> float:
    """Return how often the interval holds the share of mistakes that no vote shows."""
    random, places = np.random.default_rng(seed), DOCUMENTS * VALUES
    documents, strata = np.repeat(np.arange(DOCUMENTS), VALUES), np.zeros(places, np.intp)
    held = 0
    for number in range(sets):
        mistaken = random.random(places) < wrong
        at = draw_places(strata, LOOKED_AT, number)
        share = estimate_wrong_share(strata, at, mistaken[at], documents, LEVEL)
        low, high = share.interval or (0, 0)
        held += low - 1e-9 <= mistaken.mean() <= high + 1e-9
    return held / sets


def plain_width(wrong: int, looked_at: int, places: int) -> float:
    """Return the width of the interval of a plain random sample, drawn without putting back.

    Source: Clopper and Pearson (1934), doi:10.1093/biomet/26.4.404.
    """
    right = looked_at - wrong
    lower = float(betaincinv(wrong, right + 1, (1 - LEVEL) / 2)) if wrong else 0.0
    upper = float(betaincinv(wrong + 1, right, (1 + LEVEL) / 2)) if right else 1.0
    return (upper - lower) * sqrt(1 - looked_at / places)


@dataclass(frozen=True, slots=True)
class Answered:
    """Places that were drawn, as runs that the study has read."""

    documents: Sequence[str]
    runs: Sequence[int]
    found: Sequence[AnsweredPlace]

    def list_places(self) -> Iterator[AnsweredPlace]:
        """Yield all places."""
        yield from self.found

    def match_values(
        self, _: str, first_values: Sequence[object], second_values: Sequence[object]
    ) -> list[bool]:
        """Return which answers are equal."""
        pairs = zip(first_values, second_values, strict=True)
        return [first == second for first, second in pairs]


def audit_of(it: Labels, random: np.random.Generator, seed: int) -> AuditReport:
    """Return the report on a ground truth of a kind, some places of which were looked at."""
    documents, truth, answers = draw_answers(it, random)
    groups = np.where(answers == truth[:, np.newaxis], 0, answers + 1)
    places, marks = [], {}
    looked_at = {*draw_places(stratify(count_votes(groups)[0], it.systems), LOOKED_AT, seed)}
    for at, (document, gt, said) in enumerate(zip(documents, truth, answers, strict=True)):
        told: Any = {run: (int(value), bool(value == gt)) for run, value in enumerate(said)}
        path = (f"v{at % VALUES}",)
        place = AnsweredPlace(str(document), path, "v", int(gt), told, groups[at].tolist())
        places.append(place)
        if at in looked_at:
            marks[place.document, path[0]] = PlaceMark(not gt, (0,) if gt else ())
    settings = AuditSettings(runs=tuple(map(str, range(it.systems))))
    names = [*dict.fromkeys(place.document for place in places)]
    answered: Any = Answered(names, range(it.systems), places)
    return Audit(settings, answered, marks, "").make_record([])


def covered(it: Labels, sets: int = SETS // 2, seed: int = 0) -> dict[str, float]:
    """Return how often the intervals of F1, and of agreement, hold what they are of.

    F1 with a right ground truth is known; the others are taken for the mean of all sets.
    """
    random, found = np.random.default_rng(seed), defaultdict(list)
    for number in range(sets):
        record = audit_of(it, random, number)
        for name, of in (("agreement", record.whole), ("pairwise", record.whole)):
            found[name].append((getattr(of, name), getattr(of, f"{name}_interval")))
        found["alpha"].append((record.whole.alpha, record.whole.alpha_interval))
        found["f1"].append((record.runs[0].f1, record.runs[0].f1_interval))
        found["right_f1"].append((record.runs[0].right_f1, record.runs[0].right_f1_interval))
    shares = {}
    for name, its in found.items():
        true = float(np.mean([value for value, _ in its]))
        if name == "right_f1":
            true = 2 * (1 - it.errors) / (2 - it.errors)  # wrong values count once: not as missed
        shares[name] = sum(low <= true <= high for _, (low, high) in its) / sets
    return shares


KINDS: Final = [
    Labels(systems, wrong, shared, clustered)
    for systems in (3, 4, 6)
    for wrong in (0.005, 0.03, 0.1)
    for shared, clustered in ((0.3, False), (0.3, True), (0.9, True))
]


UNSEEN: Final = (0.002, 0.005, 0.01, 0.016, 0.02, 0.03, 0.1)
"""Shares of mistakes that no vote shows."""

SOME: Final = [KINDS[at] for at in (4, 5, 22, 23)]
"""Those of which intervals of F1 and of agreement are looked at."""


def format_beside_limit(sets: int, seed: int, *, copies: bool, systems: int = 4) -> float:
    """Return how often the first two systems are named as ones that share answers."""
    random, kind = np.random.default_rng(seed), Labels(systems, 0.03, copies=copies)
    found = [find_sharing_runs(draw(kind, random)[2]) for _ in range(sets)]
    return sum(any(it) for it in found) / sets


def measure(seed: int, share: float = 1.0) -> Report:
    """Simulate ground truths with few and many mistakes, and systems that share mistakes."""
    sets = max(20, round(SETS * share))
    cells = [audited(it, sets, seed) for it in KINDS]
    held = []
    for it in SOME:
        shares = covered(it, sets // 2, seed).items()
        held.append(f"{it.name}: {', '.join(f'{name} {share:.3f}' for name, share in shares)}")
    unseen = [covered_unseen(wrong, sets, seed) for wrong in UNSEEN]
    named = [format_beside_limit(sets // 2, seed, copies=copies) for copies in (True, False)]
    return Report(
        "Audits of a ground truth",
        ("ground truth and systems", "average precision", "held", "width"),
        [
            [it.labels.name, f"{it.precision:.2f}", f"{it.covered:.3f}", f"{it.width:.2f}"]
            for it in cells
        ],
        [[it.labels.name, it.precision, it.covered, it.width] for it in cells],
        notes=(
            f"Intervals that held mistakes without votes: {min(unseen):.3f} at least.",
            f"Intervals that held F1 and agreement, of {sets // 2} sets: {'; '.join(held)}.",
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

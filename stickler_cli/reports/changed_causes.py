"""Causes of errors of two runs beside each other, in words: what grew, what shrank, and why."""

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from stickler_cli.core.figures import NOTHING, Quoting, number_of
from stickler_cli.core.sections import INDENT, Block, Column, Span, Table, Text, Tone
from stickler_cli.studies.diff.record import CauseChange, CauseTrend, Difference
from .cause_sentences import CauseText, describe_alike, find_missed_together
from .view import RunView

NAMED: Final = 5  # causes that grew, and causes that shrank, that a report for people names

_SAME_SIZE: Final = "Causes of the same size"

TREND_TONES: Final[dict[CauseTrend, Tone]] = {
    CauseTrend.NEW: "bad",
    CauseTrend.GROWN: "bad",
    CauseTrend.SAME: "",
    CauseTrend.SHRUNK: "good",
    CauseTrend.FIXED: "good",
}


class CauseChangeText(NamedTuple):
    """A cause of two runs in words."""

    change: CauseChange
    text: str
    """What went wrong in the second run; of a fixed cause, in the first run."""
    remarks: Sequence[str]
    """How many values broke, and what went wrong in the first run."""
    origins: Sequence[str]
    """Sentences on fields that hold another field's value, with the number of items."""

    @property
    def sentence(self) -> str:
        """The text, followed by the remarks."""
        remarks = [*self.origins, *self.remarks]
        return f"{self.text} ({'; '.join(remarks)})" if remarks else self.text


class CauseChangeGroup(NamedTuple):
    """Causes that changed in one direction."""

    title: str
    shown: Sequence[CauseChangeText]
    others: Sequence[CauseChangeText]

    @property
    def others_text(self) -> str:
        """Number of causes that are not shown, with their lost values; empty if all are shown."""
        count_text = number_of(len(self.others), "other cause")
        return f"{count_text}: {_sum_values(self.others)}" if self.others else ""

    @property
    def counts_text(self) -> str:
        """Number of causes in the group, and number of values that they lost."""
        members = [*self.shown, *self.others]
        return f"{number_of(len(members), 'cause')}, {_sum_values(members)}"


def _sum_values(texts: Sequence[CauseChangeText]) -> str:
    before = sum(text.change.before["values"] for text in texts)
    after = sum(text.change.after["values"] for text in texts)
    return f"{before:,} -> {after:,} values"


def describe_cause_changes(difference: Difference, quoted: Quoting) -> list[CauseChangeText]:
    """Return the causes of both runs in words, in the order of the difference."""
    if difference.causes is None:
        return []
    views = [RunView(run, quoted) for run in difference.runs]
    missed_together = [*map(find_missed_together, difference.causes_of_runs)]
    texts = []
    for change in difference.causes:
        base_text, new_text = (
            describe_alike(view, run_causes, tuple(causes), together) if causes else None
            for view, run_causes, causes, together in zip(
                views, difference.causes_of_runs, change.causes, missed_together, strict=True
            )
        )
        main_text = new_text or base_text
        if main_text is not None:
            previous_text = base_text if new_text else None
            texts.append(_describe_change(change, main_text, previous_text, quoted))
    return texts


def _describe_change(
    change: CauseChange, main: CauseText, previous: CauseText | None, quoted: Quoting
) -> CauseChangeText:
    """Describe a cause; `previous` is its text in the first run if the second run has it too."""
    remarks = []
    if previous is not None and change.broken:
        n_after = number_of(change.after["values"], "value")
        remarks.append(f"{change.broken:,} of {n_after} right before")
    if previous is not None and previous.text != main.text:
        # The field is named once: "items: 17 items missed (before: 27 items missed)".
        name = quoted(change.field)
        remarks.append(f"before: {previous.text.removeprefix(name).removeprefix(':').strip()}")
    return CauseChangeText(change, main.text, remarks, main.origins)


def group_cause_changes(texts: Sequence[CauseChangeText]) -> list[CauseChangeGroup]:
    """Return the causes that grew, that shrank, and that kept their size, as groups."""
    grown = [text for text in texts if text.change.trend in {CauseTrend.NEW, CauseTrend.GROWN}]
    same = [text for text in texts if text.change.trend is CauseTrend.SAME]
    shrunk = texts[len(grown) + len(same) :]
    groups = (
        ("Causes that grew", grown),
        ("Causes that shrank", [*shrunk][::-1]),
        (_SAME_SIZE, same),
    )
    return [
        CauseChangeGroup(title, members[:NAMED], members[NAMED:])
        for title, members in groups
        if members
    ]


def cause_change_blocks(texts: Sequence[CauseChangeText], *, page: bool) -> Iterator[Block]:
    """Yield causes of two runs for a terminal, or a table of them for a page."""
    groups = group_cause_changes(texts)
    same = groups.pop() if groups and groups[-1].title == _SAME_SIZE else None
    same_text = "" if same is None else same.counts_text
    if page and texts:
        yield Text("Causes, by values lost before and after:")
        if groups:
            yield _cause_change_table([text for group in groups for text in group.shown])
        for group in groups:
            if group.others:
                yield Text(f"{group.title}: {group.others_text}")
        if same is not None:
            yield Text(f"{_SAME_SIZE}: {same_text}")
        return
    width = max((len(_counts_text(text, 0)) for text in texts), default=0)
    for group in groups:
        yield Text(f"{group.title.lower()}, by values lost before and after", "title")
        for text in group.shown:
            counts = _counts_text(text, width)
            trend = text.change.trend.value
            yield Text(
                f"{counts.lstrip()}{INDENT}{trend}: {text.sentence}",
                indent=INDENT,
                margin=counts[: -len(counts.lstrip())],
            )
        if group.others:
            yield Text(f"and {group.others_text}", "dim", INDENT)
    if same is not None:
        yield Text(f"{_SAME_SIZE.lower()}: {same_text}", "dim", INDENT)


def _counts_text(text: CauseChangeText, width: int) -> str:
    before, after = text.change.before["values"], text.change.after["values"]
    return f"{before:,} -> {after:,}".rjust(width)


def _cause_change_table(texts: Sequence[CauseChangeText]) -> Table:
    columns = [
        Column("cause", left=True),
        Column("trend", left=True),
        Column("before"),
        Column("fixed"),
        Column("broken"),
        Column("after"),
    ]
    rows = []
    for text in texts:
        change = text.change
        counts = (change.before["values"], change.fixed, change.broken, change.after["values"])
        row = [
            Span(text.sentence),
            Span(change.trend.value, TREND_TONES[change.trend]),
            *(Span(NOTHING if count is None else f"{count:,}") for count in counts),
        ]
        rows.append(row)
    return Table(columns, rows)

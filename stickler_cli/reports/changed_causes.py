"""Describe in words how causes of errors changed between two runs: what broke or was fixed."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from stickler_cli.core.figures import Quoting, number_of
from stickler_cli.core.sections import INDENT, Block, Column, Span, Table, Text, Tone
from stickler_cli.studies.diff.record import CauseChange, CauseTrend, Difference, Move
from .cause_sentences import CauseText, describe_alike, find_missed_together
from .view import RunView

MAX_LISTED_CAUSES: Final = 5  # causes that a report for people names in each list

_WITHOUT_MOVES: Final = "Causes of errors that neither broke nor fixed a value"

TREND_TONES: Final[dict[CauseTrend, Tone]] = {
    CauseTrend.NEW: "bad",
    CauseTrend.GROWN: "bad",
    CauseTrend.SAME: "",
    CauseTrend.SHRUNK: "good",
    CauseTrend.FIXED: "good",
}


class CauseChangeText(NamedTuple):
    """A cause of errors that was compared between two runs, in words."""

    change: CauseChange
    base: CauseText | None
    """What went wrong in the first run; None if the cause does not occur in the first run."""
    new: CauseText | None
    """What went wrong in the second run; None if the cause does not occur in the second run."""
    quoted_field: str
    """The path of the field, formatted for a sentence."""
    moved: Mapping[Move, CauseText]
    """Maps a kind of change, such as `broken`, to the cause in words. The words count only the
    errors at values that changed in this way."""

    @property
    def text(self) -> str:
        """What went wrong in the second run.

        If the cause does not occur in the second run, this is what went wrong in the first run.
        """
        shown = self.new or self.base
        return shown.text if shown else ""

    @property
    def sentence(self) -> str:
        """The `text`, followed by `origins` and `remarks` in brackets."""
        remarks = [*self.origins, *self.remarks]
        return f"{self.text} ({'; '.join(remarks)})" if remarks else self.text

    @property
    def origins(self) -> Sequence[str]:
        """Sentences on where the wrong values come from, such as another field."""
        shown = self.new or self.base
        return shown.origins if shown else ()

    @property
    def remarks(self) -> list[str]:
        """A list with one remark: what went wrong in the first run.

        The list is empty if the cause occurs in only one run, or if the same words describe the
        cause in both runs.
        """
        if self.new is None or self.base is None or self.base.text == self.new.text:
            return []
        # The field is named once: "items: 17 items missed (before: 27 items missed)".
        text_before = self.base.text.removeprefix(self.quoted_field).removeprefix(":").strip()
        return [f"before: {text_before}"]


class CauseChangeGroup(NamedTuple):
    """A list of causes that all grew, all shrank, or all kept their size, with a title.

    Such lists are shown only if it is unknown which single values changed.
    """

    title: str
    has_changed: bool
    """Whether the causes grew or shrank."""
    shown: Sequence[CauseChangeText]
    others: Sequence[CauseChangeText]

    @property
    def others_text(self) -> str:
        """Text that counts the causes that are not shown; empty if all are shown."""
        count_text = number_of(len(self.others), "other cause")
        return f"{count_text}: {_sum_values(self.others)}" if self.others else ""

    @property
    def counts_text(self) -> str:
        """Number of causes in the group, and number of their wrong values before and after."""
        members = [*self.shown, *self.others]
        return f"{number_of(len(members), 'cause')}, {_sum_values(members)}"


class MovedCause(NamedTuple):
    """A cause of errors in one of two runs, with the number of its broken or fixed values."""

    key: str
    cause: CauseText
    """The cause in words. Numbers in the words count only the values that were broken or fixed."""
    moved: int
    """Number of values that are lost in one run because of the cause, but right in the other."""
    total: int
    """Number of all values that are wrong because of the cause in the run of the cause.

    The `moved` values are included."""

    @property
    def stayed(self) -> int:
        """Number of values that are wrong because of the cause, and are wrong in both runs."""
        return self.total - self.moved

    @property
    def sentence(self) -> str:
        """The cause in words, followed by where the wrong values come from, in brackets."""
        origins = self.cause.origins
        return f"{self.cause.text} ({'; '.join(origins)})" if origins else self.cause.text


class MovedCauseList(NamedTuple):
    """The causes of broken values, or those of fixed values.

    The cause with the most broken or fixed values comes first.
    """

    move: str
    """What happened to the values: `broken` or `fixed`."""
    side: str
    """The run in which the values are wrong: `after` for broken values, `before` for fixed ones."""
    stayed: str
    """Title of the column that counts the values that are wrong in both runs."""
    total: str
    """Title of the column that counts all values that are wrong because of the cause."""
    tone: Tone
    causes: Sequence[MovedCause]

    @property
    def title(self) -> str:
        """The title of the list."""
        return f"Values {self.move}, by cause"

    @property
    def named_causes(self) -> Sequence[MovedCause]:
        """The causes that a report for people lists: the first `MAX_LISTED_CAUSES` causes."""
        return self.causes[:MAX_LISTED_CAUSES]

    @property
    def other_causes(self) -> Sequence[MovedCause]:
        """The causes after the first `MAX_LISTED_CAUSES` causes.

        A report for people does not list these causes, but states their number.
        """
        return self.causes[MAX_LISTED_CAUSES:]

    @property
    def others_text(self) -> str:
        """Text that counts `other_causes` and their broken or fixed values; empty if none exist."""
        n_moved = sum(moved.moved for moved in self.other_causes)
        count_text = number_of(len(self.other_causes), "other cause")
        return f"{count_text}: {n_moved:,} {self.move}" if self.other_causes else ""


def _sum_values(texts: Sequence[CauseChangeText]) -> str:
    before = sum(text.change.before["values"] for text in texts)
    after = sum(text.change.after["values"] for text in texts)
    return f"{before:,} -> {after:,} wrong values"


def describe_cause_changes(difference: Difference, quoted: Quoting) -> list[CauseChangeText]:
    """Describe each changed cause of a difference in words, in the order of `difference.causes`.

    `quoted` formats a name inside a sentence. The list is empty if causes are unknown.
    """
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
        moved = dict[Move, CauseText]()
        for move, causes in change.moved_causes.items():
            run = 0 if move is Move.FIXED else 1
            moved[move] = describe_alike(
                views[run], difference.causes_of_runs[run], tuple(causes), missed_together[run]
            )
        if new_text or base_text:
            text = CauseChangeText(
                change=change,
                base=base_text,
                new=new_text,
                quoted_field=quoted(change.field),
                moved=moved,
            )
            texts.append(text)
    return texts


def list_moved_causes(texts: Sequence[CauseChangeText]) -> list[MovedCauseList]:
    """Return two lists: the causes of broken values, and the causes of fixed values.

    A list without causes is left out. Both are left out if it is unknown which values changed.
    """
    broken, fixed = list[MovedCause](), list[MovedCause]()
    for text in texts:
        change = text.change
        if change.broken:
            moved_text = text.moved[Move.BROKEN]
            total = change.after["values"]
            broken.append(MovedCause(change.key, moved_text, change.broken, total))
        if change.fixed:
            moved_text = text.moved[Move.FIXED]
            total = change.before["values"]
            fixed.append(MovedCause(change.key, moved_text, change.fixed, total))
    for moved_causes in (broken, fixed):
        moved_causes.sort(key=lambda moved: (-moved.moved, moved.key))
    lists = (
        MovedCauseList("broken", "after", "wrong before too", "wrong after", "bad", broken),
        MovedCauseList("fixed", "before", "still wrong", "wrong before", "good", fixed),
    )
    return [moved_list for moved_list in lists if moved_list.causes]


def _describe_causes_without_moves(texts: Sequence[CauseChangeText]) -> str:
    """Return a text on the causes that neither broke nor fixed a value.

    The text counts these causes, and their wrong values in both runs. It is empty if every cause
    broke or fixed a value.
    """
    members = [text for text in texts if not (text.change.broken or text.change.fixed)]
    if not members:
        return ""
    return f"{_WITHOUT_MOVES}: {number_of(len(members), 'cause')}, {_sum_values(members)}"


def group_cause_changes(texts: Sequence[CauseChangeText]) -> list[CauseChangeGroup]:
    """Return three groups of causes: those that grew, that shrank, and that kept their size.

    Empty groups are left out. There are no groups if it is known which values changed, because
    `list_moved_causes` then gives more detail.
    """
    if any(text.change.broken is not None for text in texts):
        return []

    def select(*trends: CauseTrend) -> list[CauseChangeText]:
        return [text for text in texts if text.change.trend in trends]

    shrunk = select(CauseTrend.SHRUNK, CauseTrend.FIXED)
    groups = (
        ("Causes that grew", True, select(CauseTrend.NEW, CauseTrend.GROWN)),
        ("Causes that shrank", True, shrunk[::-1]),  # the greatest fall comes first
        ("Causes with as many wrong values as before", False, select(CauseTrend.SAME)),
    )
    return [
        CauseChangeGroup(
            title=title,
            has_changed=has_changed,
            shown=members[:MAX_LISTED_CAUSES],
            others=members[MAX_LISTED_CAUSES:],
        )
        for title, has_changed, members in groups
        if members
    ]


def cause_change_blocks(texts: Sequence[CauseChangeText], *, page: bool) -> Iterator[Block]:
    """Yield the changed causes of two runs as lines for a terminal, or as tables for a page."""
    if texts and texts[0].change.broken is not None:
        yield from _list_moves(texts, page=page)
    else:
        yield from _list_trends(texts, page=page)


def _list_moves(texts: Sequence[CauseChangeText], *, page: bool) -> Iterator[Block]:
    """Yield the causes of broken values, and those of fixed values."""
    for moved_list in list_moved_causes(texts):
        if page:
            yield Text(f"{moved_list.title}:")
            yield _tabulate_moved_causes(moved_list)
        else:
            yield Text(moved_list.title.lower(), "title")
            yield from _describe_moved_causes(moved_list)
        if moved_list.other_causes:
            yield Text(f"and {moved_list.others_text}", "dim", INDENT)
    without_moves = _describe_causes_without_moves(texts)
    if without_moves:
        yield Text(without_moves if page else without_moves.lower(), "dim", INDENT)


def _describe_moved_causes(moved_list: MovedCauseList) -> Iterator[Text]:
    width = max(len(f"{moved.moved:,}") for moved in moved_list.named_causes)
    counts_texts = [
        f"{moved.moved:,}".rjust(width)
        + f" {moved_list.move}"
        + (f" of {moved.total:,}" if moved.stayed else "")
        for moved in moved_list.named_causes
    ]
    counts_width = max(map(len, counts_texts))
    for moved, counts in zip(moved_list.named_causes, counts_texts, strict=True):
        yield Text(
            f"{counts.lstrip()}{' ' * (counts_width - len(counts))}{INDENT}{moved.sentence}",
            indent=INDENT,
            margin=counts[: -len(counts.lstrip())],
        )


def _tabulate_moved_causes(moved_list: MovedCauseList) -> Table:
    titles = (moved_list.move, moved_list.stayed, moved_list.total)
    rows = [
        [
            Span(moved.sentence),
            Span(f"{moved.moved:,}", moved_list.tone),
            Span(f"{moved.stayed:,}"),
            Span(f"{moved.total:,}"),
        ]
        for moved in moved_list.named_causes
    ]
    return Table([Column("cause", left=True), *map(Column, titles)], rows)


def _list_trends(texts: Sequence[CauseChangeText], *, page: bool) -> Iterator[Block]:
    """Yield the causes that grew, those that shrank, and those that kept their size."""
    groups = group_cause_changes(texts)
    changed_groups = [group for group in groups if group.has_changed]
    same_size_texts = [
        f"{group.title}: {group.counts_text}" for group in groups if not group.has_changed
    ]
    if page and texts:
        yield Text("Causes of errors, with the number of wrong values before and after:")
        if changed_groups:
            yield _cause_change_table([text for group in changed_groups for text in group.shown])
        for group in changed_groups:
            if group.others:
                yield Text(f"{group.title}: {group.others_text}")
        yield from map(Text, same_size_texts)
        return
    width = max((len(_counts_text(text, 0)) for text in texts), default=0)
    for group in changed_groups:
        title = f"{group.title.lower()}, with the number of wrong values before and after"
        yield Text(title, "title")
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
    for same_size_text in same_size_texts:
        yield Text(same_size_text.lower(), "dim", INDENT)


def _counts_text(text: CauseChangeText, width: int) -> str:
    before, after = text.change.before["values"], text.change.after["values"]
    return f"{before:,} -> {after:,}".rjust(width)


def _cause_change_table(texts: Sequence[CauseChangeText]) -> Table:
    columns = [
        Column("cause", left=True),
        Column("trend", left=True),
        Column("before"),
        Column("after"),
    ]
    rows = []
    for text in texts:
        change = text.change
        counts = (change.before["values"], change.after["values"])
        row = [
            Span(text.sentence),
            Span(change.trend.value, TREND_TONES[change.trend]),
            *(Span(f"{count:,}") for count in counts),
        ]
        rows.append(row)
    return Table(columns, rows)

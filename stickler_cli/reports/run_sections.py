"""The report of a run as sections, for terminals, pipes and pages of Markdown."""

import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from heapq import nsmallest
from typing import Final, TypeAlias

from stickler_cli.core.figures import more_of, number_of, value_text
from stickler_cli.core.sections import (
    BLANK,
    INDENT,
    Block,
    Figure,
    Figures,
    Line,
    Section,
    Span,
    Table,
    Text,
    Tone,
    notes,
)
from stickler_cli.reports import cause_sentences, run_sentences, tables
from stickler_cli.score.document_result import Status
from stickler_cli.score.gates import GateResult
from stickler_cli.score.record import Flip, Run, Verdict
from .error_list import error_blocks, error_table
from .layout import TableStyle
from .markdown import code
from .view import RunView, rows_shown

MARKER: Final = "<!-- stickler -->"
"""The first line of a page, by which a script finds the comment that it posted before."""

MOST_GROUPS_SHOWN: Final = 20  # groups that a terminal shows, the worst; a pipe gets all
MORE_CAUSES: Final = 17  # that -v names, beside those of the first screen
MOST_FLIPS: Final = 20  # values that flip, as reports for people list them; the JSON report has all

Blocks: TypeAlias = Iterable[Block | Figures]


def sections_of(run: Run, style: TableStyle, *, page: bool) -> list[Section]:
    """Return the sections of a run, in the order of a terminal or of a page."""
    view = RunView(run, code, page=True) if page else RunView(run)
    parts = _ON_PAGE if page else _ON_TERMINAL
    drawn = [blocks for part in parts if (blocks := [*part(view, style)])]
    used = run.evaluation.statuses[Status.EVALUATED]  # else there are no errors to look into
    if used and run.listing and cause_sentences.causes(view)[0]:
        drawn[-1].append(_next(view))
    return [Section("", blocks) for blocks in drawn]


def _next(view: RunView) -> Text | Line:
    """Return the command that goes on from here, which no terminal breaks."""
    command = f"{view.run.listing} --cause 1"
    return Text(f"next: {code(command)}") if view.page else (Span.of(f"next: {command}", "title"),)


def _head(view: RunView, style: TableStyle) -> Iterator[Text]:
    if partial := run_sentences.partial(view):
        yield Text(partial, "bad")
    name = view.run.schema.title if style.verbose else view.run.schema.model_name
    done = filter(None, [run_sentences.headline(view), run_sentences.gate_sentence(view.run.gates)])
    yield Text(f"{name}: {'; '.join(done)}", "title")
    yield from map(Text, _figures(view, style))


def _figures(view: RunView, style: TableStyle) -> Iterator[str]:
    yield from run_sentences.labels(view)
    yield run_sentences.values(view)
    yield run_sentences.rates(view, score=style.verbose)
    yield from run_sentences.marked(view)
    yield from run_sentences.validities(view)


def _page_head(view: RunView, style: TableStyle) -> Iterator[Text]:
    run = view.run
    told = {
        Verdict.INCOMPLETE: ": incomplete",
        Verdict.FAILED: f": {run_sentences.gate_sentence(run.gates)}",
        Verdict.PASSED: ": all gates passed" if run.gates else "",
    }
    yield Text(f"{MARKER}\n### {view.quoted(run.schema.model_name)}{told[run.verdict]}")
    if run.gates or run.verdict is not Verdict.PASSED or run.partial:
        yield Text(run_sentences.verdict(view), "title")
    yield Text(run_sentences.headline(view))
    yield from map(Text, _figures(view, style))


def _countings(view: RunView, style: TableStyle) -> Iterator[Block]:
    if style.verbose:
        if right := run_sentences.wholly_right(view):
            yield Text(right)
        if not view.page:
            yield BLANK
        yield tables.countings_table(view)
        if doubt := run_sentences.disagreement(view):
            yield Text(doubt, "warn")


def _classes(view: RunView, style: TableStyle) -> Iterator[Text]:
    if style.verbose and (classes := run_sentences.error_classes(view)):
        yield Text(classes)


def _cause_list(view: RunView, style: TableStyle) -> Iterator[Block]:
    named, more = cause_sentences.causes(view)
    if not named:
        return
    if style.verbose:
        named, more = [*named, *more[:MORE_CAUSES]], more[MORE_CAUSES:]
    width = len(f"{named[0].values:,}")
    title = "**Causes**, by values lost:" if view.page else "causes, by values lost"
    yield _heading(view, title)
    for it in named:
        margin = f"{it.number:<2} {it.values:>{width},}  "
        yield Text(f"{margin}{it.text}", indent=" " * len(margin))
    if more:
        yield Text(cause_sentences.more_causes(more), "dim", INDENT)


def _heading(view: RunView, title: str) -> Block:
    """Return the title of a list, which no terminal breaks."""
    return Text(title) if view.page else (Span(title, "title"),)


def _groups(view: RunView, style: TableStyle) -> Iterator[Block]:
    most = MOST_GROUPS_SHOWN if style.room and not view.page else None
    for position, (key, groups) in enumerate(view.groups.items()):
        if position:
            yield BLANK
        shown = groups[:most]
        yield tables.group_table(view, key, shown)
        if len(shown) < len(groups):
            yield Text(more_of(len(groups) - len(shown)), "dim", INDENT)


def _field_part(view: RunView, style: TableStyle) -> Iterator[Block]:
    shown = rows_shown(view.rows, style.sort, style.fields, only_errors=style.only_errors)
    every = len(shown) == len(view.rows) and style.sort == "schema"
    nested = every and not (style.plain or view.page)
    if shown:
        table = tables.field_table(view, shown, style.columns, nested=nested, every=style.verbose)
        yield replace(table, legend=tables.legend(view)) if style.verbose else table
        if not style.verbose and view.leaves_wrong_out:
            yield Text(run_sentences.describe_both_f1(view), "dim")
    elif view.rows and not view.page:
        yield Text("no field is as --fields and --only-errors ask for", "dim", INDENT)


def _confidence(view: RunView, style: TableStyle) -> Iterator[Block]:
    sentences = run_sentences.confidences(view)
    yield from map(Text, ["\n".join(sentences)] if view.page and sentences else sentences)
    if view.confidence is not None:
        yield tables.confidence_table(view)


def _metrics(view: RunView, style: TableStyle) -> Iterator[Table]:
    if figures := view.run.evaluation.metric_figures:
        yield tables.metric_table(figures)


def _policy(view: RunView, style: TableStyle) -> Iterator[Block | Figures]:
    outcome = view.run.policy
    if outcome is None:
        return
    passing = sum(it.accepted for it in outcome.fields)
    values = sum(it.values for it in outcome.fields)
    wrong = sum(it.wrong for it in outcome.fields)
    share = f"{passing / values:.1%}" if values else "nothing"
    yield Text(
        f"policy {outcome.digest[:8]}: {share} of values pass unseen, {wrong} of {passing} wrong; "
        f"it allows a share of {outcome.max_error:g} in each document, in the mean"
    )
    if outcome.overlap:
        yield Text(
            f"{outcome.overlap} of these documents have ids of those that the policy was made of: "
            "that checks nothing",
            "warn",
        )
    yield tables.policy_table(outcome)


@dataclass(frozen=True, slots=True)
class WrongDocument:
    """A document that lost values."""

    id: str
    score: float | None
    lost: int
    """How many of its values are wrong, invented or missed."""
    explained: str
    """The command that shows how it was compared, or its status if it was not."""


def _worst_documents(view: RunView, style: TableStyle) -> Iterator[Block]:
    """Yield the documents that are to be shown, each with its command below it or beside it."""
    if not style.show_documents:
        return
    shown, count = wrong_documents(view.run, style.show_documents)
    if view.page:
        yield from [_document_table(shown, beside=True)] if shown else []
    elif view.run.evaluation.ledger.blocks is None:
        yield Text("this run keeps no rows of its documents: see --rows", "dim", INDENT)
    elif not shown:
        yield Text("no document lost values")
    else:
        few = f"the {len(shown)} with the lowest scores of {count}"
        which = few if len(shown) < count else "all"
        yield Text(f"documents that lost values, {which}", "title")
        yield _document_table(shown, beside=style.plain)
        if not view.run.explaining:
            told = "stickler compare SCHEMA GT PRED --document ID explains one of them"
            yield Text(told, "dim", INDENT)


def _document_table(shown: Sequence[WrongDocument], *, beside: bool) -> Table:
    """Return a row for each document; the command beside it, or below, as it is to be copied."""
    figures = [Figure("document", "id", str), Figure("score", "score")]
    figures.append(Figure("values lost", "lost", int))
    told = [Span.of(it.explained, "dim") for it in shown]
    if beside and any(it.text for it in told):
        figures.append(Figure("explained by", "explained", str, tone="dim"))
    table = Figures(figures, shown).table()
    # No text, which would be broken at blanks.
    below = [] if beside else [[(Span(INDENT), it)] if it.text else () for it in told]
    return replace(table, below=below)


def wrong_documents(run: Run, most: int) -> tuple[list[WrongDocument], int]:
    """Return the documents with the lowest scores that lost values, and how many did."""
    blocks, count = run.evaluation.ledger.blocks, 0
    if blocks is None:
        return [], 0

    def ranked() -> Iterator[tuple[float, int, str, str]]:
        nonlocal count
        for name, status, score, values in blocks.documents():
            if values.lost:
                count += 1
                yield (2.0 if score is None else score), -values.lost, name, status

    found = nsmallest(most, ranked())
    return [
        WrongDocument(name, score if score <= 1 else None, -lost, _explained(run, name, status))
        for score, lost, name, status in found
    ], count


def _explained(run: Run, name: str, status: str) -> str:
    if status != Status.EVALUATED:
        return f"it is {status}"
    which = ["--document", name] if not name.startswith("-") else [f"--document={name}"]
    return f"{run.explaining} {shlex.join(which)}" if run.explaining else ""


def _non_matches(view: RunView, style: TableStyle) -> Iterator[Block]:
    chosen = view.run.first_non_matches[: style.show_non_matches]
    if view.page:
        yield from [error_table(chosen, "ground truth", "prediction")] if chosen else []
    elif chosen:
        which = "all" if len(chosen) < style.show_non_matches else "the first"
        yield _heading(view, f"non-matches, {which} {len(chosen)}")
        yield from error_blocks(chosen, style)
    elif style.show_non_matches:
        yield Text("no non-matches")


def _repeats(view: RunView, style: TableStyle) -> Iterator[Block]:
    repeats = view.run.repeats
    if repeats is None:
        return
    found, runs = repeats.whole, ", ".join(map(view.quoted, repeats.runs))
    spread = [value for value in found.f1 if value is not None]
    moved = f"F1 {view.rate(min(spread))} to {view.rate(max(spread))}" if spread else "no F1"
    of = number_of(found.documents, "document")
    yield Text(
        f"{len(repeats.runs)} runs, {runs}: {moved}; {found.right_in_all} of {of} right in all "
        f"runs, {found.right_in_any} in any",
        "title",
        "" if view.page else INDENT,
    )
    yield BLANK
    yield tables.repeats_table(repeats)
    if not view.page:
        yield BLANK
        some = "values that are right in some runs only"
        yield Text(some if repeats.flips else "no value flips")
    lines = [_flip(view, flip, len(repeats.runs)) for flip in repeats.flips[:MOST_FLIPS]]
    if len(repeats.flips) > MOST_FLIPS:
        lines.append(more_of(len(repeats.flips) - MOST_FLIPS))
    if not repeats.all_flips:
        lines.append("only of the first documents: there are more errors than are kept")
    for line in lines:
        yield Text(line, indent=INDENT)


def _flip(view: RunView, flip: Flip, runs: int) -> str:
    quoted = view.quoted
    wrong = (
        f"{entry.outcome} {quoted(value_text(entry.pred))}" if entry.outcome != "FN" else "missed"
        for entry in flip.wrong
    )
    told = f"{quoted(flip.document)}  {quoted(flip.path)}"
    right = quoted(value_text(flip.gt)) if flip.gt is not None else "absent"
    return f"{told}  {right}: wrong in {len(flip.wrong)} of {runs} runs: {', '.join(wrong)}"


def gate_blocks(gates: Sequence[GateResult], *, page: bool) -> Iterator[Block]:
    """Yield the result of each gate: a table on a page, else a line each."""
    if page and gates:
        figures = [
            Figure("", lambda it: "PASS" if it.passed else "**FAIL**", str, quoted=False),
            Figure("gate", lambda it: it.gate.text, str),
            Figure("reached", "reason", str),
        ]
        yield Figures(figures, gates).table()
    elif not page:
        tones: dict[bool, tuple[str, Tone]] = {True: ("PASS", "good"), False: ("FAIL", "bad")}
        for each in gates:
            word, tone = tones[each.passed]
            yield Text(f"{word}  {each.reason}", indent=" " * 6, lead=tone)


def _notes(view: RunView, style: TableStyle) -> Blocks:
    found = run_sentences.notes(view)
    return [Text(it, indent=INDENT) for it in found] if view.page else notes(found)


def _problems(view: RunView, style: TableStyle) -> Iterator[Text]:
    title, named, more = run_sentences.problems(view)
    if view.page and (named or more):
        yield Text(f"Documents with problems: {title}")
    elif named:
        yield Text(f"documents with problems: {title}", "title")
    for status, text in named:
        shown = f"{status}: {view.quoted(text)}" if view.page else f"{status:<9}  {text}"
        yield Text(shown, "warn", INDENT)
    if more:
        yield Text(more_of(more), indent=INDENT if view.page else "")


Part: TypeAlias = Callable[[RunView, TableStyle], Blocks]

_AFTER_THE_HEAD: Final[Sequence[Part]] = (
    *(_cause_list, _countings, _classes, _field_part),
    lambda view, style: gate_blocks(view.run.gates, page=view.page),
    *(_groups, _confidence, _metrics),
    *(_policy, _repeats, _worst_documents, _non_matches, _notes, _problems),
)
_ON_TERMINAL: Final[Sequence[Part]] = (_head, *_AFTER_THE_HEAD)
_ON_PAGE: Final[Sequence[Part]] = (_page_head, *_AFTER_THE_HEAD)

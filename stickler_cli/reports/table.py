"""Runs as people read them in a terminal or in a pipe."""

from collections.abc import Iterator
from typing import Final

from stickler_cli.core.figures import more_of
from stickler_cli.core.sections import BLANK, INDENT, Block, Span, Text, notes
from stickler_cli.reports import cause_sentences, repeat_sentences, run_sentences, tables
from stickler_cli.score.record import Run
from .error_list import error_blocks
from .layout import TableStyle, draw, gates
from .rows import rows_shown
from .trust_table import confidence_sentences, confidence_table
from .view import RunView
from .worst_documents import document_blocks

MOST_GROUPS_SHOWN: Final = 20
"""Groups that a terminal shows, the worst; a pipe gets all."""


def render_run(run: Run, style: TableStyle) -> str:
    """Return a run as tables and sentences; ends with a line break."""
    view = RunView(run)
    partial = [Text(text, "bad") for text in [run_sentences.partial(view)] if text]
    gated = run_sentences.gates(view)
    head = (
        f"{run.schema.title}: {'; '.join(filter(None, [run_sentences.headline(view), gated]))}",
        *run_sentences.labels(view),
        run_sentences.values(view),
        run_sentences.rates(view),
        *run_sentences.marked(view),
        *run_sentences.validities(view),
    )
    sections = (
        [*partial, *(Text(text, "" if at else "title") for at, text in enumerate(head))],
        _countings(view) if style.verbose else [],
        [Text(errors)] if (errors := run_sentences.error_classes(view)) else [],
        _causes(view),
        _groups(view, MOST_GROUPS_SHOWN if style.room else None),
        _fields(view, style),
        _confidence(view),
        [tables.metric_table(figures)] if (figures := view.metrics) else [],
        _policy(view),
        document_blocks(view, style),
        _non_matches(view, style),
        _repeats(view),
        gates(run.gates),
        notes(run_sentences.notes(view)),
        _problems(view),
    )
    return draw(sections, style)


def _countings(view: RunView) -> Iterator[Block]:
    yield Text(run_sentences.wholly_right(view))
    yield BLANK
    yield tables.countings_table(view)
    doubt = run_sentences.disagreement(view)
    if doubt:
        yield Text(doubt, "warn")


def _groups(view: RunView, most: int | None) -> Iterator[Block]:
    for position, (key, groups) in enumerate(view.groups.items()):
        if position:
            yield BLANK
        shown = groups[:most]
        yield tables.group_table(view, key, shown, page=False)
        if len(shown) < len(groups):
            yield Text(more_of(len(groups) - len(shown)), "dim", INDENT)


def _causes(view: RunView) -> Iterator[Block]:
    named, more = cause_sentences.causes(view)
    if not named:
        return
    width = len(str(named[0].values))
    yield (Span("causes, by values lost", "title"),)
    for cause in named:
        yield Text(cause.text, indent=INDENT, margin=f"{INDENT}{cause.values:>{width}}  ")
    if more:
        yield Text(cause_sentences.more_causes(more), "dim", INDENT)


def _fields(view: RunView, style: TableStyle) -> Iterator[Block]:
    worst = run_sentences.worst_fields(view)
    if worst:
        yield Text(worst, "bad", INDENT)
        yield BLANK
    shown = rows_shown(view.rows, style.sort, style.fields, only_errors=style.only_errors)
    if shown:
        nested = not style.plain and len(shown) == len(view.rows) and style.sort == "schema"
        yield tables.field_table(view, shown, nested=nested)
    elif view.rows:
        yield Text("no field is as --fields and --only-errors ask for", "dim", INDENT)


def _confidence(view: RunView) -> Iterator[Block]:
    for sentence in confidence_sentences(view):
        yield Text(sentence)
    if view.confidence is not None:
        yield confidence_table(view)


def _policy(view: RunView) -> Iterator[Block]:
    if view.run.policy is not None:
        from .policy_tables import outcome_blocks  # it loads a study, which few runs have

        yield from outcome_blocks(view.run.policy)


def _repeats(view: RunView) -> Iterator[Block]:
    found = view.run.repeats
    if found is not None:
        yield Text(repeat_sentences.headline(view, found), "title", INDENT)
        yield BLANK
        yield repeat_sentences.repeats_table(found)
        yield BLANK
        yield Text("values that are right in some runs only" if found.flips else "no value flips")
        for text in repeat_sentences.flips(view, found):
            yield Text(text, indent=INDENT)


def _non_matches(view: RunView, style: TableStyle) -> Iterator[Block]:
    chosen = view.run.first_non_matches[: style.show_non_matches]
    if not chosen:
        yield from [Text("no non-matches")] if style.show_non_matches else []
        return
    which = "all" if len(chosen) < style.show_non_matches else "the first"
    yield (Span(f"non-matches, {which} {len(chosen)}", "title"),)
    yield from error_blocks(chosen, style)


def _problems(view: RunView) -> Iterator[Text]:
    title, named, more = run_sentences.problems(view)
    if named:
        yield Text(f"documents with problems: {title}", "title")
    for status, text in named:
        yield Text(f"{status:<9}  {text}", "warn", INDENT)
    if more:
        yield Text(more_of(more))

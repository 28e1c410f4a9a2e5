"""The report of a run as sections, for terminals, pipes and pages of Markdown."""

import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from heapq import nsmallest
from typing import TYPE_CHECKING, Final, TypeAlias

from stickler_cli.core.figures import count_unlisted, number_of, value_text
from stickler_cli.core.sections import (
    BLANK,
    INDENT,
    Block,
    FigureColumn,
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
from stickler_cli.score.record import Run, RunVerdict
from .layout import TableStyle
from .markdown import code
from .view import RunView, rows_shown

if TYPE_CHECKING:
    from stickler_cli.score.policy import PolicyOutcome
    from stickler_cli.score.repeated_runs import Flip

MARKER: Final = "<!-- stickler -->"
"""First line of a Markdown page. By this line, a CI script finds the comment that it posted before.
"""

# Number of groups that a terminal shows, the worst first; a pipe gets all.
MOST_GROUPS_SHOWN: Final = 20
MORE_CAUSES: Final = 17  # number of causes that -v adds to those of the first screen
MOST_FLIPS: Final = 20  # number of flipping values that reports list; the JSON report has all

SectionBlocks: TypeAlias = Iterable[Block | Figures]


def sections_of(run: Run, style: TableStyle, *, page: bool) -> list[Section]:
    """Return the report of a run as sections.

    A Markdown page has the sections in another order than a terminal.
    """
    view = RunView(run, code, page=True) if page else RunView(run)
    section_builders = _ON_PAGE if page else _ON_TERMINAL
    sections = [
        blocks for build_section in section_builders if (blocks := [*build_section(view, style)])
    ]
    has_compared_documents = run.evaluation.statuses[
        Status.EVALUATED
    ]  # without compared documents there are no errors to look into
    if has_compared_documents and run.errors_command and cause_sentences.causes(view)[0]:
        sections[-1].append(_next(view))
    return [Section("", blocks) for blocks in sections]


def _next(view: RunView) -> Text | Line:
    """Return a line with the command to run next.

    A terminal shows the command on a single line, so that it can be copied.
    """
    command = f"{view.run.errors_command} --cause 1"
    return Text(f"next: {code(command)}") if view.page else (Span.of(f"next: {command}", "title"),)


def _head(view: RunView, style: TableStyle) -> Iterator[Text]:
    if partial := run_sentences.partial(view):
        yield Text(partial, "bad")
    name = view.run.schema.title if style.verbose else view.run.schema.model_name
    clauses = filter(
        None, [run_sentences.headline(view), run_sentences.gate_sentence(view.run.gates)]
    )
    title = run_sentences.describe_schema(name)
    yield Text(f"{title}: {'; '.join(clauses)}", "title")
    yield from map(Text, _figures(view, style))


def _figures(view: RunView, style: TableStyle) -> Iterator[str]:
    yield from run_sentences.labels(view)
    yield run_sentences.values(view)
    yield run_sentences.rates(view, score=style.verbose)
    yield from run_sentences.describe_verdicts(view)
    yield from run_sentences.validities(view)


def _page_head(view: RunView, style: TableStyle) -> Iterator[Text]:
    run = view.run
    verdict_texts = {
        RunVerdict.INCOMPLETE: ": incomplete",
        RunVerdict.FAILED: f": {run_sentences.gate_sentence(run.gates)}",
        RunVerdict.PASSED: ": all gates passed" if run.gates else "",
    }
    name = run_sentences.describe_schema(run.schema.model_name)
    yield Text(f"{MARKER}\n### {view.quoted(name)}{verdict_texts[run.verdict]}")
    if run.gates or run.verdict is not RunVerdict.PASSED or run.partial:
        yield Text(run_sentences.verdict(view), "title")
    yield Text(run_sentences.headline(view))
    yield from map(Text, _figures(view, style))


def _countings(view: RunView, style: TableStyle) -> Iterator[Block]:
    if style.verbose:
        if wholly_right_text := run_sentences.wholly_right(view):
            yield Text(wholly_right_text)
        if not view.page:
            yield BLANK
        yield tables.countings_table(view)
        if disagreement_text := run_sentences.disagreement(view):
            yield Text(disagreement_text, "warn")


def _classes(view: RunView, style: TableStyle) -> Iterator[Text]:
    if style.verbose and (classes := run_sentences.error_classes(view)):
        yield Text(classes)
        yield from map(Text, run_sentences.items_of_lists(view))


def _cause_list(view: RunView, style: TableStyle) -> Iterator[Block]:
    named_causes, other_causes = cause_sentences.causes(view)
    if not named_causes:
        return
    if style.verbose:
        named_causes, other_causes = (
            [*named_causes, *other_causes[:MORE_CAUSES]],
            other_causes[MORE_CAUSES:],
        )
    width = len(f"{named_causes[0].values:,}")
    title = "**Causes**, by values lost:" if view.page else "causes, by values lost"
    yield _heading(view, title)
    for cause in named_causes:
        margin = f"{cause.number:<2} {cause.values:>{width},}  "
        yield Text(f"{margin}{cause.sentence}", indent=" " * len(margin))
    if other_causes:
        yield Text(cause_sentences.more_causes(other_causes), "dim", INDENT)


def _heading(view: RunView, title: str) -> Block:
    """Return the title of a list as a block that terminals do not wrap."""
    return Text(title) if view.page else (Span(title, "title"),)


def _groups(view: RunView, style: TableStyle) -> Iterator[Block]:
    max_groups = MOST_GROUPS_SHOWN if style.room and not view.page else None
    for position, (key, groups) in enumerate(view.groups.items()):
        if position:
            yield BLANK
        shown_groups = groups[:max_groups]
        yield tables.group_table(view, key, shown_groups)
        if len(shown_groups) < len(groups):
            yield Text(count_unlisted(len(groups) - len(shown_groups)), "dim", INDENT)


def _field_part(view: RunView, style: TableStyle) -> Iterator[Block]:
    shown_rows = rows_shown(view.rows, style.sort, style.fields, only_errors=style.only_errors)
    shows_whole_schema = len(shown_rows) == len(view.rows) and style.sort == "schema"
    is_nested = shows_whole_schema and not (style.plain or view.page)
    if shown_rows:
        table = tables.field_table(
            view, shown_rows, style.columns, is_nested=is_nested, verbose=style.verbose
        )
        yield table._replace(legend=tables.legend(view)) if style.verbose else table
        if not style.verbose and view.leaves_wrong_out:
            yield Text(run_sentences.describe_both_f1(view), "dim")
    elif view.rows and not view.page:
        yield Text("no field matches --fields and --only-errors", "dim", INDENT)


def _confidence(view: RunView, style: TableStyle) -> Iterator[Block]:
    sentences = run_sentences.confidences(view)
    yield from map(Text, ["\n".join(sentences)] if view.page and sentences else sentences)
    if view.confidence is not None:
        yield tables.confidence_table(view)


def _metrics(view: RunView, style: TableStyle) -> Iterator[Table]:
    if figures := view.run.evaluation.metric_figures:
        yield tables.metric_table(figures)


def _policy(view: RunView, style: TableStyle) -> Iterator[Block | Figures]:
    if view.run.policy is not None:
        yield from policy_sentences(view.run.policy)
        yield tables.policy_table(view.run.policy)


def policy_sentences(outcome: "PolicyOutcome") -> Iterator[Text]:
    """Yield sentences on the values that pass an acceptance policy without review.

    A warning is among them if the policy was made from the documents that are evaluated here.
    """
    n_accepted = sum(field.accepted for field in outcome.fields)
    values = sum(field.values for field in outcome.fields)
    wrong = sum(field.wrong for field in outcome.fields)
    share = f"{n_accepted / values:.1%}" if values else "nothing"
    yield Text(
        f"policy {outcome.digest[:8]}: {share} of values skip review, and {wrong} of "
        f"these {n_accepted} values are wrong; the policy allows that in each field "
        f"{100 * outcome.max_error:.4g}% of the accepted values are wrong, as an average over "
        "documents"
    )
    if outcome.overlap:
        yield Text(
            (
                f"{outcome.overlap} of these documents were also used to make the policy, so "
                "this is not an independent test of the policy"
            ),
            "warn",
        )


@dataclass(frozen=True, slots=True)
class WrongDocument:
    """A document with lost values."""

    id: str
    score: float | None
    lost: int
    """Number of wrong, invented or missed values of the document."""
    explained: str
    """Command that explains the comparison of the document. If the document was not compared, its
    status stands here instead."""


def _worst_documents(view: RunView, style: TableStyle) -> Iterator[Block]:
    """Yield the documents with the lowest scores.

    Each one comes with the command that explains it.
    """
    if not style.show_documents:
        return
    documents, count = wrong_documents(view.run, style.show_documents)
    if view.page:
        yield from [_document_table(documents, commands_beside=True)] if documents else []
    elif view.run.evaluation.ledger.blocks is None:
        yield Text(
            (
                "this run file has no rows for single documents; evaluate with --rows inline "
                "to list documents here"
            ),
            "dim",
            INDENT,
        )
    elif not documents:
        yield Text("no document lost values")
    else:
        heading = "all documents that lost values"
        if len(documents) < count:
            heading = (
                f"{len(documents)} of the {count:,} documents that lost values, those with the "
                "lowest scores"
            )
        yield Text(heading, "title")
        yield _document_table(documents, commands_beside=style.plain)
        if not view.run.explain_command:
            advice = (
                "to explain one of these documents: stickler compare SCHEMA GT PRED --document ID"
            )
            yield Text(advice, "dim", INDENT)


def _document_table(documents: Sequence[WrongDocument], *, commands_beside: bool) -> Table:
    """Return a table of documents.

    The command for a document is in a column of its own, or in a line below the document.
    """
    figures = [FigureColumn("document", "id", str), FigureColumn("score", "score")]
    figures.append(FigureColumn("values lost", "lost", int))
    explanations = [Span.of(document.explained, "dim") for document in documents]
    if commands_beside and any(document.text for document in explanations):
        figures.append(FigureColumn("explained by", "explained", str, tone="dim"))
    table = Figures(figures, documents).table()
    # Lines, unlike texts, are not wrapped.
    details = (
        []
        if commands_beside
        else [[(Span(INDENT), document)] if document.text else () for document in explanations]
    )
    return table._replace(below=details)


def wrong_documents(run: Run, max_documents: int) -> tuple[list[WrongDocument], int]:
    """Return the documents with the lowest scores among those that lost values.

    The second result is the number of all documents that lost values.
    """
    blocks, count = run.evaluation.ledger.blocks, 0
    if blocks is None:
        return [], 0

    def ranked() -> Iterator[tuple[float, int, str, str]]:
        nonlocal count
        for name, status, score, values in blocks.documents():
            if values.lost:
                count += 1
                yield (2.0 if score is None else score), -values.lost, name, status

    worst_documents = nsmallest(max_documents, ranked())
    return [
        WrongDocument(
            id=name,
            score=score if score <= 1 else None,
            lost=-lost,
            explained=_explained(run, name, status),
        )
        for score, lost, name, status in worst_documents
    ], count


def _explained(run: Run, name: str, status: str) -> str:
    if status != Status.EVALUATED:
        return f"the document is {status}"
    document_option = ["--document", name] if not name.startswith("-") else [f"--document={name}"]
    return f"{run.explain_command} {shlex.join(document_option)}" if run.explain_command else ""


def _non_matches(view: RunView, style: TableStyle) -> Iterator[Block]:
    errors = view.run.first_non_matches[: style.show_non_matches]
    if not errors:
        yield from [Text("no errors")] if style.show_non_matches and not view.page else []
        return
    from .error_list import error_blocks, error_table  # imported late: few runs list errors

    if view.page:
        yield error_table(errors, "ground truth", "prediction")
        return
    choice = "all" if len(errors) < style.show_non_matches else "the first"
    yield _heading(view, f"non-matches, {choice} {len(errors)}")
    yield from error_blocks(errors, style)


def _repeats(view: RunView, style: TableStyle) -> Iterator[Block]:
    repeats = view.run.repeats
    if repeats is None:
        return
    total, run_names = repeats.whole, ", ".join(map(view.quoted, repeats.runs))
    f1_values = [value for value in total.f1 if value is not None]
    f1_range = (
        f"F1 {view.rate(min(f1_values))} to {view.rate(max(f1_values))}" if f1_values else "no F1"
    )
    number_of_documents = number_of(total.documents, "document")
    yield Text(
        (
            f"{len(repeats.runs)} runs ({run_names}): {f1_range}; {total.right_in_all} of "
            f"{number_of_documents} right in all runs, {total.right_in_any} right in at least "
            "one run"
        ),
        "title",
        "" if view.page else INDENT,
    )
    yield BLANK
    yield tables.repeats_table(repeats)
    if not view.page:
        yield BLANK
        heading = "values that are right in only some of the runs"
        yield Text(
            heading if repeats.flips else ("every value is right in all runs or wrong in all runs")
        )
    lines = [_flip(view, flip, len(repeats.runs)) for flip in repeats.flips[:MOST_FLIPS]]
    if len(repeats.flips) > MOST_FLIPS:
        lines.append(count_unlisted(len(repeats.flips) - MOST_FLIPS))
    if not repeats.all_flips:
        lines.append(
            "this list covers only the first documents, because the run has too many errors "
            "to save them all"
        )
    for line in lines:
        yield Text(line, indent=INDENT)


def _flip(view: RunView, flip: "Flip", runs: int) -> str:
    quoted = view.quoted
    wrong_texts = (
        "missed" if entry.outcome == "FN" else f"predicted {quoted(value_text(entry.pred))}"
        for entry in flip.wrong
    )
    location = f"{quoted(flip.document)}  {quoted(flip.path)}"
    true_text = "absent in the ground truth"
    if flip.gt is not None:
        true_text = f"ground truth {quoted(value_text(flip.gt))}"
    count_text = f"{len(flip.wrong)} of {runs} runs"
    return f"{location}  {true_text}; wrong in {count_text}: {', '.join(wrong_texts)}"


def gate_blocks(gates: Sequence[GateResult], *, page: bool) -> Iterator[Block]:
    """Yield the results of gates. A page gets a table; other reports get a line for each gate."""
    if page and gates:
        figures = [
            FigureColumn(
                "", lambda result: "PASS" if result.passed else "**FAIL**", str, quoted=False
            ),
            FigureColumn("gate", lambda result: result.gate.text, str),
            FigureColumn("reached", "reason", str),
        ]
        yield Figures(figures, gates).table()
    elif not page:
        tones: dict[bool, tuple[str, Tone]] = {True: ("PASS", "good"), False: ("FAIL", "bad")}
        for result in gates:
            word, tone = tones[result.passed]
            yield Text(f"{word}  {result.reason}", indent=" " * 6, lead=tone)


def _notes(view: RunView, style: TableStyle) -> SectionBlocks:
    note_texts = run_sentences.notes(view)
    return [Text(note, indent=INDENT) for note in note_texts] if view.page else notes(note_texts)


def _problems(view: RunView, style: TableStyle) -> Iterator[Text]:
    title, named_documents, n_others = run_sentences.problems(view)
    if view.page and (named_documents or n_others):
        yield Text(f"Documents with problems: {title}")
    elif named_documents:
        yield Text(f"documents with problems: {title}", "title")
    for status, text in named_documents:
        line = f"{status}: {view.quoted(text)}" if view.page else f"{status:<9}  {text}"
        yield Text(line, "warn", INDENT)
    if n_others:
        yield Text(count_unlisted(n_others), indent=INDENT if view.page else "")


SectionWriter: TypeAlias = Callable[[RunView, TableStyle], SectionBlocks]

_AFTER_THE_HEAD: Final[Sequence[SectionWriter]] = (
    *(_cause_list, _countings, _classes, _field_part),
    lambda view, style: gate_blocks(view.run.gates, page=view.page),
    *(_groups, _confidence, _metrics),
    *(_policy, _repeats, _worst_documents, _non_matches, _notes, _problems),
)
_ON_TERMINAL: Final[Sequence[SectionWriter]] = (_head, *_AFTER_THE_HEAD)
_ON_PAGE: Final[Sequence[SectionWriter]] = (_page_head, *_AFTER_THE_HEAD)

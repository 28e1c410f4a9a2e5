"""Sentences that summarise a run. They are the same in all reports that people read."""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import Final

from stickler_cli.core.figures import INFERRED_FROM, Quoting, join_some, number_of, rate
from stickler_cli.core.locations import Path, field_path
from stickler_cli.runs.close_match_note import describe_close_matches
from stickler_cli.runs.unwrapping_note import describe_unwrapping
from stickler_cli.score.document_result import LENIENT, LENIENT_FORMS, Status
from stickler_cli.score.errors.causes import ByClass, overall
from stickler_cli.score.errors.error_classes import ErrorClass
from stickler_cli.score.evaluation import NO_GROUP
from stickler_cli.score.folds import MAX_LOST, PathCounts
from stickler_cli.score.gates import GateResult
from stickler_cli.score.intervals import Interval
from .cause_sentences import count_of_class
from .view import WORST, FieldRow, RunView, by_values_lost

DISAGREE: Final = 0.05
"""Counting modes are said to disagree if a rate differs by more than this between them."""

VIOLATIONS: Final = 3
"""Maximum number of kinds of schema violations that a sentence lists, the most frequent first."""

MAX_NAMED: Final = 10
"""Maximum number of documents, keys or fields that a sentence names. The JSON report names all of
them."""

UNFIT: Final = 3  # number of unused verdicts that a sentence lists; the JSON report has all


MODES: Final = {
    "overall": "each value, each object and each list item as one unit",
    "aggregate": (
        "each value as one unit; but a list item that does not match, or an item or object that "
        "only one side has, is a single unit"
    ),
    "leaves": "each value as one unit, even inside objects and items that do not match",
}
"""Description of what each counting mode counts."""

_WHY_LOWEST: Final = {
    "overall": (
        "some objects or list items count as wrong (one unit each) although most of the "
        "values in them are right"
    ),
    "aggregate": (
        "some objects and items match but contain errors, which the mode overall does not count"
    ),
    "leaves": (
        "some objects or list items are missed, invented or paired with a very different "
        "one. The modes overall and aggregate count such an object or item as one unit; the "
        "mode leaves counts all its values"
    ),
}


def describe_schema(name: str) -> str:
    """Return the name of a schema as the beginning of a title.

    >>> describe_schema("Invoice"), describe_schema("inferred from gt")
    ('Invoice', 'schema (inferred from gt)')
    """
    return f"schema ({name})" if name.startswith(INFERRED_FROM) else name


def partial(view: RunView) -> str:
    """Return a sentence that says how far an interrupted run came.

    It is empty for a finished run.
    """
    if not view.run.partial:
        return ""
    of_all = "" if view.run.planned is None else f" of {view.run.planned}"
    return f"partial: {view.run.evaluation.documents['total']}{of_all} documents"


def labels(view: RunView) -> list[str]:
    """Return the labels of the run as one line. The list is empty if the run has no labels."""
    label_names = dict.fromkeys(
        label for provenance in view.run.provenance for label in provenance.labels
    )
    return [f"labels: {', '.join(map(view.quoted, label_names))}"] if label_names else []


def values(view: RunView) -> str:
    """Return a sentence with the numbers of right, wrong, missed and invented values."""
    right, wrong, invented, missed, _ = view.whole.counts
    total, noun = right + wrong + invented + missed, _choose_noun(view)
    outcomes = {"right": right, "wrong": wrong, "missed": missed, "invented": invented}
    outcome_texts = ", ".join(f"{count:,} {name}" for name, count in outcomes.items())
    return f"{number_of(total, noun)}: {outcome_texts}"


def _choose_noun(view: RunView) -> str:
    """Return the noun for counts: units or values."""
    return "unit" if view.run.rule.counting == "overall" else "value"


def rates(view: RunView, *, score: bool = False) -> str:
    """Return a text with precision, recall and F1; with `score`, also the mean score."""
    total_rates = view.whole.rates
    precision, recall = view.rate(total_rates.precision), view.rate(total_rates.recall)
    text = f"F1 {_f1(view)}  precision {precision}  recall {recall}"
    mean_score = view.run.evaluation.overall_score
    return f"{text}  {_score_name(view)} {view.rate(mean_score)}" if score else text


def describe_both_f1(view: RunView) -> str:
    """Return a text with two values of F1.

    In the first, recall ignores wrong values; in the second, wrong values also count as missed.
    """
    f1, f1_with_wrong = view.rate(view.whole.rates.f1), view.rate(view.f1_with_wrong_as_missed)
    noun = _choose_noun(view)
    return f"F1 {f1}; or {f1_with_wrong} if wrong {noun}s also count as missed (--recall-with-fd)"


def verdict(view: RunView) -> str:
    """Return a sentence that sums up the run: whether all gates passed.

    If there are no gates, the sentence has the F1 instead. It also says if the run was interrupted,
    if documents could not be evaluated, or if nothing was compared.
    """
    run = view.run
    clauses = [partial(view)]
    if run.n_unfit:
        clauses.append(f"{number_of(run.n_unfit, 'document')} could not be evaluated")
    elif not run.evaluation.statuses[Status.EVALUATED] or run.nothing_paired:
        nothing_counted = not run.evaluation.evaluated
        clauses.append(
            "nothing was compared" if nothing_counted else "no ground truth has a usable prediction"
        )
    gates_text = gate_sentence(run.gates, view.quoted) or f"no gate set; F1 {_f1(view)}"
    return "; ".join([*filter(None, clauses), gates_text])


def _f1(view: RunView) -> str:
    return view.rate(view.whole.rates.f1) + _bounds(view, view.bounds("f1"))


def _bounds(view: RunView, interval: Interval | None) -> str:
    """Return a confidence interval in brackets.

    If there are too few documents for intervals, the text says so instead.

    The text is empty if the interval is None.
    """
    if interval is None:
        return ""
    documents = view.run.evaluation.evaluated
    if view.has_too_few_documents:
        verb = "is" if documents == 1 else "are"
        return f" ({number_of(documents, 'document')} {verb} too few for an interval)"
    level = view.interval_title.replace(" CI of F1", " interval")
    return f" ({level} {view.rate(interval.lower)} to {view.rate(interval.upper)})"


def describe_verdicts(view: RunView) -> list[str]:
    """Return sentences on the verdicts that people gave on errors.

    They also give the figures as corrected by these verdicts. The list is empty if there are no
    verdicts.
    """
    marked_errors = view.run.marked
    if marked_errors is None:
        return []
    lines = []
    if marked_errors.n_accepted:
        reasons = ", ".join(
            f"{count} {name.replace('_', ' ')}" for name, count in marked_errors.right.items()
        )
        verb = "counts" if marked_errors.n_accepted == 1 else "count"
        corrected_rates = getattr(marked_errors, view.run.rule.counting)
        f1_text, corrected_f1_text = view.rate(view.whole.rates.f1), view.rate(corrected_rates.f1)
        errors = number_of(marked_errors.n_accepted, "error")
        other_rates = (
            corrected_rates.precision,
            corrected_rates.recall,
            marked_errors.overall_score,
        )
        other_texts = "precision {}, recall {}, mean score {}".format(*map(view.rate, other_rates))
        lines.append(
            f"F1 {f1_text}; or {corrected_f1_text} if the {errors} marked by verdicts {verb} "
            f"as right ({reasons}); in that case {other_texts}"
        )
    if marked_errors.neither:
        n_neither = marked_errors.neither
        remaining = "1 error stays an error: its verdict says"
        if n_neither > 1:
            remaining = f"{n_neither:,} errors stay errors: their verdicts say"
        lines.append(f"{remaining} that neither the ground truth nor the prediction is right")
    if marked_errors.unfit:
        names = join_some(map(view.quoted, marked_errors.unfit), UNFIT)
        unfit_of_all = (
            f"{len(marked_errors.unfit)} of {number_of(marked_errors.verdicts, 'verdict')}"
        )
        errors_text = "the error that it judges is"
        if len(marked_errors.unfit) > 1:
            errors_text = "the errors that they judge are"
        lines.append(
            f"{unfit_of_all} had no effect, because {errors_text} not in this run: {names}"
        )
    return lines


def headline(view: RunView) -> str:
    """Return a sentence with the numbers of compared and of omitted documents."""
    evaluation = view.run.evaluation
    wholly_right_text = (
        f", {evaluation.wholly_right.right:,} wholly right" if evaluation.evaluated else ""
    )
    counts_text = f"{number_of(evaluation.evaluated, 'document')}{wholly_right_text}"
    return "; ".join([counts_text, *_remarks_on_documents(view)])


def further_figures(view: RunView, *, counts_documents: bool) -> str:
    """Return a sentence with precision, recall and the score, for the top of a page.

    If there are gates, the sentence also has the F1. Without gates, `verdict` has the F1.

    With `counts_documents`, the sentence begins with the numbers of compared and omitted documents.
    Otherwise, it begins with remarks on documents, if there are any.
    """
    documents = [headline(view)] if counts_documents else _remarks_on_documents(view)
    rates, score = view.whole.rates, view.run.evaluation.overall_score
    f1 = f"F1 {_f1(view)}, " if view.run.gates else ""
    rates_text = f"precision {view.rate(rates.precision)}, recall {view.rate(rates.recall)}"
    return "; ".join([*documents, f"{f1}{rates_text}, {_score_name(view)} {view.rate(score)}"])


def _score_name(view: RunView) -> str:
    return "score" if view.run.document else "mean score"


def _remarks_on_documents(view: RunView) -> list[str]:
    """Return clauses that explain which documents and what units a run counts.

    There is a clause for each group of documents without a usable prediction, and for each group of
    omitted documents. If the run does not count values, another clause describes the counting mode.
    """
    evaluation, run = view.run.evaluation, view.run
    clauses, not_counted = list[str](), list[str]()
    statuses = evaluation.statuses
    missed = statuses[Status.MISSING] if run.options.missing == "fn" else 0
    # An unreadable prediction may have no id and therefore no ground truth.
    unread = evaluation.evaluated - statuses[Status.EVALUATED] - missed
    compared = {Status.EVALUATED: statuses[Status.EVALUATED]}
    compared |= {Status.MISSING: missed, Status.INVALID: unread}
    for status, count in statuses.items():
        compared_with_nothing, omitted = compared.get(status, 0), count - compared.get(status, 0)
        if compared_with_nothing and status in _COMPARED_WITH_NOTHING:
            documents = number_of(compared_with_nothing, "document")
            verb, owner = ("have", "their") if compared_with_nothing > 1 else ("has", "its")
            clauses.append(
                f"{documents} {verb} {_COMPARED_WITH_NOTHING[status]}, so all {owner} values are "
                "missed"
            )
        if omitted:
            noun, description = _LEFT_OUT[status]
            not_counted.append(f"{number_of(omitted, noun)}{description}")
    if not_counted:
        clauses.append(f"not counted: {', '.join(not_counted)}")
    if not view.counts_values:
        clauses.append(f"counting {run.rule.counting}: {MODES[run.rule.counting]}")
    return clauses


_COMPARED_WITH_NOTHING: Final = {
    Status.INVALID: "an unreadable prediction",
    Status.MISSING: "no prediction",
}
_LEFT_OUT: Final = {
    Status.INVALID: ("unreadable prediction", " without ground truth"),
    Status.MISSING: ("ground truth", " without a prediction"),
    Status.FAILED: ("document", " that could not be evaluated"),
    Status.UNMATCHED: ("prediction", " without ground truth"),
}


def wholly_right(view: RunView) -> str:
    """Return a sentence with the share of completely right documents.

    The sentence also has the numbers of documents that lost at most 0, 1, 2, ... values. A number
    is left out if it is the same as the number before it.
    """
    evaluation = view.run.evaluation
    documents = evaluation.wholly_right
    if documents.share is None:
        return ""
    interval = documents.interval(evaluation.interval_settings)
    share = view.rate(documents.share) + _bounds(view, interval)
    total = documents.documents
    numbers = [
        f"{n_documents:,} of {total:,} {_have(n_documents)} at most {n_lost}"
        for n_lost, n_documents in enumerate(accumulate(documents.lost))
        if n_lost and documents.lost[n_lost]
    ]
    if n_others := total - sum(documents.lost):
        numbers.append(f"{n_others:,} of {total:,} {_have(n_others)} more than {MAX_LOST}")
    right = (
        f"{documents.right:,} of {number_of(total, 'document')} {_have(documents.right)} no wrong, "
        "missed or invented value"
    )
    return "; ".join([f"share of completely right documents: {share}", right, *numbers])


def _have(count: int) -> str:
    """Return the form of the verb "have" after a count."""
    return "has" if count == 1 else "have"


def gate_sentence(
    gates: Sequence[GateResult], quoted: Quoting | None = None, max_reasons: int = MAX_NAMED
) -> str:
    """Return a sentence on how many gates passed or failed; empty if there are no gates.

    If `quoted` is given, the sentence also has the reasons of failures, and `quoted` formats each
    of them. At most `max_reasons` reasons are listed.
    """
    failed, number_of_gates = (
        [gate.reason for gate in gates if not gate.passed],
        number_of(len(gates), "gate"),
    )
    if not failed:
        return f"{number_of_gates} passed" if gates else ""
    text = f"{len(failed)} of {number_of_gates} failed"
    return text if quoted is None else f"{text}: {join_some(map(quoted, failed), max_reasons)}"


def validities(view: RunView) -> list[str]:
    """Return a sentence on each validated side: the share of its documents that are valid."""
    sides = {"gt": "ground truths", "pred": "predictions"}
    lines = []
    for side, validity in sorted(view.run.evaluation.validity.items(), reverse=True):
        valid_text = f"{rate(validity.share)} ({validity.valid} of {validity.checked})"
        line = f"schema-valid {sides[side]}: {valid_text}"
        violation_texts = [
            f"{violation.keyword}"
            f"{f' at {view.quoted(violation.field)}' if violation.field else ''}"
            f" ({violation.count})"
            for violation in validity.most_frequent()
        ]
        lines.append(
            line
            + (
                f"; most frequent violations: {', '.join(violation_texts[:VIOLATIONS])}"
                if violation_texts
                else ""
            )
        )
    return lines


def disagreement(view: RunView) -> str | None:
    """Return a sentence on why the rates of counting modes differ.

    Return None if they differ by at most `DISAGREE`.
    """
    rule = view.run.rule
    for metric in ("f1", "precision", "recall"):
        by_mode = {mode: rule.rates(view.run.evaluation.tally.counts(mode)) for mode in MODES}
        values = {
            mode: value
            for mode, rates in by_mode.items()
            if (value := getattr(rates, metric)) is not None
        }
        if values and max(values.values()) - min(values.values()) > DISAGREE:
            lowest = min(values, key=lambda mode: values[mode])
            rate_texts = ", ".join(
                f"{view.rate(value)} with {mode}" for mode, value in values.items()
            )
            title = "F1" if metric == "f1" else metric
            reason = _WHY_LOWEST[lowest]
            return (
                f"{title} depends on the counting mode: {rate_texts}. It is lowest with "
                f"{lowest}, because {reason}."
            )
    return None


def error_classes(view: RunView) -> str | None:
    """Return a sentence that says how many lost values and failed items each error class has.

    Return None if there are no errors.
    """
    errors = view.run.evaluation.errors
    values, units = errors.overall(), overall(errors.units)
    texts = []
    if values:
        count_text = number_of(values.total(), "error")
        texts.append(f"{count_text} in values: {_class_texts(values)}")
    if units:
        count_text = number_of(units.total(), "error")
        texts.append(f"{count_text} in whole items or objects: {_class_texts(units)}")
    return "; ".join(texts) or None


def describe_items(view: RunView, row: FieldRow) -> str:
    """Return a text that says how many items or objects of a field are right, wrong and so on.

    The text is empty for a field of single values.
    """
    outcomes, n_items = row.tally.item_outcomes, row.tally.n_items
    if not n_items:
        return ""
    failed = view.run.evaluation.errors.units.get(row.path, Counter())
    n_failed = sum(count for name, count in failed.items() if name not in _ONE_SIDED)
    n_passed = outcomes.fd - n_failed
    wrong_text = f"{outcomes.fd:,} with a wrong value inside"
    if n_failed and n_passed > 0:
        wrong_text += (
            f" ({n_failed:,} of these below the threshold, {n_passed:,} at or above the threshold)"
        )
    texts_by_count = (
        (outcomes.fd, wrong_text),
        (outcomes.fn, f"{outcomes.fn:,} missed"),
        (outcomes.fa, f"{outcomes.fa:,} invented"),
    )
    texts = [f"{outcomes.tp:,} right", *(text for count, text in texts_by_count if count)]
    noun = "object" if row.kind == "object" else "item"
    return f"{number_of(n_items, noun)} = {' + '.join(texts)}"


_ONE_SIDED: Final = frozenset(
    {
        *(ErrorClass.MISSED_ITEM, ErrorClass.INVENTED_ITEM),
        *(ErrorClass.MISSED_OBJECT, ErrorClass.INVENTED_OBJECT),
    }
)


def items_of_lists(view: RunView) -> list[str]:
    """Return a sentence for each list or object field whose items are not all exactly right."""
    return [
        f"{view.quoted(field_path(row.path))}: {describe_items(view, row)}"
        for row in view.rows
        if row.tally.n_items > row.tally.n_exact_items
    ]


def _class_texts(counts: ByClass) -> str:
    return ", ".join(count_of_class(error_class, count) for error_class, count in counts.items())


def worst_field_texts(view: RunView) -> list[str]:
    """Return a text for each field that the user should look at first.

    The worst field comes first.
    """
    texts = []
    for row in by_values_lost(view.rows)[:WORST]:
        counts = row.counts
        errors = {"wrong": counts.fd, "missed": counts.fn, "invented": counts.fa}
        error_texts = ", ".join(f"{count} {name}" for name, count in errors.items() if count)
        name = view.quoted(field_path(row.path))
        texts.append(f"{name} F1 {view.rate(row.rates.f1)} ({error_texts})")
    return texts


_ODDITIES: Final = {
    "duplicate_keys": "the same key twice in an object (only the last one counts)",
    "byte_order_mark": (
        "a byte order mark at the start, which is not JSON; stickler skipped the mark"
    ),
}
"""Text for each warning about documents. It continues a sentence such as "2 documents have"."""

_WAYS: Final = {
    "fence": "in a code fence",
    "prose": "in other text",
    "string": "in a JSON string",
    "list": "in a list with one element",
    "relaxed": "with Python literals, comments, trailing commas or single quotes",
}


def notes(view: RunView) -> list[str]:
    """Return lines of notes that are not about errors, such as a note on undeclared keys."""
    evaluation, quoted, warnings = view.run.evaluation, view.quoted, view.run.evaluation.warnings
    lines: list[str] = []

    def add_line(texts: Iterable[str], before: str = "") -> None:
        if shown_texts := [*texts]:
            lines.append(before + join_some(shown_texts, MAX_NAMED))

    def quote_path(path: Path) -> str:
        return quoted(field_path(path))

    path_counts = evaluation.fold(PathCounts)
    undeclared = (
        ("not evaluated", path_counts.undeclared_keys, "undeclared_keys"),
        ("counted as invented (FA)", path_counts.extra_keys, "extra_keys"),
    )
    for label, counts_by_path, name in undeclared:
        texts = (f"{quote_path(path)} ({n:,})" for path, n in sorted(counts_by_path.items()))
        add_line(texts, f"{label}, because the schema does not declare these keys: ")
        if n_unnamed := path_counts.unnamed[name]:
            values = number_of(n_unnamed, "value")
            lines.append(f"{label}: also {values} under more undeclared keys, which are not listed")
    documents = number_of(evaluation.evaluated, "document")
    not_labelled = sorted(path_counts.not_labelled.items())
    add_line(
        f"{quote_path(path)} is not labelled in {n:,} of {documents}" for path, n in not_labelled
    )
    texts = (f"{n:,} of {quote_path(path)}" for path, n in sorted(path_counts.left_out.items()))
    add_line(texts, "not counted, because these ground-truth lists may be incomplete: ")
    absent_paths = sorted(evaluation.sums.find_never_present()) if evaluation.evaluated else []
    add_line(
        map(quote_path, absent_paths),
        "fields that have no value in any ground truth or prediction: ",
    )
    lines += (
        f"{number_of(warnings[name], 'document')} {_have(warnings[name])} {text}"
        for name, text in _ODDITIES.items()
        if warnings.get(name)
    )
    if LENIENT in warnings:
        counts_by_way = (
            (how_read, warnings.get(f"{LENIENT}_{how_read}")) for how_read in LENIENT_FORMS
        )
        way_texts = ", ".join(
            f"{count} {_WAYS[how_read]}" for how_read, count in counts_by_way if count
        )
        lines.append(f"{number_of(warnings[LENIENT], 'prediction')} read leniently: {way_texts}")
    lines += (
        f"--by {quoted(key)}: no document has this field or key"
        for key, groups in evaluation.by.items()
        if groups.keys() == {NO_GROUP}
    )
    lines += (
        quoted(f"metric {name} has no figures: {problem}")
        for name, problem in evaluation.metric_problems.items()
    )
    described = (describe_unwrapping(evaluation), *describe_close_matches(evaluation))
    lines += map(quoted, filter(None, described))
    return lines + [quoted(note) for note in sorted(view.run.notes)]


def problems(view: RunView) -> tuple[str, list[tuple[str, str]], int]:
    """Return the problems of documents: a summary, the first problems, and how many more there are.

    The summary counts problems by status, such as `2 failed, 1 missing`. Each of the first problems
    is a pair of the document's status and a text.
    """
    evaluation = view.run.evaluation
    documents = sorted(evaluation.problems)
    by_status = Counter(entry.status.value for entry in documents)
    by_status.update({status.value: count for status, count in evaluation.n_unnamed.items()})
    title = ", ".join(f"{count} {status}" for status, count in by_status.items())
    first_documents = [(entry.status.value, str(entry)) for entry in documents[:MAX_NAMED]]
    return title, first_documents, by_status.total() - len(first_documents)


def confidences(view: RunView) -> list[str]:
    """Return sentences on how reliable confidences are.

    The list is empty if there are no confidences.
    """
    if view.confidence is None:
        return []
    figures = view.confidence
    units, coverage, share = (
        figures["units"],
        figures["coverage"],
        figures["right"] / figures["units"],
    )
    of_all = "" if coverage is None else f" ({_percent(coverage)} of all)"
    clauses = [
        (
            f"confidence: {number_of(units, 'predicted value')} with a confidence{of_all}, "
            f"{_percent(share)} right"
        )
    ]
    if figures["auroc"] is None:
        clauses.append("AUROC is undefined, as it needs right and wrong values")
    else:
        for name in ("auroc", "ece"):
            bounds = figures.get("intervals", {}).get(name)
            interval_text = f" ({view.rate(bounds[0])} to {view.rate(bounds[1])})" if bounds else ""
            clauses.append(f"{name.upper()} {view.rate(figures[name])}{interval_text}")
    lines = ["; ".join(clauses)]
    if count := view.run.evaluation.unwrapped["inherited"]:
        lines.append(
            f"{number_of(count, 'value')} without own confidence: the confidence of the object "
            "or list around the value is used"
        )
    return lines


def _percent(share: float) -> str:
    return f"{share:.1%}".replace(".0%", "%")

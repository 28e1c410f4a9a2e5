"""How a packet was split, with the names and results of `stickler.doc_split`."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from stickler_cli.core.problems import Problem
from stickler_cli.reports.layout import TableStyle
from stickler_cli.reports.report_text import render_text
from stickler_cli.studies.packets.packet import SectionOutcome, compare_packet
from stickler_cli.studies.packets.packet_sections import Section, Sections, sections_of
from stickler_cli.studies.packets.record import PacketAccount, split_report
from stickler_cli.studies.packets.sections import report_of

_UNKNOWN: Final = "Unknown"
_SIDES: Final = {"gt": "ground truth", "pred": "predictions"}


class DocSplitClassificationMetrics:
    """How well one packet was split: each page's class, and whole sections."""

    def __init__(self) -> None:
        """Begin without sections."""
        self.errors: list[str] = []
        """What is odd about the sections."""
        self._load((), ())

    def load_sections(
        self,
        ground_truth_sections: Sequence[Mapping[str, Any]],
        predicted_sections: Sequence[Mapping[str, Any]],
    ) -> None:
        """Take the sections of a packet, in the forms of docs/packets.md, instead of earlier ones.

        A page in two sections of a side is the first one's, which `errors` tells.

        Raises:
            ValueError: a section cannot be read.
        """
        self.errors = []
        gt = self._read("gt", ground_truth_sections)
        self._load(gt, self._read("pred", predicted_sections))

    def _read(self, side: str, entries: Sequence[Mapping[str, Any]]) -> tuple[Section, ...]:
        named: list[Any] = [
            {"section_id": f"{side}_{at}", **entry} for at, entry in enumerate(entries)
        ]
        found = sections_of(named, _SIDES[side])
        if isinstance(found, Problem):
            raise ValueError(str(found))  # noqa: TRY004 - the value is wrong
        if found.claimed_again:
            self.errors.append(f"{_SIDES[side]}: {_claimed(found)}")
        return found.sections

    def _load(self, gt: Sequence[Section], pred: Sequence[Section]) -> None:
        self._gt, self._result = gt, compare_packet(gt, pred)
        self._pred = {frozenset(section.pages): section for section in pred}
        self.sections_gt, self.sections_pred = ([*map(_shown, side)] for side in (gt, pred))

    def calculate_page_level_accuracy(self) -> dict[str, Any]:
        """Return the share of pages with the right class, whatever their section."""
        gt, pred = (
            {page: _kind(section) for section in side for page in section.pages}
            for side in (self._gt, self._pred.values())
        )
        total, right = (int(self._result.sums[name]) for name in ("pages", "pages.right"))
        details = [
            {
                "page_index": page,
                "ground_truth_class": gt.get(page, "Missing"),
                "predicted_class": pred.get(page, "Missing"),
                "correct": page in gt and gt[page] == pred.get(page),
            }
            for page in sorted(gt.keys() | pred.keys())
        ]
        return {
            "accuracy": right / total if total else 0.0,
            "total_pages": total,
            "correct_pages": right,
            "page_details": details,
        }

    def calculate_split_accuracy_without_order(self) -> dict[str, Any]:
        """Return the share of true sections with the right pages and class."""
        return self._split_accuracy(ordered=False)

    def calculate_split_accuracy_with_order(self) -> dict[str, Any]:
        """Return the share of true sections with the right pages, their order, and class."""
        return self._split_accuracy(ordered=True)

    def _split_accuracy(self, *, ordered: bool) -> dict[str, Any]:
        total = len(self._gt)
        right = int(self._result.sums["exact.order" if ordered else "exact.class"])
        outcomes = zip(self._gt, self._result.outcomes[:total], strict=True)
        return {
            "accuracy": right / total if total else 0.0,
            "total_sections": total,
            "correct_sections": right,
            "section_details": [self._detail(*each, ordered=ordered) for each in outcomes],
        }

    def _detail(self, gt: Section, found: SectionOutcome, *, ordered: bool) -> dict[str, Any]:
        same = found.outcome in ("exact", "order")
        in_order = found.outcome == "exact"
        pages = [*self._pred[frozenset(gt.pages)].pages] if same else []
        return {
            "section_id": gt.name,
            "ground_truth_class": _kind(gt),
            "ground_truth_pages": [*gt.pages] if ordered else sorted(gt.pages),
            "matched": in_order if ordered else same,
            **({"order_matched": in_order} if ordered else {}),
            "matched_section_id": found.pred if same else None,
            "predicted_class": _kind(gt) if same else "No Match",
            "predicted_pages": pages if ordered else sorted(pages),
        }

    def calculate_all_metrics(self) -> dict[str, Any]:
        """Return the three accuracies, with what became of each page and section."""
        return {
            "page_level_accuracy": self.calculate_page_level_accuracy(),
            "split_accuracy_without_order": self.calculate_split_accuracy_without_order(),
            "split_accuracy_with_order": self.calculate_split_accuracy_with_order(),
            "errors": self.errors,
        }

    def generate_markdown_report(self, metrics: Mapping[str, Any]) -> str:
        """Return the accuracies of `calculate_all_metrics`, and what `stickler split` prints."""
        accuracies = [
            f"- {name.replace('_', ' ')}: {metrics[name]['accuracy']:.4f}"
            for name in metrics
            if name != "errors"
        ]
        account = PacketAccount("packet", "compared", "", self._result.outcomes)
        report = split_report((_SIDES["gt"], _SIDES["pred"]), [(account, self._result)], None)
        table = render_text(report_of(report), TableStyle(None, plain=True))
        errors = [f"- {error}" for error in metrics["errors"]]
        head = ["# Document split classification", "", *accuracies, *errors]
        return "\n".join([*head, "", f"```text\n{table}```", ""])


def _claimed(found: Sections) -> str:
    return f"pages in two sections: {found.claimed_again}; the first has them"


def _kind(section: Section) -> str:
    return section.kind or _UNKNOWN


def _shown(section: Section) -> dict[str, Any]:
    return {
        "section_id": section.name,
        "document_class": _kind(section),
        "page_indices": [*section.pages],
    }

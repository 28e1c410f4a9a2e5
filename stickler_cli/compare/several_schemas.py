"""Documents of several schemas in one run: each stands under the name of its own."""

from collections.abc import Iterator, Mapping

import numpy as np

from stickler_cli.core.problems import ComparisonError
from stickler_cli.core.values import dataclass
from .account import Account, Part, split
from .columns import Columns, Indexes
from .plan import Node, Options, Plan


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemasNode(Node):
    """The root of documents such as `{"invoice/": {...}}`, whose only key says of which schema."""

    plans: Mapping[str, Plan]
    """By that key."""

    def named(self) -> Iterator[tuple[str, Node]]:
        """Return the schemas as fields."""
        return ((step, plan.root) for step, plan in self.plans.items())

    def account(self, columns: Columns, gt: Indexes, pred: Indexes, options: Options) -> Account:
        """Account for documents, those of each schema together."""
        slots: dict[str, list[int]] = {}
        for slot, document in enumerate(columns.gt):
            slots.setdefault(next(iter(document)), []).append(slot)  # type: ignore[arg-type]
        parts = []
        for step, at in slots.items():
            gts, preds = (
                [side[slot][step] for slot in at]  # type: ignore[index, call-overload]
                for side in (columns.gt, columns.pred)
            )
            inside = Columns(gts, preds, columns.place.below(step))
            if columns.confidences is not None:
                known = (columns.confidences[slot] for slot in at)
                inside.confidences = [each and each[step] for each in known]  # type: ignore[index, call-overload]
            every = np.arange(len(at))
            try:
                account = self.plans[step].root.compare(inside, every, every, options)
            except ComparisonError as error:
                raise error.below(step) from error.__cause__
            parts.append(Part(np.array(at), account, step))
        return split(self, columns, gt, pred, parts, self.weight)


def plan_of_schemas(plans: Mapping[str, Plan], name: str) -> Plan:
    """Return the plan of documents of several schemas, by the step under which each stands."""
    root = SchemasNode(threshold=0.0, plans=plans)
    return Plan(root, name, any(plan.asks_models for plan in plans.values()))

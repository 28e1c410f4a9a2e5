"""The values that comparators judge, field by field, as the plan sees them."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np

from stickler_cli.comparators.base import meets
from stickler_cli.compare.columns import NOTHING
from stickler_cli.compare.engine import compare
from stickler_cli.compare.leaf import LeafNode
from stickler_cli.compare.plan import Options
from stickler_cli.core.json_values import JsonValue, brief, kind_of
from stickler_cli.core.locations import field_path, json_pointer
from stickler_cli.core.problems import ComparisonError
from stickler_cli.schema.loading import LoadedSchema
from stickler_cli.score.visit import Visit
from stickler_cli.score.walk import visits
from .field_rules import judge
from .findings import Document, Findings, Spot
from .profiles import Profile, SpotOf

MOST_FIELDS: Final = 5_000
"""Fields whose values are looked at together."""

SOME: Final = 5
"""Values of a field that none of them matches itself, from which on its threshold is at fault."""


class FieldValues:
    """Looks at the values of each field; what it remembers of them has a bound."""

    def __init__(self, loaded: LoadedSchema, findings: Findings) -> None:
        self._plan = loaded.plan
        self._findings = findings
        self._profiles: dict[tuple[str, int], Profile] = {}

    def look_at(self, documents: Sequence[Document]) -> None:
        """Look at all values of some documents."""
        if not documents:
            return
        gts = [document.value for document in documents]
        # Against nothing every value is visited, and no comparator is asked anything.
        account = compare(self._plan, gts, [{}] * len(gts), Options(extra_fields="ignore"))
        for visit in visits(account, np.arange(len(gts))):
            if visit.order is None:
                self._undeclared(visit, documents)
            elif isinstance(visit.account.node, LeafNode):
                self._leaves(visit, visit.account.node, documents)

    def conclude(self) -> list[str]:
        """Tell what stands out among the values of each field; return what to note."""
        for profile in self._profiles.values():
            judge(profile, self._findings)
            if profile.count == profile.unmatched >= SOME:
                name, threshold = profile.node.comparator.name, profile.node.threshold
                found = f"none of {profile.count} values reaches {threshold:g} by {name}"
                self._findings.of_schema("unreachable-threshold", profile.path, found)
        if len(self._profiles) < MOST_FIELDS:
            return []
        return [f"only the values of the first {MOST_FIELDS} fields were looked at together"]

    def _undeclared(self, visit: Visit, documents: Sequence[Document]) -> None:
        """Tell of the keys of objects that have a value and that the schema does not declare."""
        account, spot_of = visit.account, _spots(visit, documents)
        for pair, position in enumerate(visit.at.tolist() if account.undeclared else ()):
            value: Any = account.columns.gt[int(account.gt[position])]
            for name in account.undeclared.get(position, ()):
                spot = spot_of(pair)
                spot = replace(spot, pointer=spot.pointer + json_pointer((name,)))
                path = field_path((*visit.pattern, name))
                self._findings.add("undeclared-key", path, spot, brief(value[name]))

    def _leaves(self, visit: Visit, node: LeafNode, documents: Sequence[Document]) -> None:
        """Look at the values of one field, each distinct one once."""
        path = field_path(visit.pattern)
        if (path, id(node)) not in self._profiles and len(self._profiles) >= MOST_FIELDS:
            return
        profile = self._profiles.setdefault((path, id(node)), Profile(path, node))
        account, spot_of = visit.account, _spots(visit, documents)
        pairs_of: defaultdict[int, list[int]] = defaultdict(list)
        for pair, code in enumerate(account.columns.codes.gt[account.gt[visit.at]].tolist()):
            if code != NOTHING:
                pairs_of[code].append(pair)
        values = account.columns.codes.values
        for code, pairs in pairs_of.items():
            profile.add(values[code], pairs, spot_of)
        for code, similarity in _unlike_themselves(node, {code: values[code] for code in pairs_of}):
            value = values[code]
            judged = f"{node.comparator.name} gives {similarity:g} to it and itself"
            found, expected = f"{brief(value)}: {judged}", f"at least {node.threshold:g}"
            rescued = node.comparator.same_value
            rule = "unreadable-value" if rescued else "never-matches"
            for pair in pairs_of[code]:
                profile.unmatched += not rescued
                self._findings.add(rule, path, spot_of(pair), found, expected)


def _unlike_themselves(
    node: LeafNode, values: Mapping[int, JsonValue]
) -> Iterator[tuple[int, float]]:
    """Yield the keys of values to which a comparator is no match; models are not asked."""
    comparator = node.comparator
    asked = [
        key
        for key, value in values.items()
        if not isinstance(value, dict | list) or kind_of(value) in comparator.takes
    ]
    if not asked or comparator.asks_models:
        return
    try:
        ready = [comparator.prepare(values[key]) for key in asked]
        similarities = comparator.similarities(ready, ready).tolist()
    except Exception as error:
        cause = f"{comparator.name} failed on values of the ground truth: {error}"
        raise ComparisonError(cause) from error
    for key, similarity in zip(asked, similarities, strict=True):
        if not meets(similarity, node.threshold):
            yield key, similarity


def _spots(visit: Visit, documents: Sequence[Document]) -> SpotOf:
    """Return what tells where a pair is, which takes as long as to look at many."""

    def spot_of(pair: int) -> Spot:
        place = visit.place(pair)
        return documents[place.document].spot(place.gt_path or ())

    return spot_of

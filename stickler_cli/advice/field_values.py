"""The values that comparators judge, field by field, as the plan sees them."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np

from stickler_cli.comparators.base import meets
from stickler_cli.compare.account import Account
from stickler_cli.compare.columns import NOTHING
from stickler_cli.compare.engine import compare
from stickler_cli.compare.leaf import LeafNode
from stickler_cli.compare.plan import Options
from stickler_cli.core.json_values import brief, kind_of
from stickler_cli.core.locations import field_path, json_pointer
from stickler_cli.schema.loading import LoadedSchema
from stickler_cli.score.walk import Visit, visits
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
        for code, similarity in _unlike_themselves(account, node, [*pairs_of]):
            judged = f"{node.comparator.name} gives {similarity:g} to it and itself"
            for pair in pairs_of[code]:
                profile.unmatched += 1
                found = f"{brief(values[code])}: {judged}"
                self._findings.add(
                    "never-matches", path, spot_of(pair), found, f"at least {node.threshold:g}"
                )


def _unlike_themselves(
    account: Account, node: LeafNode, codes: list[int]
) -> Iterator[tuple[int, float]]:
    """Yield the values, by their codes, that do not match themselves; models are not asked."""
    comparator, prepared = node.comparator, account.columns.prepared(node.comparator)
    if comparator.asks_models or prepared.alike is None:
        return
    taken = comparator.takes
    alike, values = prepared.alike, prepared.values
    asked = [
        code
        for code in codes
        if not alike[code]
        and (kind_of(values[code]) in taken or not isinstance(values[code], dict | list))
    ]
    if asked:
        ready = prepared.of(np.array(asked))
        similarities = comparator.similarities(ready, ready).tolist()
        for code, similarity in zip(asked, similarities, strict=True):
            if not meets(similarity, node.threshold):
                yield code, similarity


def _spots(visit: Visit, documents: Sequence[Document]) -> SpotOf:
    """Return what tells where a pair is, which takes as long as to look at many."""

    def spot_of(pair: int) -> Spot:
        place = visit.place(pair)
        return documents[place.document].spot(place.gt_path or ())

    return spot_of

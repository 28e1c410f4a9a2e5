"""The counting rules of docs/semantics.md, section 6, in their simplest form: unit by unit."""

from collections import Counter

from stickler_cli.compare.result import Outcome

COUNTING_MODES = ("overall", "aggregate", "leaves")
BOTH = (Outcome.TP, Outcome.FD)


class Count:
    """The counts of a unit in each mode, and of the fields inside it."""

    def __init__(self):
        self.by_mode = {mode: Counter() for mode in COUNTING_MODES}
        self.fields = {}

    def add(self, outcome, *modes):
        for mode in modes:
            self.by_mode[mode][outcome] += 1

    def add_all(self, other, *modes):
        for mode in modes:
            self.by_mode[mode] += other.by_mode[mode]

    def join(self, other):
        """Add the counts of the fields inside another unit to those of the same fields here."""
        for name, count in other.fields.items():
            own_child = self.fields.setdefault(name, Count())
            own_child.add_all(count, *COUNTING_MODES)
            own_child.join(count)

    def plain(self):
        """Return the counts that are not 0, so that they can be compared."""
        below = {name: count.plain() for name, count in self.fields.items()}
        counts = {
            mode: {outcome: number for outcome, number in counter.items() if number}
            for mode, counter in self.by_mode.items()
        }
        return {
            **{mode: counter for mode, counter in counts.items() if counter},
            **{f".{name}": count for name, count in below.items() if count},
        }


def plain_counts(tally):
    """Return the counts of a `Node` that are not 0, in the form of `Count.plain`."""
    node = Count()
    for mode in COUNTING_MODES:
        node.by_mode[mode] = Counter(dict(zip(Outcome, getattr(tally, mode), strict=True)))
    below = {f".{name}": plain_counts(child) for name, child in tally.fields.items()}
    return node.plain() | {name: counts for name, counts in below.items() if counts}


def count_document(root):
    """Count a document; its `overall` counts are the sums over its fields."""
    node = object_fields(root, live=True)
    for field in node.fields.values():
        node.add_all(field, "overall")
    node.by_mode["overall"][Outcome.FA] += len(root.extra_keys)
    return node


def object_fields(comparison, *, live):
    """Count the fields of an object, but not the object itself in `overall`.

    `live` is False inside a unit that counts as a whole: only `leaves` counts such fields.
    """
    node = Count()
    one_sided = comparison.outcome not in BOTH
    for entry in comparison.fields:
        if one_sided and entry.outcome is Outcome.TN:
            continue
        field = node.fields[entry.name] = unit(entry, live=live)
        node.add_all(field, "leaves")
        if entry.in_aggregate:
            node.add_all(field, "aggregate")
    for _ in comparison.extra_keys:
        node.add(Outcome.FA, *(("aggregate", "leaves") if live else ("leaves",)))
    return node


def unit(comparison, *, live):
    """Count a unit and everything inside it; `live` as in `object_fields`."""
    if comparison.shape == "list" and comparison.items:
        node = elements(comparison, live=live)
        if live:
            for element in comparison.items:
                node.add(element.outcome, "overall")
        return node
    outcome = comparison.outcome
    if comparison.shape == "object" and outcome in BOTH:
        node = object_fields(comparison, live=live)
    elif comparison.shape == "object" and outcome is not Outcome.TN:
        node = object_fields(comparison, live=False)
    elif comparison.shape == "mismatch":
        node = Count()
        for side in comparison.sides:
            account = unit(side, live=False)
            node.add_all(account, "leaves")
            node.join(account)
    else:
        node = Count()
        node.add(outcome, "leaves")
    if live:
        node.add(outcome, "overall")
        if not (comparison.shape == "object" and outcome in BOTH):
            node.add(outcome, "aggregate")
    return node


def elements(comparison, *, live):
    """Count the content of list items, and items that do not match as one each.

    `live` is as in `object_fields`.
    """
    node = Count()
    for element in comparison.items:
        opened = live and element.outcome.name == "TP"
        if live and not opened:
            node.add(element.outcome, "aggregate")
        if element.shape == "list" and element.items:
            account = elements(element, live=opened)
        elif element.shape == "object":
            account = object_fields(element, live=opened)
        else:
            account = unit(element, live=opened)
        node.add_all(account, "aggregate", "leaves")
        node.join(account)
    return node

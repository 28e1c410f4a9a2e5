"""The counts of docs/semantics.md, section 6, one unit after the other and nothing together."""

from collections import Counter

from stickler_cli.compare.result import Outcome

COUNTING_MODES = ("overall", "aggregate", "leaves")
BOTH = (Outcome.TP, Outcome.FD)


class Count:
    """The counts of one node and of the fields below it."""

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
        """Make the fields of another node those of this one too."""
        for name, count in other.fields.items():
            own_child = self.fields.setdefault(name, Count())
            own_child.add_all(count, *COUNTING_MODES)
            own_child.join(count)

    def plain(self):
        """Return the nonzero counts, to compare them."""
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
    """Return the nonzero counts of a tally, as `Count.plain` does."""
    node = Count()
    for mode in COUNTING_MODES:
        node.by_mode[mode] = Counter(dict(zip(Outcome, getattr(tally, mode), strict=True)))
    below = {f".{name}": plain_counts(child) for name, child in tally.fields.items()}
    return node.plain() | {name: counts for name, counts in below.items() if counts}


def count_document(root):
    """Count a document; the root's `overall` is the sum of its fields'."""
    node = object_fields(root, live=True)
    for field in node.fields.values():
        node.add_all(field, "overall")
    node.by_mode["overall"][Outcome.FA] += len(root.extra_keys)
    return node


def object_fields(comparison, *, live):
    """Count the fields of an object; its own `overall` is left at nothing."""
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
    """Count one unit and its descendants."""
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
    """Count the content of list elements, and the elements that are not opened."""
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

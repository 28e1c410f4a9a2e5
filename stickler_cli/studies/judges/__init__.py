"""Check model judges against people: compare their verdicts on the same pairs of values."""

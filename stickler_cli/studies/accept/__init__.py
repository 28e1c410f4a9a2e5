"""Find confidence thresholds above which values can skip human review, and apply them."""

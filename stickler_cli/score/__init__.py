"""What a Comparison counts for: counts, rates, and their sums over documents."""

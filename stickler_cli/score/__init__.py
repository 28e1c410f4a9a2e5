"""Counts and rates of comparisons, and their sums over documents."""

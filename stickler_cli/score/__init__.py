"""Counts and rates of comparisons, and their sums over several documents."""

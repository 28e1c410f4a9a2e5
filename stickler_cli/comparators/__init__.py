"""Judges of two values: one module per comparator, and the registry that finds them by name."""

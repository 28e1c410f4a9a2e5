"""Runs: evaluate many pairs of documents and add up their results."""

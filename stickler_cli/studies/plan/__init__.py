"""Estimate how many documents are needed for an interval, a change or a gate."""

"""Estimate how many documents an interval, a change or a gate needs."""

"""Thresholds that the evidence supports."""

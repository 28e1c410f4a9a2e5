"""Confidences from which values may pass without review."""

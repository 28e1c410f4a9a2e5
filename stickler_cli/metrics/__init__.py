"""Figures of whole runs that the engine does not count: one module per metric, and their family."""

from .metric import MeasuredDocument, Metric

__all__ = ["MeasuredDocument", "Metric"]

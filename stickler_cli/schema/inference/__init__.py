"""Inference: how to compare what a schema leaves open, or documents without a schema."""

from .annotating import Inference, infer
from .choices import Inferred

__all__ = ["Inference", "Inferred", "infer"]

"""Inference: how to compare fields without annotations, and documents without a schema."""

from .annotating import Inference, infer
from .choices import Inferred

__all__ = ["Inference", "Inferred", "infer"]

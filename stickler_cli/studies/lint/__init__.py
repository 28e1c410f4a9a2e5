"""Mistakes in the ground truth, before it judges anyone."""

"""Confidences of predictions: which values have a confidence, and how reliable it is."""

"""Confidences of predictions: calibration, selective prediction, and policies by it."""

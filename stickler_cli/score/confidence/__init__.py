"""Confidences of predictions: the values that have one, and calibration."""

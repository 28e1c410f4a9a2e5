"""Compare model judges with people on labelled pairs of values."""

"""Find wrong values in a ground truth by the answers of several runs or annotators."""

"""Find wrong values in a ground truth, with the help of several runs or annotators."""

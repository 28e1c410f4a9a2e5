"""Find wrong labels of a ground truth by several runs or annotators."""

"""Find mistakes in a schema and its ground truth, before they distort evaluations."""

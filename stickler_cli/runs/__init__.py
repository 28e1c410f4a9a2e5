"""Where the work happens: many pairs in, one Evaluation out."""

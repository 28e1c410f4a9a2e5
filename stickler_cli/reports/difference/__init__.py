"""One module per output format of a difference between two runs."""

"""One module per output format; each is a view of the run format."""

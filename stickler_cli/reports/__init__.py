"""Reports: one module per output format; each format presents the same run record."""

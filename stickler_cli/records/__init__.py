"""Everything that is written to files and read back, as typed records with one codec."""

"""Compare documents: a plan compares all values of a field at once and fills a table of units."""

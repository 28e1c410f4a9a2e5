"""The comparison of documents: a plan compares columns of values and fills a table of units."""

"""The comparison of documents: the nodes of a plan compare columns of values into a unit table."""

"""Studies answer questions about documents other than "how good is this run"; each has a folder."""

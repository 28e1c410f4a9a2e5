"""Studies: questions about documents other than how good a run is, each in a folder of its own."""

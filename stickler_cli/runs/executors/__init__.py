"""Who compares the documents of a run: this process, several, or a cluster."""

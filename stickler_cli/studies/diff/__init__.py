"""Two runs, or several of two systems, of the same documents: changes, and whether by chance."""

"""`--repeat`: several predictions of the same documents beside each other."""

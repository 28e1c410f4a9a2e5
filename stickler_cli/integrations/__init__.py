"""A module for each framework that takes a score, imported only where it is used."""

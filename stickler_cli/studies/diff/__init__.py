"""Compare two runs of the same documents, or several runs of two systems.

Each change is tested for significance.
"""

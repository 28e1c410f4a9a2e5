"""Adapters for frameworks that use a score.

Each module is imported only by users of its framework.
"""

"""Adapters for frameworks that can use the scores of stickler, one module for each framework.

A module is imported only by users of its framework.
"""

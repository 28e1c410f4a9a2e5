"""Adapters: one module for each framework that can use the scores of stickler.

A module is imported only by users of its framework.
"""

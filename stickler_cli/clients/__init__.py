"""Clients of models that answer questions, in batches and with a cache.

Answers are embeddings, scores or verdicts.
"""

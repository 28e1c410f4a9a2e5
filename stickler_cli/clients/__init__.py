"""Clients of models that answer questions (embeddings, scores, verdicts), in batches and cached."""

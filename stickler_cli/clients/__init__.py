"""Clients of models that answer questions: embeddings, scores and verdicts, batched and cached."""

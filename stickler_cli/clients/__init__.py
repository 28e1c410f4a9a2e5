"""Models that answer questions: embeddings, scores and verdicts; batched, bounded and cached."""

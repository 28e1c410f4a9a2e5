"""The models that clients ask: embeddings, scores and judges, here or on servers."""

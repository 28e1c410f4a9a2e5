"""The Python API: evaluate instances of pydantic models."""

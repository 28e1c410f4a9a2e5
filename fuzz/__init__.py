"""Coverage-guided fuzzing of what reads schemas and documents; see README.md."""

"""Coverage-guided fuzzing of the code that reads schemas and documents; see README.md."""

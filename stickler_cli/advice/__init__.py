"""What is said of ground truth and schema before they judge anyone."""

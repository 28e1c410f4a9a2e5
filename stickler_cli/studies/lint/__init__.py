"""What is wrong in the ground truth, before it judges anyone."""

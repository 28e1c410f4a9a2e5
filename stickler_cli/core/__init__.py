"""What everything else is said in: JSON values, field paths, problems and exceptions, spelling."""

"""The errors of a run: one row for each wrong, missed or invented value and each failed item."""

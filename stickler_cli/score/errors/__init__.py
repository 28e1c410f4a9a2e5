"""The errors of a run: a row for each wrong, missed or invented value and each failed item."""

"""Compare where values are on the page: whether right values have the right box."""

"""Where values stand on the page: whether right ones are in the right place, and boxes found."""

"""Objects and containers, while a function is read."""

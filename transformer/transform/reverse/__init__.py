"""Reverse mode: the forward sweep, what it keeps, and the sweep backwards."""

"""Fewer nests, which keep only what has to be kept."""

"""Loops that threads share."""

"""Transformations of Core: forward mode, reverse mode."""

"""Loops and generators, and what they run over and carry."""

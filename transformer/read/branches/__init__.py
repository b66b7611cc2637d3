"""Conditions the program computes: both sides are read, and what they leave is merged."""

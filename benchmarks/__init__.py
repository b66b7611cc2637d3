"""Measurements of speed; nothing here is asserted in tests."""

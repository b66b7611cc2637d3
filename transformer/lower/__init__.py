"""Core to explicit loops over numbers, and those to source that numba compiles."""

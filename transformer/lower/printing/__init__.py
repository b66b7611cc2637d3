"""From the nest form to source that numba compiles."""

"""Programs against the same ones by JAX, by numba and by NumPy: checked, timed in turn, told and drawn."""

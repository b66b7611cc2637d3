"""Machine code of kernels: what numba is taught, and what it is spared."""

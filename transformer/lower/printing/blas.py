"""Products of parts of matrices, added to a part of another one, as BLAS has them.

What is printed is the Python function below, a copy of it; compiled code calls BLAS itself with the distances between
rows (`run/compiling/blas.py`), so that neither the operands are copied nor the product stands anywhere before it is
added.
"""

# ruff: noqa: D103
from __future__ import annotations

import numpy as np


def gemm(factor, a, b, share, c):                      # type: ignore[no-untyped-def]
    """c = factor * a @ b + share * c, in the memory of c, which is not read if the share is 0."""
    product = factor * np.dot(a, b)
    c[:, :] = product if share == 0 else product + share * c

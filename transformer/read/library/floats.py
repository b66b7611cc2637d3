"""Numbers to compute with as floats."""

from __future__ import annotations

import numpy as np


def floats(x):
    """An array of floats: integers become doubles."""
    x = np.asarray(x)
    return x.astype(float) if x.dtype.kind in "biu" else x


def own_floats(x):
    """The same as an array of its own, which a later write to `x` does not change."""
    return np.copy(floats(x))

"""Activations that are left out by chance.

    key, own = random.split(key)
    hidden = nn.dropout(own, 0.1, hidden)
"""

from __future__ import annotations

from typing import Any

import numpy as np


def dropout(key: Any, rate: float, x: Any) -> Any:
    """Sets each element to 0 with probability `rate`, and divides the others by ``1 - rate``, which keeps the mean.

    Without a key, as in evaluation, or with rate 0, returns `x` itself. Source:
    https://jmlr.org/papers/v15/srivastava14a.html. Raises `ValueError` for a rate below 0, or of 1 and more.

    >>> from transformer import random
    >>> dropout(random.key(0), 0.5, np.ones(6))
    array([2., 2., 0., 0., 0., 2.])
    >>> dropout(None, 0.5, np.ones(2))
    array([1., 1.])
    """
    from .. import random  # when it is needed

    if not 0 <= rate < 1:
        raise ValueError(f"nn.dropout: the rate is {rate}, expected 0 <= rate < 1")
    if key is None or rate == 0:
        return x
    kept = random.bernoulli(key, 1 - rate, x.shape)
    return np.where(kept, x / (1 - rate), 0)

"""`sorted`, `min` and `max` of what the program computes."""

from __future__ import annotations

import numpy as np


def sorted_items(items, key=None, reverse=False):
    """Equal items stay in their order, also where the greatest comes first."""
    if key is None and not reverse:
        return np.sort(items)
    keys = items if key is None else np.array([key(item) for item in items])
    if reverse:
        return items[::-1][np.argsort(keys[::-1], kind="stable")[::-1]]
    return items[np.argsort(keys, kind="stable")]


def place_of_least(items, key):
    return np.argmin(np.array([key(item) for item in items]))


def place_of_greatest(items, key):
    return np.argmax(np.array([key(item) for item in items]))

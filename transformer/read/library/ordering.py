"""`sorted`, `min` and `max` of what the program computes."""

from __future__ import annotations

import operator

import numpy as np


def compared_lists(order, left, right):
    """A comparison of lists: the first items that differ decide, or else which one is longer."""
    if order is operator.eq or order is operator.ne:
        if len(left) != len(right):
            return order is operator.ne
    for k in range(min(len(left), len(right))):
        if left[k] != right[k]:
            return order(left[k], right[k])
    return order(len(left), len(right))


def sorted_items(items, reverse=False):
    """Equal items stay in their order, also where the greatest comes first."""
    if reverse:
        return items[::-1][np.argsort(items[::-1], kind="stable")[::-1]]
    return np.sort(items)


def keys_of(items, key):
    return [key(item) for item in items]


def order_of(columns, reverse=False):
    """The places of items in order, by the first column of numbers, where that is equal by the next, and so on."""
    if reverse:
        return len(columns[0]) - 1 - np.lexsort([column[::-1] for column in columns[::-1]])[::-1]
    return np.lexsort(columns[::-1])


def place_of_extreme(columns, is_greatest):
    order = order_of(columns, is_greatest)
    if len(order) == 0:
        raise ValueError("min() or max() arg is an empty sequence")
    return order[0]

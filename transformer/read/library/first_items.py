"""The first item of a generator that is used for nothing else: ``next(x for x in xs if x > 0)``."""

from __future__ import annotations


def first_item(items):
    """``next(items)``."""
    for item in items:
        return item
    raise StopIteration("there is no item")


def first_item_or(items, default):
    """``next(items, default)``."""
    for item in items:
        return item
    return default

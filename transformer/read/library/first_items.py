"""One item of many: the first of a generator that is used for nothing else, ``next(x for x in xs if x > 0)``, and the
least or greatest by a comparison of its class."""

from __future__ import annotations


def first_item(items):
    """``next(items)``."""
    for item in items:
        return item
    raise StopIteration


def first_item_or(items, default):
    """``next(items, default)``."""
    for item in items:
        return item
    return default


def least_item(items):
    """``min(items)``."""
    best = items[0]
    for item in items[1:]:
        if item < best:
            best = item
    return best


def greatest_item(items):
    """``max(items)``."""
    best = items[0]
    for item in items[1:]:
        if item > best:
            best = item
    return best


def itself(item):
    return item


def extreme_of_more(function, args, items):
    """``max(*args, *items)``, where there are so many items that one alone would be what is searched."""
    if len(args) == 1 and len(items) == 0:
        raise TypeError("min or max with one argument needs a sequence")
    return function([*args] + items)

"""Iterators that stop, or leave items out, at values; and what counts items: read as the generators that they are."""

# mypy: disallow-untyped-defs=False, disallow-incomplete-defs=False

import itertools
from collections import _count_elements  # type: ignore[attr-defined]

from ..objects.keys import hashed


def takewhile(predicate, iterable):
    for item in iterable:
        if not predicate(item):
            break
        yield item


def dropwhile(predicate, iterable):
    has_begun = False
    for item in iterable:
        if not has_begun and not predicate(item):
            has_begun = True
        if has_begun:
            yield item


def filterfalse(predicate, iterable):
    for item in iterable:
        if not (item if predicate is None else predicate(item)):
            yield item


def compress(data, selectors):
    for item, is_taken in zip(data, selectors):
        if is_taken:
            yield item


def known(key):
    return key


def _read_known(reader, args, kwargs):
    return hashed(reader, args[0], "the key of a group", "Compare neighbours in a loop: `if x[i] != x[i - 1]`.")


known.__transformer_read__ = _read_known  # type: ignore[attr-defined]


def groupby(iterable, key=None):
    """Pairs of a key and the items that follow each other with it; keys are known while the program is read."""
    groups = []
    for item in iterable:
        found = known(item if key is None else key(item))
        if groups and groups[-1][0] == found:
            groups[-1][1].append(item)
        else:
            groups.append((found, [item]))
    return groups


def tee(iterable, n=2):
    items = list(iterable)
    return tuple([iter(items) for _ in range(n)])


def count_elements(mapping, iterable):
    for item in iterable:
        mapping[item] = mapping.get(item, 0) + 1


CALLS = {
    itertools.takewhile: takewhile,
    itertools.dropwhile: dropwhile,
    itertools.filterfalse: filterfalse,
    itertools.compress: compress,
    itertools.groupby: groupby,
    itertools.tee: tee,
    _count_elements: count_elements,
}

"""Tests of sizes that are not needed, because making an array of that size tests it as well.

    if k < 0:
        raise ValueError("negative dimensions are not allowed")
    x = np.zeros(k)                                             x = np.zeros(k)

Only the last stage drops them: before, arrays may come to nothing (``np.sum(np.ones(k))`` is k).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from .builder import current
from .grammar import Effect, If
from .sizes import Extent

Made = Callable[[Any], Iterable[Extent] | None]


def without_tests_of_signs(block: list[Any], made: Made, inner_blocks: Callable[[Any], Iterable[list[Any]]]
                           ) -> bool:
    """Drops, in place, the tests of sizes in a block, and in those in it, that are followed by what tests the same;
    says whether there are any. Of a statement, `made` are the sizes it tests; None, if a test has to come before it."""
    left = [stmt for k, stmt in enumerate(block)
            if not _comes_later(tested_size(stmt), (block[j] for j in range(k + 1, len(block))), made)]
    changed, block[:] = len(left) < len(block), left
    for stmt in block:
        for inner in inner_blocks(stmt):
            changed |= without_tests_of_signs(inner, made, inner_blocks)
    return changed


def tested_size(stmt: Any) -> Extent | None:
    """The size that a statement tests not to be negative, if it is such a test."""
    if not isinstance(stmt, If) or len(stmt.then) != 1:
        return None
    raising = stmt.then[0]
    return raising.attrs.get("size") if isinstance(raising, Effect) else None


def _comes_later(size: Extent | None, after: Iterable[Any], made: Made) -> bool:
    if size is None:
        return False
    normal = current().assumptions.normal
    for stmt in after:
        sizes = () if tested_size(stmt) is not None else made(stmt)
        if sizes is None:
            return False
        if any(normal(each) == normal(size) for each in sizes):
            return True
    return False

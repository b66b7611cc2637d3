"""A function run by hand on the caller's arguments, which it leaves as they were."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import tree


def kept(primals: tuple[Any, ...]) -> tuple[Any, ...]:
    """The arguments as they are now: arrays are copied, since they may be written later; what was one
    array stays one."""
    copies: dict[int, np.ndarray] = {}

    def copied(leaf: Any) -> Any:
        return copies.setdefault(id(leaf), leaf.copy()) if isinstance(leaf, np.ndarray) else leaf

    return tuple(tree.map(copied, primal) for primal in primals)


def value_at(function: Callable[..., Any], primals: tuple[Any, ...], copies: tuple[Any, ...]) -> Any:
    """`function(*primals)`; what it writes to its arguments is taken back, and the arrays of the result are apart
    from them, from each other and from all others, as those of a transformed function are. `copies` are what the
    arguments were."""
    before = [(leaf, copy) for leaf, copy in zip(tree.leaves(primals), tree.leaves(copies))
              if isinstance(leaf, np.ndarray)]
    try:
        return tree.map(_copied, function(*primals))
    finally:
        for array, copy in before:
            if array.flags.writeable and not np.array_equal(array, copy):
                array[...] = copy


def _copied(leaf: Any) -> Any:
    return leaf.copy(order="K") if isinstance(leaf, np.ndarray) else leaf

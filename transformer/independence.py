"""What a user says about the iterations of a loop: `independent`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar

T = TypeVar("T")


def independent(iterable: Iterable[T]) -> Iterable[T]:
    """The iterable as it is: a promise, where a ``for`` goes over it, that no iteration reads or writes what
    another one writes, but for sums that they add to.

    So a derivative may take values from arrays again although it cannot be seen which elements are written,
    and keeps nothing for an iteration that running it again can give. The promise is not tested when the
    program runs. Raises `NotSupported` in a transformation where it can be seen to be wrong.

    >>> import numpy as np
    >>> from transformer import grad
    >>> def spread(x, places):
    ...     y = np.zeros(len(x))
    ...     for k in independent(range(len(x))):
    ...         y[places[k]] = np.exp(x[k])
    ...     return np.sum(y ** 2)
    >>> grad(spread)(np.array([0.0, 1.0]), np.array([1, 0])).round(3)
    array([ 2.   , 14.778])
    """
    return iterable


def _read(reader: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    from .read.loops.independence import promised
    return promised(reader, *args, **kwargs)


independent.__transformer_read__ = _read  # type: ignore[attr-defined]

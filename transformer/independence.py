"""What a user says about the iterations of a loop: `independent`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar

T = TypeVar("T")


def independent(iterable: Iterable[T]) -> Iterable[T]:
    """Returns the iterable unchanged. In a ``for`` over it, promises that the iterations are independent.

    That is: no iteration reads or writes what another one writes, except for sums to which they add. A derivative may
    then read values from arrays again, even if it cannot be seen which elements are written, and rerun an iteration
    instead of recording it. The promise is not tested at run time. A transformation raises `NotSupported` if it can
    see that the promise is wrong.

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

"""`vmap`: a function of one example as a function of many."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .api import Transformed
from .transform.batching.batched import Batched
from .transform.batching.lane_axes import Axes
from .wrapping import check_callable


def vmap(function: Callable[..., Any] | None = None, in_axes: Axes = 0, out_axes: Axes = 0, axis_name: Any = None,
         axis_size: int | None = None) -> Any:
    """The function for many examples at once, whose source is that of hand-written NumPy.

    `in_axes` says for each argument passed by position which axis numbers the examples (the lanes): an int, counted
    from the end where it is negative; None for what all lanes share; or a pytree of these, which may end above the
    argument's leaves. Arguments passed by keyword are mapped along axis 0. `out_axes` says where the lanes go in the
    results; a result that is the same in all lanes may have None. `axis_name` names the lanes for `psum` and the
    like, `axis_size` says how many there are where no argument tells. As `jax.vmap`.

    Lanes that part, at an `if` or a loop whose condition differs, are run one after the other, each to its own end.

    Raises `BadArgument` where axes do not fit the arguments, or their sizes differ.

    >>> import numpy as np
    >>> def distance(a, b):
    ...     return np.sqrt(np.sum((a - b) ** 2))
    >>> far = vmap(distance, in_axes=(0, None))
    >>> far(np.array([[3.0, 4.0], [0.0, 1.0]]), np.zeros(2))
    array([5., 1.])
    >>> print(far.source.splitlines()[-1])
        return np.sqrt(np.sum((a - b) ** 2, axis=1))
    """
    mode = Batched(in_axes, out_axes, axis_name, axis_size)
    if function is None:
        return lambda f: Transformed(f, mode)
    check_callable(function, "vmap")
    return Transformed(function, mode)

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
    """Returns a function that maps `function` over many examples (lanes). Its source is whole-array NumPy.

    Args:
        function: a function of one example. Without it, the result is a decorator.
        in_axes: for each positional argument, the axis that numbers the lanes: an int, negative from the end; None for
            an argument that all lanes share; or a pytree of these, which may end above the leaves of the argument.
            Keyword arguments are mapped along axis 0.
        out_axes: the axis of the lanes in each result; None for a result that is the same in all lanes.
        axis_name: a name of the lanes for `psum` and other collectives.
        axis_size: the number of lanes, if no argument tells.

    If the condition of an `if` or a loop differs between lanes, that statement runs lane by lane, each lane to its own
    end.

    Raises, when called, `BadArgument` if axes do not fit the arguments, or their sizes differ. As `jax.vmap`.

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

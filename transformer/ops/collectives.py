"""Collectives, on all lanes of a named axis: what `vmap(f, axis_name="i")` and `pmap` give a meaning to.

    def f(x):                               def f_vmap(x):
        return x / psum(x, "i")     becomes     return x / np.sum(x, axis=0)

While a function is read, the axes around it are known with their sizes (`named_axis`). What calls become are the ops
of `across_lanes`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from .. import tree
from ..core.errors import BadArgument
from ..core.grammar import Var
from ..core.sizes import Extent
from .across_lanes import AllGather, AxisIndex, Pmax, Pmean, Pmin, Psum
from .axes import counted_axis, joined_axes
from .rewritten import Rewritten
from .value import Value, emit, value

Name = Hashable


class _Axes(threading.local):
    def __init__(self) -> None:
        self.sizes: list[tuple[Name, Extent]] = []


_axes = _Axes()


@contextmanager
def named_axis(name: Name, size: Extent) -> Iterator[None]:
    """The lanes of what is read inside the `with` have this name."""
    _axes.sizes.append((name, size))
    try:
        yield
    finally:
        _axes.sizes.pop()


def size_of(name: Name) -> Extent:
    """How many lanes there are of an axis. Raises `BadArgument` where none has this name."""
    for other, size in reversed(_axes.sizes):
        if other == name:
            return size
    known = ", ".join(repr(other) for other, _ in _axes.sizes)
    raise BadArgument(f"no axis is named {name!r} here", why=f"The available axes are {known}." if known else None,
                      instead=f"Call the function through vmap(f, axis_name={name!r}).")


def only_read(name: Name) -> Any:
    """What a call that is not read comes to: there is one lane of an axis only where all of them are."""
    for one in name if isinstance(name, tuple) else (name,):
        size_of(one)
    raise BadArgument("a collective is called outside the function that vmap maps",
                      instead="Call it inside that function.")


# -- what users call -------------------------------------------------------------------------------


def psum(x: Any, axis_name: Any) -> Any:
    """The sum over all lanes of an axis, for a pytree.

    `axis_name` may be a tuple of names. As `jax.lax.psum`.

    >>> import numpy as np
    >>> from transformer import vmap
    >>> vmap(lambda x: x / psum(x, "i"), axis_name="i")(np.array([1.0, 3.0]))
    array([0.25, 0.75])
    """
    return only_read(axis_name)


def pmean(x: Any, axis_name: Any) -> Any:
    """The mean over all lanes of an axis, for a pytree. As `jax.lax.pmean`.

    >>> import numpy as np
    >>> from transformer import vmap
    >>> vmap(lambda x: x - pmean(x, "i"), axis_name="i")(np.array([1.0, 3.0]))
    array([-1.,  1.])
    """
    return only_read(axis_name)


def pmax(x: Any, axis_name: Any) -> Any:
    """The maximum over all lanes of an axis, for a pytree. Equal values share the derivative. As `jax.lax.pmax`.

    >>> import numpy as np
    >>> from transformer import vmap
    >>> vmap(lambda x: x / pmax(x, "i"), axis_name="i")(np.array([1.0, 4.0]))
    array([0.25, 1.  ])
    """
    return only_read(axis_name)


def pmin(x: Any, axis_name: Any) -> Any:
    """The minimum over all lanes of an axis, for a pytree. Equal values share the derivative. As `jax.lax.pmin`.

    >>> import numpy as np
    >>> from transformer import vmap
    >>> vmap(lambda x: x - pmin(x, "i"), axis_name="i")(np.array([1.0, 4.0]))
    array([0., 3.])
    """
    return only_read(axis_name)


def all_gather(x: Any, axis_name: Any, axis: int = 0, tiled: bool = False) -> Any:
    """The values of all lanes along a new axis; with `tiled`, concatenated along an existing one. As
    `jax.lax.all_gather`.

    >>> import numpy as np
    >>> from transformer import vmap
    >>> vmap(lambda x: all_gather(x, "i", tiled=True), axis_name="i")(np.array([[1, 2], [3, 4]]))
    array([[1, 2, 3, 4],
           [1, 2, 3, 4]])
    """
    return only_read(axis_name)


def axis_index(axis_name: Any) -> Any:
    """The number of the lane, from 0, as an int64. As `jax.lax.axis_index`.

    >>> import numpy as np
    >>> from transformer import vmap
    >>> vmap(lambda x: x + axis_index("i"), axis_name="i")(np.zeros(3))
    array([0., 1., 2.])
    """
    return only_read(axis_name)


def axis_size(axis_name: Any) -> Any:
    """The number of lanes, an int. As `jax.lax.axis_size`.

    >>> import numpy as np
    >>> from transformer import vmap
    >>> vmap(lambda x: x / axis_size("i"), axis_name="i")(np.array([1.0, 4.0]))
    array([0.5, 2. ])
    """
    return size_of(axis_name)


# -- what calls become -----------------------------------------------------------------------------


def names_of(axis_name: Any) -> tuple[Name, ...]:
    """The names in ``"i"`` or ``("i", "j")``, the last one first; raises where one is not known here."""
    names = axis_name if isinstance(axis_name, tuple) else (axis_name,)
    for name in names:
        size_of(name)
    return names[::-1]


def of_leaves(rule: Callable[[Value, Name], Any], x: Any, axis_name: Any) -> Any:
    """A rule for the leaves of a pytree and each of the names."""
    for name in names_of(axis_name):
        x = tree.map(lambda leaf, name=name: rule(value(leaf), name), x)
    return x


def summed(x: Value, name: Name) -> Any:
    """Truth values are counted."""
    if x.dtype == bool:
        x = x.astype(np.int64)
    if isinstance(x.atom, Var):
        return Psum.applied(x, axis_name=name)
    found: Value = value(size_of(name)) * x                                    # type: ignore[operator]
    return found


def averaged(x: Value, name: Name) -> Any:
    """Integers and truth values are added up as floating-point numbers, so that no sum of them leaves its dtype."""
    return Pmean.applied(x if x.dtype.kind in "fc" else x.astype(np.float64), axis_name=name)


def gathered(x: Value, name: Name) -> Any:
    return AllGather.applied(x, axis_name=name, size=size_of(name))


class PsumCall(Rewritten):
    calls = (psum,)

    def rewrite(x, axis_name):
        return of_leaves(summed, x, axis_name)


class PmeanCall(Rewritten):
    calls = (pmean,)

    def rewrite(x, axis_name):
        return of_leaves(averaged, x, axis_name)


class PmaxCall(Rewritten):
    calls = (pmax,)

    def rewrite(x, axis_name):
        return of_leaves(lambda leaf, name: Pmax.applied(leaf, axis_name=name), x, axis_name)


class PminCall(Rewritten):
    calls = (pmin,)

    def rewrite(x, axis_name):
        return of_leaves(lambda leaf, name: Pmin.applied(leaf, axis_name=name), x, axis_name)


class AllGatherCall(Rewritten):
    calls = (all_gather,)

    def rewrite(x, axis_name, axis=0, tiled=False):
        def placed(leaf, name):
            place = counted_axis(axis, leaf, "axis") if tiled else axis
            rows = gathered(leaf, name)
            rows = np.moveaxis(rows, 0, place) if place else rows
            return joined_axes(rows, place) if tiled else rows
        return of_leaves(placed, x, axis_name)


class AxisIndexCall(Rewritten):
    calls = (axis_index,)

    def rewrite(axis_name):
        """Of several axes, as if they were one: the first of them goes slowest."""
        number = None
        for name in reversed(names_of(axis_name)):
            own = emit(AxisIndex, (), {"axis_name": name})
            number = own if number is None else number * value(size_of(name)) + own
        return number


class AxisSizeCall(Rewritten):
    calls = (axis_size,)

    def rewrite(axis_name):
        size: Extent = 1
        for name in names_of(axis_name):
            size = size * size_of(name)
        return value(size)

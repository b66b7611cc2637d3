"""Values that go from lane to lane of a named axis: each lane hands on what it has, and gets what others had.

    vmap(lambda x: ppermute(x, "i", [(0, 1), (1, 2)]), axis_name="i")([a, b, c])        is [0, a, b]
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.builder import current
from ..core.errors import BadArgument
from ..core.types import ArrayType
from .across_lanes import GONE, printed
from .arguments import known, whole
from .axes import counted_axis, joined_axes
from .base import Op
from .collectives import axis_index, of_leaves, only_read, psum, size_of
from .elementwise import size_text
from .indexing import write, zeros_like
from .rewritten import Rewritten
from .routes import Routes, constant
from .value import Value, call

# -- what users call -------------------------------------------------------------------------------


def ppermute(x: Any, axis_name: Any, perm: Sequence[tuple[int, int]]) -> Any:
    """Sends values between lanes, for a pytree: for each pair (source, destination), the destination gets the value
    of the source. Other lanes get zeros. As `jax.lax.ppermute`.

    >>> import numpy as np
    >>> from transformer import vmap
    >>> vmap(lambda x: ppermute(x, "i", [(0, 1), (1, 2)]), axis_name="i")(np.array([5.0, 6.0, 7.0]))
    array([0., 5., 6.])
    """
    return only_read(axis_name)


def pshuffle(x: Any, axis_name: Any, perm: Sequence[int]) -> Any:
    """Lane `k` gets what lane ``perm[k]`` has, for a pytree. As `jax.lax.pshuffle`.

    >>> import numpy as np
    >>> from transformer import vmap
    >>> vmap(lambda x: pshuffle(x, "i", [2, 0, 1]), axis_name="i")(np.array([5.0, 6.0, 7.0]))
    array([7., 5., 6.])
    """
    return only_read(axis_name)


def all_to_all(x: Any, axis_name: Any, split_axis: int, concat_axis: int, tiled: bool = False) -> Any:
    """Sends part `k` along `split_axis` to lane `k`, which joins the parts from all lanes in order along `concat_axis`.

    There are as many parts as lanes. Each part is one index of `split_axis`, which is removed, and `concat_axis` is
    new. With `tiled`, each part is a range, and the ranges are concatenated. As `jax.lax.all_to_all`.

    >>> import numpy as np
    >>> from transformer import vmap
    >>> vmap(lambda x: all_to_all(x, "i", 0, 0), axis_name="i")(np.array([[1, 2], [3, 4]]))
    array([[1, 3],
           [2, 4]])
    """
    return only_read(axis_name)


def psum_scatter(x: Any, axis_name: Any, *, scatter_dimension: int = 0, tiled: bool = False) -> Any:
    """Gives each lane its part, along `scatter_dimension`, of the sum over all lanes: one index, without the axis, or
    with `tiled` a range. As `jax.lax.psum_scatter`.

    >>> import numpy as np
    >>> from transformer import vmap
    >>> vmap(lambda x: psum_scatter(x, "i"), axis_name="i")(np.array([[1, 2], [3, 4]]))
    array([4, 6])
    """
    return only_read(axis_name)


# -- what calls become -----------------------------------------------------------------------------


class PpermuteCall(Rewritten):
    calls = (ppermute,)

    def rewrite(x, axis_name, perm):
        pairs = tuple(sorted((_lane(source), _lane(target)) for source, target in known(perm, "perm")))
        for k, which in enumerate(("source", "destination")):
            lanes = [pair[k] for pair in pairs]
            if len(set(lanes)) < len(lanes):
                raise BadArgument(f"a lane appears twice as a {which} in perm", instead="Name each lane once.")
        _require_lanes(axis_name, [lane for pair in pairs for lane in pair])
        return of_leaves(lambda leaf, name: Ppermute.applied(leaf, axis_name=name, perm=pairs), x, axis_name)


class PshuffleCall(Rewritten):
    calls = (pshuffle,)

    def rewrite(x, axis_name, perm):
        sources = [_lane(source) for source in known(perm, "perm")]
        count = len(sources)
        if sorted(sources) != list(range(count)) or not current().assumptions.equal(size_of(axis_name), count):
            raise BadArgument(f"perm is {sources}, which is not a permutation of {size_text(size_of(axis_name))} lanes",
                              instead="Name each lane once.")
        return call(ppermute, (x, axis_name, [(source, k) for k, source in enumerate(sources)]), {})


class AllToAllCall(Rewritten):
    calls = (all_to_all,)

    def rewrite(x, axis_name, split_axis, concat_axis, tiled=False):
        def exchanged(leaf, name):
            split, concat = counted_axis(split_axis, leaf, "split_axis"), counted_axis(concat_axis, leaf, "concat_axis")
            if tiled:
                leaf = _in_parts(leaf, split, size_of(name))
                concat += concat >= split                # beside the axis of the parts
                concat -= concat > split
            _require_parts(leaf.shape[split], size_of(name), split_axis)
            found = AllToAll.applied(leaf, axis_name=name, split_axis=split, concat_axis=concat)
            return joined_axes(found, concat) if tiled else found
        return of_leaves(exchanged, x, axis_name)


class PsumScatterCall(Rewritten):
    calls = (psum_scatter,)

    def rewrite(x, axis_name, *, scatter_dimension=0, tiled=False):
        def own(leaf, name):
            axis = counted_axis(scatter_dimension, leaf, "scatter_dimension")
            if tiled:
                leaf = _in_parts(leaf, axis, size_of(name))
            _require_parts(leaf.shape[axis], size_of(name), scatter_dimension)
            total = call(psum, (leaf, name), {})
            return total[(slice(None),) * axis + (call(axis_index, (name,), {}),)]
        return of_leaves(own, x, axis_name)


def _lane(number: Any) -> int:
    """A lane in `perm`."""
    return whole(number, "a lane in perm")


def _require_lanes(axis_name: Any, lanes: list[int]) -> None:
    size = size_of(axis_name)
    wrong = [lane for lane in lanes if lane < 0 or isinstance(size, int) and lane >= size]
    if wrong:
        raise BadArgument(f"perm names lane {wrong[0]}, but there are {size_text(size)} lanes",
                          instead="Lanes are numbered from 0.")


def _require_parts(found: Any, size: Any, axis: int) -> None:
    if not current().assumptions.equal(found, size):
        raise BadArgument(f"axis {axis} has length {size_text(found)}, but there are {size_text(size)} lanes",
                          instead="Make the length of the axis equal to the number of lanes, or pass tiled=True if "
                                  "each lane gets several elements.")


def _in_parts(x: Value, axis: int, size: Any) -> Value:
    """The axis as two: of the parts, and of the places in a part."""
    return np.reshape(x, (*x.shape[:axis], size, x.shape[axis] // size, *x.shape[axis + 1:]))     # type: ignore


# -- ops -------------------------------------------------------------------------------------------


class Ppermute(Op):
    """The transpose of handing on is handing back."""

    name = "ppermute"
    shares = True
    counts_lanes = True
    source = printed("ppermute", "perm")
    noun = "received"
    linear = "x"
    differs = True
    loop = GONE

    def types(x: ArrayType, axis_name: Any = None, perm: Any = ()) -> ArrayType:
        return x

    def vjp(dy, x, axis_name=None, perm=()):
        return Ppermute.applied(dy, axis_name=axis_name, perm=tuple(sorted(pair[::-1] for pair in perm)))

    def run(x, axis_name=None, perm=()):
        return x if perm else np.zeros_like(x)

    def batch(lead, x, axis_name=None, perm=()):
        return Ppermute.applied(x, axis_name=axis_name, perm=perm)

    def over_lanes(size, x, perm):
        if not perm:
            return zeros_like(x)
        targets, sources = zip(*sorted(pair[::-1] for pair in perm))
        handed_on = x[constant(sources)]
        if list(targets) == list(range(len(targets))) and current().assumptions.equal(size, len(targets)):
            return handed_on
        return write(zeros_like(x), handed_on, constant(targets))

    def over_devices(size, name, count, x, perm):
        return Routes(size, count, perm).handed_on(x, name)

    def domain(rng):
        return [((rng.normal(size=shape),), {"axis_name": "i", "perm": ((0, 0),)}) for shape in ((), (3,))]


class AllToAll(Op):
    name = "all_to_all"
    source = printed("all_to_all", "split_axis", "concat_axis")
    noun = "received"
    linear = "x"
    differs = True
    loop = GONE

    def types(x: ArrayType, axis_name: Any = None, split_axis: int = 0, concat_axis: int = 0) -> ArrayType:
        sizes = list(x.sizes)
        sizes.insert(concat_axis, sizes.pop(split_axis))
        return ArrayType(x.dtype, tuple(sizes))

    def vjp(dy, x, axis_name=None, split_axis=0, concat_axis=0):
        return AllToAll.applied(dy, axis_name=axis_name, split_axis=concat_axis, concat_axis=split_axis)

    def run(x, axis_name=None, split_axis=0, concat_axis=0):
        return np.moveaxis(x, split_axis, concat_axis)

    def batch(lead, x, axis_name=None, split_axis=0, concat_axis=0):
        return AllToAll.applied(x, axis_name=axis_name, split_axis=split_axis + 1, concat_axis=concat_axis + 1)

    def over_lanes(size, x, split_axis, concat_axis):
        return np.moveaxis(np.moveaxis(x, 1 + split_axis, 0), 1, 1 + concat_axis)

    def over_devices(size, name, count, x, split_axis, concat_axis):
        """The parts for the lanes of a device go there together."""
        parts = np.moveaxis(x, 1 + split_axis, 0)                            # to, from, the rest
        parts = np.reshape(parts, (count, size, size, *parts.shape[2:]))     # to a device, to its lane, from a lane
        received = AllToAll.applied(parts, axis_name=name, split_axis=0, concat_axis=0)
        rows = np.moveaxis(received, 0, 1)                                   # to a lane, from a device, from its lane
        rows = np.reshape(rows, (size, count * size, *rows.shape[3:]))
        return np.moveaxis(rows, 1, 1 + concat_axis)

    def domain(rng):
        return [((rng.normal(size=(1, 3)),), {"axis_name": "i", "split_axis": 0, "concat_axis": 1})]

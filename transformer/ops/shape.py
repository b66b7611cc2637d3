"""Changes of shape: the same elements in other places. Most results are views in NumPy.

`write_back(base, part, **attrs)` gives the base when `part`, a view of it, has been written.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ..core.builder import current
from ..core.equations import guardable, value_of
from ..core.errors import NotSupported, ShapeError
from ..core.sizes import Extent, Floor, Size, Unknown, divided, leaves, product, quotient
from ..core.types import ArrayType
from . import arguments
from .arguments import Args, Bound, Kwargs
from .base import Op
from .elements import regrouped, without
from .elementwise import shape_text
from .value import value

Sizes = tuple[Extent, ...]


def reshaped(x: Any, shape: Sizes) -> Any:
    """`x` in another shape, for rules: `x` itself when it has that shape."""
    return x if tuple(x.shape) == tuple(shape) else np.reshape(x, shape)


def widened(x: Any, count: int) -> Any:
    """Lanes with new axes before their own."""
    return np.expand_dims(x, tuple(range(1, 1 + count))) if count else x


def along(size: Extent, axis: int, rank: int) -> Sizes:
    """The shape of a vector that lies along one axis."""
    return tuple(size if k == axis else 1 for k in range(rank))


def from_here(axis: int, *index: Any) -> tuple[Any, ...]:
    """An index for an axis and those after it; axes before it are whole."""
    return (*[slice(None)] * axis, *index)


def arrays_of(rng: Any, *cases: tuple[tuple[int, ...], Kwargs]) -> list[Bound]:
    """A domain of one normal array per case: its shape, and the attributes."""
    return [((rng.normal(size=shape),), attrs) for shape, attrs in cases]


class Reshape(Op):
    """`shape` is complete: it has no -1."""

    calls = np.reshape
    methods = ("reshape",)
    linear = "a"
    view = True

    @classmethod
    def bind(cls, args: Args, kwargs: Kwargs) -> Bound:
        a, *shape = args or (kwargs.pop("a"),)
        order = kwargs.pop("order", shape.pop() if shape and isinstance(shape[-1], str) else "C")
        shape = [kwargs.pop(name) for name in ("shape", "newshape") if name in kwargs] or shape
        a = value(a)
        if order != "A" or a.ndim > 1:
            arguments.in_c_order(order, "reshape")
        given = shape[0] if len(shape) == 1 else shape
        return super().bind((a,), {"shape": complete(a.type.sizes, given), **kwargs})

    def types(a: ArrayType, shape=None) -> ArrayType:
        return a.strong().with_sizes(shape)

    def element(at, a, shape=None):
        return a[regrouped(at, shape, a.shape)]

    def vjp(dy, a, shape=None):
        return np.reshape(dy, a.shape)

    def batch(lead, a, shape=None):
        return np.reshape(a, (a.shape[0], *shape))

    def write_back(base, part, shape=None):
        return np.reshape(part, base.shape)

    def domain(rng):
        return arrays_of(rng, ((2, 3), {"shape": (3, 2)}), ((6,), {"shape": (2, 1, 3)}),
                         ((), {"shape": (1,)}))


def _come_out_even(sizes: Iterable[Extent]) -> None:
    """Notes which divisions in a new shape come out even: ``x.reshape(n // 2, 2)`` splits an axis of n places."""
    assumptions = current().assumptions
    for floor in (atom for size in sizes if isinstance(size, Size) for atom in size.atoms() if isinstance(atom, Floor)):
        whole = Size.of(floor) * floor.denominator
        if value_of(assumptions.normal(floor.numerator - whole), assumptions.hints) == 0:
            assumptions.equal(whole, floor.numerator)


class Untold(NotSupported):
    """Whether sizes fit is not known, so that only the program can test it, and raise the cause of this error."""


def complete(axes: Sizes, shape: Any) -> Sizes:
    """A new shape for the elements along these axes, with -1 replaced by what is missing."""
    elements = product(axes)
    sizes = list(map(arguments.extent, arguments.items(shape)))
    open_places = [k for k, size in enumerate(sizes) if isinstance(size, int) and size < 0]
    if len(open_places) > 1:
        raise ShapeError("can only specify one unknown dimension")
    fits = True
    if open_places:
        given = [size for k, size in enumerate(sizes) if k != open_places[0]]
        fits = _divides(product(given))
        sizes[open_places[0]] = _missing(axes, given) if fits else 0
    _come_out_even(sizes)
    if not fits or not current().assumptions.equal(product(sizes), elements):
        given = [size for k, size in enumerate(sizes) if k not in open_places]
        if any(isinstance(leaf, Unknown) for size in given for leaf in leaves(size)):
            raise Untold("reshape to a computed shape is not supported",
                         why="Whether the elements fit is not known when the function is transformed.",
                         instead="Pass its sizes as arguments that are Python integers."
                         ) from _cannot_reshape(elements, sizes, open_places)
        raise _cannot_reshape(elements, sizes, open_places)
    return tuple(sizes)


def _divides(given: Extent) -> bool:
    """Whether sizes that are given leave a number of elements for one more: not if there are none of them."""
    if isinstance(given, int) or not guardable(given):
        return given != 0
    return current().assumptions.at_least(given, 1)


def _missing(axes: Sizes, given: Iterable[Extent]) -> Extent:
    """What sizes that are given leave of these axes: of (n, c, h) with n and 4 it is ``c // 4 * h``, if that axis comes
    out even in this call, so that each of the four parts has whole rows."""
    normal = current().assumptions.normal
    left, others = [normal(size) for size in axes], []
    for size in map(normal, given):
        if size in left:
            left.remove(size)
        else:
            others.append(size)
    divisor = product(others)
    exact = quotient(product(left), divisor)
    if exact is not None:
        return exact
    for k, size in enumerate(left):
        if _comes_out_even(size, divisor):
            return product([*left[:k], divided(size, divisor), *left[k + 1:]])
    return divided(product(left), divisor)


def _comes_out_even(size: Extent, divisor: Extent) -> bool:
    """Whether it does in this call, by a number."""
    known = value_of(size, current().assumptions.hints)
    return isinstance(divisor, int) and known is not None and known % divisor == 0


def _cannot_reshape(elements: Extent, sizes: list[Extent], open_places: list[int]) -> ShapeError:
    shown = shape_text(tuple(sizes))
    if open_places:
        parts = [shape_text((size,))[1:-2] for size in sizes]
        parts[open_places[0]] = "newaxis"
        shown = f"({','.join(parts)}{',' if len(parts) == 1 else ''})"
    size = shape_text((elements,))[1:-2]
    return ShapeError(f"cannot reshape array of size {size} into shape {shown}")


class Ravel(Op):
    calls = np.ravel
    methods = ("ravel",)
    linear = "a"
    view = True

    @classmethod
    def bind(cls, args: Args, kwargs: Kwargs) -> Bound:
        return _without_order(super().bind, cls.name, args, kwargs)

    def types(a: ArrayType) -> ArrayType:
        return a.strong().with_sizes((a.elements,))

    def element(at, a):
        return a[regrouped(at, (a.size,), a.shape)]

    def vjp(dy, a):
        return reshaped(dy, a.shape)

    def batch(lead, a):
        return np.reshape(a, (a.shape[0], product(a.shape[1:])))

    def write_back(base, part):
        return reshaped(part, base.shape)

    def domain(rng):
        return arrays_of(rng, ((2, 3), {}), ((3,), {}))


class Flatten(Ravel):
    """A copy, where `ravel` gives a view."""

    calls: Any = ()
    methods = ("flatten",)
    view = False

    def run(a):
        return np.asarray(a).flatten()


def _without_order(bind: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Bound:
    order = kwargs.pop("order", args[1] if len(args) == 2 else "C")
    is_any = order in ("K", "A") and (name == "copy" or args and value(args[0]).ndim < 2)
    arguments.in_c_order(None if is_any else order, name)
    return bind(args[:1], kwargs)


class Copy(Op):
    calls = np.copy
    makes_array = {None: "of arrays", "np.copy": "always", "np.array": "always"}
    methods = ("copy",)
    linear = "a"

    @classmethod
    def bind(cls, args: Args, kwargs: Kwargs) -> Bound:
        kwargs = {key: item for key, item in kwargs.items() if key != "subok"}
        return _without_order(super().bind, cls.name, args, kwargs)

    def types(a: ArrayType) -> ArrayType:
        return a.strong()

    def element(at, a):
        return a[at]

    def vjp(dy, a):
        return dy

    def batch(lead, a):
        return np.copy(a)

    def domain(rng):
        return arrays_of(rng, ((2, 3), {}), ((), {}))


class ExpandDims(Op):
    """`axis` counts in the result; several are sorted."""

    name = "expand_dims"
    calls = np.expand_dims
    linear = "a"
    view = True

    @classmethod
    def bind(cls, args: Args, kwargs: Kwargs) -> Bound:
        (a,), attrs = super().bind(args, kwargs)
        a = value(a)
        axis = arguments.known(attrs["axis"], "an axis")
        count = len(axis) if isinstance(axis, (tuple, list)) else 1
        axes = sorted(arguments.axes(axis, a.ndim + count, "repeated axis"))
        return (a,), {"axis": arguments.alone(tuple(axes))}

    def types(a: ArrayType, axis=None) -> ArrayType:
        return a.strong().with_sizes(expanded(a.sizes, axis))

    def element(at, a, axis=None):
        return a[without(at, axis)]

    def vjp(dy, a, axis=None):
        return np.squeeze(dy, axis)

    def batch(lead, a, axis=None):
        return np.expand_dims(a, later(axis))

    def write_back(base, part, axis=None):
        return np.squeeze(part, axis)

    def domain(rng):
        return arrays_of(rng, ((2, 3), {"axis": 1}), ((2, 3), {"axis": (0, 3)}), ((), {"axis": 0}))


def expanded(sizes: Sizes, axis: int | tuple[int, ...], new: int = 1) -> Sizes:
    """A shape with axes of size 1 put in, counted in the result; or a place, with 0 put in."""
    result = list(sizes)
    for k in (axis,) if isinstance(axis, int) else axis:
        result.insert(k, new)
    return tuple(result)


def later(axis: Any) -> Any:
    """An axis, or several, behind a batch axis."""
    return axis + 1 if isinstance(axis, int) else tuple(k + 1 for k in axis)


class Squeeze(Op):
    """`axis` names what is taken out, also where the call did not. Symbolic sizes are not 1."""

    calls = np.squeeze
    methods = ("squeeze",)
    linear = "a"
    view = True

    @classmethod
    def bind(cls, args: Args, kwargs: Kwargs) -> Bound:
        (a,), attrs = super().bind(args, kwargs)
        a = value(a)
        axis = arguments.known(attrs.get("axis"), "an axis")
        if axis is None:
            axes = tuple(k for k, size in enumerate(a.shape) if size == 1)
        else:
            axes = tuple(sorted(arguments.axes(axis, a.ndim)))
        if not all(_is_one(a.shape[k]) for k in axes):
            raise ShapeError("cannot select an axis to squeeze out which has size not equal to one")
        return (a,), {"axis": arguments.alone(axes)}

    def types(a: ArrayType, axis=None) -> ArrayType:
        gone = (axis,) if isinstance(axis, int) else axis
        return a.strong().with_sizes(tuple(n for k, n in enumerate(a.sizes) if k not in gone))

    def element(at, a, axis=None):
        return a[expanded(at, axis, 0)]

    def vjp(dy, a, axis=None):
        return np.expand_dims(dy, axis)

    def batch(lead, a, axis=None):
        return np.squeeze(a, later(axis))

    def write_back(base, part, axis=None):
        return np.expand_dims(part, axis)

    def domain(rng):
        return arrays_of(rng, ((2, 1, 3), {"axis": 1}), ((1, 1), {"axis": (0, 1)}),
                         ((2,), {"axis": ()}))


def _is_one(size: Extent) -> bool:
    """Whether a size is 1, or is in the call being read (which is then guarded)."""
    assumptions = current().assumptions
    return size == 1 or value_of(size, assumptions.hints) == 1 and assumptions.equal(size, 1)

"""The signature of a call: what of its arguments the generated code depends on.

`exact_key` is cheap and names every shape; it is what a repeated call looks up. `describe` gives the
abstract arguments for reading: types with symbolic dimensions, and the hints of this call.
Dimensions of 0 and 1 are numbers in a type, so that broadcasting is decided when a function is read.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np

from .. import tree
from ..core.errors import BadArgument
from ..core.halves import of_core
from ..core.sizes import Dim, Extent, Size
from ..core.types import COMPLEX, FLOAT, INT, ArrayType, has_own_meaning
from ..read.interface import AxislessType

WHOLE = (int, np.integer, np.bool_)      # numbers of which the key of a call has the value
PLAIN = frozenset({float, complex, np.float64, np.float32, np.complex128, np.complex64})


def exact_key(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Hashable, ...]:
    """A key that is equal only for calls that may run the same generated function unasked."""
    key = [_key(arg) for arg in args]
    for name, arg in kwargs.items():
        key += [name, _key(arg)]
    return tuple(key)


def _key(arg: Any) -> Hashable:
    kind = type(arg)
    if kind is np.ndarray:
        return (arg.dtype, arg.shape) if arg.shape else _number_key(arg)
    if kind in PLAIN:
        return cast(Hashable, kind)
    if kind is int or kind is bool or kind is str or arg is None:
        return kind, arg
    if isinstance(arg, np.generic):
        return kind, _number_key(arg)
    leaves, structure = tree.flatten(arg)
    if structure is tree.LEAF:
        return kind, _identity(arg)
    return structure, tuple([_key(leaf) for leaf in leaves])


def _number_key(number: Any) -> Hashable:
    """Of a NumPy number or an array of rank 0: its dtype, and the value where that may be static."""
    dtype = number.dtype
    return (dtype, number.item()) if dtype.kind in "iub" else (dtype, ())


def _identity(arg: Any) -> Hashable:
    try:
        hash(arg)
    except TypeError:
        return Identity(arg)
    return arg


class Identity:
    """An object without a hash as a key: equal to itself alone, and kept alive by the key."""

    __slots__ = ("object",)

    def __init__(self, object: Any) -> None:
        self.object = object

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Identity) and other.object is self.object

    def __hash__(self) -> int:
        return id(self.object)


def hashable(leaf: Any) -> Hashable:
    """What stands for a static object in a key."""
    if isinstance(leaf, (float, np.floating)):
        return float(leaf).hex()                # tells zeros apart, and not nan from nan
    try:
        hash(leaf)
    except TypeError:
        return Identity(leaf)
    return leaf


@dataclass
class Description:
    """Abstract arguments: pytrees of types and static objects; the sizes of this call, and its
    integers by their paths. Arrays at the paths `turned` lie column by column, integers at the paths `wide` have
    more than 64 bits; at the paths `axisless` are arrays of rank 0, which cannot become static."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    hints: dict[Any, int] = field(default_factory=dict)
    turned: tuple[str, ...] = ()
    wide: tuple[str, ...] = ()
    axisless: tuple[str, ...] = ()


def describe(args: tuple[Any, ...], kwargs: dict[str, Any], names: Iterable[str],
             static: Iterable[str] = ()) -> Description:
    """The abstract form of a call. `names` are those of the positional arguments, `static` the paths
    (``n``, ``x.shape[0]``, ``params['w']``) of what has to be known when the function is read; its
    attribute `below`, if it has one, says which sizes are small enough to be numbers (else 0 and 1), and `tells_order`
    whether it counts how arrays lie."""
    describer = _Describer(static if isinstance(static, set) else set(static))
    found = tuple(describer.argument(arg, name) for arg, name in zip(args, names))
    keywords = {name: describer.argument(arg, name) for name, arg in kwargs.items()}
    return Description(found, keywords, describer.hints, tuple(describer.turned), tuple(describer.wide),
                       tuple(describer.axisless))


class _Describer:
    def __init__(self, static: set[str]) -> None:
        self.static = static
        self.is_named = getattr(static, "is_named", lambda path: False)
        self.below = getattr(static, "below", 2)
        self.tells_order = getattr(static, "tells_order", False)
        self.hints: dict[Any, int] = {}
        self.turned: list[str] = []
        self.wide: list[str] = []
        self.axisless: list[str] = []

    def argument(self, arg: Any, name: str) -> Any:
        leaves, structure = tree.flatten(arg)
        paths = [name + path for path in structure.paths()]
        return tree.unflatten(structure, [self.leaf(*pair) for pair in zip(leaves, paths)])

    def leaf(self, leaf: Any, path: str) -> Any:
        if path in self.static and (isinstance(leaf, WHOLE) or self.is_named(path)):
            return leaf
        if isinstance(leaf, (np.ndarray, np.generic)):
            return self.array(leaf, path)
        if type(leaf) is int:
            self.hints[path] = leaf
            if not -2**63 <= leaf < 2**63:
                self.wide.append(path)
        number = {float: FLOAT, complex: COMPLEX, int: INT}.get(type(leaf))
        return leaf if number is None else number

    def array(self, array: Any, path: str) -> ArrayType | AxislessType:
        dtype = of_core(array.dtype)
        if has_own_meaning(array):
            kind = array.__class__
            raise BadArgument(f"{path} is a {kind.__module__.partition('.')[0]} {kind.__name__}",
                              why="Its operators may differ from those of plain arrays.",
                              instead="Convert it with np.asarray.", argument=path)
        if dtype.kind not in "fciub" or dtype.name in ("float128", "complex256", "longdouble"):
            raise BadArgument(f"{path} has dtype {dtype}, which is not supported",
                              instead="Convert it to float64, float32, complex, int or bool: x.astype(float).",
                              argument=path)
        if not array.ndim and dtype.kind in "iu":
            self.hints[path] = int(array)
        if self.tells_order and array.ndim > 1 and array.flags.fnc:
            self.turned.append(path)
        sizes = [self.size(n, f"{path}.shape[{axis}]") for axis, n in enumerate(array.shape)]
        type = ArrayType(dtype.newbyteorder("="), tuple(sizes))
        if sizes or isinstance(array, np.generic):
            return type
        self.axisless.append(path)
        return AxislessType(type)

    def size(self, n: int, path: str) -> Extent:
        if n < self.below or path in self.static:
            return n
        dim = Dim(path)
        self.hints[dim] = n
        return Size.of(dim)

"""Arguments that are written, and what else may be seen to change with them.

A function is read as if its arguments shared no memory. That is right as long as none of them is
written. So for a function that writes to an argument, and for no other, every call tests whether that
array shares memory with another argument, or with an array that the function takes from outside.

Where results live in the memory of an argument that is donated, the same is tested; if it does, or its memory
cannot be used for other reasons, the function gets a copy of it.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import tree
from ..core.errors import NotSupported, Origin, as_raised

Arrays = dict[str, np.ndarray]


@dataclass(frozen=True, slots=True)
class WrittenPath:
    """An argument whose array is written, and where that is done first."""

    path: str
    origin: Origin | None


@dataclass(frozen=True, slots=True)
class Memory:
    """What a function assumes about the memory of its arguments, which it has by their paths: `own` are those
    of the user's function (tangents and cotangents are never written), `apart` the pairs that the function
    asks to share no memory, `donated` the arrays in whose memory there will be results. `gives_views` says whether
    NumPy's results may share memory with arguments or each other, which compiled code's do not."""

    own: frozenset[str] = frozenset()
    written: tuple[WrittenPath, ...] = ()
    apart: tuple[tuple[str, str], ...] = ()
    origin: Origin | None = None
    donated: tuple[str, ...] = ()
    gives_views: bool = False

    @classmethod
    def of(cls, reading: Any, donated: tuple[str, ...] = (), gives_views: bool = False) -> Memory:
        paths = {**reading.paths, **{hidden.var: hidden.name for hidden in reading.interface.hidden}}
        written = tuple(WrittenPath(each.path, each.origin) for each in reading.written)
        apart = tuple((paths[one], paths[other]) for one, other in reading.apart)
        return cls(frozenset(reading.paths.values()), written, apart, reading.origin, donated, gives_views)

    @property
    def is_checked(self) -> bool:
        return bool(self.written or self.apart or self.donated)

    def handed(self, args: tuple[Any, ...], kwargs: dict[str, Any], names: Iterable[str],
               outside: Iterable[np.ndarray]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments of a call, with copies of donated arrays whose memory cannot be used. `outside` are the
        arrays that the function takes from elsewhere."""
        if not self.donated:
            return args, kwargs
        names, elsewhere = list(names), list(outside)
        arrays = arrays_of(args, kwargs, names)
        unusable = {path for path in self.donated if path in arrays and not _is_usable(
            arrays[path], [*elsewhere, *(other for place, other in arrays.items() if place != path)])}
        if not unusable:
            return args, kwargs
        return (tuple(_with_copies(arg, name, unusable) for arg, name in zip(args, names)),
                {name: _with_copies(arg, name, unusable) for name, arg in kwargs.items()})

    def check(self, args: tuple[Any, ...], kwargs: dict[str, Any], names: Iterable[str], hidden: list[Any]) -> None:
        """Raises where a call cannot be what it was read as. What NumPy raises for an array that is written
        and read-only is raised, too."""
        found = arrays_of(args, kwargs, names).items()
        arrays = {path: array for path, array in found if path in self.own}
        others = {**arrays, **{each.name: each.fetch() for each in hidden if not each.is_number}}
        for first, second in self.apart:
            if first in others and second in others and shares_memory(others[first], others[second]):
                raise NotSupported(f"{first!r} shares memory with {second!r}", self.origin,
                                   why="The function tests for this, and was transformed for arrays that do not.",
                                   instead="Pass a copy of one of them: x.copy().", argument=first)
        for argument in self.written:
            array = arrays.get(argument.path)
            if array is not None:
                _check_writable(array, argument)
                for path, other in others.items():
                    if path != argument.path and shares_memory(array, other):
                        raise _refusal(argument, path)


def quick_test(memory: Memory, args: tuple[Any, ...], names: list[str]) -> Callable[..., bool] | None:
    """What is true of most calls like this one that are right, at a fraction of the time of `Memory.check`:

        lambda a, b: a.flags.carray and not may_share_memory(a, b)

    None where there is no such test."""
    ways = {name + path: f"a{k}{path}" for k, (arg, name) in enumerate(zip(args, names))
            for leaf, path in _arrays_in(arg)}
    written = [each.path for each in memory.written if each.path in ways]
    if memory.apart:
        return None
    parts = [f"{ways[path]}.flags.carray" for path in written]
    pairs = [(path, other) for k, path in enumerate(written) for other in ways
             if other in memory.own and other not in written[:k + 1]]
    donated = [path for path in memory.donated if path in ways]
    parts += [f"{ways[path]}.flags.carray" for path in donated]
    pairs += [(path, other) for k, path in enumerate(donated) for other in ways if other not in donated[:k + 1]]
    parts += [f"not may_share_memory({ways[one]}, {ways[other]})" for one, other in pairs]
    test = ast.parse(" and ".join(parts) or "True", mode="eval").body
    given = ast.arguments([], [ast.arg(f"a{k}") for k in range(len(args))], None, [], [], None, [])
    whole = ast.fix_missing_locations(ast.Expression(ast.Lambda(given, test)))
    made: Callable[..., bool] = eval(compile(whole, "<memory>", "eval"), {"may_share_memory": np.may_share_memory})
    return made


def _arrays_in(arg: Any) -> Iterator[tuple[np.ndarray, str]]:
    leaves, structure = tree.flatten(arg)
    for leaf, path in zip(leaves, structure.paths()):
        if isinstance(leaf, np.ndarray):
            yield leaf, path


def arrays_of(args: tuple[Any, ...], kwargs: dict[str, Any], names: Iterable[str]) -> Arrays:
    """The arrays among arguments by their paths (``x``, ``params['w']``)."""
    found: Arrays = {}
    for arg, name in [*zip(args, names), *((arg, name) for name, arg in kwargs.items())]:
        found |= {name + path: array for array, path in _arrays_in(arg)}
    return found


def shares_memory(one: np.ndarray, other: np.ndarray) -> bool:
    """Whether two arrays have an element in common; the bounds are compared first."""
    return np.may_share_memory(one, other) and np.shares_memory(one, other)


def _check_writable(array: np.ndarray, argument: Any) -> None:
    if not array.flags.writeable:
        raise as_raised(ValueError("assignment destination is read-only"), argument.origin)
    if _overlaps_itself(array):
        raise NotSupported(f"cannot write to {argument.path!r}, whose elements overlap in memory", argument.origin,
                           why="Its strides visit the same memory more than once.",
                           instead="Pass a copy of it: x.copy().", argument=argument.path)


def _is_usable(array: np.ndarray, others: list[np.ndarray]) -> bool:
    """Whether the memory of an array is its own, in C order, and may be written."""
    return array.flags.carray and not any(shares_memory(array, other) for other in others)


def _with_copies(arg: Any, name: str, copied: set[str]) -> Any:
    """An argument with copies of the arrays at these paths."""
    leaves, structure = tree.flatten(arg)
    paths = [name + path for path in structure.paths()]
    return tree.unflatten(structure, [leaf.copy() if path in copied else leaf for leaf, path in zip(leaves, paths)])


def _overlaps_itself(array: np.ndarray) -> bool:
    """Whether elements of an array may lie in the same memory, as those of np.broadcast_to do."""
    reach = array.itemsize
    for stride, size in sorted((abs(stride), size) for stride, size in zip(array.strides, array.shape) if size > 1):
        if stride < reach:
            return array.size > 0
        reach += stride * (size - 1)
    return False


def _refusal(argument: Any, path: str) -> NotSupported:
    return NotSupported(f"cannot write to {argument.path!r}, which shares memory with {path!r}", argument.origin,
                        why="The write would also change the other array.",
                        instead="Pass a copy of one of them: x.copy().", argument=argument.path)

"""The first lines of an emitted file: the shapes for which the code below is right.

NumPy broadcasts an axis of size 1 without a word, and clips slices; both would give numbers that are
not the gradient. So shapes are compared before anything is computed. What NumPy refuses by itself, the
lengths in a matrix product, is left to it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from ..core.equations import single_atom
from ..core.grammar import Function, Let, Var
from ..core.guards import Guard
from ..core.sizes import Dim, Extent, Size, Unknown, leaves, replaced
from ..core.types import ArrayType
from .layout import Group, Item, Line
from .numbers import number, of_numpy
from .sizes import SizePlan, extent_of_axis, not_negative

Axis = tuple[Var, int]


class Guards:
    """Conditions on the parameters of one function. `name` gives the tree of a parameter."""

    def __init__(self, function: Function, sizes: SizePlan, name: Any) -> None:
        self.function = function
        self.sizes = sizes
        self.name = name
        self.refused = set(_refused(function))
        self.axes: dict[Dim, list[Axis]] = {}
        self.fixed: dict[Axis, int] = {}
        self.sums: dict[Axis, Size] = {}
        self.others: list[Any] = []
        self._collect()

    def _collect(self) -> None:
        same: dict[Dim, Extent] = {}
        computed: list[tuple[Dim, Extent, Any]] = []               # sizes by whose names others go in the code
        needed = [guard for guard in self.function.guards if guard.kind != "chosen"]
        for guard in map(_reduced, different(needed)):
            left, right = single_atom(guard.left), single_atom(guard.right)
            dims = [atom for atom in (right, left) if isinstance(atom, Dim)]
            known = all(
                isinstance(size, int) or isinstance(single_atom(size), Dim) for size in (guard.left, guard.right)
            )
            if guard.kind == "equal" and len(dims) == 1 and not known and dims[0] not in leaves(
                    other := guard.left if dims[0] is right else guard.right):
                computed.append((dims[0], other, guard))
            elif guard.kind != "equal" or not dims or not known:
                self.others.append(guard)
            elif frozenset((left, right)) not in self.refused:
                same[dims[0]] = guard.left if dims[0] is right else guard.right
        for dim, size, guard in computed:
            if dim in same:
                self.others.append(guard)
            else:
                same[dim] = size
        self.others = [_under(guard, same) for guard in self.others if not _is_settled(guard, same)]
        for param in self.function.params:
            sizes = param.type.sizes if isinstance(param.type, ArrayType) else ()
            for axis, size in enumerate(sizes):
                self._place((param, axis), _last(size, same))

    def _place(self, axis: Axis, size: Extent) -> None:
        atom = single_atom(size)
        if isinstance(size, int):
            self.fixed[axis] = size
        elif isinstance(atom, Dim):
            self.axes.setdefault(atom, []).append(axis)
        else:
            self.sums[axis] = size

    def items(self) -> list[Item]:
        """The tests, those of parameters of one expected shape in one."""
        groups: dict[str, tuple[ast.expr, list[Var]]] = {}
        alone: list[Item] = []
        free: list[Var] = []
        for param in self.function.params:
            wanted = self._wanted(param)
            if wanted is not None:
                groups.setdefault(ast.dump(wanted), (wanted, []))[1].append(param)
            else:
                free.append(param)
                alone += self._axes(param)
        tests = [self._shapes(wanted, params) for wanted, params in groups.values()]
        return [*self._ranks(free), *tests, *alone, *map(self._other, strongest(self.others))]

    def _ranks(self, params: list[Var]) -> Iterator[Item]:
        """`if (w.ndim, np.ndim(b)) != (1, 0): raise ValueError(...)`: of those whose whole shape is not
        compared. Where all are numbers nothing is tested: the code works on arrays element by element."""
        params = [param for param in params if param.type.is_inexact or param.type.rank]   # type: ignore[union-attr]
        ranks = [param.type.rank for param in params]                                      # type: ignore[union-attr]
        if not any(ranks):
            return
        found: list[ast.expr] = [
            ast.Call(of_numpy("ndim"), [self.name(param)], []) for param in params
        ]
        names = [ast.unparse(self.name(param)) for param in params]
        if len(params) == 1:
            test = ast.Compare(found[0], [ast.NotEq()], [number(ranks[0])])
            yield _raise(test, [f"{names[0]} must have {axes_text(ranks[0])}"])
            return
        if len(set(ranks)) == 1:
            rest = [*found[1:], number(ranks[0])]
            same = ast.Compare(found[0], [ast.Eq() for _ in rest], rest)
            yield _raise(ast.UnaryOp(ast.Not(), same), [f"{listed(names)} must have {axes_text(ranks[0])} each"])
            return
        test = ast.Compare(ast.Tuple(found), [ast.NotEq()], [ast.Tuple([number(rank) for rank in ranks])])
        yield _raise(test, [f"{listed(names)} must have {listed([str(rank) for rank in ranks])} axes"])

    def _wanted(self, param: Var) -> ast.expr | None:
        """The shape that a parameter must have, in terms of others; None if an axis is free."""
        homes = self._homes(param)
        if not homes or any(home in (None, (param, axis)) for axis, home in enumerate(homes)):
            return None
        whole = _part_of_shape(homes, self.name)
        if whole is not None:
            return whole
        return ast.Tuple([self._extent(home, (param, axis)) for axis, home in enumerate(homes)])

    def _homes(self, param: Var) -> list[Axis | Extent | None]:
        rank = param.type.rank if isinstance(param.type, ArrayType) else 0
        return [self._home((param, axis)) for axis in range(rank)]

    def _axes(self, param: Var) -> Iterator[Item]:
        """`if x.shape[1] != w.shape[0]: raise ValueError(...)`, for each axis that is not free."""
        for axis, home in enumerate(self._homes(param)):
            own = param, axis
            if home is None or home == own:
                continue
            left, right = self._extent(own, own), self._extent(home, own)
            test = ast.Compare(left, [ast.NotEq()], [right])
            yield _raise(
                test,
                [
                    f"{_shown(left)} is ",
                    left,
                    f" but must equal {_shown(right)}",
                    *([] if isinstance(home, int) else [", ", right]),
                ],
            )

    def _home(self, axis: Axis) -> Axis | Extent | None:
        """The axis of the widest parameter that this one must agree with, or a number or sum."""
        if axis in self.fixed:
            return self.fixed[axis]
        if axis in self.sums:
            return self.sums[axis]
        for axes in self.axes.values():
            if axis in axes:
                return max(axes, key=lambda other: other[0].type.rank)  # type: ignore[union-attr]
        return None

    def _extent(self, home: Axis | Extent | None, own: Axis) -> ast.expr:
        if isinstance(home, int):
            return number(home)
        if isinstance(home, Size):
            return self.sizes.tree(home, self.name)
        param, axis = home or own
        return extent_of_axis(self.name(param), param, axis)

    def _shapes(self, wanted: ast.expr, params: list[Var]) -> Item:
        """`if not w.shape == b.shape == x.shape[1:]: raise ValueError(...)`."""
        shapes: list[ast.expr] = [ast.Attribute(self.name(param), "shape") for param in params]
        if len(shapes) == 1:
            test: ast.expr = ast.Compare(shapes[0], [ast.NotEq()], [wanted])
        else:
            rest = [*shapes[1:], wanted]
            test = ast.UnaryOp(ast.Not(), ast.Compare(shapes[0], [ast.Eq() for _ in rest], rest))
        parts: list[Any] = []
        for k, (param, shape) in enumerate(zip(params, shapes)):
            between = "" if k == 0 else " and " if k == len(params) - 1 else ", "
            parts += [f"{between}{ast.unparse(self.name(param))} ", shape]
        must = " must be " if len(params) == 1 else " must both be " if len(params) == 2 else " must all be "
        return _raise(test, [*parts, must, *_text_of(wanted)])

    def _other(self, guard: Any) -> Item:
        """`if len(x) < 1: raise ValueError(...)`."""
        left, right = (self.sizes.tree(size, self.name) for size in (guard.left, guard.right))
        equal = guard.kind == "equal"
        test = ast.Compare(left, [ast.NotEq() if equal else ast.Lt()], [right])
        wanted = "equal" if equal else "be at least"
        return _raise(
            test,
            [
                f"{_shown(left)} is ",
                left,
                f" but must {wanted} {_shown(right)}",
                *([] if isinstance(guard.right, int) else [", ", right]),
            ],
        )


def different(guards: list[Any]) -> list[Any]:
    """The guards without those that say what one before them says."""
    kept: dict[Any, Any] = {}
    for guard in guards:
        difference = guard.left - guard.right
        mirrored = guard.kind == "equal" and (guard.kind, difference * -1) in kept
        if not mirrored:
            kept.setdefault((guard.kind, difference), guard)
    return list(kept.values())


def listed(words: list[str]) -> str:
    return f"{', '.join(words[:-1])} and {words[-1]}"


def axes_text(rank: int) -> str:
    return "one axis" if rank == 1 else f"{rank} axes"


def strongest(guards: list[Any]) -> list[Any]:
    """The guards with one lower bound for each dimension and integer that has several: `n >= 2` for `n >= 1` and
    `n - 2 >= 0`."""
    bounds: dict[Dim | Unknown, int] = {}
    for guard in guards:
        found = lower_bound_of(guard)
        if found is not None:
            bounds[found[0]] = max(found[1], bounds.get(found[0], found[1]))
    others = [guard for guard in guards if lower_bound_of(guard) is None]
    needed = [(atom, low) for atom, low in bounds.items() if low > 0 or isinstance(atom, Unknown)]
    return [*(Guard("at least", Size.of(atom), low) for atom, low in needed), *others]


def lower_bound_of(guard: Any) -> tuple[Dim | Unknown, int] | None:
    """The dimension or integer and the number of a guard that says no more than ``dimension >= number``."""
    if guard.kind != "at least":
        return None
    difference = guard.left - guard.right
    difference = not_negative(difference) or difference
    constant = difference.constant if isinstance(difference, Size) else 0
    atom = single_atom(difference - constant)
    return (atom, -constant) if isinstance(atom, (Dim, Unknown)) else None


def _reduced(guard: Any) -> Any:
    """The guard that two dimensions are equal, where it says so of what is as much less than each."""
    difference = guard.left - guard.right
    if guard.kind != "equal" or not isinstance(difference, Size) or len(difference.terms) != 2:
        return guard
    sides = [Size({monomial: 1}) for monomial, count in difference.terms.items() if abs(count) == 1]
    if sum(difference.terms.values()) or len(sides) < 2 or not all(isinstance(single_atom(s), Dim) for s in sides):
        return guard
    positive = [count > 0 for count in difference.terms.values()]
    return Guard("equal", *(sides if positive[0] else sides[::-1]))


def _under(guard: Any, same: dict[Dim, Extent]) -> Any:
    """A guard on sizes of which each goes by the name of the first that it is equal to."""
    return Guard(guard.kind, _first(guard.left, same), _first(guard.right, same))


def _is_settled(guard: Any, same: dict[Dim, Extent]) -> bool:
    """Whether a guard holds as soon as the shapes are what they must be."""
    difference = _first(guard.left - guard.right, same)
    return isinstance(difference, int) and (difference == 0 if guard.kind == "equal" else difference >= 0)


def _first(size: Extent, same: dict[Dim, Extent]) -> Extent:
    """A size in terms of those that others are equal to."""
    return replaced(size, lambda atom: _last(Size.of(atom), same) if atom in same else None)


def _last(size: Extent, same: dict[Dim, Extent]) -> Extent:
    """The end of a chain of equal sizes."""
    for _ in range(len(same)):
        atom = single_atom(size)
        if not isinstance(atom, Dim) or atom not in same:
            break
        size = same[atom]
    return size


def _part_of_shape(homes: list[Any], name: Any) -> ast.expr | None:
    """`x.shape` or `x.shape[1:]` where all axes come from one parameter in its order."""
    if not homes or not all(isinstance(home, tuple) for home in homes):
        return None
    param, first = homes[0]
    if homes != [(param, first + k) for k in range(len(homes))]:
        return None
    shape = ast.Attribute(name(param), "shape")
    end = first + len(homes)
    start = number(first) if first else None
    stop = number(end) if end < param.type.rank else None
    return shape if start is None and stop is None else ast.Subscript(shape, ast.Slice(start, stop, None))


def _raise(test: ast.expr, parts: list[Any]) -> Item:
    values: list[ast.expr] = [
        ast.Constant(part) if isinstance(part, str) else ast.FormattedValue(part, -1, None) for part in parts
    ]
    plain = all(isinstance(part, str) for part in parts)
    message = ast.Constant("".join(parts)) if plain else ast.JoinedStr(values)
    return Group(ast.If(test, [], []), [Line(ast.Raise(_error(message), None))])


def _text_of(shape: ast.expr) -> list[Any]:
    """A shape in a message, where numbers stand for themselves."""
    entries = shape.elts if isinstance(shape, ast.Tuple) else [shape]
    return [_shown(shape)] if all(isinstance(entry, ast.Constant) for entry in entries) else [shape]


def _error(message: ast.expr) -> ast.expr:
    return ast.Call(ast.Name("ValueError"), [message], [])


def _shown(tree: ast.expr) -> str:
    return ast.unparse(ast.fix_missing_locations(tree))


def _refused(function: Function) -> Iterator[frozenset[Any]]:
    """Pairs of dimensions that a matrix product at the top of the body compares."""
    for stmt in function.body:
        if not isinstance(stmt, Let) or stmt.op.name not in ("matmul", "dot") or len(stmt.args) != 2:
            continue
        left, right = (getattr(getattr(atom, "type", None), "sizes", ()) for atom in stmt.args)
        if left and right:
            pair = left[-1], right[max(len(right) - 2, 0)]
            atoms = [single_atom(size) for size in pair if isinstance(size, Size)]
            if len(atoms) == 2:
                yield frozenset(atoms)

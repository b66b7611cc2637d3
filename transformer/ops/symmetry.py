"""Matrices that are symmetric by how they were made: sums, elementwise functions and inverses of such ones, products
as ``A @ A.T`` and ``B @ S @ B.T``, functions of pairs as ``np.exp(-(x[:, None] - x[None, :]) ** 2)``; and sums of them
with multiples of arguments, which are symmetric if the arguments are.

What is asked of two arrays is whether one is the other with two axes exchanged; a matrix is symmetric if it is itself
with its axes exchanged. Axes count from the last one, as broadcasting does.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ..core.builder import current
from ..core.grammar import Atom, Const, Let, Read, Var, type_of
from ..core.sizes import Size
from ..core.types import ArrayType
from .axes import moved_axes
from .indexing import only_inserts
from .value import rule_attrs

DEEPEST = 40                           # statements one behind the other that are looked at
MATRIX = -2, -1

Axes = tuple[int, int]
Layout = tuple[int | None, ...]        # for each axis of a view the axis of the array that it shows; None: of length 1


@dataclass(frozen=True)
class Turned:
    """One array is the other with two axes exchanged, but for the sign, if that is -1; `if_arguments_are`, if arguments
    are symmetric themselves."""

    sign: int = 1
    if_arguments_are: bool = False


class Symmetry:
    """What is known of matrices in a function, by the statements that define its variables. `arguments` are those that
    count as symmetric where they are matrices."""

    def __init__(self, definitions: Mapping[Var, Let | Read], arguments: Collection[Var]) -> None:
        self.definitions = definitions
        self.arguments = arguments
        self._known: dict[Any, Turned | None] = {}

    def of(self, matrix: Atom) -> Turned | None:
        """Whether a matrix is symmetric (Hermitian, if complex), as far as that is known."""
        found = self._hermitian(matrix) if _array(matrix).dtype.kind == "c" else self.turned(matrix, matrix, MATRIX)
        return found if found is not None and found.sign == 1 else None

    def _hermitian(self, matrix: Atom) -> Turned | None:
        stmt = self._let(matrix)
        is_conjugate = stmt is not None and stmt.op.name == "conjugate"
        base, layout = self._shown(stmt.args[0] if stmt is not None and is_conjugate else matrix)
        wanted = [*range(len(layout))]
        wanted = _exchanged(wanted, MATRIX) if is_conjugate else wanted
        return self._by_argument(base, MATRIX) if list(layout) == wanted else None

    def turned(self, one: Atom, other: Atom, axes: Axes, depth: int = DEEPEST) -> Turned | None:
        """Whether `other` is `one` with these axes exchanged."""
        key = one, other, axes
        if key not in self._known and all(isinstance(type_of(atom), ArrayType) for atom in (one, other)):
            self._known[key] = None
            self._known[key] = self._by_layout(one, other, axes, depth) or self._by_definition(one, other, axes, depth)
        return self._known.get(key)

    def _let(self, atom: Atom) -> Let | None:
        stmt = self.definitions.get(atom) if isinstance(atom, Var) else None
        return stmt if isinstance(stmt, Let) else None

    # -- views -----------------------------------------------------------------------------------

    def _shown(self, atom: Atom) -> tuple[Atom, Layout]:
        """The array of which an atom is a view of all elements, and where its axes are."""
        layout: Layout = tuple(range(_array(atom).rank))
        while (stmt := self._let(atom)) is not None and (inner := _layout_of(stmt)) is not None:
            layout = tuple(None if k is None else inner[k] for k in layout)
            atom = stmt.args[0]
        return atom, layout

    def _by_layout(self, one: Atom, other: Atom, axes: Axes, depth: int) -> Turned | None:
        base, layout = self._shown(one)
        again, wanted = self._shown(other)
        if not _same(base, again):
            return None
        rank = max(len(layout), len(wanted), -min(axes))
        padded, turned = ([*[None] * (rank - len(each)), *each] for each in (layout, wanted))
        if _exchanged(padded, axes) == turned:
            return Turned()
        below = [padded[k] for k in axes]
        if padded != turned or base is one or None in below:
            return None if base is not one else self._by_argument(base, axes)
        rank = _array(base).rank
        return self.turned(base, base, tuple(sorted(k - rank for k in below if k is not None)), depth)  # type: ignore[arg-type]

    def _by_argument(self, matrix: Atom, axes: Axes) -> Turned | None:
        is_matrix = axes == MATRIX and _is_square(_array(matrix)) and self._is_of_argument(matrix)
        return Turned(if_arguments_are=True) if is_matrix else None

    def _is_of_argument(self, atom: Atom) -> bool:
        """Whether an atom is an argument, or has some of the matrices in one."""
        stmt = self.definitions.get(atom) if isinstance(atom, Var) else None
        if isinstance(stmt, Read):
            return self._is_of_argument(stmt.source)
        return atom in self.arguments if stmt is None else _gives_matrices(stmt) and self._is_of_argument(stmt.args[0])

    # -- what is computed ------------------------------------------------------------------------

    def _by_definition(self, one: Atom, other: Atom, axes: Axes, depth: int) -> Turned | None:
        stmt, twin = self._let(one), self._let(other)
        if stmt is None or twin is None or not depth or stmt.op is not twin.op or len(stmt.targets) > 1:
            return None
        rule = RULES.get(stmt.op.name, _elementwise if stmt.op.elementwise else None)
        return None if rule is None else rule(self, stmt, twin, axes, depth - 1)

    def factors(self, atom: Atom) -> Iterator[Atom]:
        """The matrices of which an atom is the product; numbers as factors are left out."""
        stmt = self._let(atom)
        if stmt is not None and _is_product(stmt):
            yield from self.factors(stmt.args[0])
            yield from self.factors(stmt.args[1])
        elif stmt is not None and (place := _scaled(stmt)) is not None:
            yield from self.factors(stmt.args[place])
        else:
            yield atom


def _array(atom: Atom) -> ArrayType:
    type = type_of(atom)
    assert isinstance(type, ArrayType)
    return type


def _is_square(type: ArrayType) -> bool:
    normal = current().assumptions.normal
    return type.rank > 1 and normal(type.sizes[-1]) == normal(type.sizes[-2])


def _exchanged(layout: Iterable[Any], axes: Axes) -> list[Any]:
    turned = list(layout)
    turned[axes[0]], turned[axes[1]] = turned[axes[1]], turned[axes[0]]
    return turned


def _layout_of(stmt: Let) -> Layout | None:
    """Where the axes of a view are in its operand, if it shows all elements."""
    if not stmt.args or not isinstance(type := type_of(stmt.args[0]), ArrayType):
        return None
    attrs, rank = stmt.attrs, type.rank
    order = range(rank)
    match stmt.op.name:
        case "copy" | "same" | "again":
            return tuple(order)
        case "transpose":
            return tuple(attrs.get("axes") or order[::-1])
        case "swapaxes":
            return tuple(_exchanged(order, (attrs["axis1"], attrs["axis2"])))
        case "moveaxis":
            return tuple(moved_axes(rank, attrs["source"], attrs["destination"]))
        case "get" if only_inserts(attrs["index"]):
            return _inserted([k for k, entry in enumerate(attrs["index"]) if entry is None], rank)
        case "expand_dims":
            return _inserted((attrs["axis"],) if isinstance(attrs["axis"], int) else attrs["axis"], rank)
    return None


def _inserted(places: Iterable[int], rank: int) -> Layout:
    layout: list[int | None] = list(range(rank))
    for place in places:
        layout.insert(place, None)
    return tuple(layout)


def _gives_matrices(stmt: Let) -> bool:
    """Whether a statement takes some of the matrices in a stack, or all, as they are."""
    if stmt.op.name in ("copy", "same", "again"):
        return True
    if not stmt.args or not isinstance(type_of(stmt.args[0]), ArrayType):
        return False
    slots = [type_of(atom) for atom in stmt.args[1:]]
    if stmt.op.name != "get" or any(isinstance(slot, ArrayType) and slot.dtype.kind == "b" for slot in slots):
        return False
    entries = [entry for entry in stmt.attrs["index"] if entry is not None]
    entries += [slice(None)] * (_array(stmt.args[0]).rank - len(entries))
    return len(entries) > 1 and all(isinstance(e, slice) and e == slice(None) for e in entries[-2:])


def _same(one: Atom, other: Atom) -> bool:
    if isinstance(one, Const) and isinstance(other, Const):
        return one.type == other.type and bool(one.value == other.value)
    return one is other or isinstance(one, Size) and one == other


# -- rules: whether what one statement gives is what another one gives, with two axes exchanged ----------------------

Rule = Callable[[Symmetry, Let, Let, Axes, int], Turned | None]
Sign = Callable[[list[int]], int]


def _pairs(known: Symmetry, pairs: Iterable[tuple[Atom, Atom]], axes: Axes, depth: int) -> list[Turned] | None:
    found = []
    for one, other in pairs:
        turned = known.turned(one, other, axes, depth)
        if turned is None:
            return None
        found.append(turned)
    return found


def _joined(found: list[Turned] | None, sign: Sign, is_linear: bool = False) -> Turned | None:
    """The answer for what is computed of several operands; `sign` is 0 where they do not go together. Arguments stay
    what the answer rests on only where that `is_linear` in them."""
    rests = found is not None and any(each.if_arguments_are for each in found)
    if found is None or rests and not is_linear or not (joint := sign([each.sign for each in found])):
        return None
    return Turned(joint, rests)


def _alike(signs: list[int]) -> int:
    return signs[0] if len(set(signs)) == 1 else 0


def _opposite(signs: list[int]) -> int:
    return -_alike(signs)


def _positive(signs: list[int]) -> int:
    return int(all(sign == 1 for sign in signs))


def _multiplied(signs: list[int]) -> int:
    return -1 if signs.count(-1) % 2 else 1


def _even(signs: list[int]) -> int:
    return 1


def _elementwise(known: Symmetry, stmt: Let, twin: Let, axes: Axes, depth: int, sign: Sign = _positive,
                 is_linear: bool = False) -> Turned | None:
    if rule_attrs(stmt) != rule_attrs(twin):
        return None
    return _joined(_pairs(known, zip(stmt.args, twin.args, strict=True), axes, depth), sign, is_linear)


def _by(sign: Sign, crossed: Sign | None = None, is_linear: Callable[[Let], bool] = lambda stmt: False) -> Rule:
    """The rule of an elementwise function; `crossed` is the sign where either operand meets the other one."""
    def rule(known: Symmetry, stmt: Let, twin: Let, axes: Axes, depth: int) -> Turned | None:
        across = None if crossed is None else _joined(
            _pairs(known, zip(stmt.args, twin.args[::-1], strict=True), axes, depth), crossed, is_linear(stmt))
        direct = _elementwise(known, stmt, twin, axes, depth, sign, is_linear(stmt))
        return min((each for each in (across, direct) if each), key=lambda each: each.if_arguments_are, default=None)
    return rule


def _always(stmt: Let) -> bool:
    return True


def _by_number(stmt: Let) -> bool:
    """Whether a matrix is multiplied or divided by a number that is known."""
    return (place := _scaled(stmt)) is not None and not isinstance(stmt.args[1 - place], Var)


def _power(known: Symmetry, stmt: Let, twin: Let, axes: Axes, depth: int) -> Turned | None:
    exponent = stmt.args[1]
    is_even = isinstance(exponent, Const) and exponent.value % 2 == 0
    return _elementwise(known, stmt, twin, axes, depth, _even if is_even else _positive)


def _reduced(sign: Sign, is_linear: bool = False) -> Rule:
    """The rule of a reduction over other axes."""
    def rule(known: Symmetry, stmt: Let, twin: Let, axes: Axes, depth: int) -> Turned | None:
        attrs, rank = rule_attrs(stmt), _array(stmt.args[0]).rank
        axis = attrs.get("axis")
        if axis is None or attrs != rule_attrs(twin) or len(stmt.args) > 1:
            return None
        gone = {k % rank for k in ((axis,) if isinstance(axis, int) else axis)}
        left = [k - rank for k in range(rank) if attrs.get("keepdims") or k not in gone]
        if len(left) < -min(axes) or any(left[k] + rank in gone for k in axes):
            return None
        below = left[axes[0]], left[axes[1]]
        return _joined(_pairs(known, [(stmt.args[0], twin.args[0])], below, depth), sign, is_linear)
    return rule


def _part(known: Symmetry, stmt: Let, twin: Let, axes: Axes, depth: int) -> Turned | None:
    """Of two axes the same slices, of the others numbers or slices."""
    index, rank = stmt.attrs["index"], _array(stmt.args[0]).rank
    is_alike = rule_attrs(stmt) == rule_attrs(twin) and all(map(_same, stmt.args[1:], twin.args[1:]))
    if not is_alike or None in index or len(index) < rank or any(_array(slot).rank for slot in stmt.args[1:]):
        return None
    left = [k - rank for k, entry in enumerate(index) if isinstance(entry, slice)]
    if len(left) < -min(axes) or index[left[axes[0]]] != index[left[axes[1]]]:
        return None
    below = left[axes[0]], left[axes[1]]
    return _joined(_pairs(known, [(stmt.args[0], twin.args[0])], below, depth), _alike, is_linear=True)


def _is_product(stmt: Let) -> bool:
    ranks = [_array(atom).rank for atom in stmt.args] if stmt.op.name in ("matmul", "dot") else []
    return stmt.op.name == "matmul" and min(ranks) > 1 or ranks == [2, 2]


def _scaled(stmt: Let) -> int | None:
    """Which operand is a matrix that is multiplied or divided by a number."""
    places = {"multiply": (0, 1), "divide": (0,)}.get(stmt.op.name, ())
    ranks = [_array(atom).rank for atom in stmt.args] if places else []
    return next((k for k in places if ranks[k] > 1 and not ranks[1 - k]), None)


def _product(known: Symmetry, stmt: Let, twin: Let, axes: Axes, depth: int) -> Turned | None:
    if stmt is not twin or axes != MATRIX or not _is_product(stmt):
        return None
    factors = list(known.factors(stmt.target))
    return _joined(_pairs(known, zip(factors, reversed(factors), strict=True), axes, depth), _multiplied)


def _outer(known: Symmetry, stmt: Let, twin: Let, axes: Axes, depth: int) -> Turned | None:
    return Turned() if axes == MATRIX and all(map(_same, stmt.args, reversed(twin.args))) else None


def _of_matrix(known: Symmetry, stmt: Let, twin: Let, axes: Axes, depth: int) -> Turned | None:
    return _elementwise(known, stmt, twin, axes, depth) if axes == MATRIX else None


def _diagonal(known: Symmetry, stmt: Let, twin: Let, axes: Axes, depth: int) -> Turned | None:
    return Turned() if stmt is twin and "k" not in stmt.attrs and "M" not in stmt.attrs else None


def _filled(known: Symmetry, stmt: Let, twin: Let, axes: Axes, depth: int) -> Turned | None:
    is_one_number = stmt is twin and not any(_array(atom).rank for atom in stmt.args)
    return Turned() if is_one_number and axes == MATRIX and _is_square(_array(stmt.target)) else None


def _written_out(known: Symmetry, stmt: Let, twin: Let, axes: Axes, depth: int) -> Turned | None:
    """`np.array([[a, b], [b, c]])`."""
    rows, columns = shape if len(shape := stmt.attrs.get("shape", ())) == 2 else (0, 1)
    if stmt is not twin or axes != MATRIX or rows != columns or _array(stmt.target).rank != 2:
        return None
    places = ((i * columns + j, j * columns + i) for i in range(rows) for j in range(i))
    return Turned() if all(_same(stmt.args[k], stmt.args[j]) for k, j in places) else None


RULES: dict[str, Rule] = {
    "add": _by(_alike, _alike, _always), "subtract": _by(_alike, _opposite, _always),
    "negative": _by(_alike, None, _always), "multiply": _by(_multiplied, _multiplied, _by_number),
    "divide": _by(_multiplied, None, _by_number),
    **dict.fromkeys(("absolute", "cos", "cosh", "square"), _by(_even)),
    **dict.fromkeys(("hypot", "logaddexp", "maximum", "minimum"), _by(_positive, _positive)),
    **dict.fromkeys(("sum", "mean"), _reduced(_alike, is_linear=True)),
    **dict.fromkeys(("max", "min", "prod"), _reduced(_positive)), "norm": _reduced(_even),
    **dict.fromkeys(("matmul", "dot"), _product), **dict.fromkeys(("diag", "eye"), _diagonal),
    **dict.fromkeys(("full", "ones", "zeros"), _filled), "get": _part, "power": _power,
    "outer": _outer, "inv": _of_matrix, "array": _written_out,
}

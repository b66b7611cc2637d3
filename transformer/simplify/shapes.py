"""Changes of shape that change nothing, or that what follows does by itself.

>>> from .examples import shown
>>> from .fold import fold
>>> shown(fold, '''
... function f(t: f64, x: f64[n, m])
...     a: f64[m, n] = transpose(x)
...     b: f64[n, m] = transpose(a)
...     c: f64[m*n] = reshape(b, shape=(<m*n>,))
...     d: f64[m, n] = reshape(c, shape=(<m>, <n>))
...     e: f64[n, m] = full(t, shape=(<n>, <m>))
...     g: f64[n, m] = multiply(e, b)
...     h: f64[n, m] = get(g, index=(slice(None, None, None), slice(None, None, None)))
...     return d, h
... ''')
function f(t: f64, x: f64[n, m])
    a: f64[m, n] = transpose(x)
    c: f64[m*n] = reshape(x, shape=(<m*n>,))
    d: f64[m, n] = reshape(x, shape=(<m>, <n>))
    e: f64[n, m] = full(t, shape=(<n>, <m>))
    g: f64[n, m] = multiply(t, x)
    return d, g
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.grammar import Atom, Const, Let, Var, type_of
from ..core.types import ArrayType
from ..ops.axes import Transpose
from ..ops.creation import FLOAT64, Ones, Zeros
from ..ops.reduction import leads
from ..ops.value import hands_on
from .changes import CONSTANT, with_operand
from .constants import plain
from .neutral import known
from .rewriter import array_type
from .signs import DEEPEST

if TYPE_CHECKING:
    from .fold import Fold

FLATTENING = ("reshape", "ravel", "flatten", "expand_dims", "squeeze")
FILLED = ("full", "zeros", "ones")
BROADCAST = ("broadcast_to", "expand_dims", *FILLED)
SUMS = ("add", "subtract", "negative")
REDUCED = ("sum", "mean", "max", "min", "prod")
UNIT_AXES = ("expand_dims", "squeeze")
WHOLE = (slice(None), slice(0, None), slice(None, None, 1))


def _unchanged(fold: Fold, stmt: Let) -> Any:
    """The operand, if the result has its very type: for ops that keep elements in their order."""
    x = stmt.args[0]
    if not isinstance(x, Var) or not fold.has_type(x, stmt.target):
        return None
    return fold.instead(stmt, x, copies=not stmt.op.view)


@with_operand(*FLATTENING)
def _reshaped(fold: Fold, stmt: Let) -> Any:
    """Of several reshapes the last one counts."""
    inner = fold.defined_by(stmt.args[0], *FLATTENING)
    if inner is None or array_type(inner.args[0]) != array_type(inner.args[0]).strong():
        return None
    return fold.become(stmt, stmt.op, inner.args[0], **stmt.attrs)


def _moved(fold: Fold, stmt: Let) -> Any:
    """An axis that stays where it is; the axes of a matrix, turned."""
    source, destination = stmt.attrs["source"], stmt.attrs["destination"]
    if source == destination:
        return fold.instead(stmt, stmt.args[0], copies=False)
    if array_type(stmt.target).rank == 2 and isinstance(source, int):
        return fold.become(stmt, Transpose, stmt.args[0])
    return None


def _transposed(fold: Fold, stmt: Let) -> Any:
    """Two transpositions are one, or none."""
    rank = array_type(stmt.target).rank
    if rank < 2:
        return _unchanged(fold, stmt)
    inner = fold.defined_by(stmt.args[0], "transpose")
    axes = _axes(stmt, rank)
    if inner is not None:
        first = _axes(inner, rank)
        axes = tuple(first[k] for k in axes)
    x = stmt.args[0] if inner is None else inner.args[0]
    if axes == tuple(range(rank)):
        return fold.instead(stmt, x, copies=False)
    if inner is None:
        return None
    reverses = axes == tuple(range(rank))[::-1]
    return fold.become(stmt, stmt.op, x, **({} if reverses else {"axes": axes}))


@with_operand("multiply", "divide")
def _turned_multiple(fold: Fold, stmt: Let) -> Any:
    """(2 * x.T).T → 2 * x."""
    inner = fold.own(stmt.args[0], "multiply", "divide")
    if inner is None or inner.target.name is not None or inner.attrs:
        return None
    wide = [k for k, atom in enumerate(inner.args) if array_type(atom).rank]
    turn = fold.defined_by(inner.args[wide[0]], "transpose") if len(wide) == 1 else None
    rank = array_type(stmt.target).rank
    axes = _axes(stmt, rank)
    if turn is None or tuple(_axes(turn, rank)[k] for k in axes) != tuple(range(rank)):
        return None
    args = (*inner.args[:wide[0]], turn.args[0], *inner.args[wide[0] + 1:])
    return fold.become(stmt, inner.op, *args)


def _turned_stack(fold: Fold, stmt: Let) -> Any:
    """np.stack([a, b], axis=1).T → np.stack([a, b]), of vectors."""
    inner = fold.own(stmt.args[0], "stack")
    is_named = inner is not None and inner.target.name is not None and inner.target.primal is None
    if inner is None or is_named or array_type(stmt.target).rank != 2:
        return None
    axis, *others = inner.attrs.get("axis", 0), *(inner.attrs.keys() - {"axis", "spelling"})
    return fold.become(stmt, inner.op, *inner.args) if axis == 1 and not others and _turns(stmt) else None


def _turned_product(fold: Fold, stmt: Let) -> Any:
    """(a.T @ b).T → b.T @ a, (a.T @ b - np.outer(c, d)).T → b.T @ a - np.outer(d, c), in generated code."""
    x = stmt.args[0]
    if not fold.is_generated or not _turns(stmt) or not _turns_freely(fold, x):
        return None
    made = fold.definition[x]                                               # type: ignore[index]
    return fold.become(stmt, made.op, *_turned_terms(fold, stmt, made), **made.attrs)


def _turns_freely(fold: Fold, atom: Atom, depth: int = DEEPEST) -> bool:
    """Whether the transpose of what an atom is, which nothing else uses, costs no more than itself."""
    if _half_turned(fold, atom) is not None or fold.own(atom, "outer") is not None:
        return True
    terms = fold.own(atom, *SUMS) if depth else None
    return terms is not None and not terms.attrs and all(
        fold.has_type(each, terms.target) and _turns_freely(fold, each, depth - 1) for each in terms.args)


def _turned_terms(fold: Fold, like: Let, made: Let) -> list[Atom]:
    """The operands with which an op, of which the transpose is free, gives it: new statements before `like`."""
    if made.op.name not in SUMS:
        operands = made.args[::-1]
        return [*operands] if made.op.name == "outer" else [_turned(fold, like, each) for each in operands]
    terms: list[Atom] = []
    for each in made.args:
        inner = fold.definition[each]                                       # type: ignore[index]
        own = array_type(each)
        type = own.with_sizes((*own.sizes[:-2], own.sizes[-1], own.sizes[-2]))
        terms.append(fold.emit(like, inner.op, *_turned_terms(fold, like, inner), type=type, **inner.attrs))
    return terms


def _half_turned(fold: Fold, atom: Atom) -> Let | None:
    """A product of matrices, one of which is a transpose, that nothing else uses."""
    product = fold.own(atom, "matmul", "dot")
    if product is None or any(array_type(arg).rank < 2 for arg in product.args):
        return None
    if product.op.name == "dot" and array_type(product.target).rank > 2:
        return None
    turns = [fold.defined_by(arg, "transpose") for arg in product.args]
    return product if any(turn is not None and _turns(turn) for turn in turns) else None


def _turned(fold: Fold, like: Let, x: Atom) -> Atom:
    """A matrix, or the matrices in the last two axes, transposed."""
    inner = fold.defined_by(x, "transpose")
    if inner is not None and _turns(inner):
        return inner.args[0]
    own = array_type(x)
    axes = (*range(own.rank - 2), own.rank - 1, own.rank - 2)
    turned = own.with_sizes(tuple(own.sizes[k] for k in axes))
    return fold.emit(like, Transpose, x, type=turned, **({} if own.rank == 2 else {"axes": axes}))


def _turns(stmt: Let) -> bool:
    """Whether the last two axes, and no others, are exchanged."""
    rank = array_type(stmt.target).rank
    return rank >= 2 and _axes(stmt, rank) == (*range(rank - 2), rank - 1, rank - 2)


def _axes(stmt: Let, rank: int) -> tuple[int, ...]:
    axes = stmt.attrs.get("axes")
    return tuple(range(rank))[::-1] if axes is None else tuple(axes)


def _over_nothing(fold: Fold, stmt: Let) -> Any:
    """A sum over no axes, or of a number."""
    x = stmt.args[0]
    nothing = not array_type(x).sizes or stmt.attrs.get("axis") == ()
    return fold.instead(stmt, x) if nothing else None


def _whole(fold: Fold, stmt: Let) -> Any:
    """x[:] → x."""
    if len(stmt.args) == 1 and is_whole(stmt.attrs["index"]):
        return fold.instead(stmt, stmt.args[0], copies=False)
    return None


@with_operand(*FILLED)
def _filled_anew(fold: Fold, stmt: Let) -> Any:
    """np.full(n, v)[:, None] → np.full((n, 1), v): the same elements in another shape."""
    inner = fold.own(stmt.args[0], *FILLED)
    if inner is None or not fold.is_generated and "spelling" in inner.attrs:
        return None
    return fold.become(stmt, inner.op, *inner.args, **{**inner.attrs, "shape": array_type(stmt.target).sizes})


@with_operand("transpose")
def _of_turned(fold: Fold, stmt: Let) -> Any:
    """sum(x.T, axis=0) → sum(x, axis=1), in generated code."""
    inner, axis = fold.defined_by(stmt.args[0], "transpose"), stmt.attrs.get("axis")
    if inner is None or not fold.is_generated or array_type(inner.target).rank != 2 or axis not in (0, 1):
        return None
    if stmt.attrs.get("keepdims"):
        return None
    return fold.become(stmt, stmt.op, *inner.args, **{**stmt.attrs, "axis": 1 - axis})


def is_whole(index: Any) -> bool:
    """Whether an index selects all of an array."""
    return all(isinstance(entry, slice) and entry in WHOLE for entry in index)


@with_operand(CONSTANT)
def _named_fill(fold: Fold, stmt: Let) -> Any:
    """full(0.0) → zeros, full(1.0) → ones."""
    value, target = known(stmt.args[0]), array_type(stmt.target)
    if not isinstance(value, (int, float, np.floating)) or target.dtype.kind == "b":
        return None
    if value not in (0, 1) or math.copysign(1, value) < 0:
        return None
    attrs = {"shape": target.sizes} | ({} if target.dtype == FLOAT64 else {"dtype": target.dtype})
    return fold.become(stmt, Zeros if value == 0 else Ones, **attrs)


@with_operand("broadcast_to")
def _spread_copy(fold: Fold, stmt: Let) -> Any:
    """np.broadcast_to(x, (n, m)).copy() → np.broadcast_to(x, (n, m)), where nothing writes to it."""
    return fold.instead(stmt, stmt.args[0]) if fold.own(stmt.args[0], "broadcast_to") else None


def _takes_name(fold: Fold, stmt: Let) -> Any:
    """q = -np.inf; q = np.full(n, q) → q = np.full(n, -np.inf): what was made for all lanes has the name."""
    if stmt.target.name is None:
        _forget_name(fold, stmt.args[0])
    return None


def _forget_name(fold: Fold, atom: Atom) -> None:
    if isinstance(atom, Var) and atom in fold.definition and fold.uses.once(atom):
        fold.change(atom)
        inner = fold.defined_by(atom, "cast")
        if inner is not None:
            _forget_name(fold, inner.args[0])


# -- operands of elementwise operations ----------------------------------------------------------

@with_operand(*BROADCAST)
def _smaller(fold: Fold, stmt: Let) -> Any:
    """An operand that was broadcast or filled only to meet others goes as it was before."""
    if len(stmt.args) < 2:
        return None
    for place, atom in enumerate(stmt.args):
        small = _before(fold, atom)
        if small is None or not _keeps_dtype(stmt, place, small):
            continue
        args = (*stmt.args[:place], small, *stmt.args[place + 1:])
        if covers(fold, args, stmt.target):
            return fold.become(stmt, stmt.op, *args, **stmt.attrs)
    return None


@with_operand("broadcast_to")
def _before_it_is_wide(fold: Fold, stmt: Let) -> Any:
    """np.broadcast_to(x, (n, m)) / y → np.broadcast_to(x / y, (n, m)), in derivatives: it may meet what is as wide."""
    wide = [fold.own(atom, "broadcast_to") for atom in stmt.args]
    if not any(wide) or stmt.attrs or not fold.is_derivative(stmt):
        return None
    args = tuple(atom if each is None else each.args[0] for each, atom in zip(wide, stmt.args, strict=True))
    wanted = array_type(stmt.target)
    if not certainly_meet(fold, *map(array_type, args)):
        return None
    small = stmt.op.types(*map(array_type, args))
    if small.dtype != wanted.dtype or small.weak or not small.rank or covers(fold, args, stmt.target):
        return None
    value, target = fold.emit(stmt, stmt.op, *args, type=small), stmt.target
    value.name, value.primal, value.pattern = target.name, target.primal, target.pattern
    fold.change(target)
    return fold.become(stmt, next(each for each in wide if each).op, value, shape=wanted.sizes)


def _before(fold: Fold, atom: Atom) -> Atom | None:
    """What an array was made from by broadcasting."""
    stmt = fold.defined_by(atom, *BROADCAST)
    if stmt is None:
        return None
    if stmt.op.name == "expand_dims":
        return stmt.args[0] if fold.is_generated and leads(stmt.attrs["axis"]) else None
    if stmt.op.name in ("broadcast_to", "full"):
        return stmt.args[0]
    kind = array_type(stmt.target).dtype.kind
    number = float if kind in "fc" else int
    return Const(number(stmt.op.name == "ones")) if kind in "iufc" else None


def _keeps_dtype(stmt: Let, place: int, small: Atom) -> bool:
    """Whether the smaller operand takes part with the dtype of the large one: because it has it, or
    as a Python number that takes on that of another operand, or is converted where it is chosen."""
    own, wanted = array_type(small), array_type(stmt.args[place])
    if not own.weak:
        return own.dtype == wanted.dtype
    fits = "biufc".index(own.dtype.kind) <= "biufc".index(wanted.dtype.kind)
    if fits and stmt.op.name == "where" and place:
        args = (*stmt.args[:place], small, *stmt.args[place + 1:])
        return bool(stmt.op.types(*map(type_of, args)).dtype == array_type(stmt.target).dtype)
    return fits and _meets(stmt, place, wanted)


def _meets(stmt: Let, place: int, wanted: ArrayType) -> bool:
    """Whether another operand is a NumPy value of the same dtype; what meets whole numbers is a float64."""
    others = [array_type(atom) for k, atom in enumerate(stmt.args) if k != place]
    whole = all(not other.weak and other.dtype.kind in "iu" and other.dtype.itemsize == 8 for other in others)
    return any(not other.weak and other.dtype == wanted.dtype for other in others) or (
        whole and wanted.dtype == FLOAT64 and array_type(stmt.target).dtype == FLOAT64)


def certainly_meet(fold: Fold, *types: ArrayType) -> bool:
    """Whether operands of these types are certainly broadcast together."""
    shapes = [tuple(map(fold.assumptions.normal, type.sizes))[::-1] for type in types]
    longest = max(map(len, shapes))
    return all(len({shape[k] for shape in shapes if k < len(shape)} - {1}) <= 1 for k in range(longest))


def covers(fold: Fold, args: tuple[Atom | ArrayType, ...], target: Var) -> bool:
    """Whether the operands, or some of their types, broadcast to the sizes of the result."""
    normal = fold.assumptions.normal
    types = [arg if isinstance(arg, ArrayType) else array_type(arg) for arg in args]
    shapes = [tuple(map(normal, type.sizes))[::-1] for type in types]
    wanted = tuple(map(normal, array_type(target).sizes))[::-1]
    return max(map(len, shapes)) == len(wanted) and all(
        size == 1 or any(k < len(shape) and shape[k] == size for shape in shapes) for k, size in enumerate(wanted))


@with_operand(*UNIT_AXES)
def _sunk(fold: Fold, stmt: Let) -> Any:
    """2 * x[:, None] → (2 * x)[:, None], in generated code: the new axes go to where something needs them, and those
    taken out stay where something puts them in again."""
    if not fold.is_generated or stmt.attrs or len(stmt.args) > 2:
        return None
    wide = [k for k, atom in enumerate(stmt.args) if array_type(atom).rank]
    inner = fold.own(stmt.args[wide[0]], *UNIT_AXES) if len(wide) == 1 else None
    if inner is None or not array_type(inner.args[0]).rank:
        return None
    small = array_type(stmt.target).with_sizes(array_type(inner.args[0]).sizes)
    args = (*stmt.args[:wide[0]], inner.args[0], *stmt.args[wide[0] + 1:])
    value = fold.emit(stmt, stmt.op, *args, type=small)
    return fold.become(stmt, inner.op, value, **inner.attrs)


@with_operand(CONSTANT)
def _plain_constants(fold: Fold, stmt: Let) -> Any:
    """A constant of NumPy's is one of Python's where it meets a value of its dtype."""
    if hands_on(stmt):
        return None
    for place, atom in enumerate(stmt.args):
        value = known(atom)
        if value is None or array_type(atom).weak or isinstance(value, bool):
            continue
        if array_type(atom).dtype.kind in "fc" and _meets(stmt, place, array_type(atom)):
            args = (*stmt.args[:place], Const(plain(value)), *stmt.args[place + 1:])
            return fold.become(stmt, stmt.op, *args, **stmt.attrs)
    return None


ELEMENTWISE = [_smaller, _before_it_is_wide, _sunk, _plain_constants]
RULES = {
    "reshape": [_unchanged, _reshaped],
    "ravel": [_unchanged, _reshaped],
    "flatten": [_unchanged, _reshaped],
    "squeeze": [_unchanged, _filled_anew],
    "expand_dims": [_filled_anew],
    "copy": [_spread_copy],
    "broadcast_to": [_unchanged, _filled_anew],
    "transpose": [_transposed, _filled_anew, _turned_multiple, _turned_stack, _turned_product],
    "moveaxis": [_moved],
    "get": [_whole],
    "full": [_named_fill, _takes_name],
    **{name: [_over_nothing, _of_turned] for name in REDUCED},
}

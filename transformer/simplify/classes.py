"""Numbers of Python's that came out of arrays, where nobody can tell them from NumPy's: the conversion is left out.

    float(best[j]) + x[i]  →  best[j] + x[i]        with x: f64[n]
    parent[int(parent[a])] →  parent[parent[a]]
    int(parent[a]) != a    →  parent[a] != a         with a: i64

Of two numbers NumPy's decides what an operator gives, and how it computes; places and what is stored are numbers of
either class.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..core.errors import TransformError
from ..core.grammar import Atom, Let, type_of
from ..core.types import ArrayType
from .changes import with_operand
from .counts import decides_dtype

if TYPE_CHECKING:
    from .fold import Fold


@with_operand("cast")
def _of_either_class(fold: Fold, stmt: Let) -> Any:
    """`float(x) + y` → `x + y`, for numbers x and y of NumPy's that have one dtype."""
    for place, atom in enumerate(stmt.args):
        found = _without_class(fold, atom)
        if found is None:
            continue
        others = [type_of(other) for k, other in enumerate(stmt.args) if k != place]
        if any(decides_dtype(other, type_of(found)) for other in others):
            return _with_argument(fold, stmt, place, found)
    return None


@with_operand("cast")
def _place_or_stored(fold: Fold, stmt: Let) -> Any:
    """`x[int(k)]` → `x[k]`, and `x[k] = float(y)` → `x[k] = y`."""
    for place, atom in enumerate(stmt.args[1:], 1):
        found = _without_class(fold, atom)
        if found is not None:
            return _with_argument(fold, stmt, place, found)
    return None


def _without_class(fold: Fold, atom: Atom) -> Atom | None:
    """The number of NumPy's, of the same dtype, that this one of Python's was made of."""
    made = fold.defined_by(atom, "cast")
    own, wanted = type_of(atom), None if made is None else type_of(made.args[0])
    if made is None or not isinstance(own, ArrayType) or not isinstance(wanted, ArrayType):
        return None
    is_class = own.weak and not own.sizes and not wanted.sizes and not wanted.weak and own.dtype == wanted.dtype
    return made.args[0] if is_class else None


def _with_argument(fold: Fold, stmt: Let, place: int, atom: Atom) -> Any:
    """The statement with another argument, if what it gives keeps its type."""
    args = (*stmt.args[:place], atom, *stmt.args[place + 1:])
    attrs = {key: value for key, value in stmt.attrs.items() if key != "spelling"}
    types = tuple(map(type_of, args))
    try:
        found = stmt.op.types(types, **attrs) if stmt.op.variadic else stmt.op.types(*types, **attrs)
    except (TransformError, TypeError, ValueError, AttributeError):
        return None
    kept = found if isinstance(found, tuple) else (found,)
    if not all(fold.same_type(new, target.type) for new, target in zip(kept, stmt.targets, strict=True)):
        return None
    return fold.become(stmt, stmt.op, *args, **stmt.attrs)


ELEMENTWISE = [_of_either_class]
RULES = {"get": [_place_or_stored], "put": [_place_or_stored], "addat": [_place_or_stored]}

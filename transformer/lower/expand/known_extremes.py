"""Places of extremes that the program has as well: they are compared with these, so that both go over the array once.

    best = argmax(scores, axis=0)           top = max(scores, axis=0)
    top = max(scores, axis=0)         →     nest j: fold k, place = n
                                                minimum(place, k if scores[k, j] == top[j] else n)

Down columns both come from one fold, whichever comes first, which `places_of_columns` does row by row. Other places
have an extreme of their own, in the same way (`first_places`).
"""

from __future__ import annotations

from typing import Any

from ...core.builder import current
from ...core.grammar import Function, Let, Var, type_of
from ...core.sizes import product
from ...core.types import ArrayType
from ...core.walk import all_statements, atom_of_size
from ...ops.elements import flat_place, without
from ...ops.elementwise import where
from ...ops.reduction import Argmax, Argmin, Max, Min
from ...ops.selection import Minimum
from ...ops.value import Value, apply, rule_attrs, value
from ..nest.access import Stored, fitted, running
from ..nest.nests import Allocate, Block, emit
from ..ordering.unrolling import MOST_PLACES
from .filling import filled, stored
from .folds import Steps, axes_of, fold, joined

EXTREMES: dict[Any, Any] = {Argmax: Max, Argmin: Min}
Key = tuple[Any, Any, tuple[int, ...]]


def extremes_of(function: Function) -> dict[Key, dict[str, Any]]:
    """The extremes of a function by what they are of, with the attributes of the first."""
    found: dict[Key, dict[str, Any]] = {}
    for stmt in all_statements(function.body):
        if isinstance(stmt, Let) and stmt.op in (Max, Min):
            attrs = {key: item for key, item in rule_attrs(stmt).items() if key != "keepdims"}
            found.setdefault((stmt.op, stmt.args[0], axes_of(stmt)), attrs)
    return found


def places_asked(block: Block) -> dict[Key, Let]:
    """The places of extremes that the statements of a block itself ask for, by the extremes."""
    return {(EXTREMES[stmt.op], stmt.args[0], axes_of(stmt)): stmt for stmt in block
            if isinstance(stmt, Let) and stmt.op in EXTREMES}


def extreme_at(stmt: Let, known: dict[Key, dict[str, Any]]) -> Let | None:
    """The extreme at whose place an op asks for, if the program has it, and there certainly is one."""
    type: Any = type_of(stmt.args[0])
    if stmt.op not in EXTREMES or type.dtype.kind not in "iuf":
        return None
    op, axes = EXTREMES[stmt.op], axes_of(stmt)
    attrs = known.get((op, stmt.args[0], axes))
    if attrs is None or not all(current().assumptions.decide(type.sizes[k] - 1) for k in axes):
        return None
    top = Var(ArrayType(type.dtype, without(type.sizes, axes)), "top" if op is Max else "bottom")
    return Let((top,), op, stmt.args, attrs, stmt.origin)


def goes_down_columns(stmt: Let) -> bool:
    """Whether a reduction leaves the last axis, and neither columns nor rows are known to be short."""
    x: Any = type_of(stmt.args[0])
    axes = axes_of(stmt)
    lengths = product(x.sizes[k] for k in axes), x.sizes[-1]
    return x.rank - 1 not in axes and not any(isinstance(each, int) and each <= MOST_PLACES for each in lengths)


def with_extreme(stmt: Let, extreme: Let) -> None:
    """Emits the nest for the place of an extreme and the extreme, of columns that are done row by row."""
    x, axes = Stored(stmt.args[0]), axes_of(stmt)
    sizes = tuple(x.shape[k] for k in axes)
    emit(Allocate(extreme.target, stmt.op.name, current().origin))

    def element(at: tuple[Any, ...]) -> Any:
        steps = Steps(stmt, lambda inner: x[joined(at, inner, axes)])
        with running(sizes) as (indices, inner):
            state = steps.begin(sizes)
            state = fold(indices, state, lambda entries: steps.next(entries, inner, sizes)) if indices else state
        emit(stored(extreme.target, at, state[0]))
        return state[1]

    filled(stmt, element)


def place_of(stmt: Let, extreme: Let) -> None:
    """Emits the nests for the first place where the extreme is, or nan."""
    x, top, axes = Stored(stmt.args[0]), Stored(extreme.target), axes_of(stmt)
    sizes = tuple(x.shape[k] for k in axes)
    behind = Value(atom_of_size(product(sizes)))

    def element(at: tuple[Any, ...]) -> Any:
        extreme = top[at]

        def step(state: tuple[Value, ...]) -> tuple[Value, ...]:
            item: Any = x[joined(at, inner, axes)]
            found: Any = item == extreme
            found = found | (item != item) if x.dtype.kind == "f" else found
            here: Any = where(found, flat_place(inner, sizes), behind)
            return fitted(apply(Minimum, (state[0], here), {}), state[0].type),

        with running(sizes) as (indices, inner):
            return fold(indices, (behind,), step)[0] if indices else value(0)

    filled(stmt, element)

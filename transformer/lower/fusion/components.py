"""Points of few components that are read again and again: a row for every component, copied once.

    nest i < n                              allocate apart 3, n
        fold j < n                          nest j < n
            x[j, 0], x[j, 1], x[j, 2]   →       apart[0, j], apart[1, j], apart[2, j] = x[j, 0], x[j, 1], x[j, 2]
                                            nest i < n
                                                fold j < n
                                                    apart[0, j], apart[1, j], apart[2, j]

Numbers that are used together lie next to each other then, as processors want them.
"""

from __future__ import annotations

from typing import Any

from ...core.builder import current
from ...core.grammar import Atom, Const, Let, Var
from ...core.types import ArrayType
from ...core.walk import atom_vars
from ..nest.access import loaded, running
from ..nest.lifetimes import written
from ..nest.nest_walk import inner_blocks, is_load
from ..nest.nests import Allocate, Block, Fold, Load, Nest, Store, emit

FEWEST, MOST = 2, 4                    # components of a point


def apart(block: Block) -> Block:
    """The block with such points copied before the nests that read them."""
    made: Block = []
    for stmt in block:
        if isinstance(stmt, (Nest, Fold)):
            made += [*_copies(stmt), stmt]
            continue
        for inner in inner_blocks(stmt):
            inner[:] = apart(inner)
        made.append(stmt)
    return made


def _copies(nest: Nest | Fold) -> Block:
    """What is copied before a nest, which reads the copies from now on."""
    sites: dict[Var, list[tuple[Block, int]]] = {}
    _collect([nest], (), sites)
    made: Block = []
    for array, where in sites.items():
        if array not in written(nest):
            copy, block = _copied(array)
            made += block
            for inner, k in where:
                load: Let = inner[k]
                inner[k] = Let(load.targets, Load, (copy, load.args[2], load.args[1]), {}, load.origin)
    return made


def _collect(block: Block, around: tuple[Var, ...], sites: dict[Var, list[tuple[Block, int]]]) -> None:
    """The loads of components in an innermost loop that an outer one repeats."""
    for k, stmt in enumerate(block):
        if is_load(stmt) and _is_repeated(stmt, around):
            sites.setdefault(stmt.args[0], []).append((block, k))
        indices = tuple(index.var for index in stmt.indices) if isinstance(stmt, (Nest, Fold)) else ()
        for inner in inner_blocks(stmt):
            _collect(inner, (*around, *indices), sites)


def _is_repeated(load: Let, around: tuple[Var, ...]) -> bool:
    type: Any = load.args[0].type                                        # type: ignore[union-attr]
    if type.rank != 2 or not isinstance(type.sizes[1], int) or not FEWEST <= type.sizes[1] <= MOST:
        return False
    place, component = load.args[1:]
    used = set(atom_vars(place))
    return (isinstance(component, Const) and len(around) > 1 and around[-1] in used
            and not used.issuperset(around[:-1]) and not isinstance(type.sizes[0], int))


def _copied(array: Var) -> tuple[Var, Block]:
    """Memory with a row for every component, and the nest that fills it."""
    type: Any = array.type
    copy = Var(ArrayType(type.dtype, (type.sizes[1], type.sizes[0])), array.name and f"{array.name}_apart")
    builder = current()
    with builder.nested() as block:
        emit(Allocate(copy, "copy", builder.origin))
        with running(type.sizes[:1]) as (indices, at), builder.nested() as body:
            place: Atom = at[0].atom
            for component in map(Const, range(type.sizes[1])):
                emit(Store(copy, (component, place), loaded(array, (place, component)).atom, False, builder.origin))
        emit(Nest(indices, body, builder.origin))
    return copy, block

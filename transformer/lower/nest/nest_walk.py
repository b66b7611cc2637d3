"""What statements of the nest form define, use, read and write, and the blocks nested in them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, assert_never

from ...core.grammar import Atom, Call, Effect, If, Let, Loop, Var
from ...core.sizes import Extent
from ...core.types import ArrayType
from ...core.walk import atom_vars, blocks_of, head_uses, tail_uses, targets_of
from .nests import ROOM, Allocate, Block, Fold, Index, Launch, Library, Load, Nest, Product, Stmt, Store, Task


def inner_blocks(stmt: Stmt) -> tuple[Block, ...]:
    """The blocks nested in a statement."""
    if type(stmt) in (Let, Store):             # as most are
        return ()
    match stmt:
        case Nest() | Fold() | Task() | Launch():
            return (stmt.body,)
        case Allocate() | Store() | Product() | Library():
            return ()
    return blocks_of(stmt)


def allocated_next(stmt: Any) -> tuple[Extent, ...] | None:
    """The sizes of the memory that a statement allocates; None for one that does anything but compute a number of
    others, which could rest on the sizes."""
    if isinstance(stmt, Allocate):
        return stmt.target.type.sizes if stmt.source is None else ()                  # type: ignore[union-attr]
    return () if isinstance(stmt, Let) and not is_load(stmt) else None


def statements(block: Block) -> Iterator[Any]:
    """Every statement of a block and of those nested in it, outermost first."""
    waiting = [iter(block)]
    while waiting:
        for stmt in waiting[-1]:
            yield stmt
            if blocks := inner_blocks(stmt):
                waiting += map(iter, reversed(blocks))
                break
        else:
            waiting.pop()


def defined(stmt: Stmt) -> tuple[Var, ...]:
    """Variables that a statement defines for what follows it."""
    if type(stmt) is Let:
        return stmt.targets
    match stmt:
        case Allocate():
            return (stmt.target,)
        case Fold():
            return tuple(carry.out for carry in stmt.carries)
        case Nest() | Store() | Product() | Task() | Launch():
            return ()
        case Library():
            return tuple(target for target in stmt.targets if not stmt.is_array(target))
    return targets_of(stmt)


def uses_before(stmt: Stmt) -> list[Var]:
    """Variables that a statement itself uses before its blocks run."""
    if type(stmt) is Let:                      # as most are
        return atom_vars(stmt.args, stmt.attrs) if stmt.attrs else atom_vars(stmt.args)
    match stmt:
        case Store():
            return atom_vars(stmt.array, stmt.at, stmt.value)
        case Nest():
            return atom_vars(_sizes(stmt.indices))
        case Fold():
            return atom_vars(_sizes(stmt.indices), [carry.init for carry in stmt.carries])
        case Allocate():
            return atom_vars(stmt.target.type, stmt.source)
        case Product():
            return atom_vars([(part.array, part.at) for part in stmt.parts], _sizes(stmt.indices), stmt.factor)
        case Library():
            return atom_vars(stmt.args, stmt.attrs, writes(stmt))
        case Task():
            return atom_vars(stmt.cost)
        case Launch():
            return atom_vars(_sizes(stmt.indices))
    return list(head_uses(stmt))


def _sizes(indices: list[Index]) -> list[Extent]:
    return [index.size for index in indices]


def uses_after(stmt: Stmt) -> list[Var]:
    """Variables that a statement uses at the end of its blocks."""
    match stmt:
        case Let() | Store() | Nest() | Allocate() | Product() | Library() | Task() | Launch():
            return []
        case Fold():
            return atom_vars([carry.next for carry in stmt.carries])
    return list(tail_uses(stmt))


def all_uses(block: Block) -> Iterator[Var]:
    """Every variable that the statements of a block use, and those inside of them, each time."""
    for stmt in statements(block):
        yield from uses_before(stmt)
        yield from uses_after(stmt)


def writes(stmt: Stmt) -> tuple[Var, ...]:
    """The arrays that a statement itself writes to."""
    match stmt:
        case Let() | If() | Loop() | Call() | Nest() | Fold() | Allocate() | Task() | Launch():
            return ()
        case Store():
            return (stmt.array,)
        case Effect():
            return (stmt.args[0],) if stmt.kind == ROOM else ()          # type: ignore[return-value]
        case Product():
            return (stmt.target.array,)
        case Library():
            return tuple(filter(stmt.is_array, stmt.targets))
        case _:
            assert_never(stmt)


def is_load(stmt: Any) -> bool:
    return isinstance(stmt, Let) and stmt.op is Load


def loaded(stmt: Any) -> set[Any]:
    """The arrays of which a statement reads elements."""
    return {each.args[0] for each in statements([stmt]) if is_load(each)}


def is_float(var: Var) -> bool:
    """Whether a variable is a floating point number, and no array."""
    type = var.type
    return isinstance(type, ArrayType) and not type.sizes and type.dtype.kind == "f"


def is_empty_memory(stmt: Any) -> bool:
    return isinstance(stmt, Allocate) and stmt.source is None


def is_numeric(stmt: Any) -> bool:
    """Whether a statement is a nest that only computes numbers, and reads and writes them."""
    return isinstance(stmt, Nest) and bool(stmt.indices) and all(
        isinstance(each, (Let, If, Nest, Fold, Store)) for each in statements(stmt.body))


def accesses(stmt: Any) -> Iterator[tuple[Any, tuple[Atom, ...]]]:
    """The arrays that a statement and the blocks in it read and write, element by element, with the places."""
    for each in statements([stmt]):
        if isinstance(each, Store):
            yield each.array, each.at
        elif is_load(each):
            yield each.args[0], each.args[1:]

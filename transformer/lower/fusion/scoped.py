"""Sizes by numbers that are known where they are needed.

What a reverse loop computes again has the types that it had in the forward loop, whose sizes may rest on what that one
carried. In Core nobody looks; in nests they say how often a loop runs. An elementwise op has the sizes of its operands:

    loop k < n                                  loop k < n
        carry length = 0                            carry length = 0
        …                                           …
    loop k < n down                             loop k < n down
        read s: f64[?k + 1]                         read s: f64[?k + 1]
        same: bool[?length] = equal(s, t)           same: bool[?k + 1] = equal(s, t)
"""

from __future__ import annotations

from typing import Any, assert_never

from ...core.grammar import Block, Call, Effect, Function, If, Let, Loop, Var, type_of
from ...core.sizes import Extent
from ...core.types import ArrayType
from ...core.walk import atom_vars, targets_of


def sizes_in_scope(function: Function) -> None:
    """Gives what elementwise ops compute the sizes of operands, where its own rest on numbers that are not in scope."""
    _in_block(function.body, set(function.params))


def _in_block(block: Block, known: set[Var]) -> None:
    known = set(known)
    for stmt in block:
        match stmt:
            case Let() if stmt.op.elementwise:
                for target in stmt.targets:
                    if not known.issuperset(atom_vars(target.type)):
                        target.type = _sized(target.type, stmt.args, known)
            case If():
                _in_block(stmt.then, known)
                _in_block(stmt.orelse, known)
            case Loop():
                bound = {carry.entry for carry in stmt.carries} | {read.target for read in stmt.reads}
                _in_block(stmt.test, known | bound | {stmt.position})
                _in_block(stmt.body, known | bound | {stmt.position})
            case Let() | Call() | Effect():
                pass
            case _:
                assert_never(stmt)
        known.update(targets_of(stmt))


def _sized(type: Any, args: tuple[Any, ...], known: set[Var]) -> ArrayType:
    """The type with sizes that are known, as far as operands have them."""
    shapes = [getattr(type_of(atom), "sizes", ()) for atom in args]
    sizes = [_size(size, [shape[axis] for shape in shapes if -axis <= len(shape)], known)
             for axis, size in zip(range(-type.rank, 0), type.sizes, strict=True)]
    return type.with_sizes(tuple(sizes))


def _size(size: Extent, others: list[Extent], known: set[Var]) -> Extent:
    if known.issuperset(atom_vars(size)):
        return size
    return next((other for other in others if other != 1 and known.issuperset(atom_vars(other))), size)

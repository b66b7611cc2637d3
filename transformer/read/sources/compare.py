"""Whether a code object was compiled from the source that was found for it.

Names, constants, bytecode and all code objects within must be equal; the file's name and the line
numbers need not be, as a text may be registered under any name.

>>> same_code((lambda x: x + 1).__code__, (lambda x: x + 1).__code__)
True
>>> same_code((lambda x: x + 1).__code__, (lambda x: x + 1.0).__code__)
False
"""

from __future__ import annotations

import dis
from collections.abc import Container, Hashable
from types import CodeType
from typing import Any

_PARTS = (
    "co_code",
    "co_names",
    "co_varnames",
    "co_freevars",
    "co_cellvars",
    "co_flags",
    "co_argcount",
    "co_posonlyargcount",
    "co_kwonlyargcount",
    "co_exceptiontable",
)


def same_code(found: CodeType, actual: CodeType) -> bool:
    """Whether two code objects do the same, whatever file and line they come from."""
    if any(getattr(found, part) != getattr(actual, part) for part in _PARTS):
        return False
    if len(found.co_consts) != len(actual.co_consts):
        return False
    pairs = zip(found.co_consts, actual.co_consts, strict=True)
    return all(_same_constant(one, other) for one, other in pairs)


def _same_constant(one: Any, other: Any) -> bool:
    if isinstance(one, CodeType) and isinstance(other, CodeType):
        return same_code(one, other)
    return _constant_key(one) == _constant_key(other)


def _constant_key(constant: Any) -> Hashable:
    """Tells apart what Python calls equal: 1, 1.0 and True, 0.0 and -0.0; nan equals itself."""
    if isinstance(constant, tuple):
        return tuple, tuple(map(_constant_key, constant))
    if isinstance(constant, frozenset):
        return frozenset, frozenset(map(_constant_key, constant))
    return type(constant), repr(constant)


def same_code_elsewhere(found: CodeType, actual: CodeType, lines: Container[int]) -> bool:
    """Whether two code objects of one file do the same except on some lines.

    pytest rewrites `assert` statements of the test modules it imports, so that code compiled from
    the same text differs there, and only there: what it generates bears the place of the assert.
    Jumps into and past a rewritten assert may be laid out differently, with short exits copied or
    not; so what is compared is the set of instructions with their places. An assert itself that
    was edited after import is not noticed. Its names and messages may be stale, no number can be.
    """
    return _footprint(found, lines) == _footprint(actual, lines)


def _footprint(code: CodeType, lines: Container[int]) -> frozenset[Hashable]:
    return frozenset(
        (_family(each.opname), each.positions, _argument(each, lines))
        for each in dis.get_instructions(code)
        if each.opcode not in _LAYOUT
        and each.positions is not None
        and each.positions.lineno not in lines
    )


_LAYOUT = frozenset(
    dis.opmap[name]
    for name in ("EXTENDED_ARG", "NOP", "CACHE", "JUMP_FORWARD", "JUMP_BACKWARD", "RESUME")
    if name in dis.opmap
)
_JUMPS = frozenset(dis.hasjrel) | frozenset(dis.hasjabs)


def _family(opname: str) -> str:
    """One name for instructions that differ in what the compiler knew of the code before them."""
    for variant in ("_FORWARD", "_BACKWARD", "_CHECK", "_BORROW"):
        opname = opname.replace(variant, "")
    return opname


def _argument(instruction: dis.Instruction, lines: Container[int]) -> Hashable:
    if instruction.opcode in _JUMPS:
        return None
    value = instruction.argval
    if isinstance(value, CodeType):
        return value.co_name, _footprint(value, lines)
    return _constant_key(value)

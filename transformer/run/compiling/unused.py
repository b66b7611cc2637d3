"""Values in the machine code of a function that nothing uses, left out before it is handed to LLVM.

numba makes a record of each array, with all that might be asked of it, and values of ours stand beside it: the sizes
and the distances of neighbours. Of most arrays of a large kernel, only an address and sizes are used, to be passed on;
the rest was half of its text, which LLVM reads and checks before it removes it.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from llvmlite.ir import instructions as made

COMPUTED = {"add", "sub", "mul", "and", "or", "xor"}


def leave_out_unused(function: Any) -> None:
    """Leaves out instructions that do nothing but compute such values."""
    uses = Counter(id(value) for block in function.blocks for each in block.instructions for value in _read_by(each))
    for block in reversed(function.blocks):
        kept = []
        for each in reversed(block.instructions):
            if _only_computes(each) and not uses[id(each)]:
                uses.subtract(map(id, each.operands))
            else:
                kept.append(each)
        block.instructions[:] = kept[::-1]


def _only_computes(instruction: Any) -> bool:
    kinds = made.InsertValue, made.ExtractValue, made.SelectInstr, made.ICMPInstr, made.GEPInstr
    return isinstance(instruction, kinds) or instruction.opname in COMPUTED


def _read_by(instruction: Any) -> Any:
    if isinstance(instruction, made.PhiInstr):
        return [value for value, _ in instruction.incomings]
    return instruction.operands

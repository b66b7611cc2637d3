"""Choices between numbers that are computed anyway: one is selected, where Python has branches.

    branch a, 1, 2                              v = select a, x, select b, y, z
    1: v = x; jump 5                            jump 5
    2: branch b, 3, 4               →
    3: v = y; jump 5
    4: v = z; jump 5

LLVM does that where two ways meet. Where three do, as in `x if a else y if b else z`, it keeps the branches if floating
numbers are compared, and whenever a processor foresees one wrongly, that costs twenty cycles. It is done here in loops
around others. Innermost loops LLVM does for many numbers at a time, by selections of its own, or one iteration waits
for the one before, and to foresee what is chosen is better than to wait for it.

This module imports numba, and is imported when something is compiled.
"""

from __future__ import annotations

import operator
from collections import Counter
from typing import Any

from numba.core import ir, types
from numba.core.analysis import compute_cfg_from_blocks
from numba.core.compiler_machinery import FunctionPass, register_pass
from numba.core.lowering import Lower

base: Any = Lower
passing: Any = FunctionPass
marked: Any = register_pass
SELECT = "select"
NUMBERS = types.Number, types.Boolean
COMPARISONS = operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne


class Selections:
    """Those in a function whose types are known, in place of its branches."""

    def __init__(self, blocks: dict[int, Any], typemap: dict[str, Any]) -> None:
        self.blocks, self.typemap = blocks, typemap
        self.ways = Counter(label for block in blocks.values() for label in block.terminator.get_targets())
        self.assigned = Counter(each.target.name for block in blocks.values() for each in block.find_insts(ir.Assign))

    def make(self) -> bool:
        """Puts them where there can be any, those inside of others first; whether there are."""
        return any([self._is_made(label) for label in sorted(around_loops(self.blocks), reverse=True)
                    if label in self.blocks])

    def _is_made(self, label: int) -> bool:
        block = self.blocks[label]
        sides = block.terminator.get_targets()
        if not isinstance(block.terminator, ir.Branch) or not all(map(self._hands_on, sides)):
            return False
        (*then, one, end), (*orelse, other, other_end) = (self.blocks[each].body for each in sides)
        if end.target != other_end.target or one.target.name != other.target.name:
            return False
        values = [ir.Assign(each.value, self._like(each.target), each.loc) for each in (one, other)]
        selected = ir.Expr(SELECT, end.loc, cond=block.terminator.cond, then=values[0].target, orelse=values[1].target)
        block.body[-1:] = [*then, *orelse, *values, ir.Assign(selected, one.target, end.loc), end]
        for each in sides:
            del self.blocks[each]
        self.ways[end.target] -= 1
        return True

    def _hands_on(self, label: int) -> bool:
        """Whether all that a block does, to which there is one way, is to assign a number that is there."""
        *steps, end = self.blocks[label].body
        return (self.ways[label] == 1 and isinstance(end, ir.Jump) and bool(steps) and all(map(self._is_cheap, steps))
                and all(self.assigned[each.target.name] == 1 for each in steps[:-1])
                and self._is_number(steps[-1].target))

    def _is_cheap(self, step: Any) -> bool:
        value = step.value if isinstance(step, ir.Assign) else None
        if not isinstance(value, ir.Expr):
            return isinstance(value, (ir.Var, ir.Const, ir.Global))
        if value.op == "call":
            return getattr(self.typemap[value.func.name], "typing_key", None) is bool
        return value.op == SELECT or (value.op == "binop" and value.fn in COMPARISONS
                                      and self._is_number(value.lhs) and self._is_number(value.rhs))

    def _is_number(self, var: Any) -> bool:
        return isinstance(self.typemap[var.name], NUMBERS)

    def _like(self, var: Any) -> Any:
        """Another variable of the same type."""
        made = var.scope.redefine(var.name, var.loc)
        self.typemap[made.name], self.assigned[made.name] = self.typemap[var.name], 1
        return made


def around_loops(blocks: dict[int, Any]) -> set[int]:
    """The blocks of loops that are in no loop inside of these."""
    bodies = [set(loop.body) for loop in compute_cfg_from_blocks(blocks).loops().values()]
    innermost = [body for body in bodies if not any(other < body for other in bodies)]
    return set().union(*bodies).difference(*innermost)


@marked(mutates_CFG=True, analysis_only=False)
class Selecting(passing):
    """The pass that does."""

    _name = "kernel_selections"

    def __init__(self) -> None:
        super().__init__()

    def run_pass(self, state: Any) -> Any:
        return Selections(state.func_ir.blocks, state.typemap).make()


class SelectedNumbers(base):
    """Their machine code."""

    def lower_expr(self, resty: Any, expr: Any) -> Any:
        if expr.op != SELECT:
            return super().lower_expr(resty, expr)
        return self.builder.select(self.loadvar(expr.cond.name), self.loadvar(expr.then.name),
                                   self.loadvar(expr.orelse.name))
